#pragma once

#include "lab/ask/recorded/replayed.hpp"

#include <vector>

namespace isomer::lab {

/// As the approach, for calls that are compared with answers by their numbers alone: without the watch, where
/// it saw nothing in those and takes long.
Approach for_numbers(const Approach& approach, const std::vector<CallOutcome>& outcomes);

}  // namespace isomer::lab
