#pragma once

#include "gpu/plan.hpp"

namespace isomer::ops::attention {

/// "cuda/sm80" and "emulated/sm80": tiles of mma.sync, for Ampere, Ada and what comes after.
std::vector<std::unique_ptr<const core::Implementation>> sm80();

}  // namespace isomer::ops::attention
