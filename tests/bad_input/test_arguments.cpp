// Every argument of every function, spoiled in every way in which a tensor can be wrong whatever the op.
#include "attempt.hpp"
#include "first_tier.hpp"
#include "oracle/oracle.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>

namespace isomer::bad_input {
namespace {

/// Calls try(what) with the argument spoiled in one way after the other.
class Spoiler {
 public:
  Spoiler(Attempt& attempt, int argument)
      : attempt_(attempt),
        index_(argument),
        arg_(attempt.call().contract->args[static_cast<std::size_t>(argument)]),
        written_(core::role_in(attempt.call(), static_cast<std::size_t>(argument)) != core::Role::in) {}

  template <class Try>
  void every_way(Try&& attempt) {
    const Tensor good = attempt_.tensor(index_);
    const auto spoil = [&](const std::string& what, const std::function<void(Tensor&)>& change,
                           bool names = true) {
      change(attempt_.tensor(index_));
      attempt(arg_.name + " " + what, names);
      attempt_.tensor(index_) = good;
    };
    if (!arg_.optional) spoil("absent", [](Tensor& t) { t = {}; });
    for (int type = 1; type < kDTypeCount; ++type) {
      const auto wrong = static_cast<DType>(type);
      if (std::find(arg_.dtypes.begin(), arg_.dtypes.end(), wrong) == arg_.dtypes.end())
        spoil("as " + std::string(name_of(wrong)), [&](Tensor& t) { t.dtype = wrong; });
    }
    spoil("on a GPU", [](Tensor& t) { t.device = {DeviceType::cuda, 0}; });
    // These two may be blamed on another argument with which this one no longer agrees.
    spoil(
        "of rank 0", [](Tensor& t) { t.rank = 0; }, false);
    spoil(
        "of rank 8",
        [](Tensor& t) {
          std::fill(t.shape.begin() + t.rank, t.shape.end(), 1);
          std::fill(t.strides.begin() + t.rank, t.strides.end(), 1);
          t.rank = 8;
        },
        false);
    for (int d = 0; d < good.rank; ++d) {
      const auto at = static_cast<std::size_t>(d);
      const std::string where = " in dimension " + std::to_string(d);
      spoil("of negative size" + where, [&](Tensor& t) { t.shape[at] = -1; });
      spoil("of smallest size" + where, [&](Tensor& t) { t.shape[at] = INT64_MIN; });
      if (!good.empty() && good.stride(d) != 0) {
        spoil("of huge size" + where, [&](Tensor& t) { t.shape[at] = INT64_MAX; });
        spoil(
            "of size 2^61" + where, [&](Tensor& t) { t.shape[at] = std::int64_t{1} << 61; }, false);
      }
      if (good.empty() || good.size(d) < 2) continue;
      spoil("of huge stride" + where, [&](Tensor& t) { t.strides[at] = INT64_MAX; });
      if (written_) spoil("broadcast" + where, [&](Tensor& t) { t.strides[at] = 0; });
    }
    if (good.empty()) return;
    spoil("with null data", [](Tensor& t) { t.data = nullptr; });
    if (size_of(good.dtype) > 1)
      spoil("misaligned", [](Tensor& t) { t.data = static_cast<std::byte*>(t.data) + 1; });
    if (arg_.strides != core::Strides::any && good.size(-1) > 1)
      spoil("with inner stride 2", [](Tensor& t) { t.strides[static_cast<std::size_t>(t.rank - 1)] = 2; });
    if (!written_) return;
    for (int other = 0; other < attempt_.call().count; ++other) {
      const Tensor& under = attempt_.tensor(other);
      if (other == index_ || under.empty() || !under.defined()) continue;
      // Its second element, so that it is nobody's very view.
      std::int64_t step = 0;
      for (int d = 0; d < under.rank; ++d)
        if (under.size(d) > 1 && under.stride(d) > 0 && (step == 0 || under.stride(d) < step))
          step = under.stride(d);
      spoil("over " + attempt_.call().contract->args[static_cast<std::size_t>(other)].name,
            [&](Tensor& t) { t.data = static_cast<std::byte*>(under.data) + step * size_of(under.dtype); });
    }
  }

