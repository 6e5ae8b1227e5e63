#pragma once

#include "lab/candidate/candidate.hpp"

#include <string>

namespace isomer::lab {

/// Who can call a function that is defined in a source: nobody outside of it (static, inline, in a namespace
/// without a name), C++ callers, or whoever opens the library (extern "C"). `text` has no comments.
Linkage linkage_of(const std::string& text, const std::string& function, int line);

}  // namespace isomer::lab
