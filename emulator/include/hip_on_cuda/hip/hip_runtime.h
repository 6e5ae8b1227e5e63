// HIP's language and runtime over CUDA's, whose device code has 32 lanes to a warp.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "hip_runtime_api.h"

#define HIP_DYNAMIC_SHARED(TYPE, NAME) extern __shared__ TYPE NAME[];
#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define hipLaunchKernelGGL(KERNEL, GRID, BLOCK, SHARED, STREAM, ...)      \
  do {                                                                    \
    KERNEL<<<dim3(GRID), dim3(BLOCK), (SHARED), (STREAM)>>>(__VA_ARGS__); \
  } while (0)

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

// Without a mask HIP means the lanes that execute together, and its ballots have 64 bits. CUDA's headers
// still declare most of these names, which no device has any more.
template <class T>
__device__ __forceinline__ T isomer_hip_shfl(T value, int source, int width = 32) {
  return __shfl_sync(__activemask(), value, source, width);
}
template <class T>
__device__ __forceinline__ T isomer_hip_shfl_up(T value, unsigned delta, int width = 32) {
  return __shfl_up_sync(__activemask(), value, delta, width);
}
template <class T>
__device__ __forceinline__ T isomer_hip_shfl_down(T value, unsigned delta, int width = 32) {
  return __shfl_down_sync(__activemask(), value, delta, width);
}
template <class T>
__device__ __forceinline__ T isomer_hip_shfl_xor(T value, int mask, int width = 32) {
  return __shfl_xor_sync(__activemask(), value, mask, width);
}
__device__ __forceinline__ unsigned long long isomer_hip_ballot(int predicate) {
  return __ballot_sync(__activemask(), predicate);
}
__device__ __forceinline__ int isomer_hip_any(int predicate) { return __any_sync(__activemask(), predicate); }
__device__ __forceinline__ int isomer_hip_all(int predicate) { return __all_sync(__activemask(), predicate); }
#define __shfl(...) isomer_hip_shfl(__VA_ARGS__)
#define __shfl_up(...) isomer_hip_shfl_up(__VA_ARGS__)
#define __shfl_down(...) isomer_hip_shfl_down(__VA_ARGS__)
#define __shfl_xor(...) isomer_hip_shfl_xor(__VA_ARGS__)
#define __ballot(PREDICATE) isomer_hip_ballot(PREDICATE)
#define __any(PREDICATE) isomer_hip_any(PREDICATE)
#define __all(PREDICATE) isomer_hip_all(PREDICATE)
__device__ __forceinline__ unsigned __lane_id() {
  return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32;
}

// The few machine intrinsics that portable HIP code uses.
#define __builtin_amdgcn_wave_barrier() __syncwarp()
#define __builtin_amdgcn_s_barrier() __syncthreads()
#define __builtin_amdgcn_wavefrontsize() 32
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

// The 16-bit brain floats of HIP's newer and older headers.
using __hip_bfloat16 = __nv_bfloat16;
using __hip_bfloat162 = __nv_bfloat162;
using hip_bfloat16 = __nv_bfloat16;
