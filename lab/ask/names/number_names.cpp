#include "lab/ask/names/number_names.hpp"

#include "lab/text/lower_case.hpp"
#include "lab/text/pattern.hpp"

#include <string>

namespace isomer::lab {
namespace {

bool holds(std::string_view name, std::string_view part) { return name.find(part) != std::string_view::npos; }

}  // namespace

std::optional<double> number_by_name(const Port& port, std::string_view name) {
  const std::string asked = lower_case(name);
  const core::Contract& contract = *port.oracle->contract;
  // What quantised keys and values are multiplied by is 1 of those that are not.
  static const Pattern kOfCache("(k|v|kv|key|value)_?(cache_?)?(de)?_?(quant_?)?scale(_float)?");
  if (port.op == "attention" && kOfCache.is(asked)) return 1;
  for (const core::Option& option : contract.options) {
    if (option.kind != core::Option::Kind::f32) continue;
    const std::string own = lower_case(option.name);
    // What is left to the op is no number to multiply q·k by.
    if (own == "scale" && option.value == 0) continue;
    const bool floor = holds(own, "floor") || holds(own, "eps") || holds(own, "min");
    if (asked == own || (floor && (holds(asked, "eps") || holds(asked, "floor") || holds(asked, "amax_min") ||
                                   holds(asked, "min_amax"))))
      return option.value;
  }
  const bool most = holds(asked, "max"), least = holds(asked, "min");
  if (!most && !least) return std::nullopt;
  for (const core::Arg& argument : contract.args) {
    if (argument.role == core::Role::in) continue;
    for (const DType dtype : argument.dtypes) {
      const double largest = dtype == DType::e4m3fn     ? 448
                             : dtype == DType::e4m3fnuz ? 240
                             : dtype == DType::e5m2     ? 57344
                             : dtype == DType::i8       ? 127
                                                        : 0;
      if (largest > 0) return most ? largest : -largest;
    }
  }
  return std::nullopt;
}

}  // namespace isomer::lab
