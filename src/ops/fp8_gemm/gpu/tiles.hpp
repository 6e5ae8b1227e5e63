#pragma once

#include <isomer/fp8_gemm.hpp>

#include "gpu/facts.hpp"
#include "ops/fp8_gemm/kernels/fp8_gemm.h"

#include <cstdint>

namespace isomer::ops::fp8_gemm {

/// The tensors of a call of either op as the kernels see them; only shapes and strides, no addresses but null
/// or not.
struct GpuProblem {
  explicit GpuProblem(const Fp8GemmArgs& args);
  explicit GpuProblem(const GroupedFp8GemmArgs& args);

  /// Products with one b each: experts where every one has its rows, else 1.
  std::int64_t entries() const {
    return parameters.layout == device::GemmRows::masked ? parameters.experts : 1;
  }
  bool empty() const { return parameters.rows * parameters.columns * entries() == 0; }

  device::Fp8GemmParameters parameters{};
  DType c = DType::none;
  int copy = 1;  ///< bytes that rows of a and b can be brought in: 16, 4 or 1
};

/// With the addresses of a call.
device::Fp8GemmParameters with_addresses(device::Fp8GemmParameters parameters, const Fp8GemmArgs& args);
device::Fp8GemmParameters with_addresses(device::Fp8GemmParameters parameters,
                                         const GroupedFp8GemmArgs& args);

/// What computes a problem: fp8_gemm_tile and fp8_gemm_skinny by fragments of 32 lanes, fp8_gemm_plain
/// anywhere.
enum class GpuKernel { tile, skinny, plain };

struct GpuTiling {
  GpuKernel kernel = GpuKernel::plain;
  int tile_m = 0, tile_n = 0;
  int warp_m = 0, warp_n = 0;  ///< tile
  int threads = 0;
  int stages = 0;                 ///< tile and skinny
  std::int64_t shared_bytes = 0;  ///< dynamic
  std::int64_t row_tiles = 0, column_tiles = 0, blocks = 0;
};

/// The kernel and its tile; pure arithmetic.
GpuTiling gpu_tiling(const GpuProblem& problem, const gpu::Facts& facts);

}  // namespace isomer::ops::fp8_gemm
