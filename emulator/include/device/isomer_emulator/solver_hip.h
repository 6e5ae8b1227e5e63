// hipSOLVER's and rocSOLVER's names for what solver.h computes.
#pragma once

#include "blas_roc.h"
#include "solver.h"

typedef cusolverDnHandle_t hipsolverHandle_t;
typedef cusolverDnHandle_t hipsolverDnHandle_t;
typedef cusolverStatus_t hipsolverStatus_t;
typedef cublasFillMode_t hipsolverFillMode_t;
typedef cublasOperation_t hipsolverOperation_t;
typedef cublasSideMode_t hipsolverSideMode_t;
typedef cusolverEigMode_t hipsolverEigMode_t;
typedef cusolverEigType_t hipsolverEigType_t;
typedef syevjInfo_t hipsolverSyevjInfo_t;
typedef gesvdjInfo_t hipsolverGesvdjInfo_t;
#define HIPSOLVER_FILL_MODE_LOWER CUBLAS_FILL_MODE_LOWER
#define HIPSOLVER_FILL_MODE_UPPER CUBLAS_FILL_MODE_UPPER
#define HIPSOLVER_OP_N CUBLAS_OP_N
#define HIPSOLVER_OP_T CUBLAS_OP_T
#define HIPSOLVER_OP_C CUBLAS_OP_C
#define HIPSOLVER_SIDE_LEFT CUBLAS_SIDE_LEFT
#define HIPSOLVER_SIDE_RIGHT CUBLAS_SIDE_RIGHT
#define HIPSOLVER_EIG_MODE_NOVECTOR CUSOLVER_EIG_MODE_NOVECTOR
#define HIPSOLVER_EIG_MODE_VECTOR CUSOLVER_EIG_MODE_VECTOR
#define HIPSOLVER_EIG_TYPE_1 CUSOLVER_EIG_TYPE_1
#define HIPSOLVER_EIG_TYPE_2 CUSOLVER_EIG_TYPE_2
#define HIPSOLVER_EIG_TYPE_3 CUSOLVER_EIG_TYPE_3
#define HIPSOLVER_STATUS_SUCCESS CUSOLVER_STATUS_SUCCESS
#define HIPSOLVER_STATUS_NOT_INITIALIZED CUSOLVER_STATUS_NOT_INITIALIZED
#define HIPSOLVER_STATUS_ALLOC_FAILED CUSOLVER_STATUS_ALLOC_FAILED
#define HIPSOLVER_STATUS_INVALID_VALUE CUSOLVER_STATUS_INVALID_VALUE
#define HIPSOLVER_STATUS_MAPPING_ERROR CUSOLVER_STATUS_MAPPING_ERROR
#define HIPSOLVER_STATUS_EXECUTION_FAILED CUSOLVER_STATUS_EXECUTION_FAILED
#define HIPSOLVER_STATUS_INTERNAL_ERROR CUSOLVER_STATUS_INTERNAL_ERROR
#define HIPSOLVER_STATUS_NOT_SUPPORTED CUSOLVER_STATUS_NOT_SUPPORTED
#define HIPSOLVER_STATUS_ARCH_MISMATCH CUSOLVER_STATUS_ARCH_MISMATCH
#define HIPSOLVER_STATUS_HANDLE_IS_NULLPTR static_cast<hipsolverStatus_t>(12)
#define HIPSOLVER_STATUS_INVALID_ENUM static_cast<hipsolverStatus_t>(13)
#define HIPSOLVER_STATUS_UNKNOWN static_cast<hipsolverStatus_t>(14)
#define HIPSOLVER_STATUS_ZERO_PIVOT CUSOLVER_STATUS_ZERO_PIVOT
#define HIPSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED
#define hipsolverCreate cusolverDnCreate
#define hipsolverDestroy cusolverDnDestroy
#define hipsolverDnCreate cusolverDnCreate
#define hipsolverDnDestroy cusolverDnDestroy
#define hipsolverCreateSyevjInfo cusolverDnCreateSyevjInfo
#define hipsolverDestroySyevjInfo cusolverDnDestroySyevjInfo
#define hipsolverXsyevjSetTolerance cusolverDnXsyevjSetTolerance
#define hipsolverXsyevjSetMaxSweeps cusolverDnXsyevjSetMaxSweeps
#define hipsolverXsyevjSetSortEig cusolverDnXsyevjSetSortEig
#define hipsolverXsyevjGetResidual cusolverDnXsyevjGetResidual
#define hipsolverXsyevjGetSweeps cusolverDnXsyevjGetSweeps
static inline hipsolverStatus_t hipsolverSetStream(hipsolverHandle_t handle, hipStream_t stream) {
  return cusolverDnSetStream(handle, reinterpret_cast<cudaStream_t>(stream));
}

