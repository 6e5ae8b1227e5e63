/* cuBLAS for hosts in C. */
#ifndef ISOMER_EMULATOR_CUBLAS_C_H
#define ISOMER_EMULATOR_CUBLAS_C_H
#include "cuda_runtime.h"
#include "library_types.h"
#include "../device/isomer_emulator/blas_types.inc"
typedef struct isomer_emulator_blas* cublasHandle_t;
typedef cublasStatus_t cublasStatus;
#define ISOMER_EMULATOR_C_BLAS 1
#include "isomer_emulator/library_c.inc"
#undef ISOMER_EMULATOR_C_BLAS
#define cublasCreate_v2 cublasCreate
#define cublasDestroy_v2 cublasDestroy
#endif
