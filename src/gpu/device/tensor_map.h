// How the bulk copy engine is told about a tensor: what the host encodes and a kernel takes among its
// parameters.
#pragma once

#include "gpu/device/types.h"

namespace isomer::device {

/// A field of a parameter struct that the kernel takes as `const __grid_constant__`.
struct alignas(64) TensorMap {
  u64 words[16];
};

/// What the emulator encodes into those words: the description itself, innermost dimension first.
struct EmulatedTensorMap {
  u64 address;
  u64 size[5];
  u64 stride_bytes[5];  ///< [0] is an element's size
  u32 box[5];
  u8 rank;
  u8 swizzle_bytes;  ///< 0, 32, 64 or 128
};
static_assert(sizeof(EmulatedTensorMap) <= sizeof(TensorMap), "the description must fit a tensor map");

}  // namespace isomer::device
