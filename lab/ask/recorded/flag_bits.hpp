#pragma once

#include <map>
#include <string>
#include <vector>

namespace isomer::lab {

/// Which bit of a number of flags says which of the label's options, as a source says it: by the name of a
/// constant that is a power of two, by a comment (`bit 1: maximize`), or where it asks a bit of the parameter
/// for a variable. Options that it does not name are left out.
std::map<std::string, int> flag_bits(const std::string& source, const std::string& parameter,
                                     const std::vector<std::string>& options);

}  // namespace isomer::lab
