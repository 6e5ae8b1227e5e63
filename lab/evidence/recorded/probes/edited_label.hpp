#pragma once

#include "lab/ask/recorded/replayed.hpp"
#include "lab/findings/finding.hpp"

#include <string>
#include <vector>

namespace isomer::lab {

/// The cause of wrong answers that are what the label gives once its text has one edit: the recorder has
/// tried many. Of no code where they are none of these, or too many to tell which. `label` is its file.
/// `others`: calls of other signatures, which the edit is to explain as well; may be null.
Finding of_edited_label(const AnsweredGroup& group, const Recording& recording, const std::string& label,
                        const std::vector<AnsweredGroup>* others);

}  // namespace isomer::lab