ISOMER_EMULATOR_SOLVER(hipsolver, S, float)
ISOMER_EMULATOR_SOLVER(hipsolver, D, double)

// Where hipSOLVER has more parameters than cuSOLVER, and rocSOLVER's.
#define ISOMER_EMULATOR_SOLVER_OF(L, l, T)                                                                      \
  ISOMER_EMULATOR_ROOM(hipsolver##L##potrs_bufferSize) \
  static inline hipsolverStatus_t hipsolver##L##potrs(hipsolverHandle_t h, hipsolverFillMode_t fill, int n,  \
                                                      int nrhs, T* a, int lda, T* b, int ldb, T*, int,       \
                                                      int* info) {                                           \
    return cusolverDn##L##potrs(h, fill, n, nrhs, a, lda, b, ldb, info);                                     \
  }                                                                                                          \
  static inline hipsolverStatus_t hipsolver##L##getrf(hipsolverHandle_t h, int m, int n, T* a, int lda,      \
                                                      T* work, int, int* pivots, int* info) {                \
    return cusolverDn##L##getrf(h, m, n, a, lda, work, pivots, info);                                        \
  }                                                                                                          \
  ISOMER_EMULATOR_ROOM(hipsolver##L##getrs_bufferSize) \
  static inline hipsolverStatus_t hipsolver##L##getrs(hipsolverHandle_t h, hipsolverOperation_t op, int n,   \
                                                      int nrhs, T* a, int lda, int* pivots, T* b, int ldb,   \
                                                      T*, int, int* info) {                                  \
    return cusolverDn##L##getrs(h, op, n, nrhs, a, lda, pivots, b, ldb, info);                               \
  }                                                                                                          \
  ISOMER_EMULATOR_ROOM(hipsolver##L##L##gels_bufferSize) \
  static inline hipsolverStatus_t hipsolver##L##L##gels(hipsolverHandle_t, int m, int n, int nrhs, T* a,     \
                                                        int lda, T* b, int ldb, T* x, int ldx, void*,        \
                                                        std::size_t, int* again, int* info) {                \
    if (again) *again = 0;                                                                                   \
    return isomer::emulator::solver::solved(isomer::emulator::solver::gels(isomer::emulator::solver::kTypeOf<T>, m, n, \
                                                                 nrhs, a, lda, b, ldb, x, ldx, info));       \
  }                                                                                                          \
  static inline rocblas_status rocsolver_##l##potrf(rocblas_handle, rocblas_fill fill, int n, T* a, int lda, \
                                                    int* info) {                                             \
    return isomer_emulator_roc(                                                                              \
        isomer::emulator::solver::potrf(isomer::emulator::solver::kTypeOf<T>, fill, n, a, lda, info));       \
  }                                                                                                          \
  static inline rocblas_status rocsolver_##l##potrs(rocblas_handle, rocblas_fill fill, int n, int nrhs,      \
                                                    T* a, int lda, T* b, int ldb) {                          \
    return isomer_emulator_roc(isomer::emulator::solver::potrs(isomer::emulator::solver::kTypeOf<T>, fill,   \
                                                               n, nrhs, a, lda, b, ldb, nullptr));           \
  }                                                                                                          \
  static inline rocblas_status rocsolver_##l##getrf(rocblas_handle, int m, int n, T* a, int lda,             \
                                                    int* pivots, int* info) {                                \
    return isomer_emulator_roc(                                                                              \
        isomer::emulator::solver::getrf(isomer::emulator::solver::kTypeOf<T>, m, n, a, lda, pivots, info));  \
  }                                                                                                          \
  static inline rocblas_status rocsolver_##l##getrs(rocblas_handle, rocblas_operation op, int n, int nrhs,   \
                                                    T* a, int lda, const int* pivots, T* b, int ldb) {       \
    return isomer_emulator_roc(isomer::emulator::solver::getrs(isomer::emulator::solver::kTypeOf<T>, op, n,  \
                                                               nrhs, a, lda, pivots, b, ldb, nullptr));      \
  }                                                                                                          \
  static inline rocblas_status rocsolver_##l##getri(rocblas_handle, int n, T* a, int lda, int* pivots,       \
                                                    int* info) {                                             \
    return isomer_emulator_roc(                                                                              \
        isomer::emulator::solver::getri(isomer::emulator::solver::kTypeOf<T>, n, a, lda, pivots, info));     \
  }                                                                                                          \
  static inline rocblas_status rocsolver_##l##geqrf(rocblas_handle, int m, int n, T* a, int lda, T* tau) {   \
    return isomer_emulator_roc(                                                                              \
        isomer::emulator::solver::geqrf(isomer::emulator::solver::kTypeOf<T>, m, n, a, lda, tau, nullptr));  \
  }                                                                                                          \
  static inline rocblas_status rocsolver_##l##syev(rocblas_handle, rocblas_evect vectors, rocblas_fill fill, \
                                                   int n, T* a, int lda, T* w, T*, int* info) {              \
    return isomer_emulator_roc(isomer::emulator::solver::syev(                                               \
        isomer::emulator::solver::kTypeOf<T>, vectors != rocblas_evect_none, fill, n, a, lda, w, info));     \
  }                                                                                                          \
  static inline rocblas_status rocsolver_##l##syev_strided_batched(                                          \
      rocblas_handle h, rocblas_evect vectors, rocblas_fill fill, int n, T* a, int lda,                      \
      rocblas_stride stride, T* w, rocblas_stride stride_w, T* work, rocblas_stride, int* info, int count) { \
    for (long i = 0; i < count; ++i) {                                                                       \
      const rocblas_status status =                                                                          \
          rocsolver_##l##syev(h, vectors, fill, n, a + i * stride, lda, w + i * stride_w, work, info + i);   \
      if (status != rocblas_status_success) return status;                                                   \
    }                                                                                                        \
    return rocblas_status_success;                                                                           \
  }                                                                                                          \
  static inline rocblas_status rocsolver_##l##syev_batched(                                                  \
      rocblas_handle h, rocblas_evect vectors, rocblas_fill fill, int n, T* const a[], int lda, T* w,        \
      rocblas_stride stride, T* work, rocblas_stride, int* info, int count) {                                \
    for (int i = 0; i < count; ++i) {                                                                        \
      const rocblas_status status =                                                                          \
          rocsolver_##l##syev(h, vectors, fill, n, isomer::emulator::blas::pointer_at(a, i), lda,            \
                              w + i * stride, work, info + i);                                               \
      if (status != rocblas_status_success) return status;                                                   \
    }                                                                                                        \
    return rocblas_status_success;                                                                           \
  }
enum rocblas_evect {
  rocblas_evect_original = 211,
  rocblas_evect_tridiagonal = 212,
  rocblas_evect_none = 213
};
static inline rocblas_status isomer_emulator_roc(bool done) {
  return done ? rocblas_status_success : rocblas_status_internal_error;
}
ISOMER_EMULATOR_SOLVER_OF(S, s, float)
ISOMER_EMULATOR_SOLVER_OF(D, d, double)
#undef ISOMER_EMULATOR_SOLVER_OF
#define rocsolver_sgetf2 rocsolver_sgetrf
#define rocsolver_dgetf2 rocsolver_dgetrf
#define rocsolver_ssyevd rocsolver_ssyev
#define rocsolver_dsyevd rocsolver_dsyev
