#pragma once

#include "core/registry.hpp"

#include <string>
#include <vector>

namespace isomer::lab {

/// The plan for one case, nothing run.
struct CaseExplanation {
  std::string line;
  Explanation plan;
};

/// Plans a case line on this machine. `implementation` forces one; empty lets the registry choose. Throws
/// Error bad_argument for a malformed line or an unknown implementation.
CaseExplanation explain(const std::string& line, const std::string& implementation);
std::string explain_text(const CaseExplanation& explanation);
/// The JSON of design.md, version 1.
std::string explain_json(const CaseExplanation& explanation);

}  // namespace isomer::lab
