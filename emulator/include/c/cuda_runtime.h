/* CUDA's runtime for hosts in C. */
#ifndef ISOMER_EMULATOR_CUDA_RUNTIME_C_H
#define ISOMER_EMULATOR_CUDA_RUNTIME_C_H

// An installed toolkit's headers of the same names, which lie beside its libraries', stay empty.
#define __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_API_H__
#define __DRIVER_TYPES_H__
#define __VECTOR_TYPES_H__
#define __VECTOR_FUNCTIONS_H__
#define __HOST_DEFINES_H__
#define __BUILTIN_TYPES_H__
#define __DEVICE_TYPES_H__

#include "isomer_emulator/language_c.h"

#define ISOMER_EMULATOR_API(NAME) cuda##NAME
#define ISOMER_EMULATOR_PROPERTIES cudaDeviceProp
#define ISOMER_EMULATOR_ATTRIBUTES cudaDeviceAttr
#define ISOMER_EMULATOR_ATTRIBUTE(NAME) cudaDevAttr##NAME
#define ISOMER_EMULATOR_MULTIPROCESSOR_COUNT cudaDevAttrMultiProcessorCount
#include "isomer_emulator/runtime_c.inc"
#undef ISOMER_EMULATOR_API
#undef ISOMER_EMULATOR_PROPERTIES
#undef ISOMER_EMULATOR_ATTRIBUTES
#undef ISOMER_EMULATOR_ATTRIBUTE
#undef ISOMER_EMULATOR_MULTIPROCESSOR_COUNT

#define CUDART_VERSION 12000
#define cudaError cudaError_t
#define cudaStreamDefault 0
#define cudaHostAllocDefault 0
#define cudaHostAllocPortable 1
#define cudaHostAllocMapped 2
#define cudaHostAllocWriteCombined 4
#define cudaMemAttachGlobal 1
#define cudaMemAttachHost 2
#define cudaHostRegisterDefault 0
#define cudaHostRegisterPortable 1
#define cudaHostRegisterMapped 2
#define cudaCpuDeviceId (-1)
#define cudaDeviceBlockingSync cudaDeviceScheduleBlockingSync

#endif
