#pragma once

#include <isomer/act_quant.hpp>

#include <cstdint>

namespace isomer {

/// Tensors of one linear layer in block-scaled FP8 whose input is not quantised yet. The last dimension of x,
/// b, c and addend is contiguous; every other stride is free, and so is every stride of b_s and of bias.
struct Fp8LinearArgs {
  Tensor x;    ///< f32, f16 or bf16 [..., K], K a multiple of 128; the leading dimensions together are M rows
  Tensor b;    ///< e4m3fn [N, K]: the weights
  Tensor b_s;  ///< f32 [ceil(N/128), K/128]: one scale per 128×128 block of b
  Tensor c;    ///< f32, f16 or bf16 [..., N]; may be addend itself
  Tensor bias = {};    ///< optional f32, f16 or bf16 [N], added to every row
  Tensor addend = {};  ///< optional [..., N] of c's dtype, added to the product; c itself accumulates into c
};

/// Options of fp8_linear.
struct Fp8LinearOptions {
  ScaleFormat scale_format = ScaleFormat::f32;  ///< how the scales of x are rounded
  float amax_floor = 1e-4f;                     ///< the least amax of a block of x: finite and not negative
  /// 1 promises that nothing which is still under way in the queue writes b: see Fp8GemmOptions.
  std::int64_t b_ready = 0;
};

/// c = fp8_gemm of act_quant of x in blocks of 128, with the bits of these two calls; c is rounded once. On
/// a GPU it is one plan of two launches: codes and scales of x lie in its workspace, K + 4K/128 bytes for
/// each row. Throws Error bad_argument, with nothing written, when a clause of the contract does not hold.
/// Source of the semantics: DeepSeek-V3 inference/model.py (linear), with act_quant and fp8_gemm of
/// inference/kernel.py.
ISOMER_API void fp8_linear(const Queue& queue, const Fp8LinearArgs& args,
                           const Fp8LinearOptions& options = {});

/// What fp8_linear would run for this call; nothing runs and nothing is written. Throws like fp8_linear.
ISOMER_API Explanation explain(const Queue& queue, const Fp8LinearArgs& args,
                               const Fp8LinearOptions& options = {});

/// fp8_linear planned for calls that differ in addresses alone: see isomer/plan.hpp. Throws like fp8_linear.
ISOMER_API Plan<Fp8LinearArgs> plan(const Queue& queue, const Fp8LinearArgs& args,
                                    const Fp8LinearOptions& options = {});

}  // namespace isomer
