#pragma once

#include "lab/ask/trial.hpp"

#include <vector>

namespace isomer::lab {

/// What one letter says is little: with a default, which sizes of tensors have not, it is left at that, and
/// of two that come to the same size the second may be anything, such as a count of tiles: it joins `unsure`.
void doubt_letters(const Entry& entry, std::vector<Passing>& passings, std::vector<int>& unsure);

}  // namespace isomer::lab
