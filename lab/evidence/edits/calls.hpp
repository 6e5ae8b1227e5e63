#pragma once

#include "lab/evidence/edits/values.hpp"

#include <vector>

namespace isomer::lab {

/// Calls whose arguments were taken otherwise: `f(a) - f(b)` for `f(a - b)` and the other way round, and
/// `g(f(a), b)` for `g(a, f(b))`, with f of one number.
void add_calls(const EditPlaces& places, const std::vector<SourceValue>& values, ChangedValues& changed);

}  // namespace isomer::lab
