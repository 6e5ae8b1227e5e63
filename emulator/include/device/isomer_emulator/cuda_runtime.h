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
#include "runtime_api.inc"
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
static inline cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
static inline cudaError_t cudaThreadExit() { return cudaDeviceReset(); }
#define CUDART_INF_F __builtin_inff()
#define CUDART_NAN_F __builtin_nanf("")
#define CUDART_INF __builtin_inf()

#include "complex.h"
