#pragma once

#include "lab/evidence/edits/values.hpp"

#include <vector>

namespace isomer::lab {

/// Whole numbers that a dimension is missing from or that are aligned at the other end: `n * H + h` for `h`,
/// and `i + K - Q` for `i`; and an index that its neighbours leave out.
void add_dimensions(const EditPlaces& places, const std::vector<SourceValue>& values, ChangedValues& changed);

}  // namespace isomer::lab
