#pragma once

#include "lab/candidate/folder.hpp"
#include "lab/candidate/recording.hpp"
#include "lab/findings/finding.hpp"

#include <vector>

namespace isomer::lab {

/// What is wrong with the test and the instruction of a case, whatever its candidates are like: a test that
/// compares nothing, leaves an output out, or whose inputs hide a fault or have no defined answer; an
/// instruction that says of the call what the label and the recorded calls are not. Reads the instruction's
/// text, the recorded values and the facts that the recorder left (metadata "facts"); without those only what
/// the values show.
std::vector<Finding> audit(const CaseFolder& folder, const Recording& recording);

}  // namespace isomer::lab
