#pragma once

#include "lab/evidence/edits/values.hpp"

#include <vector>

namespace isomer::lab {

/// Values as others that are made in the same way are: what one of two terms, or of two statements, lacks.
/// Besides numbers that are rounded to whole ones in another way, factors that stand inside a minimum or a
/// maximum or outside of it, and functions of the source in each other's place.
void add_siblings(const EditPlaces& places, const std::vector<SourceValue>& values, ChangedValues& changed);

}  // namespace isomer::lab
