#include "core/codec.hpp"
#include "lab/evidence/recorded/experiments/experiments.hpp"
#include "oracle/expected.hpp"

#include <fmt/format.h>

#include <cmath>

namespace isomer::lab {

namespace {

/// The one number of an argument: as it is passed, or as a tensor of one element; NaN: it has several.
double number_of(const Value& value) {
  if (value.kind == Value::Kind::real) return value.real;
  if (value.is_tensor() && value.tensor.numel() == 1 && is_float(value.tensor.dtype))
    return oracle::elements(value.tensor).front();
  return NAN;
}

Value with_elements(const Value& value, double by, bool set) {
  Value made = compact_copy(value);
  const std::vector<double> elements = oracle::elements(value.tensor);
  const auto size = static_cast<std::size_t>(size_of(value.tensor.dtype));
  for (std::size_t i = 0; i < elements.size(); ++i)
    core::encode(value.tensor.dtype, set ? by : elements[i] * by,
                 static_cast<std::byte*>(made.storage.get()) + i * size);
  return made;
}

/// A tensor multiplied by a number beforehand, which is then 1: of a candidate that multiplies a function of
/// it.
void add_inner_factors(const Approach& approach, const Replayed& replayed, std::vector<Experiment>& list) {
  for (const Passing& one : approach.form.passings)
    for (const Passing& other : approach.form.passings) {
      if (one.what != Passing::What::role || other.what != Passing::What::role || one.role == other.role)
        continue;
      const auto a = static_cast<std::size_t>(one.role), b = static_cast<std::size_t>(other.role);
      const Value &values = replayed.values[a], &number = replayed.values[b];
      if (!number.is_tensor() || replayed.roles[a].output || replayed.roles[b].output ||
          !values.is_tensor() || values.tensor.numel() < 8 || !is_float(values.tensor.dtype))
        continue;
      const double by = number_of(number);
      if (!std::isfinite(by) || by == 0 || by == 1) continue;
      Adaptation adaptation;
      adaptation.before = [a, b](std::vector<Value>& given) {
        const double factor = number_of(given[b]);
        if (!std::isfinite(factor) || !given[a].is_tensor()) return;
        given[a] = with_elements(given[a], factor, false);
        given[b] = with_elements(given[b], 1, true);
      };
      Experiment experiment{.form = approach.form, .adaptations = {adaptation}};
      const std::string &of = replayed.roles[a].name, &name = replayed.roles[b].name;
      experiment.finding.code = Code::missing_scale;
      experiment.finding.argument = name;
      experiment.finding.evidence = fmt::format(
          "the answer is right if {} is multiplied by {} beforehand and 1 is passed for {}: a function of {} "
          "is "
          "multiplied by it, not what it is a function of",
          of, name, name, of);
      experiment.finding.fix =
          fmt::format("multiply {} by {} before the function, as the original does", of, name);
      list.push_back(std::move(experiment));
    }
}

}  // namespace

void add_scale_order_experiments(const Approach& approach, const Replayed& replayed,
                                 std::vector<Experiment>& list) {
  add_inner_factors(approach, replayed, list);
  const auto is_scale = [&](const Passing& passing) {
    if (passing.what != Passing::What::role) return false;
    const Value& value = replayed.values[static_cast<std::size_t>(passing.role)];
    return value.kind == Value::Kind::real && value.real != 0;
  };
  for (const Passing& one : approach.form.passings)
    for (const Passing& other : approach.form.passings) {
      if (!is_scale(one) || !is_scale(other) || one.role == other.role) continue;
      const auto a = static_cast<std::size_t>(one.role), b = static_cast<std::size_t>(other.role);
      const std::string &of = replayed.roles[a].name, &by = replayed.roles[b].name;
      for (const bool divided : {true, false}) {
        Adaptation adaptation;
        adaptation.before = [a, b, divided](std::vector<Value>& values) {
          const double scale = values[b].real;
          values[a].real = divided ? values[a].real / scale : values[a].real * scale;
        };
        Experiment experiment{.form = approach.form, .adaptations = {adaptation}};
        experiment.finding.code = Code::missing_scale;
        experiment.finding.argument = of;
        experiment.finding.evidence = fmt::format(
            "the answer is right if {} is {} by {}: it is applied to values that are {} multiplied by {}", of,
            divided ? "divided" : "multiplied", by, divided ? "not yet" : "already", by);
        experiment.finding.fix = fmt::format("apply {} and {} in the original's order", by, of);
        list.push_back(std::move(experiment));
      }
    }
}

}  // namespace isomer::lab
