#pragma once

#include "lab/ask/recorded/replayed.hpp"
#include "lab/findings/finding.hpp"

#include <string>
#include <vector>

namespace isomer::lab {

/// The cause of wrong answers that are what the label gives once its text has one edit: the recorder has
/// tried many. Of no code where they are none of these, or too many to tell which. `label` is its file.
Finding of_edited_label(const Approach& approach, const Recording& recording, const std::string& label,
                        const std::vector<Replayed>& calls, const std::vector<CallOutcome>& outcomes);

}  // namespace isomer::lab
