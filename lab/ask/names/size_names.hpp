#pragma once

#include <map>
#include <string>
#include <vector>

namespace isomer::lab {

/// What the letters of the contracts' shapes are called in kernels, in lower case: "Hq" is heads, num_heads,
/// ….
const std::map<std::string, std::vector<std::string>>& size_names();

/// Whether the name, in lower case, is one of the names, wherever words are set apart: numqheads is
/// num_q_heads.
bool one_of(const std::vector<std::string>& names, const std::string& name);

}  // namespace isomer::lab
