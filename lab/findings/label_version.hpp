#pragma once

#include "lab/findings/finding.hpp"

#include <string>

namespace isomer::lab {

/// The original of an op is published in versions, and a label is one of them: what a candidate has in common
/// with its label is no fault of it. Turns findings of such constants (the floor of a maximum) into notes
/// where the label's text has the same.
void follow_label(const std::string& label, Diagnosis& diagnosis);

}  // namespace isomer::lab
