// How the bulk copy engine is told about a tensor: what the host encodes and a kernel takes among its
// parameters.
#pragma once

#include "gpu/device/types.h"

namespace isomer::device {

/// A field of a parameter struct that the kernel takes as `const __grid_constant__`.
struct alignas(64) TensorMap {
  u64 words[16];
};

}  // namespace isomer::device
