// rocBLAS's names for what blas.h computes.
#pragma once

#include "blas_hip.h"

typedef cublasHandle_t rocblas_handle;
typedef cublasStatus_t rocblas_status;
typedef cublasOperation_t rocblas_operation;
typedef cublasFillMode_t rocblas_fill;
typedef cublasDiagType_t rocblas_diagonal;
typedef cublasSideMode_t rocblas_side;
typedef cublasPointerMode_t rocblas_pointer_mode;
typedef cudaDataType_t rocblas_datatype;
typedef int rocblas_int;
typedef long rocblas_stride;
typedef float rocblas_float;
typedef double rocblas_double;
typedef __half rocblas_half;
typedef hip_bfloat16 rocblas_bfloat16;
enum rocblas_gemm_algo { rocblas_gemm_algo_standard = 0, rocblas_gemm_algo_solution_index = 1 };
enum rocblas_gemm_flags { rocblas_gemm_flags_none = 0 };
enum rocblas_atomics_mode { rocblas_atomics_not_allowed = 0, rocblas_atomics_allowed = 1 };
#define rocblas_operation_none CUBLAS_OP_N
#define rocblas_operation_transpose CUBLAS_OP_T
#define rocblas_operation_conjugate_transpose CUBLAS_OP_C
#define rocblas_fill_upper CUBLAS_FILL_MODE_UPPER
#define rocblas_fill_lower CUBLAS_FILL_MODE_LOWER
#define rocblas_fill_full CUBLAS_FILL_MODE_FULL
#define rocblas_diagonal_non_unit CUBLAS_DIAG_NON_UNIT
#define rocblas_diagonal_unit CUBLAS_DIAG_UNIT
#define rocblas_side_left CUBLAS_SIDE_LEFT
#define rocblas_side_right CUBLAS_SIDE_RIGHT
#define rocblas_pointer_mode_host CUBLAS_POINTER_MODE_HOST
#define rocblas_pointer_mode_device CUBLAS_POINTER_MODE_DEVICE
#define rocblas_datatype_f16_r CUDA_R_16F
#define rocblas_datatype_bf16_r CUDA_R_16BF
#define rocblas_datatype_f32_r CUDA_R_32F
#define rocblas_datatype_f64_r CUDA_R_64F
#define rocblas_datatype_i8_r CUDA_R_8I
#define rocblas_datatype_u8_r CUDA_R_8U
#define rocblas_datatype_i32_r CUDA_R_32I
#define rocblas_status_success CUBLAS_STATUS_SUCCESS
#define rocblas_status_invalid_handle CUBLAS_STATUS_NOT_INITIALIZED
#define rocblas_status_not_implemented CUBLAS_STATUS_NOT_SUPPORTED
#define rocblas_status_invalid_pointer CUBLAS_STATUS_MAPPING_ERROR
#define rocblas_status_invalid_size CUBLAS_STATUS_ARCH_MISMATCH
#define rocblas_status_memory_error CUBLAS_STATUS_ALLOC_FAILED
#define rocblas_status_internal_error CUBLAS_STATUS_INTERNAL_ERROR
#define rocblas_status_invalid_value CUBLAS_STATUS_INVALID_VALUE
#define rocblas_status_arch_mismatch CUBLAS_STATUS_LICENSE_ERROR
// Of a request for memory, which nothing here needs.
#define rocblas_status_perf_degraded static_cast<rocblas_status>(101)
#define rocblas_status_size_query_mismatch static_cast<rocblas_status>(102)
#define rocblas_status_size_increased static_cast<rocblas_status>(103)
#define rocblas_status_size_unchanged static_cast<rocblas_status>(104)
#define rocblas_status_continue static_cast<rocblas_status>(105)
#define rocblas_status_check_numerics_fail static_cast<rocblas_status>(106)
#define rocblas_status_to_string cublasGetStatusString
#define rocblas_create_handle cublasCreate
#define rocblas_destroy_handle cublasDestroy
#define rocblas_set_stream hipblasSetStream
#define rocblas_get_stream hipblasGetStream
#define rocblas_set_pointer_mode cublasSetPointerMode
#define rocblas_get_pointer_mode cublasGetPointerMode
#define rocblas_set_vector cublasSetVector
#define rocblas_get_vector cublasGetVector
#define rocblas_set_matrix cublasSetMatrix
#define rocblas_get_matrix cublasGetMatrix
static inline void rocblas_initialize() {}
static inline rocblas_status rocblas_set_atomics_mode(rocblas_handle, rocblas_atomics_mode) {
  return rocblas_status_success;
}
#define rocblas_saxpy cublasSaxpy
#define rocblas_daxpy cublasDaxpy
#define rocblas_sscal cublasSscal
#define rocblas_dscal cublasDscal
#define rocblas_scopy cublasScopy
#define rocblas_dcopy cublasDcopy
#define rocblas_sswap cublasSswap
#define rocblas_dswap cublasDswap
#define rocblas_sdot cublasSdot
#define rocblas_ddot cublasDdot
#define rocblas_snrm2 cublasSnrm2
#define rocblas_dnrm2 cublasDnrm2
#define rocblas_sasum cublasSasum
#define rocblas_dasum cublasDasum
#define rocblas_isamax cublasIsamax
#define rocblas_idamax cublasIdamax
#define rocblas_isamin cublasIsamin
#define rocblas_idamin cublasIdamin
#define rocblas_sgemv cublasSgemv
#define rocblas_dgemv cublasDgemv
#define rocblas_sger cublasSger
#define rocblas_dger cublasDger
#define rocblas_sgeam cublasSgeam
#define rocblas_dgeam cublasDgeam
#define rocblas_sgemm cublasSgemm
#define rocblas_dgemm cublasDgemm
#define rocblas_hgemm cublasHgemm
#define rocblas_sgemm_batched cublasSgemmBatched
#define rocblas_dgemm_batched cublasDgemmBatched
#define rocblas_sgemm_strided_batched cublasSgemmStridedBatched
#define rocblas_dgemm_strided_batched cublasDgemmStridedBatched
#define rocblas_hgemm_strided_batched cublasHgemmStridedBatched
#define rocblas_strsm cublasStrsm
#define rocblas_dtrsm cublasDtrsm
#define rocblas_ssymm cublasSsymm
#define rocblas_dsymm cublasDsymm
#define rocblas_ssyrk cublasSsyrk
#define rocblas_dsyrk cublasDsyrk
#define rocblas_sdgmm cublasSdgmm
#define rocblas_ddgmm cublasDdgmm

