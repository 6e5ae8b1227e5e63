#pragma once

#include <isomer/explain.hpp>
#include <isomer/plan.hpp>
#include <isomer/queue.hpp>
#include <isomer/tensor.hpp>

#include <cstdint>

namespace isomer {

/// How a scale is rounded. Either way it is stored as f32.
enum class ScaleFormat : std::uint8_t {
  f32,    ///< amax / 448 as it is
  ue8m0,  ///< the smallest power of two that is not below amax / 448
};

/// How the scales of a matrix lie in memory.
enum class ScaleLayout : std::uint8_t {
  row_major,     ///< the scales of one row are adjacent
  column_major,  ///< the scales of one column are adjacent, and columns begin a multiple of 4 elements apart
                 ///< (TMA)
};

/// Tensors of act_quant.
struct ActQuantArgs {
  Tensor x;  ///< f32, f16 or bf16 [..., K]; K a multiple of block_size; last dimension contiguous
  Tensor y;  ///< e4m3fn, shape of x; last dimension contiguous
  Tensor s;  ///< f32 [..., K / block_size], laid out as scale_layout says
};

/// Options of act_quant.
struct ActQuantOptions {
  std::int64_t block_size = 128;  ///< 32, 64, 128 or 256
  /// The least amax of a block: finite and not negative. 0 gives the semantics of DeepSeek's first release,
  /// in which an all-zero block has scale 0 and NaN elements.
  float amax_floor = 1e-4f;
  ScaleFormat scale_format = ScaleFormat::f32;  ///< how s is rounded
  /// column_major asks for s.stride(-2) = 1 and for s.stride(-1) a multiple of 4.
  ScaleLayout scale_layout = ScaleLayout::row_major;
};

/// FP8 quantisation by blocks of a row: for each block_size elements, amax = max(max|x|, amax_floor), s =
/// amax / 448 (rounded up to a power of two for ue8m0) and y = e4m3fn(x / s), divisions correctly rounded in
/// f32, the conversion to nearest even and saturating. A NaN makes its whole block and its scale NaN; an inf
/// makes the scale inf, the block's finite elements 0 and its infinite ones NaN. An empty x does nothing.
/// Throws Error bad_argument for what the shapes, options and strides above do not allow. Source of the
/// semantics: DeepSeek-V3 inference/kernel.py, act_quant.
ISOMER_API void act_quant(const Queue& queue, const ActQuantArgs& args, const ActQuantOptions& options = {});

/// What act_quant would run for this call; nothing runs and nothing is written. Throws like act_quant.
ISOMER_API Explanation explain(const Queue& queue, const ActQuantArgs& args,
                               const ActQuantOptions& options = {});

/// act_quant planned for calls that differ in addresses alone: see isomer/plan.hpp. Throws like act_quant.
ISOMER_API Plan<ActQuantArgs> plan(const Queue& queue, const ActQuantArgs& args,
                                   const ActQuantOptions& options = {});

}  // namespace isomer
