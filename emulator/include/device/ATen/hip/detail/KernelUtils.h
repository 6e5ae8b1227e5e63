// PyTorch's own, under the name that it has in a HIP build.
#pragma once
#include <ATen/cuda/detail/KernelUtils.h>

namespace at::hip::detail {
using namespace at::cuda::detail;
}  // namespace at::hip::detail
