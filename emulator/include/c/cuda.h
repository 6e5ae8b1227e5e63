/* The driver API for hosts in C, as far as it needs no code object. */
#ifndef ISOMER_EMULATOR_CUDA_C_H
#define ISOMER_EMULATOR_CUDA_C_H
#include "cuda_runtime.h"
#include "../device/isomer_emulator/driver_types.inc"
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st* CUcontext;
typedef struct CUmod_st* CUmodule;
typedef const void* CUfunction;
typedef cudaStream_t CUstream;
typedef cudaEvent_t CUevent;
#define CUDA_VERSION 12000
#define ISOMER_EMULATOR_C_DRIVER 1
#include "isomer_emulator/library_c.inc"
#undef ISOMER_EMULATOR_C_DRIVER
#endif
