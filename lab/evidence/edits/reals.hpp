#pragma once

#include "lab/evidence/edits/values.hpp"

#include <vector>

namespace isomer::lab {

/// Real numbers that were taken otherwise: with another sign, from the edge of a pixel and not from its
/// middle, its reciprocal, rounded in another way, as the argument of a function, or within a bound of the
/// label's.
void add_reals(const EditPlaces& places, const std::vector<SourceValue>& values, ChangedValues& changed);

}  // namespace isomer::lab
