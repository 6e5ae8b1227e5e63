#pragma once

#include "gpu/vendors/runtime_compiler.hpp"

namespace isomer::gpu::cuda {

/// NVIDIA's run-time compiler, opened once in this process: the file that ISOMER_NVRTC names, else the
/// loader's, CUDA_HOME's, or a Python package's.
const RuntimeCompiler& nvrtc();

/// Machine code for that architecture.
Image compile(const Translation& translation);

}  // namespace isomer::gpu::cuda
