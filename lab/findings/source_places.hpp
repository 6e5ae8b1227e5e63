#pragma once

#include "lab/findings/finding.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace isomer::lab {

/// Gives findings of numbers the line of the source where the fault probably stands. A place is never
/// evidence.
void add_places(std::vector<Finding>& findings, const std::string& source, const std::string& file);

/// The first line that matches one of the patterns, the first pattern first; 0 where none does. What a kernel
/// computes comes before what the host does, and that before what is declared; of an enumeration a line is
/// taken only where no other matches. Comments and quoted text are not looked at.
int line_of(const std::string& source, const std::vector<std::string_view>& patterns);

}  // namespace isomer::lab
