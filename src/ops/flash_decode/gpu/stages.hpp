#pragma once

#include "core/plan.hpp"
#include "gpu/plan.hpp"
#include "ops/flash_decode/flash_decode.hpp"
#include "ops/flash_decode/kernels/stage1.h"
#include "ops/flash_decode/kernels/stage2.h"

namespace isomer::ops::flash_decode {

/// The blocks' results: [B, Hq, nb, D] and [B, Hq, nb] in any strides.
struct MidTensors {
  Tensor out, lse;
};

/// What stage 1 is compiled for.
struct BlockShape {
  BlockShape(const Inputs& in, const gpu::Facts& facts);

  bool int8 = false;  ///< k and v
  /// 16-bit products by tensor cores: on NVIDIA from sm_80 on, and on the emulator with the same warps.
  bool tensor_cores = false;
  std::int64_t head_dim = 0;  ///< D, rounded up
  std::int64_t heads = 0;     ///< query heads of a kv head that one thread block takes, at most
  std::int64_t chunks = 0;    ///< thread blocks for all of them
  std::int64_t resident = 0;  ///< thread blocks that a multiprocessor of an NVIDIA GPU holds at once
};

/// Stage 1 as a launch: what is decided of it before it runs.
struct BlockLaunch {
  /// `blocks` may hold `longest` tokens of each sequence.
  BlockLaunch(const Inputs& in, const gpu::Facts& facts, std::int64_t block_seq, std::int64_t blocks,
              std::int64_t longest);

  bool empty = false;  ///< no query, or no token in any sequence
  gpu::Step step;
  float scale = 0;  ///< as it multiplies the logits

  /// In words.
  core::Named parameters() const, constants() const;

  /// Of k and v of q's type, and of int8 ones.
  device::FlashDecodeStage1Parameters arguments(const Inputs& in, const MidTensors& to) const;
  device::FlashDecodeStage1Int8Parameters int8_arguments(const Inputs& in, const MidTensors& to) const;

 private:
  std::int64_t heads_ = 0, heads_kv_ = 0;
  device::FlashDecodeStage1Parameters fixed_{};
};

/// Stage 2.
struct MergeLaunch {
  /// Of results in `mid_dtype` whose rows can be read 16 bytes at a time where `vectors`.
  MergeLaunch(const Tensor& out, DType mid_dtype, bool vectors, std::int64_t block_seq, std::int64_t longest);

  bool empty = false;
  gpu::Step step;

  device::FlashDecodeStage2Parameters arguments(const MidTensors& from, const Tensor& lengths,
                                                const Tensor& out) const;

 private:
  device::FlashDecodeStage2Parameters fixed_{};
};

/// Whether rows along the last dimension can be read 16 bytes at a time.
bool rows_of_16_bytes(const Tensor& tensor);

}  // namespace isomer::ops::flash_decode
