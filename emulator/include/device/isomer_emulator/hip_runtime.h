// HIP's runtime, by its own names.
#pragma once

#ifndef ISOMER_EMULATOR_HIP
#define ISOMER_EMULATOR_HIP 1
#endif
#include "bfloat16.h"
#include "device.h"
#include "half.h"

#define __HIP_PLATFORM_AMD__ 1
#define ISOMER_EMULATOR_API(NAME) hip##NAME
#define ISOMER_EMULATOR_PROPERTIES hipDeviceProp_t
#define ISOMER_EMULATOR_ATTRIBUTES hipDeviceAttribute_t
#define ISOMER_EMULATOR_ATTRIBUTE(NAME) hipDeviceAttribute##NAME
#define ISOMER_EMULATOR_MULTIPROCESSOR_COUNT hipDeviceAttributeMultiprocessorCount
#define ISOMER_EMULATOR_RUNTIME_VERSION 60000000
#define ISOMER_EMULATOR_MAKE(NAME) make_hip##NAME
// Either of HIP's two functions frees what the runtime gave.
#define ISOMER_EMULATOR_FREE(POINTER, HOST) isomer_emulator_free(POINTER)
#include "runtime_api.inc"
#undef ISOMER_EMULATOR_MAKE
#undef ISOMER_EMULATOR_FREE
#undef ISOMER_EMULATOR_API
#undef ISOMER_EMULATOR_PROPERTIES
#undef ISOMER_EMULATOR_ATTRIBUTES
#undef ISOMER_EMULATOR_ATTRIBUTE
#undef ISOMER_EMULATOR_MULTIPROCESSOR_COUNT
#undef ISOMER_EMULATOR_RUNTIME_VERSION

#define hipStreamDefault 0x00
#define hipArrayDefault 0
#define hipArrayLayered 1
#define hipArraySurfaceLoadStore 2
#define hipArrayCubemap 4
#define hipCpuDeviceId ISOMER_EMULATOR_CPU_DEVICE
#define hipErrorInvalidHandle hipErrorInvalidResourceHandle
#define hipErrorOutOfMemory hipErrorMemoryAllocation
#define HIP_SYMBOL(X) X
#define HIP_DYNAMIC_SHARED(TYPE, NAME) extern __shared__ TYPE NAME[];
#define HIP_KERNEL_NAME(...) __VA_ARGS__
enum { hipHostMallocDefault = 0, hipHostMallocPortable = 1, hipHostMallocMapped = 2 };

template <class T>
static inline hipError_t hipHostMalloc(T** out, std::size_t bytes, unsigned = 0) {
  return hipMallocHost(out, bytes);
}
static inline hipError_t hipMemcpyHtoD(void* to, void* from, std::size_t bytes) {
  return hipMemcpy(to, from, bytes, hipMemcpyHostToDevice);
}
static inline hipError_t hipMemcpyDtoH(void* to, void* from, std::size_t bytes) {
  return hipMemcpy(to, from, bytes, hipMemcpyDeviceToHost);
}
static inline hipError_t hipMemcpyDtoD(void* to, void* from, std::size_t bytes) {
  return hipMemcpy(to, from, bytes, hipMemcpyDeviceToDevice);
}

