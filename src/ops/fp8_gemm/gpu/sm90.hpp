#pragma once

#include "gpu/plan.hpp"

namespace isomer::ops::fp8_gemm {

/// "cuda/sm90" of fp8_gemm and of grouped_fp8_gemm: kernels/fp8_gemm_sm90.cu.
gpu::Implementations sm90();
gpu::Implementations grouped_sm90();

}  // namespace isomer::ops::fp8_gemm
