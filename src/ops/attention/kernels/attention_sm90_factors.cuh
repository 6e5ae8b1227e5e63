// What scores and values of a tile are multiplied by. Of 16-bit types a launch has one scale; of keys of e4m3
// the descales of an entry and kv head belong to it.
#pragma once

#include "ops/attention/kernels/attention_sm90_room.cuh"

namespace isomer::device::attention_sm90 {

/// A tile's, which the producer writes behind its description.
struct Factors {
  f32 scale_log2, lowest;
  f32 descale;  ///< of S, where it is not part of the scale
  f32 cap;
  f32 of_values;  ///< of Σ P·v
};
ISOMER_DEVICE Factors get_factors(u32 slot, const Parameters& p) {
  u32 words[4];
  sm90::load_shared(slot + 48, words);
  return {f32_of(words[0]), f32_of(words[1]), f32_of(words[2]), p.cap, f32_of(words[3])};
}

/// Of 16-bit types, as softmax wants it.
struct Scale {
  f32 scale_log2, lowest;
};

// The scale lies in a register of each lane, where one is left: a multiply-add with an operand in a uniform
// register, as products have their descriptors in, takes twice as long beside products.
constexpr bool kScaleInEveryLane = kScaled ? kGroups == 3 : !(kDim == 192 && kDimV == 128);
/// x there. The compiler does not see that it is the same in all of them.
ISOMER_DEVICE f32 in_every_lane(f32 x) { return fmaf(static_cast<f32>(threadIdx.x), 0.0f, x); }

}  // namespace isomer::device::attention_sm90
