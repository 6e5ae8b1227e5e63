#pragma once

#include "gpu/plan.hpp"

#include <memory>
#include <vector>

namespace isomer::ops::attention {

/// "cuda/sm90_wide": values of up to 512 columns, and queries of v, on Hopper.
std::vector<std::unique_ptr<const core::Implementation>> sm90_wide();

}  // namespace isomer::ops::attention
