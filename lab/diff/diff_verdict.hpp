#pragma once

#include "lab/diff/difference.hpp"
#include "lab/diff/messages.hpp"

#include <string>
#include <vector>

namespace isomer::lab {

/// What the differences between two captures probably mean and what to look at next, most important first.
/// What is incomplete is said before everything else, then where both sides ran and how long the GPU worked.
std::vector<std::string> verdict_of(const DiffResult& result, const Messages& messages = Messages::english());

}  // namespace isomer::lab
