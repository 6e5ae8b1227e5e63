// hipBLAS's names for what blas.h computes; those of each type are in blas_names.h.
#pragma once

#include "blas.h"
#include "../hip/library_types.h"
#include "hip_runtime.h"

typedef cublasHandle_t hipblasHandle_t;
typedef cublasStatus_t hipblasStatus_t;
typedef cublasOperation_t hipblasOperation_t;
typedef cublasFillMode_t hipblasFillMode_t;
typedef cublasDiagType_t hipblasDiagType_t;
typedef cublasSideMode_t hipblasSideMode_t;
typedef cublasPointerMode_t hipblasPointerMode_t;
typedef cublasGemmAlgo_t hipblasGemmAlgo_t;
typedef cublasComputeType_t hipblasComputeType_t;
typedef long hipblasStride;
typedef __half hipblasHalf;
typedef float2 hipblasComplex;
typedef double2 hipblasDoubleComplex;
#define HIPBLAS_OP_N CUBLAS_OP_N
#define HIPBLAS_OP_T CUBLAS_OP_T
#define HIPBLAS_OP_C CUBLAS_OP_C
#define HIPBLAS_FILL_MODE_LOWER CUBLAS_FILL_MODE_LOWER
#define HIPBLAS_FILL_MODE_UPPER CUBLAS_FILL_MODE_UPPER
#define HIPBLAS_FILL_MODE_FULL CUBLAS_FILL_MODE_FULL
#define HIPBLAS_DIAG_NON_UNIT CUBLAS_DIAG_NON_UNIT
#define HIPBLAS_DIAG_UNIT CUBLAS_DIAG_UNIT
#define HIPBLAS_SIDE_LEFT CUBLAS_SIDE_LEFT
#define HIPBLAS_SIDE_RIGHT CUBLAS_SIDE_RIGHT
#define HIPBLAS_POINTER_MODE_HOST CUBLAS_POINTER_MODE_HOST
#define HIPBLAS_POINTER_MODE_DEVICE CUBLAS_POINTER_MODE_DEVICE
#define HIPBLAS_GEMM_DEFAULT CUBLAS_GEMM_DEFAULT
#define HIPBLAS_COMPUTE_16F CUBLAS_COMPUTE_16F
#define HIPBLAS_COMPUTE_32F CUBLAS_COMPUTE_32F
#define HIPBLAS_COMPUTE_64F CUBLAS_COMPUTE_64F
#define HIPBLAS_COMPUTE_32I CUBLAS_COMPUTE_32I
#define HIPBLAS_STATUS_SUCCESS CUBLAS_STATUS_SUCCESS
#define HIPBLAS_STATUS_NOT_INITIALIZED CUBLAS_STATUS_NOT_INITIALIZED
#define HIPBLAS_STATUS_ALLOC_FAILED CUBLAS_STATUS_ALLOC_FAILED
#define HIPBLAS_STATUS_INVALID_VALUE CUBLAS_STATUS_INVALID_VALUE
#define HIPBLAS_STATUS_ARCH_MISMATCH CUBLAS_STATUS_ARCH_MISMATCH
#define HIPBLAS_STATUS_MAPPING_ERROR CUBLAS_STATUS_MAPPING_ERROR
#define HIPBLAS_STATUS_EXECUTION_FAILED CUBLAS_STATUS_EXECUTION_FAILED
#define HIPBLAS_STATUS_INTERNAL_ERROR CUBLAS_STATUS_INTERNAL_ERROR
#define HIPBLAS_STATUS_NOT_SUPPORTED CUBLAS_STATUS_NOT_SUPPORTED
#define HIPBLAS_R_16F CUDA_R_16F
#define HIPBLAS_R_32F CUDA_R_32F
#define HIPBLAS_R_64F CUDA_R_64F
#define HIPBLAS_C_32F CUDA_C_32F
#define HIPBLAS_C_64F CUDA_C_64F
#define HIPBLAS_R_8I CUDA_R_8I
#define HIPBLAS_R_32I CUDA_R_32I
#define hipblasDatatype_t cudaDataType_t
#define hipblasGemmEx cublasGemmEx
#define hipblasGemmStridedBatchedEx cublasGemmStridedBatchedEx
#define hipblasStatusToString cublasGetStatusString
#define hipblasCreate cublasCreate
#define hipblasDestroy cublasDestroy
#define hipblasSetPointerMode cublasSetPointerMode
#define hipblasGetPointerMode cublasGetPointerMode
#define hipblasSetVector cublasSetVector
#define hipblasGetVector cublasGetVector
#define hipblasSetMatrix cublasSetMatrix
#define hipblasGetMatrix cublasGetMatrix
#define hipblasSetVectorAsync cublasSetVectorAsync
#define hipblasGetVectorAsync cublasGetVectorAsync
#define hipblasSetMatrixAsync cublasSetMatrixAsync
#define hipblasGetMatrixAsync cublasGetMatrixAsync
#define hipblasDotEx cublasDotEx
#define hipblasDotEx_64 cublasDotEx
#define hipblasNrm2Ex cublasNrm2Ex
#define hipblasScalEx cublasScalEx
#define hipblasAxpyEx cublasAxpyEx
static inline hipblasStatus_t hipblasSetStream(hipblasHandle_t handle, hipStream_t stream) {
  return cublasSetStream(handle, reinterpret_cast<cudaStream_t>(stream));
}
static inline hipblasStatus_t hipblasGetStream(hipblasHandle_t handle, hipStream_t* stream) {
  *stream = reinterpret_cast<hipStream_t>(handle->stream);
  return HIPBLAS_STATUS_SUCCESS;
}