 private:
  Attempt& attempt_;
  int index_;
  const core::Arg& arg_;
  bool written_;
};

/// Of an op's ordinary cases the first tier runs one in so many.
constexpr std::size_t kNth = 24;

class EveryFunction : public testing::TestWithParam<std::string> {
 protected:
  const Function& function() const { return function_of(GetParam()); }
};

TEST_P(EveryFunction, RefusesEveryArgumentSpoiledInEveryWay) {
  for (const std::string& line : function().good) {
    Attempt attempt(line);
    ASSERT_EQ(attempt.cxx(), "") << line;
    for (int i = 0; i < attempt.call().count; ++i) {
      const core::Arg& arg = attempt.call().contract->args[static_cast<std::size_t>(i)];
      if (!attempt.call().tensor(i).defined()) continue;
      Spoiler(attempt, i).every_way([&](const std::string& what, bool names) {
        const std::string sentence = attempt.refused(line + ": " + what);
        if (names) {
          EXPECT_NE(sentence.find(arg.name), std::string::npos)
              << line << ": " << what << " gave: " << sentence;
        }
      });
    }
    EXPECT_EQ(attempt.cxx(), "") << line;
  }
}

TEST_P(EveryFunction, HasEveryArgumentInItsGoodCases) {
  std::set<std::string> given, declared;
  for (const std::string& line : function().good) {
    Attempt attempt(line);
    for (int i = 0; i < attempt.call().count; ++i) {
      const std::string& name = attempt.call().contract->args[static_cast<std::size_t>(i)].name;
      declared.insert(name);
      if (attempt.call().tensor(i).defined()) given.insert(name);
    }
  }
  EXPECT_EQ(given, declared);
}

TEST_P(EveryFunction, RefusesTensorsWhoseFieldsHoldNonsense) {
  for (const std::string& line : function().good) {
    Attempt attempt(line);
    for (int i = 0; i < attempt.call().count; ++i) {
      const Tensor good = attempt.tensor(i);
      if (!good.defined()) continue;
      const std::string subject =
          function().op + ": " + attempt.call().contract->args[static_cast<std::size_t>(i)].name + " has ";
      const auto refused = [&](const std::string& what, const std::function<void(Tensor&)>& spoil) {
        spoil(attempt.tensor(i));
        const std::string sentence = attempt.refused_in_cxx(line + ": " + what);
        EXPECT_TRUE(sentence.starts_with(subject + what)) << line << ": " << what << " gave: " << sentence;
        attempt.tensor(i) = good;
      };
      refused("rank -1", [](Tensor& t) { t.rank = -1; });
      refused("rank 9", [](Tensor& t) { t.rank = 9; });
      refused("rank 2147483647", [](Tensor& t) { t.rank = INT32_MAX; });
      refused("rank -2147483648", [](Tensor& t) { t.rank = INT32_MIN; });
      refused("dtype unknown", [](Tensor& t) { t.dtype = static_cast<DType>(kDTypeCount); });
      refused("dtype unknown", [](Tensor& t) { t.dtype = static_cast<DType>(255); });
    }
    EXPECT_EQ(attempt.cxx(), "") << line;
  }
}

TEST_P(EveryFunction, RefusesInCWhatATensorCannotHold) {
  for (const std::string& line : function().good) {
    Attempt attempt(line);
    for (int i = 0; i < attempt.call().count; ++i) {
      if (!attempt.call().tensor(i).defined()) continue;
      const std::string subject =
          function().op + ": " + attempt.call().contract->args[static_cast<std::size_t>(i)].name + ": ";
      const auto refused = [&](const std::string& what, const std::function<void(isomer_tensor&)>& spoil) {
        CTensors tensors(attempt.call());
        spoil(tensors.slots[static_cast<std::size_t>(i)]);
        const std::string sentence = attempt.refused_in_c(tensors, line + ": " + what);
        EXPECT_TRUE(sentence.starts_with(subject)) << line << ": " << what << " gave: " << sentence;
      };
      refused("ndim -1", [](isomer_tensor& t) { t.ndim = -1; });
      refused("ndim 9", [](isomer_tensor& t) { t.ndim = 9; });
      refused("ndim INT32_MAX", [](isomer_tensor& t) { t.ndim = INT32_MAX; });
      refused("null shape", [](isomer_tensor& t) { t.shape = nullptr; });
      refused("two lanes", [](isomer_tensor& t) { t.dtype.lanes = 2; });
      refused("no lanes", [](isomer_tensor& t) { t.dtype.lanes = 0; });
      refused("unknown type", [](isomer_tensor& t) { t.dtype.code = 200; });
      refused("unknown width", [](isomer_tensor& t) { t.dtype.bits = 5; });
      refused("unknown device", [](isomer_tensor& t) { t.device.device_type = 7; });
    }
  }
}

TEST_P(EveryFunction, RefusesInCStructsThatNoHeaderHad) {
  Attempt attempt(function().good.front());
  const auto refused = [&](const std::string& expected, const std::function<void(CTensors&)>& spoil) {
    CTensors tensors(attempt.call());
    spoil(tensors);
    const std::string sentence = attempt.refused_in_c(tensors, expected);
    EXPECT_NE(sentence.find(expected), std::string::npos) << sentence;
  };
  refused("args is null", [](CTensors& t) { t.without_args = true; });
  refused("args.size", [](CTensors& t) { t.args_growth = 8; });
  refused("args.size", [](CTensors& t) { t.args_growth = static_cast<isomer_uint64>(-8); });
  refused("args.size", [](CTensors& t) { t.args_growth = UINT64_MAX / 2; });
  refused("options.size", [](CTensors& t) { t.options_growth = 8; });
  refused("options.size", [](CTensors& t) { t.options_growth = static_cast<isomer_uint64>(-1); });
  CTensors tensors(attempt.call());
  EXPECT_EQ(function().c(nullptr, attempt.call(), tensors), ISOMER_BAD_ARGUMENT);
  EXPECT_EQ(isomer_last_error(), function().op + ": queue is null");
}

TEST_P(EveryFunction, GivesInCWhatItGivesInCxx) {
  for (const oracle::Case& each : tests::cases_of_tier(*oracle::find_oracle(function().op), kNth)) {
    Attempt attempt(each.line());
    const std::string before = attempt.bytes();
    ASSERT_EQ(attempt.cxx(), "") << each.line();
    const std::string cxx = attempt.bytes();
    attempt.restore(before);
    ASSERT_EQ(attempt.c(), "") << each.line();
    EXPECT_TRUE(attempt.bytes() == cxx) << each.line();
  }
}

TEST_P(EveryFunction, ExplainsEveryGoodCallAndWritesNothing) {
  for (const oracle::Case& each : tests::cases_of_tier(*oracle::find_oracle(function().op), kNth)) {
    Attempt attempt(each.line());
    const std::string before = attempt.bytes();
    EXPECT_EQ(attempt.explain(), "") << each.line();
    EXPECT_TRUE(attempt.bytes() == before) << each.line();
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, EveryFunction, testing::ValuesIn([] {
                           std::vector<std::string> names;
                           for (const Function& function : functions()) names.push_back(function.op);
                           return names;
                         }()),
                         [](const auto& parameter) { return parameter.param; });

TEST(Functions, AreAllOps) {
  std::set<std::string> tried, all;
  for (const Function& function : functions()) tried.insert(function.op);
  for (const oracle::Oracle& oracle : oracle::oracles()) all.insert(oracle.contract->op);
  EXPECT_EQ(tried, all);
}

/// What a run of the tests prints at its end: how many bad calls were tried, from files that each test
/// program leaves.
class Tally : public testing::Environment {
 public:
  void TearDown() override {
    if (Attempt::count() == 0) return;
    const testing::UnitTest& run = *testing::UnitTest::GetInstance();
    std::string name = testing::GTEST_FLAG(filter);
    std::replace_if(
        name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
    std::filesystem::create_directories(ISOMER_TALLY);
    std::ofstream(ISOMER_TALLY "/" + name.substr(0, 120)) << Attempt::count() << "\n";
    std::printf("bad calls refused: %d, in %d tests\n", Attempt::count(), run.test_to_run_count());
  }
};

const testing::Environment* const kTally = testing::AddGlobalTestEnvironment(new Tally);

}  // namespace
}  // namespace isomer::bad_input
