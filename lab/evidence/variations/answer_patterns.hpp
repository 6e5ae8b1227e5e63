#pragma once

#include "lab/evidence/variations/numbers.hpp"

#include <optional>

namespace isomer::lab {

/// What the answers of all calls have in common that no variation of the op explains: elements of an output
/// exchanged with their neighbours, the op's times one number, or divided by a part's maximum where the whole
/// block's is stored. None where one call has another look.
std::optional<Finding> pattern_of_answers(const Port& port, const Numbers& numbers);

/// What answers have in common that no variation explains, whether the op's arithmetic is exact or not:
/// nothing is wrong but one end, or the sums or maxima are those of a part.
std::optional<Finding> pattern_of_unexplained(const Port& port, const Numbers& numbers);

}  // namespace isomer::lab
