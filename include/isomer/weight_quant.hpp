#pragma once

#include <isomer/act_quant.hpp>

namespace isomer {

/// Tensors of weight_quant.
struct WeightQuantArgs {
  Tensor x;  ///< f32, f16 or bf16 [M, N], any M and N; last dimension contiguous
  Tensor y;  ///< e4m3fn [M, N]; last dimension contiguous
  Tensor s;  ///< f32 [ceil(M / block_size), ceil(N / block_size)], laid out as scale_layout says
};

/// Options of weight_quant.
struct WeightQuantOptions {
  std::int64_t block_size = 128;                ///< rows and columns that share one scale; at least 1
  float amax_floor = 1e-4f;                     ///< the least amax of a block: finite and not negative
  ScaleFormat scale_format = ScaleFormat::f32;  ///< how s is rounded
  /// column_major asks for s.stride(-2) = 1 and for s.stride(-1) a multiple of 4.
  ScaleLayout scale_layout = ScaleLayout::row_major;
};

/// FP8 quantisation by square blocks, which weight_dequant turns back: for each block of block_size rows and
/// columns (at a ragged edge of those that are there) s = max(max|x|, amax_floor) / 448, rounded up to a
/// power of two for ue8m0, and y = e4m3fn(x / s), divisions correctly rounded in f32, the conversion to
/// nearest even and saturating. NaN and inf are as in act_quant: a NaN makes its block and its scale NaN, an
/// inf makes the scale inf, the block's finite elements 0 and its infinite ones NaN. An empty x does nothing.
/// Throws Error bad_argument for other dtypes, shapes and options.
ISOMER_API void weight_quant(const Queue& queue, const WeightQuantArgs& args,
                             const WeightQuantOptions& options = {});

/// What weight_quant would run for this call; nothing runs and nothing is written. Throws like weight_quant.
ISOMER_API Explanation explain(const Queue& queue, const WeightQuantArgs& args,
                               const WeightQuantOptions& options = {});

/// weight_quant planned for calls that differ in addresses alone: see isomer/plan.hpp. Throws like
/// weight_quant.
ISOMER_API Plan<WeightQuantArgs> plan(const Queue& queue, const WeightQuantArgs& args,
                                      const WeightQuantOptions& options = {});

}  // namespace isomer
