#pragma once

#include "lab/evidence/variations/numbers.hpp"

#include <optional>

namespace isomer::lab {

/// A sum of the op's over the elements of a part of the threads alone, such as the first half of a warp, the
/// rest being left out, with which all answers are right. None where there is no such sum.
std::optional<Finding> sum_of_a_part(const Port& port, const Numbers& numbers);

}  // namespace isomer::lab
