#include "core/codec.hpp"
#include "lab/evidence/recorded/experiments/experiments.hpp"
#include "oracle/expected.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <optional>

namespace isomer::lab {
namespace {

using Elements = std::vector<double>;

/// Changes the elements of a tensor, `width` of them to a row.
std::function<void(std::vector<Value>&)> changed_elements(
    int role, std::function<void(Elements& elements, std::size_t width)> change) {
  return [role, change](std::vector<Value>& values) {
    Value& value = values[static_cast<std::size_t>(role)];
    if (!value.is_tensor() || value.tensor.empty()) return;
    Elements elements = oracle::elements(value.tensor);
    change(elements, static_cast<std::size_t>(value.tensor.size(-1)));
    Value compact = compact_copy(value);
    const auto size = static_cast<std::size_t>(size_of(value.tensor.dtype));
    for (std::size_t i = 0; i < elements.size(); ++i)
      core::encode(value.tensor.dtype, elements[i],
                   static_cast<std::byte*>(compact.storage.get()) + i * size);
    value = std::move(compact);
  };
}

std::function<void(Elements&, std::size_t)> times(double factor) {
  return [factor](Elements& elements, std::size_t) {
    for (double& each : elements) each *= factor;
  };
}

void subtract_means(Elements& elements, std::size_t width) {
  for (std::size_t row = 0; row + width <= elements.size(); row += width) {
    double sum = 0;
    for (std::size_t c = row; c < row + width; ++c) sum += elements[c];
    for (std::size_t c = row; c < row + width; ++c) elements[c] -= sum / static_cast<double>(width);
  }
}

/// Whether an answer is a multiple of the reference: a factor of its own, which units of an input would only
/// say in other words.
bool is_a_multiple(const Replayed& replayed, const CallOutcome& outcome) {
  for (std::size_t t = 0; t < replayed.outputs.size(); ++t) {
    const Elements want = oracle::elements(replayed.outputs[t].want);
    const Elements& got = outcome.got[t];
    if (outcome.wrong[t] == 0 || got.size() != want.size()) continue;
    double product = 0, squares = 0, own = 0;
    for (std::size_t i = 0; i < want.size(); ++i) {
      product += want[i] * got[i];
      squares += want[i] * want[i];
      own += got[i] * got[i];
    }
    if (!(product * product < 0.99999 * squares * own)) return true;
  }
  return false;
}

/// Results as large as the input keep its signs, which magnitudes do not have.
std::function<Elements(const Replayed::Output&, Elements)> with_signs(std::int64_t count) {
  return [count](const Replayed::Output& of, Elements got) {
    if (of.want.numel() != count || static_cast<std::int64_t>(got.size()) != count) return got;
    const Elements want = oracle::elements(of.want);
    for (std::size_t i = 0; i < got.size(); ++i) got[i] = std::copysign(got[i], want[i]);
    return got;
  };
}

/// What is done to an input, and what the answer's being right then says.
struct Transform {
  Code code;
  std::function<void(Elements&, std::size_t)> change;
  double answer = 1;  ///< the answer times that
  const char *said, *fix;
  bool turns = false;  ///< changes the order of the elements for the opposite
};

std::vector<Transform> transforms_of(const Value& value, bool multiple) {
  const Elements elements = oracle::elements(value.tensor);
  std::vector<Transform> list;
  if (value.tensor.size(-1) > 2)
    list.push_back({Code::missing_term, subtract_means, 1,
                    "if the mean of each row of {} is subtracted beforehand",
                    "subtract the mean of the row of {}, as the original does"});
  if (std::any_of(elements.begin(), elements.end(), [](double each) { return each < 0; }))
    list.push_back({Code::missing_absolute,
                    [](Elements& all, std::size_t) {
                      for (double& each : all) each = std::fabs(each);
                    },
                    1, "if {} has no negative elements",
                    "take the magnitudes of {} where the original does"});
  if (std::all_of(elements.begin(), elements.end(), [](double each) { return each >= 0 && each <= 1; }) &&
      std::any_of(elements.begin(), elements.end(), [](double each) { return each > 0 && each < 1; }))
    list.push_back({Code::inverted_condition,
                    [](Elements& all, std::size_t) {
                      for (double& each : all) each = 1 - each;
                    },
                    1, "if one less {} is given: what it weighs and what the rest weighs are exchanged",
                    "weigh the two as the original does: the one by {}, the other by the rest of 1"});
  if (multiple) return list;
  constexpr double kDegrees = 180 / std::numbers::pi;
  struct Factor {
    double by;
    const char* said;
  };
  const double root = std::sqrt(static_cast<double>(value.tensor.size(-1)));
  const std::vector<Factor> factors = {{0.5, "if {} is multiplied by 0.5"},
                                       {2, "if {} is multiplied by 2"},
                                       {-1, "if {} has the other sign"},
                                       {1 / root, "if {} is divided by the root of its last size"},
                                       {root, "if {} is multiplied by the root of its last size"},
                                       {0.25, "if {} is multiplied by 0.25"},
                                       {4, "if {} is multiplied by 4"}};
  list.push_back({Code::missing_scale, times(kDegrees), 1,
                  "if {} is given in degrees, that is, multiplied by 180 / pi",
                  "take {} in radians, as the original does"});
  list.push_back({Code::missing_scale, times(1 / kDegrees), 1,
                  "if {} is given in radians, that is, multiplied by pi / 180",
                  "take {} in degrees, as the original does"});
  list.push_back({Code::log_base, times(std::numbers::log2e), 1, "if {} is multiplied by log2(e)",
                  "take powers of e of {}, not powers of 2, or multiply the exponents by log2(e)"});
  list.push_back({Code::log_base, times(std::numbers::ln2), 1, "if {} is multiplied by ln(2)",
                  "take powers of 2 of {}, as the original does"});
  list.push_back({Code::log_base, times(std::numbers::log2e), std::numbers::ln2,
                  "if {} is multiplied by log2(e), and the answer by ln(2): its exponentials and logarithms "
                  "have base 2",
                  "take exponentials and logarithms of {} with base e"});
  for (const Factor& factor : factors)
    list.push_back({Code::missing_scale, times(factor.by), 1, factor.said,
                    "multiply {} by the factor that the original multiplies it by", factor.by == -1});
  return list;
}

/// Whether the results are places alone: which element it is, and not what it is.
bool chooses(const Replayed& replayed) {
  return std::none_of(replayed.outputs.begin(), replayed.outputs.end(), [](const Replayed::Output& output) {
    return is_float(output.want.dtype) || size_of(output.want.dtype) < 4;
  });
}

/// One input times or plus another of its shape: of a candidate that leaves out a factor, or something added.
void add_other_inputs(const Approach& approach, const Replayed& replayed, std::vector<Experiment>& list) {
  constexpr std::size_t kMost = 4;
  std::vector<std::size_t> roles;
  for (const Passing& passing : approach.form.passings) {
    if (passing.what != Passing::What::role) continue;
    const auto role = static_cast<std::size_t>(passing.role);
    const Value& value = replayed.values[role];
    if (!replayed.roles[role].output && value.is_tensor() && is_float(value.tensor.dtype) &&
        value.tensor.numel() >= 8 && size_of(value.tensor.dtype) >= 4)
      roles.push_back(role);
  }
  if (roles.size() > kMost) return;
  for (const std::size_t one : roles)
    for (const std::size_t other : roles) {
      const Tensor &a = replayed.values[one].tensor, &b = replayed.values[other].tensor;
      if (one == other || a.rank != b.rank ||
          !std::equal(a.shape.begin(), a.shape.begin() + a.rank, b.shape.begin()))
        continue;
      for (const bool times : {true, false}) {
        Adaptation adaptation;
        adaptation.before = [one, other, times](std::vector<Value>& values) {
          if (!values[one].is_tensor() || !values[other].is_tensor() || values[one].tensor.empty()) return;
          const Elements by = oracle::elements(values[other].tensor);
          changed_elements(static_cast<int>(one), [&](Elements& elements, std::size_t) {
            for (std::size_t i = 0; i < elements.size() && i < by.size(); ++i)
              elements[i] = times ? elements[i] * by[i] : elements[i] + by[i];
          })(values);
        };
        Experiment experiment{.form = approach.form, .adaptations = {std::move(adaptation)}};
        const std::string &name = replayed.roles[one].name, &of = replayed.roles[other].name;
        experiment.finding.code = times ? Code::missing_scale : Code::missing_term;
        experiment.finding.argument = of;
        experiment.finding.evidence =
            times ? fmt::format(
                        "the answer is right if {} is multiplied by {}, element by "
                        "element, beforehand",
                        name, of)
                  : fmt::format("the answer is right if {} is added to {} beforehand", of, name);
        experiment.finding.fix =
            times ? fmt::format("multiply {} by {} as well, where the original does", name, of)
                  : fmt::format("add {} to {}, where the original does", of, name);
        list.push_back(std::move(experiment));
      }
    }
}

}  // namespace

void add_transform_experiments(const Approach& approach, const Replayed& replayed,
                               std::vector<Experiment>& list) {
  constexpr std::int64_t kMostElements = 1 << 20;
  constexpr std::int64_t kFewest = 4;
  std::optional<bool> multiple;
  for (const Passing& passing : approach.form.passings) {
    if (passing.what != Passing::What::role) continue;
    const auto role = static_cast<std::size_t>(passing.role);
    const Value& value = replayed.values[role];
    if (replayed.roles[role].output || !value.is_tensor() || !is_float(value.tensor.dtype) ||
        value.tensor.rank == 0 || value.tensor.numel() < kFewest || value.tensor.numel() > kMostElements)
      continue;
    if (!multiple) {
      const CallOutcome outcome = replay_once(approach, replayed);
      if (!outcome.answer.ok()) return;
      multiple = is_a_multiple(replayed, outcome);
    }
    const std::string& name = replayed.roles[role].name;
    for (Transform& each : transforms_of(value, *multiple)) {
      Adaptation adaptation;
      adaptation.before = changed_elements(passing.role, std::move(each.change));
      if (each.answer != 1)
        adaptation.after = [by = each.answer](const Replayed::Output& of, Elements got) {
          if (is_float(of.want.dtype))
            for (double& e : got) e *= by;
          return got;
        };
      // Of several results only: of a single one its signs may be what is wrong.
      if (each.code == Code::missing_absolute && replayed.outputs.size() > 1)
        adaptation.after = with_signs(value.tensor.numel());
      Experiment experiment{.form = approach.form, .adaptations = {std::move(adaptation)}};
      // What is changed is rounded once more.
      experiment.rtol = size_of(value.tensor.dtype) < 4 ? 16 * core::unit_roundoff(value.tensor.dtype) : 0;
      experiment.finding.code = each.code;
      experiment.finding.argument = name;
      experiment.finding.evidence =
          fmt::format(fmt::runtime(std::string("the answer is right ") + each.said), name);
      experiment.finding.fix = fmt::format(fmt::runtime(each.fix), name);
      if (each.turns && chooses(replayed)) {
        experiment.finding.code = Code::inverted_condition;
        experiment.finding.evidence +=
            ": of its elements the least are chosen where the original chooses the largest, or the other way "
            "round";
        experiment.finding.fix = fmt::format("compare the elements of {} the other way round", name);
      }
      list.push_back(std::move(experiment));
    }
  }
  add_other_inputs(approach, replayed, list);
}

}  // namespace isomer::lab