/// d = alpha · a · b + beta · c.
static inline rocblas_status rocblas_gemm_strided_batched_ex(
    rocblas_handle, rocblas_operation op_a, rocblas_operation op_b, int m, int n, int k, const void* alpha,
    const void* a, rocblas_datatype type_a, int lda, rocblas_stride stride_a, const void* b,
    rocblas_datatype type_b, int ldb, rocblas_stride stride_b, const void* beta, const void* c,
    rocblas_datatype type_c, int ldc, rocblas_stride stride_c, void* d, rocblas_datatype, int ldd,
    rocblas_stride stride_d, int count, rocblas_datatype compute, rocblas_gemm_algo, int, unsigned) {
  namespace blas = isomer::emulator::blas;
  const cublasComputeType_t how = blas::Compute(compute).type;
  for (int i = 0; i < count; ++i) {
    const auto at = [i](const void* p, rocblas_datatype type, rocblas_stride stride) {
      return blas::moved(static_cast<const char*>(p), type, stride * i);
    };
    blas::Matrix before;  // c may have other rows than d
    if (c != d || ldc != ldd) {
      if (!before.bring(type_c, at(c, type_c, stride_c), m, n, ldc) ||
          !before.take(type_c, const_cast<void*>(at(d, type_c, stride_d)), ldd))
        return rocblas_status_invalid_pointer;
    }
    const rocblas_status status = blas::gemm(
        m, n, k, blas::number(blas::scale_type(how), alpha), {op_a, at(a, type_a, stride_a), type_a, lda},
        {op_b, at(b, type_b, stride_b), type_b, ldb}, blas::number(blas::scale_type(how), beta),
        const_cast<void*>(at(d, type_c, stride_d)), type_c, ldd, blas::computes(how));
    if (status != rocblas_status_success) return status;
  }
  return rocblas_status_success;
}
static inline rocblas_status rocblas_gemm_ex(rocblas_handle h, rocblas_operation op_a, rocblas_operation op_b,
                                             int m, int n, int k, const void* alpha, const void* a,
                                             rocblas_datatype type_a, int lda, const void* b,
                                             rocblas_datatype type_b, int ldb, const void* beta,
                                             const void* c, rocblas_datatype type_c, int ldc, void* d,
                                             rocblas_datatype type_d, int ldd, rocblas_datatype compute,
                                             rocblas_gemm_algo algo, int solution, unsigned flags) {
  return rocblas_gemm_strided_batched_ex(h, op_a, op_b, m, n, k, alpha, a, type_a, lda, 0, b, type_b, ldb, 0,
                                         beta, c, type_c, ldc, 0, d, type_d, ldd, 0, 1, compute, algo,
                                         solution, flags);
}
