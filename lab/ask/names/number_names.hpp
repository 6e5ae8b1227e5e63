#pragma once

#include "lab/ask/port.hpp"

#include <optional>
#include <string_view>

namespace isomer::lab {

/// What a real number of this name is, of an op whose original has none: an option's default for eps, the
/// largest and least number of the output's type for fp8_max and fp8_min. Nothing where the name says
/// nothing.
std::optional<double> number_by_name(const Port& port, std::string_view name);

}  // namespace isomer::lab
