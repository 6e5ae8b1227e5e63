#pragma once

#include "ops/attention/gpu/tiling.hpp"
#include "ops/attention/kernels/attention.h"

namespace isomer::ops::attention {

/// What every kernel of one call is given. The workspace has tiling.workspace_bytes().
device::AttentionParameters parameters_of(const Geometry& geometry, const GpuTiling& tiling, void* workspace);

}  // namespace isomer::ops::attention
