// cuBLAS's names over plain loops on the host: real types, column by column. Sums are in order of k; the
// library's own order is another.
#pragma once

#include "blas_matrix.h"
#include "complex.h"

#define CUBLAS_API_H_  // as headers of others ask whether cuBLAS is there

#include "blas_types.inc"
typedef struct isomer_emulator_blas {
  cudaStream_t stream = nullptr;
  cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;
  cublasMath_t math = CUBLAS_DEFAULT_MATH;
} * cublasHandle_t;

static inline cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  *handle = new isomer_emulator_blas;
  return CUBLAS_STATUS_SUCCESS;
}
static inline cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
static inline cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}
static inline cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t* stream) {
  *stream = handle->stream;
  return CUBLAS_STATUS_SUCCESS;
}
static inline cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode) {
  handle->pointer_mode = mode;
  return CUBLAS_STATUS_SUCCESS;
}
static inline cublasStatus_t cublasGetPointerMode(cublasHandle_t handle, cublasPointerMode_t* mode) {
  *mode = handle->pointer_mode;
  return CUBLAS_STATUS_SUCCESS;
}
static inline cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t math) {
  handle->math = math;
  return CUBLAS_STATUS_SUCCESS;
}
static inline cublasStatus_t cublasSetEmulationStrategy(cublasHandle_t, cudaEmulationStrategy_t) {
  return CUBLAS_STATUS_SUCCESS;
}
static inline cublasStatus_t cublasSetFixedPointEmulationMantissaControl(cublasHandle_t,
                                                                         cudaEmulationMantissaControl_t) {
  return CUBLAS_STATUS_SUCCESS;
}
static inline cublasStatus_t cublasSetFixedPointEmulationMaxMantissaBitCount(cublasHandle_t, int) {
  return CUBLAS_STATUS_SUCCESS;
}
static inline cublasStatus_t cublasSetWorkspace(cublasHandle_t, void*, std::size_t) {
  return CUBLAS_STATUS_SUCCESS;
}
static inline cublasStatus_t cublasGetVersion(cublasHandle_t, int* version) {
  *version = 120000;
  return CUBLAS_STATUS_SUCCESS;
}
static inline std::size_t cublasGetCudartVersion() { return 12000; }
static inline const char* cublasGetStatusString(cublasStatus_t s) {
  return s == CUBLAS_STATUS_SUCCESS           ? "CUBLAS_STATUS_SUCCESS"
         : s == CUBLAS_STATUS_INVALID_VALUE   ? "CUBLAS_STATUS_INVALID_VALUE"
         : s == CUBLAS_STATUS_NOT_SUPPORTED   ? "CUBLAS_STATUS_NOT_SUPPORTED"
         : s == CUBLAS_STATUS_NOT_INITIALIZED ? "CUBLAS_STATUS_NOT_INITIALIZED"
                                              : "CUBLAS_STATUS_EXECUTION_FAILED";
}
static inline const char* cublasGetStatusName(cublasStatus_t s) { return cublasGetStatusString(s); }
#define cublasCreate_v2 cublasCreate
#define cublasDestroy_v2 cublasDestroy
#define cublasGetStream_v2 cublasGetStream
#define cublasSetPointerMode_v2 cublasSetPointerMode
#define cublasGetPointerMode_v2 cublasGetPointerMode
#define cublasSetWorkspace_v2 cublasSetWorkspace
#define cublasSgemm_v2 cublasSgemm
#define cublasSgemv_v2 cublasSgemv
#define cublasSger_v2 cublasSger
#define cublasSaxpy_v2 cublasSaxpy
#define cublasSscal_v2 cublasSscal
#define cublasScopy_v2 cublasScopy
#define cublasSswap_v2 cublasSswap
#define cublasSdot_v2 cublasSdot
#define cublasSnrm2_v2 cublasSnrm2
#define cublasSasum_v2 cublasSasum
#define cublasStrsm_v2 cublasStrsm
#define cublasSsymm_v2 cublasSsymm
#define cublasSsyrk_v2 cublasSsyrk
#define cublasStrmm_v2 cublasStrmm
#define cublasDgemm_v2 cublasDgemm
#define cublasDgemv_v2 cublasDgemv
#define cublasDger_v2 cublasDger
#define cublasDaxpy_v2 cublasDaxpy
#define cublasDscal_v2 cublasDscal
#define cublasDcopy_v2 cublasDcopy
#define cublasDswap_v2 cublasDswap
#define cublasDdot_v2 cublasDdot
#define cublasDnrm2_v2 cublasDnrm2
#define cublasDasum_v2 cublasDasum
#define cublasDtrsm_v2 cublasDtrsm
#define cublasDsymm_v2 cublasDsymm
#define cublasDsyrk_v2 cublasDsyrk
#define cublasDtrmm_v2 cublasDtrmm
#define cublasIsamax_v2 cublasIsamax
#define cublasIdamax_v2 cublasIdamax
#define cublasIsamin_v2 cublasIsamin
#define cublasIdamin_v2 cublasIdamin
#define cublasSetStream_v2 cublasSetStream

