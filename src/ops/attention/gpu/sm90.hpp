#pragma once

#include "gpu/plan.hpp"

#include <memory>
#include <vector>

namespace isomer::ops::attention {

/// "cuda/sm90": f16 and bf16 on Hopper.
std::vector<std::unique_ptr<const core::Implementation>> sm90();

}  // namespace isomer::ops::attention
