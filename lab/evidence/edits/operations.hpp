#pragma once

#include "lab/evidence/edits/values.hpp"

#include <vector>

namespace isomer::lab {

/// Operations that one operand of a value may lack: a function of the label's, a remainder, a quotient or a
/// product of whole numbers; what is counted and is no constant; an index that begins further on; bytes of
/// which one element has more than one; a place that goes on where it is read.
void add_operations(const EditPlaces& places, const std::vector<SourceValue>& values, ChangedValues& changed);

}  // namespace isomer::lab
