// PyTorch's CUDA names.
#pragma once

#include "cuda_runtime.h"
#include "torch_device.h"

// PyTorch's CUDA headers bring them along, with those of cuBLAS.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#if !defined(ISOMER_EMULATOR_HIP)
namespace c10::cuda {
using CUDAStream = isomer::emulator::TensorStream<cudaStream_t>;
using CUDAGuard = isomer::emulator::TensorGuard;
using OptionalCUDAGuard = isomer::emulator::TensorGuard;
using CUDAStreamGuard = isomer::emulator::TensorStreamGuard<cudaStream_t>;
inline CUDAStream getCurrentCUDAStream(c10::DeviceIndex = -1) { return CUDAStream::current(); }
inline CUDAStream getDefaultCUDAStream(c10::DeviceIndex = -1) { return {}; }
inline CUDAStream getStreamFromPool(bool = false, c10::DeviceIndex = -1) { return CUDAStream::pooled(); }
inline CUDAStream getStreamFromExternal(cudaStream_t stream, c10::DeviceIndex) {
  return CUDAStream(static_cast<void*>(stream));
}
inline void setCurrentCUDAStream(CUDAStream stream) { CUDAStream::set_current(stream); }
inline c10::DeviceIndex device_count() noexcept { return 1; }
inline c10::DeviceIndex current_device() { return 0; }
inline void set_device(c10::DeviceIndex) {}
inline void device_synchronize() {}
}  // namespace c10::cuda
namespace at::cuda {
using c10::cuda::CUDAGuard;
using c10::cuda::CUDAStream;
using c10::cuda::CUDAStreamGuard;
using c10::cuda::getCurrentCUDAStream;
using c10::cuda::getDefaultCUDAStream;
using CUDAEvent = isomer::emulator::TensorEvent<cudaStream_t, cudaEvent_t>;
using c10::cuda::getStreamFromExternal;
using c10::cuda::getStreamFromPool;
using c10::cuda::OptionalCUDAGuard;
using c10::cuda::setCurrentCUDAStream;
inline bool is_available() { return true; }
inline int warp_size() { return ISOMER_EMULATOR_LANES; }
inline cudaDeviceProp* getCurrentDeviceProperties() {
  static cudaDeviceProp properties = [] {
    cudaDeviceProp p;
    cudaGetDeviceProperties(&p, 0);
    return p;
  }();
  return &properties;
}
inline cudaDeviceProp* getDeviceProperties(int64_t) { return getCurrentDeviceProperties(); }
}  // namespace at::cuda

#define C10_CUDA_CHECK(EXPRESSION)                                                              \
  do {                                                                                          \
    const cudaError_t isomer_error = (EXPRESSION);                                              \
    TORCH_CHECK(isomer_error == cudaSuccess, "CUDA error: ", cudaGetErrorString(isomer_error)); \
  } while (0)
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_CHECK(cudaGetLastError())
#define AT_CUDA_CHECK(EXPRESSION) C10_CUDA_CHECK(EXPRESSION)
#else
#include "torch_hip.h"
#endif
