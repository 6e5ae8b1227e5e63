// A candidate that is the reference with some variations on must be told by exactly those; the plain
// reference by none.
#include <gtest/gtest.h>

#include "core/codec.hpp"
#include "diagnose/fake_candidate.hpp"
#include "first_tier.hpp"
#include "lab/evidence/variations/changed_answers.hpp"
#include "lab/evidence/variations/numbers.hpp"
#include "lab/evidence/variations/search.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

namespace isomer::lab {

inline void PrintTo(const Port* port, std::ostream* out) { *out << port->functions.front(); }

namespace {

std::string joined(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " + ") + name;
  return text;
}

struct Planted {
  const Port* port;
  std::vector<std::string> variations;
};

Explanation explained(const Planted& planted) {
  const FakeCandidate candidate(*planted.port, planted.variations);
  const Form form = original_form(candidate.entries().front(), *planted.port);
  return explain_numbers(candidate, form, *planted.port, {}).explanation;
}

std::vector<Planted> singles() {
  std::vector<Planted> list;
  for (const Port& port : ports()) {
    list.push_back({&port, {}});
    for (const oracle::Variation& variation : port.oracle->variations)
      list.push_back({&port, {variation.name}});
  }
  return list;
}

void PrintTo(const Planted& planted, std::ostream* out) {
  PrintTo(planted.port, out);
  for (const std::string& each : planted.variations) *out << ' ' << each;
}

/// The explanation names exactly what was planted, or what no input tells from it; what the original's own
/// arguments cannot show is no fault of a port, and nothing is named. Returns whether it shows.
bool expect_named(const Planted& planted) {
  const Explanation found = explained(planted);
  std::vector<std::string> named = found.set;
  named.insert(named.end(), found.open_set.begin(), found.open_set.end());
  const bool shows = found.plain.wrong > 0 || found.open_differs;
  EXPECT_TRUE(found.explains);
  // Of two that give the same with this original's arguments either is named, and the other listed beside it.
  const bool listed = std::any_of(found.others.begin(), found.others.end(), [&](const auto& other) {
    return joined(other) == joined(planted.variations);
  });
  if (shows && !listed) {
    EXPECT_EQ(joined(named), joined(planted.variations))
        << planted.port->op << ", others: " << (found.others.empty() ? "" : joined(found.others[0]));
  } else if (shows) {
    EXPECT_EQ(named.size(), planted.variations.size()) << joined(named);
  } else {
    EXPECT_TRUE(named.empty()) << joined(named);
  }
  return shows;
}

class EveryVariation : public testing::TestWithParam<Planted> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EveryVariation);  // in the first tier

TEST_P(EveryVariation, IsNamed) { expect_named(GetParam()); }

class EveryForm : public testing::TestWithParam<const Port*> {};

TEST_P(EveryForm, NamesNothingWhereNothingIsWrong) { EXPECT_FALSE(expect_named({GetParam(), {}})); }

/// A variation of an op, and the forms in which the op is ported, from the one that is asked first on.
struct OfForms {
  std::string variation;
  std::vector<const Port*> forms;
};
void PrintTo(const OfForms& of, std::ostream* out) { *out << of.forms.front()->op << ' ' << of.variation; }

class EveryVariationOfAnOp : public testing::TestWithParam<OfForms> {};

/// In one form that shows it: the second tier asks every form.
TEST_P(EveryVariationOfAnOp, IsNamedInAForm) {
  for (const Port* form : GetParam().forms)
    if (expect_named({form, {GetParam().variation}})) return;
}

/// The forms take turns to be asked first.
std::vector<OfForms> variations_of_ops() {
  std::map<const oracle::Oracle*, std::vector<const Port*>> forms;
  for (const Port& port : ports()) forms[port.oracle].push_back(&port);
  std::vector<OfForms> list;
  for (const Port& port : ports()) {
    std::vector<const Port*> turn = std::exchange(forms[port.oracle], {});
    if (turn.empty()) continue;  // the op has had its turn
    for (const oracle::Variation& variation : port.oracle->variations) {
      list.push_back({variation.name, turn});
      std::rotate(turn.begin(), turn.begin() + 1, turn.end());
    }
  }
  return list;
}

std::string name_of_test(const testing::TestParamInfo<Planted>& info) {
  std::string name = info.param.port->functions.front() + "_" +
                     (info.param.port->roles.back().returned ? "returned_" : "") +
                     (info.param.variations.empty() ? "plain" : joined(info.param.variations));
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name + "_" + std::to_string(info.index);
}

/// Whether a call's answer is another with that variation, where the original does not leave it open.
bool shows_in(const Given& given, const Port& port, const std::string& variation) {
  const oracle::Expected other = varied(given, *port.oracle, oracle::Variations({variation}));
  for (std::size_t t = 0; t < other.tensors.size(); ++t) {
    const oracle::ExpectedTensor &plain = given.plain.tensors[t], &its = other.tensors[t];
    for (std::size_t i = 0; i < its.value.size(); ++i)
      if (!given.open[t][i] &&
          (plain.written[i] != its.written[i] ||
           (plain.written[i] && !holds(plain, i, core::round_to(its.dtype, its.value[i])))))
        return true;
  }
  return false;
}

