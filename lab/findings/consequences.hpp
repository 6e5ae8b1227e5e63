#pragma once

#include "lab/findings/finding.hpp"

#include <vector>

namespace isomer::lab {

/// Adds to what the calls themselves showed (`findings`) what the numbers and the probes showed, each once,
/// and leaves out what is the consequence of another of them: one fault is one finding.
/// `recorded`: callers' own calls were among those asked.
void add_causes(std::vector<Finding> numbers, std::vector<Finding> probed, std::vector<Finding>& findings,
                bool recorded);

/// Leaves memory of a block that is read before it is written, and of what comes of it nothing: places that
/// are made of it are any, and what lies elsewhere then is not written.
void leave_unwritten_shared(std::vector<Finding>& findings);

}  // namespace isomer::lab
