#pragma once

#include "lab/evidence/edits/values.hpp"

#include <vector>

namespace isomer::lab {

/// A term of a value once more, behind what the whole is scaled by: `(i + 0.5f) / scale - 0.5f`.
void add_repeated(EditPlaces& places, const std::vector<SourceValue>& values, ChangedValues& changed);

}  // namespace isomer::lab
