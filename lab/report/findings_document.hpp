#pragma once

#include <string>

namespace isomer::lab {

/// docs/findings.md: every strength and every code there is, with what it means, in the order of the
/// registry.
std::string findings_document();

}  // namespace isomer::lab
