// What the kernels of this folder take.
#pragma once

#include "gpu/device/tensor_map.h"

namespace isomer::device {

struct HopperParameters {
  TensorMap from, other, to, half;
  f32* out;
};

struct PipelinedParameters {
  TensorMap from, other, to;
  u32* next;
  i32 tiles, across;  ///< all tiles, and those of one row of tiles
  i32 blocks;         ///< of 64 k
};

struct CopyParameters {
  TensorMap from, to;
  u32* seen;
  i32 corner[5];
  u32 bytes;  ///< of the box
};

}  // namespace isomer::device
