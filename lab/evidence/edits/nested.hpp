#pragma once

#include "lab/evidence/edits/values.hpp"

#include <vector>

namespace isomer::lab {

/// Bounds inside of a function or outside of it, a sign that is lost, a factor that belongs to the other of
/// two terms or twice to one, numbers in place of variables, and what is clamped and goes round.
void add_nested(const EditPlaces& places, const std::vector<SourceValue>& values, ChangedValues& changed);

}  // namespace isomer::lab