/// The names of old.
enum { HIP_SUCCESS = 0, HIP_ERROR_INVALID_VALUE, HIP_ERROR_NOT_INITIALIZED, HIP_ERROR_LAUNCH_OUT_OF_RESOURCES };
static inline hipError_t hipInit(unsigned) { return hipSuccess; }
static inline hipError_t hipMemsetD8(void* to, unsigned char value, std::size_t count) {
  return hipMemset(to, value, count);
}
static inline hipError_t hipMemsetD16Async(void* to, unsigned short value, std::size_t count,
                                           hipStream_t stream = nullptr) {
  if (const hipError_t e = hipMemsetAsync(to, 0, 2 * count, stream)) return e;
  for (std::size_t i = 0; i < count; ++i) static_cast<unsigned short*>(to)[i] = value;
  return hipSuccess;
}
static inline hipError_t hipMemsetD32Async(void* to, int value, std::size_t count,
                                           hipStream_t stream = nullptr) {
  if (const hipError_t e = hipMemsetAsync(to, 0, 4 * count, stream)) return e;
  for (std::size_t i = 0; i < count; ++i) static_cast<int*>(to)[i] = value;
  return hipSuccess;
}
static inline hipError_t hipMemsetD16(void* to, unsigned short value, std::size_t count) {
  return hipMemsetD16Async(to, value, count);
}
static inline hipError_t hipMemsetD32(void* to, int value, std::size_t count) {
  return hipMemsetD32Async(to, value, count);
}
static inline hipError_t hipMemsetD8Async(void* to, unsigned char value, std::size_t count,
                                          hipStream_t stream = nullptr) {
  return hipMemsetAsync(to, value, count, stream);
}

// The lambda names the kernel only where it is called, so that template arguments may still be deduced there;
// it captures by value, since a kernel may be chosen at run time: a pointer in host memory, which no thread
// of the kernel may read.
#define hipLaunchKernelGGL(KERNEL, GRID, BLOCK, SHARED, STREAM, ...) \
  KERNEL<<<(GRID), (BLOCK), (SHARED), (STREAM)>>>(__VA_ARGS__)

#define hipThreadIdx_x threadIdx.x
#define hipThreadIdx_y threadIdx.y
#define hipThreadIdx_z threadIdx.z
#define hipBlockIdx_x blockIdx.x
#define hipBlockIdx_y blockIdx.y
#define hipBlockIdx_z blockIdx.z
#define hipBlockDim_x blockDim.x
#define hipBlockDim_y blockDim.y
#define hipBlockDim_z blockDim.z
#define hipGridDim_x gridDim.x
#define hipGridDim_y gridDim.y
#define hipGridDim_z gridDim.z

ISOMER_EMULATOR_INLINE unsigned __bitextract_u32(unsigned v, unsigned at, unsigned width) {
  at &= 31, width &= 31;
  return (v >> at) & ((1u << width) - 1);
}

// The few machine intrinsics that portable HIP code uses; the rewriter refuses the others by name.
#define __builtin_amdgcn_readfirstlane isomer_emulator_read_first_lane
#define __builtin_amdgcn_wave_barrier() __syncwarp()
#define __builtin_amdgcn_s_barrier() __syncthreads()
#define __builtin_amdgcn_wavefrontsize() (ISOMER_EMULATOR_LANES)
#define __builtin_amdgcn_workitem_id_x() (threadIdx.x)
#define __builtin_amdgcn_workitem_id_y() (threadIdx.y)
#define __builtin_amdgcn_workitem_id_z() (threadIdx.z)
#define __builtin_amdgcn_workgroup_id_x() (blockIdx.x)
#define __builtin_amdgcn_workgroup_id_y() (blockIdx.y)
#define __builtin_amdgcn_workgroup_id_z() (blockIdx.z)
#define __builtin_amdgcn_rcpf(X) (1.0f / (X))
#define __builtin_amdgcn_rsqf(X) rsqrtf(X)
#define __builtin_amdgcn_exp2f(X) exp2f(X)
#define __builtin_amdgcn_logf(X) log2f(X)
#define __builtin_amdgcn_s_sleep(N) isomer_emulator_yield()
#define __builtin_amdgcn_ds_bpermute isomer_emulator_bpermute
ISOMER_EMULATOR_INLINE int isomer_emulator_read_first_lane(int v) {
  const auto together = isomer_emulator_vote(isomer::emulator::kTogether, 1);
  return isomer::emulator::shuffled(isomer::emulator::kTogether, v,
                                    static_cast<unsigned>(__builtin_ctzll(together.members)));
}
ISOMER_EMULATOR_INLINE int isomer_emulator_bpermute(int address, int v) { return __shfl(v, address >> 2); }

#include "hip_builtins.h"
#include "hip_driver.h"
