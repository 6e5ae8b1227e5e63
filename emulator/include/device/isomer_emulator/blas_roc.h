// rocBLAS's names for what blas.h computes; those of each type are in blas_names.h.
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
typedef float2 rocblas_float_complex;
typedef double2 rocblas_double_complex;
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
#define rocblas_datatype_f32_c CUDA_C_32F
#define rocblas_datatype_f64_c CUDA_C_64F
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

namespace isomer::emulator::blas {
/// d = alpha · a · b + beta · c, where c may have other rows than d.
inline cublasStatus_t gemm_into(cublasHandle_t h, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
                                AnyNumber alpha, const void* a, cudaDataType_t type_a, int lda, long stride_a,
                                const void* b, cudaDataType_t type_b, int ldb, long stride_b, AnyNumber beta,
                                const void* c, cudaDataType_t type, int ldc, long stride_c, void* d, int ldd,
                                long stride_d, int count, Computes how) {
  for (int i = 0; (c != d || ldc != ldd) && i < count; ++i) {
    MatrixOf<std::complex<double>> before;
    if (!before.bring(type, moved(c, type, stride_c * i), m, n, ldc) ||
        !before.take(type, const_cast<void*>(moved(d, type, stride_d * i)), ldd))
      return CUBLAS_STATUS_MAPPING_ERROR;
  }
  return gemm_strided(h, op_a, op_b, m, n, k, alpha, a, type_a, lda, stride_a, b, type_b, ldb, stride_b, beta, d, type,
                      ldd, stride_d, count, how);
}
}  // namespace isomer::emulator::blas
static inline rocblas_status rocblas_gemm_strided_batched_ex(
    rocblas_handle h, rocblas_operation op_a, rocblas_operation op_b, int m, int n, int k, const void* alpha,
    const void* a, rocblas_datatype type_a, int lda, rocblas_stride stride_a, const void* b,
    rocblas_datatype type_b, int ldb, rocblas_stride stride_b, const void* beta, const void* c,
    rocblas_datatype type_c, int ldc, rocblas_stride stride_c, void* d, rocblas_datatype, int ldd,
    rocblas_stride stride_d, int count, rocblas_datatype compute, rocblas_gemm_algo, int, unsigned) {
  namespace blas = isomer::emulator::blas;
  const cublasComputeType_t how = blas::Compute(compute).type;
  const cudaDataType_t scale = blas::scale_type(how, type_c);
  return blas::recorded(h, blas::gemm_into, op_a, op_b, m, n, k, {scale, alpha}, a, type_a, lda, stride_a, b, type_b,
                        ldb, stride_b, {scale, beta}, c, type_c, ldc, stride_c, d, ldd, stride_d, count,
                        blas::computes(how));
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
