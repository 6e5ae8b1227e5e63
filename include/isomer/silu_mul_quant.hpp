#pragma once

#include <isomer/act_quant.hpp>

namespace isomer {

/// What lies between the two products of a gated layer: the first product's halves become the second one's
/// quantised operand. The last dimension of x and y is contiguous; every other stride is free.
struct SiluMulQuantArgs {
  Tensor x;  ///< f32, f16 or bf16 [M, 2K], or [G, R, 2K] with row_counts; K a multiple of 128. The gate is
             ///< the first half of a row, what it multiplies the second
  Tensor y;  ///< e4m3fn [M, K], or [G, R, K]
  Tensor s;  ///< f32 [M, K/128], or [G, R, K/128], laid out as scale_layout says
  Tensor row_counts = {};  ///< i32 [G], values in [0, R]: rows that each entry has, as grouped_fp8_gemm's
};

/// Options of silu_mul_quant.
struct SiluMulQuantOptions {
  float amax_floor = 1e-4f;                     ///< the least amax of a block: finite and not negative
  ScaleFormat scale_format = ScaleFormat::f32;  ///< how s is rounded
  /// column_major asks for s.stride(-2) = 1 and for s.stride(-1) a multiple of 4.
  ScaleLayout scale_layout = ScaleLayout::row_major;
};

/// h = x₀ / (1 + e^(−x₀)) · x₁ in f32, with x₀ = x[…, :K] and x₁ = x[…, K:], then act_quant of h in blocks of
/// 128 with no rounding between: amax = max(max|h|, amax_floor), s = amax / 448 (rounded up to a power of two
/// for ue8m0), y = e4m3fn(h / s), to nearest even and saturating. h may differ by a few units in its last
/// place from one implementation to another, so s may too, and y where a quotient lies next to the middle of
/// two values of e4m3. A NaN in h makes its whole block and its scale NaN; an inf makes the scale inf, the
/// block's finite elements 0 and its infinite ones NaN. With row_counts the rows past an entry's count are
/// neither read nor written; a count outside [0, R] is an error on the CPU and in checked mode, and clamped
/// elsewhere. An empty x does nothing. Throws Error bad_argument, with nothing written, for what the shapes,
/// options and strides above do not allow. Source of the semantics: DeepSeek-V3 inference/model.py, Expert
/// and MLP (w2(silu(w1(x)) * w3(x))), and act_quant of inference/kernel.py behind it.
///
/// A layer of experts is three calls on one queue, which nothing on the host comes between:
/// grouped_fp8_gemm into x [.., 2K] with the weights of gate and up one above the other, silu_mul_quant, and
/// grouped_fp8_gemm of y and s. Padding rows of the contiguous layout are 0 in x and become 0.
ISOMER_API void silu_mul_quant(const Queue& queue, const SiluMulQuantArgs& args,
                               const SiluMulQuantOptions& options = {});

/// What silu_mul_quant would run for this call; nothing runs and nothing is written. Throws like
/// silu_mul_quant.
ISOMER_API Explanation explain(const Queue& queue, const SiluMulQuantArgs& args,
                               const SiluMulQuantOptions& options = {});

/// silu_mul_quant planned for calls that differ in addresses alone: see isomer/plan.hpp. Throws like
/// silu_mul_quant.
ISOMER_API Plan<SiluMulQuantArgs> plan(const Queue& queue, const SiluMulQuantArgs& args,
                                       const SiluMulQuantOptions& options = {});

}  // namespace isomer
