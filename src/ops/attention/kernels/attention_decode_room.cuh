// The tile's constants, and what a block of the decode kernel has in shared memory.
#pragma once

#include "gpu/device/portable.cuh"
#include "ops/attention/kernels/attention_decode_rows.cuh"
#include "ops/attention/kernels/attention_stream_k.cuh"
#include "ops/attention/kernels/attention_tile.cuh"

namespace isomer::device {

using Element = ISOMER_ELEMENT;
#ifdef ISOMER_ELEMENT_KV
using Key = ISOMER_ELEMENT_KV;
using Weight = f16;  // holds every e4m3fn, and more digits of a weight than bf16
/// Binary digits by which weights are larger while keys are read, so that f16 has those that are small.
constexpr f32 kRoom = 14;
#else
using Key = Element;
using Weight = Element;
constexpr f32 kRoom = 0;
#endif
constexpr f32 kUnit = kRoom > 0 ? 0x1p-14f : 1.0f;  // what a weight of 1 is multiplied with afterwards
constexpr bool kBytes = sizeof(Key) == 1;
constexpr int kThreads = ISOMER_THREADS, kRows = ISOMER_BLOCK_M, kResident = ISOMER_RESIDENT;
constexpr int kDim = ISOMER_HEAD_DIM, kDimV = ISOMER_HEAD_DIM_V;  // rounded up
constexpr int kKeys = ISOMER_BLOCK_N, kWarps = kThreads / 32, kTile = kKeys / kWarps, kGroups = kTile / 16;
constexpr int kColumns = kRows / 8, kSteps = kDim / 32, kChunks = kDimV / 64;
constexpr int kPitch = kDim + 8;  // 16 bytes more than a row: eight rows of 16 bytes meet different banks
// Whether a lane has registers for K and V of a tile at once; else V is loaded when K has been used.
constexpr bool kAhead = kBytes || kDim + kDimV <= 256;
static_assert(kWarpSize == 32 && kRows % 8 == 0 && kDim % 64 == 0 && kDimV % 64 == 0 &&
              kGroups * 16 * kWarps == kKeys && kGroups <= 2);

using KeyRows = attention::KeyRows<Key, kDim>;
using ValueRows = attention::ValueRows<Key, kDimV>;
using Place = attention::RowPlace<kBytes>;

/// Of each warp's keys: the largest logit of a row, Σ P and Σ P·v. Logits carry the factor log2(e).
struct Shared {
  attention::Task task, last, next_one;  // the one in work, the one before it and the one behind it
  alignas(16) Element q[kRows * kPitch];
  int lo[kRows], hi[kRows];                          // keys that a row sees
  alignas(16) Place places[kWarps][2][kTile];        // of two tiles
  alignas(16) Place first_places[kWarps][2][kTile];  // of the first two of the task behind it
  f32 max[kWarps][kRows], sum[kWarps][kRows];
  alignas(16) f32 out[kWarps][kRows][kDimV];
  attention::Division<kThreads> division;
  attention::RowsOfBlock rows;  // where a worker has a share
  int worker;
  bool works, done, more;  // there is a task in work, a result of the one before it, a task behind it
  Count next;  // task, where each entry's keys are divided by itself; entry, where a worker has a share
};
static_assert(sizeof(Shared) <= 48 << 10);

/// A number that what follows is computed from here, and not before the loop over tasks, where it would take
/// registers for as long as that runs.
ISOMER_DEVICE int from_here(u32 number) {
#if ISOMER_CUDA_ARCH
  asm volatile("" : "+r"(number));
#endif
  return static_cast<int>(number);
}

}  // namespace isomer::device
