#pragma once

#include <isomer/dtype.hpp>

#include "cpu/target.hpp"

#include <cstddef>
#include <cstdint>

namespace isomer::ops::flash_decode {

/// One block of one sequence for some adjacent kv heads, with every query head of their groups. Strides in
/// elements.
struct Block {
  DType dtype;  ///< of q, and of k and v but where they are int8
  std::int64_t heads_kv, group, head_dim;
  float scale;
  const std::byte* q;  ///< first query head
  std::int64_t q_head, q_inner;
  const std::byte *k, *v;  ///< first kv head of slot 0
  std::int64_t k_slot, k_head, k_inner, v_slot, v_head, v_inner;
  const std::int32_t* tokens;  ///< slot of the block's first token
  std::int64_t token_step, count;
  float* out;  ///< normalised result of the first query head
  std::int64_t out_head, out_inner;
  float* lse;
  std::int64_t lse_head;
  /// Of int8 k and v, else null: the scale of slot 0 and the first kv head, strides in elements, and the step
  /// from the scale of 8 channels to that of the next (0: a row has one).
  const std::byte *k_scale = nullptr, *v_scale = nullptr;
  DType scale_type = DType::none;
  std::int64_t ks_slot = 0, ks_head = 0, ks_step = 0, vs_slot = 0, vs_head = 0, vs_step = 0;
};

/// Attends over the block's tokens. `scratch`: block_scratch_bytes, 64-byte aligned.
using BlockFunction = void (*)(const Block& block, void* scratch);
const cpu::PerTarget<BlockFunction>& block_function();

/// Tokens that go through the softmax together: K and V of one kv head, 32 rows of 256 f32 at most, keep
/// within L1 and L2, and the exponentials and the rescaling are few beside the products.
inline constexpr std::int64_t kTile = 32;
std::size_t block_scratch_bytes(std::int64_t heads, std::int64_t head_dim);

}  // namespace isomer::ops::flash_decode