/// Some eight of the pairs of variations that show alone, spread over all of them, four where there are very
/// many, of which each takes longer as well; the first tier has an eighth of them.
std::vector<Planted> pairs(const Port& port) {
  const std::vector<oracle::Variation>& all = port.oracle->variations;
  std::vector<std::shared_ptr<const Given>> probes;
  for (const std::string& line : port.original->probes) probes.push_back(given_by_line(port, line));
  std::map<std::size_t, bool> known;
  const auto shows = [&](std::size_t v) {
    const auto [at, fresh] = known.emplace(v, false);
    if (fresh)
      at->second = std::any_of(probes.begin(), probes.end(),
                               [&](const auto& probe) { return shows_in(*probe, port, all[v].name); });
    return at->second;
  };
  std::vector<Planted> list;
  const std::size_t share = (all.size() > 30 ? 8 : 16) / (tests::has_every_case() ? 1 : 8);
  const std::size_t step = std::max<std::size_t>(11, all.size() * all.size() / share | 1);
  std::size_t turn = step;  // since the last that was taken
  for (std::size_t a = 0; a < all.size(); ++a)
    for (std::size_t b = a + 1; b < all.size(); ++b)
      if (turn++ >= step && shows(a) && shows(b)) {
        list.push_back({&port, {all[a].name, all[b].name}});
        turn = 1;
      }
  return list;
}

class EveryOp : public testing::TestWithParam<const Port*> {};

TEST_P(EveryOp, PairsAreNamedOrNoInputTellsTheSetThatIs) {
  const std::vector<Planted> planted_pairs = pairs(*GetParam());
  EXPECT_FALSE(planted_pairs.empty() && GetParam()->oracle->variations.size() > 5);
  for (const Planted& planted : planted_pairs) {
    const Explanation found = explained(planted);
    ASSERT_TRUE(found.explains) << joined(planted.variations) << " named " << joined(found.set);
    if (joined(found.set) == joined(planted.variations)) continue;
    // A smaller set that gives the same, or one of those that are listed beside it.
    const bool listed = std::any_of(found.others.begin(), found.others.end(), [&](const auto& other) {
      return joined(other) == joined(planted.variations);
    });
    EXPECT_TRUE(listed || found.set.size() < planted.variations.size())
        << joined(planted.variations) << " named " << joined(found.set);
  }
}

/// Wrong in every third element, by a factor that is nobody's.
class WrongInThirds : public FakeCandidate {
 public:
  using FakeCandidate::FakeCandidate;
  Answer call(const Entry& entry, const std::vector<Value>& arguments,
              const CallSettings& settings) const override {
    Answer answer = FakeCandidate::call(entry, arguments, settings);
    for (Value& each : answer.returned)
      if (each.is_tensor() && each.tensor.dtype == DType::bf16)
        for (std::int64_t i = 0; i < each.tensor.numel(); i += 3) {
          auto* element = static_cast<std::uint16_t*>(each.tensor.data) + i;
          const double value = core::decode(DType::bf16, reinterpret_cast<const std::byte*>(element));
          core::encode(DType::bf16, 1.25 * value, element);
        }
    return answer;
  }
};

TEST(ACauseThatNobodyKnows, IsGivenUpBeforeTheTimeThatThereIs) {
  const auto port = std::find_if(ports().begin(), ports().end(), [](const Port& each) {
    return each.op == "weight_dequant" && each.roles.back().returned;
  });
  ASSERT_NE(port, ports().end());
  const WrongInThirds candidate(*port, {});
  Questions questions;
  const Explanation found =
      explain_numbers(candidate, original_form(candidate.entries().front(), *port), *port, questions)
          .explanation;
  EXPECT_FALSE(found.explains);
  EXPECT_GT(found.plain.wrong, 10000u);
  // All pairs on all calls, and what grows of them, are ten times as many.
  EXPECT_LT(found.steps, questions.patience / 10);
}

/// One form of each: what a port returns and what it writes are the same numbers.
std::vector<const Port*> one_of_each_function() {
  std::vector<const Port*> list;
  for (const Port& port : ports())
    if (std::none_of(list.begin(), list.end(),
                     [&](const Port* other) { return other->functions.front() == port.functions.front(); }))
      list.push_back(&port);
  return list;
}

INSTANTIATE_TEST_SUITE_P(Of, EveryOp, testing::ValuesIn(one_of_each_function()), [](const auto& info) {
  return info.param->functions.front() + "_" + std::to_string(info.index);
});

std::vector<const Port*> all_ports() {
  std::vector<const Port*> list;
  for (const Port& port : ports()) list.push_back(&port);
  return list;
}

INSTANTIATE_TEST_SUITE_P(Of, EveryForm, testing::ValuesIn(all_ports()), [](const auto& info) {
  return info.param->functions.front() + "_" + std::to_string(info.index);
});

INSTANTIATE_TEST_SUITE_P(Of, EveryVariationOfAnOp,
                         testing::ValuesIn(tests::every_nth(variations_of_ops(), 18)), [](const auto& info) {
                           std::string name =
                               info.param.forms.front()->oracle->contract->op + "_" + info.param.variation;
                           std::replace_if(
                               name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); },
                               '_');
                           return name + "_" + std::to_string(info.index);
                         });

/// In every form: the second tier.
INSTANTIATE_TEST_SUITE_P(Of, EveryVariation, testing::ValuesIn(tests::in_second_tier(singles())),
                         name_of_test);

}  // namespace
}  // namespace isomer::lab
