#pragma once

#include "lab/diff/difference.hpp"

#include <string>
#include <vector>

namespace isomer::lab {

/// What the differences between two captures probably mean and what to look at next, most important first.
std::vector<std::string> verdict_of(const DiffResult& result);

}  // namespace isomer::lab
