#pragma once

#include "lab/evidence/variations/numbers.hpp"

#include <optional>

namespace isomer::lab {

/// Of an op that scales blocks by their largest magnitude: that each scale that is wrong is made of another
/// element of its block, which is smaller than some that are left out. Nothing where it is not so.
std::optional<Finding> maximum_of_a_part(const Port& port, const Numbers& numbers);

}  // namespace isomer::lab
