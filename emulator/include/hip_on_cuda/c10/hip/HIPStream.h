// PyTorch's HIP names over its CUDA ones, for a HIP extension through nvcc.
#pragma once

#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <hip/hip_runtime.h>

namespace c10::hip {
using namespace c10::cuda;
using HIPStream = c10::cuda::CUDAStream;
using HIPGuard = c10::cuda::CUDAGuard;
using OptionalHIPGuard = c10::cuda::OptionalCUDAGuard;
using HIPStreamGuard = c10::cuda::CUDAStreamGuard;
using HIPStreamMasqueradingAsCUDA = HIPStream;
using HIPGuardMasqueradingAsCUDA = HIPGuard;
using OptionalHIPGuardMasqueradingAsCUDA = OptionalHIPGuard;
using HIPStreamGuardMasqueradingAsCUDA = HIPStreamGuard;
inline HIPStream getCurrentHIPStream(c10::DeviceIndex device = -1) {
  return c10::cuda::getCurrentCUDAStream(device);
}
inline HIPStream getDefaultHIPStream(c10::DeviceIndex device = -1) {
  return c10::cuda::getDefaultCUDAStream(device);
}
inline void setCurrentHIPStream(HIPStream stream) { c10::cuda::setCurrentCUDAStream(stream); }
inline HIPStream getCurrentHIPStreamMasqueradingAsCUDA(c10::DeviceIndex device = -1) {
  return getCurrentHIPStream(device);
}
}  // namespace c10::hip
namespace at::hip {
using namespace at::cuda;
using namespace c10::hip;
}  // namespace at::hip

#define C10_HIP_CHECK(EXPRESSION) C10_CUDA_CHECK(EXPRESSION)
#define C10_HIP_KERNEL_LAUNCH_CHECK() C10_CUDA_KERNEL_LAUNCH_CHECK()
#define AT_HIP_CHECK(EXPRESSION) AT_CUDA_CHECK(EXPRESSION)
