#pragma once

#include "lab/findings/finding.hpp"

#include <vector>

namespace isomer::lab {

/// Adds to what the calls themselves showed (`findings`) what the numbers and the probes showed, each once,
/// and leaves out what is the consequence of another of them: one fault is one finding.
/// `recorded`: callers' own calls were among those asked.
void add_causes(std::vector<Finding> numbers, std::vector<Finding> probed, std::vector<Finding>& findings,
                bool recorded);

}  // namespace isomer::lab
