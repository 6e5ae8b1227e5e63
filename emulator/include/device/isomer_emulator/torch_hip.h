// PyTorch's HIP names, and the CUDA names that PyTorch gives to HIP's device.
#pragma once

#include "hip_runtime.h"
#include "torch_device.h"

// PyTorch's HIP headers bring them along, with those of hipBLAS.
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>

namespace c10::hip {
using HIPStream = isomer::emulator::TensorStream<hipStream_t>;
using HIPGuard = isomer::emulator::TensorGuard;
using OptionalHIPGuard = isomer::emulator::TensorGuard;
using HIPStreamGuard = isomer::emulator::TensorStreamGuard<hipStream_t>;
inline HIPStream getCurrentHIPStream(c10::DeviceIndex = -1) { return HIPStream::current(); }
inline HIPStream getDefaultHIPStream(c10::DeviceIndex = -1) { return {}; }
inline HIPStream getStreamFromPool(bool = false, c10::DeviceIndex = -1) { return HIPStream::pooled(); }
inline HIPStream getStreamFromExternal(hipStream_t stream, c10::DeviceIndex) {
  return HIPStream(static_cast<void*>(stream));
}
inline void setCurrentHIPStream(HIPStream stream) { HIPStream::set_current(stream); }
inline c10::DeviceIndex device_count() noexcept { return 1; }
inline c10::DeviceIndex current_device() { return 0; }
inline void set_device(c10::DeviceIndex) {}
inline void device_synchronize() {}
}  // namespace c10::hip
namespace at::hip {
using c10::hip::getCurrentHIPStream;
using c10::hip::getDefaultHIPStream;
using HIPEvent = isomer::emulator::TensorEvent<hipStream_t, hipEvent_t>;
using c10::hip::getStreamFromExternal;
using c10::hip::getStreamFromPool;
using c10::hip::HIPGuard;
using c10::hip::HIPStream;
using c10::hip::HIPStreamGuard;
using c10::hip::OptionalHIPGuard;
using c10::hip::setCurrentHIPStream;
inline bool is_available() { return true; }
inline int warp_size() { return ISOMER_EMULATOR_LANES; }
inline hipDeviceProp_t* getCurrentDeviceProperties() {
  static hipDeviceProp_t properties = [] {
    hipDeviceProp_t p;
    hipGetDeviceProperties(&p, 0);
    return p;
  }();
  return &properties;
}
inline hipDeviceProp_t* getDeviceProperties(int64_t) { return getCurrentDeviceProperties(); }
}  // namespace at::hip

#define C10_HIP_CHECK(EXPRESSION)                                                            \
  do {                                                                                       \
    const hipError_t isomer_error = (EXPRESSION);                                            \
    TORCH_CHECK(isomer_error == hipSuccess, "HIP error: ", hipGetErrorString(isomer_error)); \
  } while (0)
#define C10_HIP_KERNEL_LAUNCH_CHECK() C10_HIP_CHECK(hipGetLastError())
#define AT_HIP_CHECK(EXPRESSION) C10_HIP_CHECK(EXPRESSION)
// PyTorch's own translation of a source leaves none of these; machine translations do.
#define C10_CUDA_CHECK(EXPRESSION) C10_HIP_CHECK(EXPRESSION)
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_HIP_KERNEL_LAUNCH_CHECK()
#define AT_CUDA_CHECK(EXPRESSION) C10_HIP_CHECK(EXPRESSION)

namespace c10::hip {
using HIPStreamMasqueradingAsCUDA = HIPStream;
using HIPGuardMasqueradingAsCUDA = HIPGuard;
using OptionalHIPGuardMasqueradingAsCUDA = OptionalHIPGuard;
using HIPStreamGuardMasqueradingAsCUDA = HIPStreamGuard;
inline HIPStream getCurrentHIPStreamMasqueradingAsCUDA(c10::DeviceIndex = -1) { return HIPStream::current(); }
}  // namespace c10::hip
namespace at::hip {
using c10::hip::getCurrentHIPStreamMasqueradingAsCUDA;
using c10::hip::HIPGuardMasqueradingAsCUDA;
using c10::hip::HIPStreamMasqueradingAsCUDA;
using c10::hip::OptionalHIPGuardMasqueradingAsCUDA;
}  // namespace at::hip
namespace c10::cuda {
using CUDAStream = c10::hip::HIPStream;
using CUDAGuard = c10::hip::HIPGuard;
using OptionalCUDAGuard = c10::hip::OptionalHIPGuard;
inline CUDAStream getCurrentCUDAStream(c10::DeviceIndex = -1) { return CUDAStream::current(); }
}  // namespace c10::cuda
namespace at::cuda {
using CUDAEvent = at::hip::HIPEvent;
using at::hip::getCurrentDeviceProperties;
using at::hip::getDeviceProperties;
using at::hip::is_available;
using at::hip::warp_size;
using c10::cuda::CUDAGuard;
using c10::cuda::CUDAStream;
using c10::cuda::getCurrentCUDAStream;
using c10::cuda::OptionalCUDAGuard;
}  // namespace at::cuda