namespace isomer::emulator::blas {

template <class T>
constexpr cudaDataType_t kTypeOf = sizeof(T) == 8   ? CUDA_R_64F
                                   : sizeof(T) == 4 ? CUDA_R_32F
                                                    : CUDA_R_16F;

/// One number that lies on the host or on the device.
inline double number(cudaDataType_t type, const void* at) {
  unsigned char raw[8] = {};
  return isomer_emulator_copy(raw, at, bytes_of(type), kAnyDirection) == 0 ? value_of(type, raw) : 0;
}
inline void put_number(cudaDataType_t type, void* at, double value) {
  unsigned char raw[8] = {};
  put_value(type, raw, value);
  isomer_emulator_copy(at, raw, bytes_of(type), kAnyDirection);
}

struct Operand {
  cublasOperation_t op;
  const void* at;
  cudaDataType_t type;
  long stride;
};
inline bool bring(Matrix& m, const Operand& of, long rows, long columns) {
  if (of.op == CUBLAS_OP_N) return m.bring(of.type, of.at, rows, columns, of.stride);
  if (!m.bring(of.type, of.at, columns, rows, of.stride)) return false;
  m = m.transposed();
  return true;
}
/// Programs of before CUDA 11 name the type of the sums in place of the way they are made.
struct Compute {
  cublasComputeType_t type;
  Compute(cublasComputeType_t named) : type(named) {}
  Compute(cudaDataType_t sums)
      : type(sums == CUDA_R_16F   ? CUBLAS_COMPUTE_16F
             : sums == CUDA_R_64F ? CUBLAS_COMPUTE_64F
             : sums == CUDA_R_32I ? CUBLAS_COMPUTE_32I
                                  : CUBLAS_COMPUTE_32F) {}
};

inline Computes computes(cublasComputeType_t type) {
  return type == CUBLAS_COMPUTE_64F || type == CUBLAS_COMPUTE_64F_PEDANTIC ||
                 type == CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT              ? Computes::in_double
         : type == CUBLAS_COMPUTE_32I || type == CUBLAS_COMPUTE_32I_PEDANTIC ? Computes::in_integers
                                                                             : Computes::in_single;
}
/// The type in which alpha and beta are given.
inline cudaDataType_t scale_type(cublasComputeType_t type) {
  return computes(type) == Computes::in_double                               ? CUDA_R_64F
         : computes(type) == Computes::in_integers                           ? CUDA_R_32I
         : type == CUBLAS_COMPUTE_16F || type == CUBLAS_COMPUTE_16F_PEDANTIC ? CUDA_R_16F
                                                                             : CUDA_R_32F;
}

/// c = alpha · op(a) · op(b) + beta · c; `finish` changes a sum before it is stored.
template <class Finish>
cublasStatus_t gemm(long m, long n, long k, double alpha, const Operand& a, const Operand& b, double beta,
                    const void* c, void* d, cudaDataType_t type, long stride, Computes how, Finish finish) {
  if (m < 0 || n < 0 || k < 0 || stride < std::max(1L, m)) return CUBLAS_STATUS_INVALID_VALUE;
  Matrix left, right, before;
  if (bytes_of(type) == 0 || bytes_of(a.type) == 0 || bytes_of(b.type) == 0)
    return CUBLAS_STATUS_NOT_SUPPORTED;
  if (!bring(left, a, m, k) || !bring(right, b, k, n)) return CUBLAS_STATUS_EXECUTION_FAILED;
  if (beta != 0 && !before.bring(type, c, m, n, stride)) return CUBLAS_STATUS_EXECUTION_FAILED;
  Matrix sums = product(left, right, how);
  for (std::size_t i = 0; i < sums.values.size(); ++i)
    sums.values[i] = finish(alpha * sums.values[i] + (beta != 0 ? beta * before.values[i] : 0),
                            static_cast<long>(i) % std::max(1L, m));
  return sums.take(type, d, stride) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}
inline cublasStatus_t gemm(long m, long n, long k, double alpha, const Operand& a, const Operand& b,
                           double beta, void* c, cudaDataType_t type, long stride, Computes how) {
  return gemm(m, n, k, alpha, a, b, beta, c, c, type, stride, how, [](double x, long) { return x; });
}
template <class T>
const void* moved(const T* at, cudaDataType_t type, long long by) {
  return reinterpret_cast<const char*>(at) + by * static_cast<long long>(bytes_of(type));
}

}  // namespace isomer::emulator::blas

