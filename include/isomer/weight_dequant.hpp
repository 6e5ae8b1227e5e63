#pragma once

#include <isomer/explain.hpp>
#include <isomer/plan.hpp>
#include <isomer/queue.hpp>
#include <isomer/tensor.hpp>

#include <cstdint>

namespace isomer {

/// Tensors of weight_dequant.
struct WeightDequantArgs {
  Tensor x;  ///< e4m3fn [M, N], any M and N; last dimension contiguous
  Tensor s;  ///< f32 [ceil(M / block_size), ceil(N / block_size)]; last dimension contiguous
  Tensor y;  ///< f32, f16 or bf16 [M, N]; last dimension contiguous
};

/// Options of weight_dequant.
struct WeightDequantOptions {
  std::int64_t block_size = 128;  ///< rows and columns that share one scale; at least 1
};

/// y[m, n] = x[m, n] · s[m / block_size, n / block_size]: the product in f32, then rounded to nearest even to
/// y's type (beyond its range: inf). An empty x does nothing. Throws Error bad_argument for other dtypes and
/// shapes. Source of the semantics: DeepSeek-V3 inference/kernel.py, weight_dequant.
ISOMER_API void weight_dequant(const Queue& queue, const WeightDequantArgs& args,
                               const WeightDequantOptions& options = {});

/// What weight_dequant would run for this call; nothing runs and nothing is written. Throws like
/// weight_dequant.
ISOMER_API Explanation explain(const Queue& queue, const WeightDequantArgs& args,
                               const WeightDequantOptions& options = {});

/// weight_dequant planned for calls that differ in addresses alone: see isomer/plan.hpp. Throws like
/// weight_dequant.
ISOMER_API Plan<WeightDequantArgs> plan(const Queue& queue, const WeightDequantArgs& args,
                                        const WeightDequantOptions& options = {});

}  // namespace isomer
