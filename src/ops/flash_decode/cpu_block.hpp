#pragma once

#include "cpu/target.hpp"

#include <cstddef>
#include <cstdint>

namespace isomer::ops::flash_decode {

/// One block of one kv head of one sequence, with every query head of its group. Strides in elements.
struct Block {
  DType dtype;  ///< of q, k and v
  std::int64_t heads, head_dim;
  float scale;
  const std::byte* q;  ///< first query head
  std::int64_t q_head, q_inner;
  const std::byte *k, *v;  ///< this kv head of slot 0
  std::int64_t k_slot, k_inner, v_slot, v_inner;
  const std::int32_t* tokens;  ///< slot of the block's first token
  std::int64_t token_step, count;
  float* out;  ///< normalised result of the first query head
  std::int64_t out_head, out_inner;
  float* lse;
  std::int64_t lse_head;
};

/// Attends over the block's tokens. `scratch`: block_scratch_bytes, 64-byte aligned.
using BlockFunction = void (*)(const Block& block, void* scratch);
const cpu::PerTarget<BlockFunction>& block_function();

/// Tokens whose K or V is converted to f32 at a time: 32 rows of 256 keep within a 32 KiB L1, as little as
/// helps to hide the exponentials and the rescaling.
inline constexpr std::int64_t kTile = 32;
std::size_t block_scratch_bytes(std::int64_t heads, std::int64_t head_dim);

}  // namespace isomer::ops::flash_decode
