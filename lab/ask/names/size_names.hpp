#pragma once

#include <map>
#include <string>
#include <vector>

namespace isomer::lab {

/// What the letters of the contracts' shapes are called in kernels, in lower case: "Hq" is heads, num_heads,
/// ….
const std::map<std::string, std::vector<std::string>>& size_names();

}  // namespace isomer::lab
