// CUDA's runtime, by its own names.
#pragma once

#include "device.h"

// By these a program knows that the runtime's headers were there; by them too, an installed toolkit's headers
// that lie beside a library's (cuBLAS's, cuFFT's) stay empty: types of the two never meet.
#define __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_API_H__
#define __DRIVER_TYPES_H__
#define __VECTOR_TYPES_H__
#define __VECTOR_FUNCTIONS_H__
#define __HOST_DEFINES_H__
#define __HOST_CONFIG_H__
#define __BUILTIN_TYPES_H__
#define __DEVICE_TYPES_H__
#define __TEXTURE_TYPES_H__
#define __SURFACE_TYPES_H__
#define __CHANNEL_DESCRIPTOR_H__
#define __CUDA_DEVICE_RUNTIME_API_H__
#define CU_COMPLEX_H_
#define CUDARTAPI
#define CUDART_CB

#define ISOMER_EMULATOR_API(NAME) cuda##NAME
#define ISOMER_EMULATOR_PROPERTIES cudaDeviceProp
#define ISOMER_EMULATOR_ATTRIBUTES cudaDeviceAttr
#define ISOMER_EMULATOR_ATTRIBUTE(NAME) cudaDevAttr##NAME
#define ISOMER_EMULATOR_MULTIPROCESSOR_COUNT cudaDevAttrMultiProcessorCount
#define ISOMER_EMULATOR_RUNTIME_VERSION 12000
#define ISOMER_EMULATOR_MAKE(NAME) make_cuda##NAME
#define ISOMER_EMULATOR_FREE(POINTER, HOST) isomer_emulator_free_of_kind(POINTER, HOST)
#include "runtime_api.inc"
#undef ISOMER_EMULATOR_MAKE
#undef ISOMER_EMULATOR_FREE
#undef ISOMER_EMULATOR_API
#undef ISOMER_EMULATOR_PROPERTIES
#undef ISOMER_EMULATOR_ATTRIBUTES
#undef ISOMER_EMULATOR_ATTRIBUTE
#undef ISOMER_EMULATOR_MULTIPROCESSOR_COUNT
#undef ISOMER_EMULATOR_RUNTIME_VERSION

#define CUDART_VERSION 12000
typedef cudaStream_t CUstream;
typedef cudaError_t cudaError;
#define cudaStreamDefault 0x00
#define cudaCpuDeviceId ISOMER_EMULATOR_CPU_DEVICE
enum {
  cudaHostAllocDefault = 0,
  cudaHostAllocPortable = 1,
  cudaHostAllocMapped = 2,
  cudaHostAllocWriteCombined = 4,
  cudaMemAttachGlobal = 1
};
#define cudaDeviceBlockingSync cudaDeviceScheduleBlockingSync
#define cudaArrayDefault 0
#define cudaArrayLayered 1
#define cudaArraySurfaceLoadStore 2
#define cudaArrayCubemap 4
#define cudaDevAttrGpuOverlap static_cast<cudaDeviceAttr>(15)
#define cudaDevAttrMaxTimelineSemaphoreInteropSupported static_cast<cudaDeviceAttr>(114)
enum cudaDeviceP2PAttr {
  cudaDevP2PAttrPerformanceRank = 1,
  cudaDevP2PAttrAccessSupported = 2,
  cudaDevP2PAttrNativeAtomicSupported = 3,
  cudaDevP2PAttrCudaArrayAccessSupported = 4
};
static inline cudaError_t cudaDeviceGetP2PAttribute(int*, cudaDeviceP2PAttr, int, int) {
  return static_cast<cudaError_t>(isomer_emulator_fail(cudaErrorInvalidDevice));
}
// Which lines the second cache shall keep: a hint.
enum cudaAccessProperty {
  cudaAccessPropertyNormal = 0,
  cudaAccessPropertyStreaming = 1,
  cudaAccessPropertyPersisting = 2
};
struct cudaAccessPolicyWindow {
  void* base_ptr;
  std::size_t num_bytes;
  float hitRatio;
  cudaAccessProperty hitProp, missProp;
};
union cudaStreamAttrValue {
  cudaAccessPolicyWindow accessPolicyWindow;
  int priority;
};
enum cudaStreamAttrID { cudaStreamAttributeAccessPolicyWindow = 1 };
static inline cudaError_t cudaStreamSetAttribute(cudaStream_t, cudaStreamAttrID, const cudaStreamAttrValue*) {
  return cudaSuccess;
}
static inline cudaError_t cudaCtxResetPersistingL2Cache() { return cudaSuccess; }
static inline cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
static inline cudaError_t cudaThreadExit() { return cudaDeviceReset(); }
static inline cudaError_t cudaThreadSetLimit(cudaLimit which, std::size_t value) {
  return cudaDeviceSetLimit(which, value);
}
static inline cudaError_t cudaThreadGetLimit(std::size_t* value, cudaLimit which) {
  return cudaDeviceGetLimit(value, which);
}
static inline cudaError_t cudaThreadSetCacheConfig(cudaFuncCache config) { return cudaDeviceSetCacheConfig(config); }
static inline cudaError_t cudaThreadGetCacheConfig(cudaFuncCache* config) { return cudaDeviceGetCacheConfig(config); }
static inline cudaError_t cudaInitDevice(int device, unsigned, unsigned) { return cudaSetDevice(device); }
#define cudaInvalidDeviceId (-2)
// The default stream, by the names of its two kinds.
#define cudaStreamLegacy static_cast<cudaStream_t>(nullptr)
#define cudaStreamPerThread static_cast<cudaStream_t>(nullptr)
// What CUDA 12 and 13 call by a second name.
#define cudaMemPrefetchAsync_v2 cudaMemPrefetchAsync
#define cudaMemAdvise_v2 cudaMemAdvise
#define cudaGraphAddDependencies_v2 cudaGraphAddDependencies
#define cudaGraphAddNode_v2 cudaGraphAddNode
#define cudaStreamGetCaptureInfo_v2 cudaStreamGetCaptureInfo
#define cudaStreamGetCaptureInfo_v3 cudaStreamGetCaptureInfo
#define cudaStreamUpdateCaptureDependencies_v2 cudaStreamUpdateCaptureDependencies
#define cudaEventElapsedTime_v2 cudaEventElapsedTime
#define cudaGetDeviceProperties_v2 cudaGetDeviceProperties
typedef cudaKernelNodeParams cudaKernelNodeParamsV2;
typedef cudaMemsetParams cudaMemsetParamsV2;
typedef cudaHostNodeParams cudaHostNodeParamsV2;
#define CUDART_INF_F __builtin_inff()
#define CUDART_NAN_F __builtin_nanf("")
#define CUDART_INF __builtin_inf()
#define CUDART_NAN __builtin_nan("")
