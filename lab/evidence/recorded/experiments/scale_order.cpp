#include "lab/evidence/recorded/experiments/experiments.hpp"

#include <fmt/format.h>

namespace isomer::lab {

void add_scale_order_experiments(const Approach& approach, const Replayed& replayed,
                                 std::vector<Experiment>& list) {
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
