#pragma once

#include "core/registry.hpp"

#include <string>
#include <vector>

namespace isomer::lab {

/// The plan for one case, nothing run.
struct Explanation {
  std::string op, line;
  std::string implementation;  ///< empty where none accepts
  std::vector<core::NamedRefusal> refusals;
  core::Description description;
  std::size_t workspace_bytes = 0;
};

/// Plans a case line on this machine. `implementation` forces one; empty lets the registry choose. Throws
/// Error bad_argument for a malformed line or an unknown implementation.
Explanation explain(const std::string& line, const std::string& implementation);
std::string explain_text(const Explanation& explanation);
/// The JSON of design.md, version 1.
std::string explain_json(const Explanation& explanation);

}  // namespace isomer::lab
