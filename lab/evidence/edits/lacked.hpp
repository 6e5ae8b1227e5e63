#pragma once

#include "lab/evidence/edits/values.hpp"

#include <vector>

namespace isomer::lab {

/// What one part of a value may lack: a factor of a term, of a way of a choice or of an argument; the list
/// that an index goes through; the infinity that a minimum or maximum begins with.
void add_lacked(const EditPlaces& places, const std::vector<SourceValue>& values, ChangedValues& changed);

}  // namespace isomer::lab
