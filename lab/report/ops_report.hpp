#pragma once

#include <string>
#include <vector>

namespace isomer::lab {

/// The ops with their implementations, and whole contracts where some are named. Throws Error bad_argument
/// for an unknown op.
std::string ops_text(const std::vector<std::string>& names);
/// One entry per op with its contract and each implementation's availability; version 1.
std::string ops_json(const std::vector<std::string>& names);

}  // namespace isomer::lab