static inline cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k, const void* alpha,
    const void* a, cudaDataType_t type_a, int lda, long long stride_a, const void* b, cudaDataType_t type_b,
    int ldb, long long stride_b, const void* beta, void* c, cudaDataType_t type_c, int ldc,
    long long stride_c, int count, isomer::emulator::blas::Compute how,
    cublasGemmAlgo_t = CUBLAS_GEMM_DEFAULT) {
  namespace blas = isomer::emulator::blas;
  const cublasComputeType_t compute = how.type;
  const cudaDataType_t scale = blas::scale_type(compute);
  for (int i = 0; i < count; ++i) {
    const cublasStatus_t status =
        blas::gemm(m, n, k, blas::number(scale, alpha),
                   {op_a, blas::moved(static_cast<const char*>(a), type_a, stride_a * i), type_a, lda},
                   {op_b, blas::moved(static_cast<const char*>(b), type_b, stride_b * i), type_b, ldb},
                   blas::number(scale, beta),
                   const_cast<void*>(blas::moved(static_cast<char*>(c), type_c, stride_c * i)), type_c, ldc,
                   blas::computes(compute));
    if (status != CUBLAS_STATUS_SUCCESS) return status;
  }
  return CUBLAS_STATUS_SUCCESS;
}
static inline cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t op_a,
                                          cublasOperation_t op_b, int m, int n, int k, const void* alpha,
                                          const void* a, cudaDataType_t type_a, int lda, const void* b,
                                          cudaDataType_t type_b, int ldb, const void* beta, void* c,
                                          cudaDataType_t type_c, int ldc,
                                          isomer::emulator::blas::Compute compute,
                                          cublasGemmAlgo_t algo = CUBLAS_GEMM_DEFAULT) {
  return cublasGemmStridedBatchedEx(handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, 0, b, type_b, ldb, 0,
                                    beta, c, type_c, ldc, 0, 1, compute, algo);
}

#define ISOMER_EMULATOR_BLAS(LETTER, T, COMPUTE)                                                             \
  static inline cublasStatus_t cublas##LETTER##gemmStridedBatched(                                           \
      cublasHandle_t h, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k, const T* alpha, \
      const T* a, int lda, long long stride_a, const T* b, int ldb, long long stride_b, const T* beta, T* c, \
      int ldc, long long stride_c, int count) {                                                              \
    constexpr cudaDataType_t type = isomer::emulator::blas::kTypeOf<T>;                                      \
    return cublasGemmStridedBatchedEx(h, op_a, op_b, m, n, k, alpha, a, type, lda, stride_a, b, type, ldb,   \
                                      stride_b, beta, c, type, ldc, stride_c, count, COMPUTE);               \
  }                                                                                                          \
  static inline cublasStatus_t cublas##LETTER##gemm(                                                         \
      cublasHandle_t h, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k, const T* alpha, \
      const T* a, int lda, const T* b, int ldb, const T* beta, T* c, int ldc) {                              \
    return cublas##LETTER##gemmStridedBatched(h, op_a, op_b, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c,  \
                                              ldc, 0, 1);                                                    \
  }                                                                                                          \
  static inline cublasStatus_t cublas##LETTER##gemmBatched(                                                  \
      cublasHandle_t h, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k, const T* alpha, \
      const T* const a[], int lda, const T* const b[], int ldb, const T* beta, T* const c[], int ldc,        \
      int count) {                                                                                           \
    for (int i = 0; i < count; ++i) {                                                                        \
      const T *left = nullptr, *right = nullptr;                                                             \
      T* to = nullptr;                                                                                       \
      if (isomer_emulator_copy(&left, a + i, sizeof left, 4) != 0 ||                                         \
          isomer_emulator_copy(&right, b + i, sizeof right, 4) != 0 ||                                       \
          isomer_emulator_copy(&to, c + i, sizeof to, 4) != 0)                                               \
        return CUBLAS_STATUS_EXECUTION_FAILED;                                                               \
      const cublasStatus_t status =                                                                          \
          cublas##LETTER##gemm(h, op_a, op_b, m, n, k, alpha, left, lda, right, ldb, beta, to, ldc);         \
      if (status != CUBLAS_STATUS_SUCCESS) return status;                                                    \
    }                                                                                                        \
    return CUBLAS_STATUS_SUCCESS;                                                                            \
  }
ISOMER_EMULATOR_BLAS(S, float, CUBLAS_COMPUTE_32F)
ISOMER_EMULATOR_BLAS(D, double, CUBLAS_COMPUTE_64F)
ISOMER_EMULATOR_BLAS(H, __half, CUBLAS_COMPUTE_16F)
#undef ISOMER_EMULATOR_BLAS

#include "blas_triangular.h"
#include "blas_vectors.h"
