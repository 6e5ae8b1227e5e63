// CUDA's runtime, by its own names.
#pragma once

#include "device.h"

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
enum { cudaHostAllocDefault = 0, cudaMemAttachGlobal = 1 };
#define CUDART_INF_F __builtin_inff()
#define CUDART_NAN_F __builtin_nanf("")
#define CUDART_INF __builtin_inf()
