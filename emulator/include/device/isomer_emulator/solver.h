// cuSOLVER's dense part under its own names, over solver_core.h. Work space is asked for and not used.
#pragma once

#include "solver_core.h"

#define CUSOLVER_COMMON_H_  // as headers of others ask whether cuSOLVER is there

enum cusolverStatus_t {
  CUSOLVER_STATUS_SUCCESS = 0,
  CUSOLVER_STATUS_NOT_INITIALIZED = 1,
  CUSOLVER_STATUS_ALLOC_FAILED = 2,
  CUSOLVER_STATUS_INVALID_VALUE = 3,
  CUSOLVER_STATUS_ARCH_MISMATCH = 4,
  CUSOLVER_STATUS_MAPPING_ERROR = 5,
  CUSOLVER_STATUS_EXECUTION_FAILED = 6,
  CUSOLVER_STATUS_INTERNAL_ERROR = 7,
  CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED = 8,
  CUSOLVER_STATUS_NOT_SUPPORTED = 9,
  CUSOLVER_STATUS_ZERO_PIVOT = 10,
  CUSOLVER_STATUS_INVALID_LICENSE = 11
};
enum cusolverEigType_t { CUSOLVER_EIG_TYPE_1 = 1, CUSOLVER_EIG_TYPE_2 = 2, CUSOLVER_EIG_TYPE_3 = 3 };
enum cusolverEigMode_t { CUSOLVER_EIG_MODE_NOVECTOR = 0, CUSOLVER_EIG_MODE_VECTOR = 1 };
enum cusolverDnFunction_t { CUSOLVERDN_GETRF = 0, CUSOLVERDN_POTRF = 1 };
enum cusolverAlgMode_t { CUSOLVER_ALG_0 = 0, CUSOLVER_ALG_1 = 1, CUSOLVER_ALG_2 = 2 };
enum cusolverPrecType_t {
  CUSOLVER_R_8I = 1201,
  CUSOLVER_R_16F = 1203,
  CUSOLVER_R_32F = 1205,
  CUSOLVER_R_64F = 1207,
  CUSOLVER_R_16BF = 1209,
  CUSOLVER_R_TF32 = 1211,
  CUSOLVER_C_32F = 1206,
  CUSOLVER_C_64F = 1208
};
enum cusolverIRSRefinement_t {
  CUSOLVER_IRS_REFINE_NOT_SET = 1100,
  CUSOLVER_IRS_REFINE_NONE = 1101,
  CUSOLVER_IRS_REFINE_CLASSICAL = 1102,
  CUSOLVER_IRS_REFINE_CLASSICAL_GMRES = 1103,
  CUSOLVER_IRS_REFINE_GMRES = 1104,
  CUSOLVER_IRS_REFINE_GMRES_GMRES = 1105,
  CUSOLVER_IRS_REFINE_GMRES_NOPCOND = 1106
};
typedef int cusolver_int_t;
typedef struct isomer_emulator_solver {
  cudaStream_t stream = nullptr;
} * cusolverDnHandle_t;
typedef struct isomer_emulator_solver_params* cusolverDnParams_t;
/// Of Jacobi's method, whose tolerance here is always the smallest.
typedef struct isomer_emulator_jacobi {
  int sweeps = 1;
} * syevjInfo_t;
typedef struct isomer_emulator_jacobi* gesvdjInfo_t;

static inline cusolverStatus_t isomer_emulator_solved(bool done) {
  return done ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_EXECUTION_FAILED;
}
static inline cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle) {
  *handle = new isomer_emulator_solver;
  return CUSOLVER_STATUS_SUCCESS;
}
static inline cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle) {
  delete handle;
  return CUSOLVER_STATUS_SUCCESS;
}
static inline cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUSOLVER_STATUS_SUCCESS;
}
static inline cusolverStatus_t cusolverDnGetStream(cusolverDnHandle_t handle, cudaStream_t* stream) {
  *stream = handle->stream;
  return CUSOLVER_STATUS_SUCCESS;
}
static inline cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t* params) {
  *params = nullptr;
  return CUSOLVER_STATUS_SUCCESS;
}
static inline cusolverStatus_t cusolverDnDestroyParams(cusolverDnParams_t) { return CUSOLVER_STATUS_SUCCESS; }
static inline cusolverStatus_t cusolverDnSetAdvOptions(cusolverDnParams_t, cusolverDnFunction_t,
                                                       cusolverAlgMode_t) {
  return CUSOLVER_STATUS_SUCCESS;
}
static inline cusolverStatus_t cusolverDnCreateSyevjInfo(syevjInfo_t* info) {
  *info = new isomer_emulator_jacobi;
  return CUSOLVER_STATUS_SUCCESS;
}
static inline cusolverStatus_t cusolverDnDestroySyevjInfo(syevjInfo_t info) {
  delete info;
  return CUSOLVER_STATUS_SUCCESS;
}
#define cusolverDnCreateGesvdjInfo cusolverDnCreateSyevjInfo
#define cusolverDnDestroyGesvdjInfo cusolverDnDestroySyevjInfo
static inline cusolverStatus_t cusolverDnXsyevjSetTolerance(syevjInfo_t, double) {
  return CUSOLVER_STATUS_SUCCESS;
}
static inline cusolverStatus_t cusolverDnXsyevjSetMaxSweeps(syevjInfo_t, int) {
  return CUSOLVER_STATUS_SUCCESS;
}
static inline cusolverStatus_t cusolverDnXsyevjSetSortEig(syevjInfo_t, int) {
  return CUSOLVER_STATUS_SUCCESS;
}
static inline cusolverStatus_t cusolverDnXsyevjGetResidual(cusolverDnHandle_t, syevjInfo_t,
                                                           double* residual) {
  *residual = 0;
  return CUSOLVER_STATUS_SUCCESS;
}
static inline cusolverStatus_t cusolverDnXsyevjGetSweeps(cusolverDnHandle_t, syevjInfo_t info, int* sweeps) {
  *sweeps = info->sweeps;
  return CUSOLVER_STATUS_SUCCESS;
}
#define cusolverDnXgesvdjSetTolerance cusolverDnXsyevjSetTolerance
#define cusolverDnXgesvdjSetMaxSweeps cusolverDnXsyevjSetMaxSweeps
#define cusolverDnXgesvdjSetSortEig cusolverDnXsyevjSetSortEig
#define cusolverDnXgesvdjGetResidual cusolverDnXsyevjGetResidual
#define cusolverDnXgesvdjGetSweeps cusolverDnXsyevjGetSweeps

#define ISOMER_EMULATOR_SOLVER(L, T)                                                                         \
  static inline cusolverStatus_t cusolverDn##L##potrf_bufferSize(cusolverDnHandle_t, cublasFillMode_t, int,  \
                                                                 T*, int, int* size) {                       \
    *size = 64;                                                                                              \
    return CUSOLVER_STATUS_SUCCESS;                                                                          \
  }                                                                                                          \
  static inline cusolverStatus_t cusolverDn##L##potrf(cusolverDnHandle_t, cublasFillMode_t fill, int n,      \
                                                      T* a, int lda, T*, int, int* info) {                   \
    return isomer_emulator_solved(                                                                           \
        isomer::emulator::solver::potrf(isomer::emulator::solver::kTypeOf<T>, fill, n, a, lda, info));       \
  }                                                                                                          \
  static inline cusolverStatus_t cusolverDn##L##potrs(cusolverDnHandle_t, cublasFillMode_t fill, int n,      \
                                                      int nrhs, const T* a, int lda, T* b, int ldb,          \
                                                      int* info) {                                           \
    return isomer_emulator_solved(isomer::emulator::solver::potrs(isomer::emulator::solver::kTypeOf<T>,      \
                                                                  fill, n, nrhs, a, lda, b, ldb, info));     \
  }                                                                                                          \
  static inline cusolverStatus_t cusolverDn##L##getrf_bufferSize(cusolverDnHandle_t, int, int, T*, int,      \
                                                                 int* size) {                                \
    *size = 64;                                                                                              \
    return CUSOLVER_STATUS_SUCCESS;                                                                          \
  }                                                                                                          \
  static inline cusolverStatus_t cusolverDn##L##getrf(cusolverDnHandle_t, int m, int n, T* a, int lda, T*,   \
                                                      int* pivots, int* info) {                              \
    return isomer_emulator_solved(                                                                           \
        isomer::emulator::solver::getrf(isomer::emulator::solver::kTypeOf<T>, m, n, a, lda, pivots, info));  \
  }                                                                                                          \
  static inline cusolverStatus_t cusolverDn##L##getrs(cusolverDnHandle_t, cublasOperation_t op, int n,       \
                                                      int nrhs, const T* a, int lda, const int* pivots,      \
                                                      T* b, int ldb, int* info) {                            \
    return isomer_emulator_solved(isomer::emulator::solver::getrs(isomer::emulator::solver::kTypeOf<T>, op,  \
                                                                  n, nrhs, a, lda, pivots, b, ldb, info));   \
  }                                                                                                          \
  static inline cusolverStatus_t cusolverDn##L##geqrf_bufferSize(cusolverDnHandle_t, int, int, T*, int,      \
                                                                 int* size) {                                \
    *size = 64;                                                                                              \
    return CUSOLVER_STATUS_SUCCESS;                                                                          \
  }                                                                                                          \
  static inline cusolverStatus_t cusolverDn##L##geqrf(cusolverDnHandle_t, int m, int n, T* a, int lda,       \
                                                      T* tau, T*, int, int* info) {                          \
    return isomer_emulator_solved(                                                                           \
        isomer::emulator::solver::geqrf(isomer::emulator::solver::kTypeOf<T>, m, n, a, lda, tau, info));     \
  }                                                                                                          \
  static inline cusolverStatus_t cusolverDn##L##orgqr_bufferSize(cusolverDnHandle_t, int, int, int,          \
                                                                 const T*, int, const T*, int* size) {       \
    *size = 64;                                                                                              \
    return CUSOLVER_STATUS_SUCCESS;                                                                          \
  }                                                                                                          \
  static inline cusolverStatus_t cusolverDn##L##orgqr(cusolverDnHandle_t, int m, int n, int k, T* a,         \
                                                      int lda, const T* tau, T*, int, int* info) {           \
    return isomer_emulator_solved(                                                                           \
        isomer::emulator::solver::orgqr(isomer::emulator::solver::kTypeOf<T>, m, n, k, a, lda, tau, info));  \
  }                                                                                                          \
  static inline cusolverStatus_t cusolverDn##L##ormqr_bufferSize(cusolverDnHandle_t, cublasSideMode_t,       \
                                                                 cublasOperation_t, int, int, int, const T*, \
                                                                 int, const T*, const T*, int, int* size) {  \
    *size = 64;                                                                                              \
    return CUSOLVER_STATUS_SUCCESS;                                                                          \
  }                                                                                                          \
  static inline cusolverStatus_t cusolverDn##L##ormqr(                                                       \
      cusolverDnHandle_t, cublasSideMode_t side, cublasOperation_t op, int m, int n, int k, const T* a,      \
      int lda, const T* tau, T* c, int ldc, T*, int, int* info) {                                            \
    return isomer_emulator_solved(isomer::emulator::solver::ormqr(                                           \
        isomer::emulator::solver::kTypeOf<T>, side, op, m, n, k, a, lda, tau, c, ldc, info));                \
  }                                                                                                          \
  static inline cusolverStatus_t cusolverDn##L##syevd_bufferSize(                                            \
      cusolverDnHandle_t, cusolverEigMode_t, cublasFillMode_t, int, const T*, int, const T*, int* size,      \
      syevjInfo_t = nullptr) {                                                                               \
    *size = 64;                                                                                              \
    return CUSOLVER_STATUS_SUCCESS;                                                                          \
  }                                                                                                          \
  static inline cusolverStatus_t cusolverDn##L##syevd(cusolverDnHandle_t, cusolverEigMode_t mode,            \
                                                      cublasFillMode_t fill, int n, T* a, int lda, T* w, T*, \
                                                      int, int* info, syevjInfo_t = nullptr) {               \
    return isomer_emulator_solved(isomer::emulator::solver::syev(                                            \
        isomer::emulator::solver::kTypeOf<T>, mode == CUSOLVER_EIG_MODE_VECTOR, fill, n, a, lda, w, info));  \
  }                                                                                                          \
  static inline cusolverStatus_t cusolverDn##L##syevjBatched_bufferSize(                                     \
      cusolverDnHandle_t, cusolverEigMode_t, cublasFillMode_t, int, const T*, int, const T*, int* size,      \
      syevjInfo_t, int) {                                                                                    \
    *size = 64;                                                                                              \
    return CUSOLVER_STATUS_SUCCESS;                                                                          \
  }                                                                                                          \
  static inline cusolverStatus_t cusolverDn##L##syevjBatched(                                                \
      cusolverDnHandle_t h, cusolverEigMode_t mode, cublasFillMode_t fill, int n, T* a, int lda, T* w,       \
      T* work, int size, int* info, syevjInfo_t params, int count) {                                         \
    for (long i = 0; i < count; ++i) {                                                                       \
      const auto status = cusolverDn##L##syevd(h, mode, fill, n, a + i * lda * n, lda, w + i * n, work,      \
                                               size, info + i, params);                                      \
      if (status != CUSOLVER_STATUS_SUCCESS) return status;                                                  \
    }                                                                                                        \
    return CUSOLVER_STATUS_SUCCESS;                                                                          \
  }                                                                                                          \
  static inline cusolverStatus_t cusolverDn##L##sygvd_bufferSize(                                            \
      cusolverDnHandle_t, cusolverEigType_t, cusolverEigMode_t, cublasFillMode_t, int, const T*, int,        \
      const T*, int, const T*, int* size, syevjInfo_t = nullptr) {                                           \
    *size = 64;                                                                                              \
    return CUSOLVER_STATUS_SUCCESS;                                                                          \
  }                                                                                                          \
  static inline cusolverStatus_t cusolverDn##L##sygvd(                                                       \
      cusolverDnHandle_t, cusolverEigType_t kind, cusolverEigMode_t mode, cublasFillMode_t fill, int n,      \
      T* a, int lda, T* b, int ldb, T* w, T*, int, int* info, syevjInfo_t = nullptr) {                       \
    return isomer_emulator_solved(isomer::emulator::solver::sygv(isomer::emulator::solver::kTypeOf<T>, kind, \
                                                                 mode == CUSOLVER_EIG_MODE_VECTOR, fill, n,  \
                                                                 a, lda, b, ldb, w, info));                  \
  }                                                                                                          \
  static inline cusolverStatus_t cusolverDn##L##gesvd_bufferSize(cusolverDnHandle_t, int, int, int* size) {  \
    *size = 64;                                                                                              \
    return CUSOLVER_STATUS_SUCCESS;                                                                          \
  }                                                                                                          \
  static inline cusolverStatus_t cusolverDn##L##gesvd(                                                       \
      cusolverDnHandle_t, signed char want_u, signed char want_v, int m, int n, T* a, int lda, T* s, T* u,   \
      int ldu, T* vt, int ldvt, T*, int, T*, int* info) {                                                    \
    return isomer_emulator_solved(isomer::emulator::solver::gesvd(isomer::emulator::solver::kTypeOf<T>,      \
                                                                  want_u, want_v, m, n, a, lda, s, u, ldu,   \
                                                                  vt, ldvt, true, info));                    \
  }                                                                                                          \
  static inline cusolverStatus_t cusolverDn##L##gesvdj_bufferSize(                                           \
      cusolverDnHandle_t, cusolverEigMode_t, int, int, int, const T*, int, const T*, const T*, int,          \
      const T*, int, int* size, gesvdjInfo_t) {                                                              \
    *size = 64;                                                                                              \
    return CUSOLVER_STATUS_SUCCESS;                                                                          \
  }                                                                                                          \
  static inline cusolverStatus_t cusolverDn##L##gesvdj(cusolverDnHandle_t, cusolverEigMode_t mode, int few,  \
                                                       int m, int n, T* a, int lda, T* s, T* u, int ldu,     \
                                                       T* v, int ldv, T*, int, int* info, gesvdjInfo_t) {    \
    const char want = mode != CUSOLVER_EIG_MODE_VECTOR ? 'N' : few ? 'S' : 'A';                              \
    return isomer_emulator_solved(isomer::emulator::solver::gesvd(                                           \
        isomer::emulator::solver::kTypeOf<T>, want, want, m, n, a, lda, s, u, ldu, v, ldv, false, info));    \
  }
ISOMER_EMULATOR_SOLVER(S, float)
ISOMER_EMULATOR_SOLVER(D, double)
#undef ISOMER_EMULATOR_SOLVER
#define cusolverDnSsyevj_bufferSize cusolverDnSsyevd_bufferSize
#define cusolverDnDsyevj_bufferSize cusolverDnDsyevd_bufferSize
#define cusolverDnSsyevj cusolverDnSsyevd
#define cusolverDnDsyevj cusolverDnDsyevd
#define cusolverDnSsygvj_bufferSize cusolverDnSsygvd_bufferSize
#define cusolverDnDsygvj_bufferSize cusolverDnDsygvd_bufferSize
#define cusolverDnSsygvj cusolverDnSsygvd
#define cusolverDnDsygvj cusolverDnDsygvd

// The functions of any type.
#define ISOMER_EMULATOR_ROOMS(...)                                                                  \
  (cusolverDnHandle_t, cusolverDnParams_t, __VA_ARGS__, std::size_t * device, std::size_t * host) { \
    *device = *host = 256;                                                                          \
    return CUSOLVER_STATUS_SUCCESS;                                                                 \
  }
static inline cusolverStatus_t cusolverDnXpotrf_bufferSize
ISOMER_EMULATOR_ROOMS(cublasFillMode_t, int64_t, cudaDataType, const void*, int64_t,
                      cudaDataType) static inline cusolverStatus_t
    cusolverDnXpotrf(cusolverDnHandle_t, cusolverDnParams_t, cublasFillMode_t fill, int64_t n,
                     cudaDataType type, void* a, int64_t lda, cudaDataType, void*, std::size_t, void*,
                     std::size_t, int* info) {
  return isomer_emulator_solved(isomer::emulator::solver::potrf(type, fill, n, a, lda, info));
}
static inline cusolverStatus_t cusolverDnXpotrs(cusolverDnHandle_t, cusolverDnParams_t, cublasFillMode_t fill,
                                                int64_t n, int64_t nrhs, cudaDataType type, const void* a,
                                                int64_t lda, cudaDataType, void* b, int64_t ldb, int* info) {
  return isomer_emulator_solved(isomer::emulator::solver::potrs(type, fill, n, nrhs, a, lda, b, ldb, info));
}
static inline cusolverStatus_t cusolverDnXgetrf_bufferSize ISOMER_EMULATOR_ROOMS(
    int64_t, int64_t, cudaDataType, const void*, int64_t, cudaDataType) static inline cusolverStatus_t
    cusolverDnXgetrf(cusolverDnHandle_t, cusolverDnParams_t, int64_t m, int64_t n, cudaDataType type, void* a,
                     int64_t lda, int64_t* pivots, cudaDataType, void*, std::size_t, void*, std::size_t,
                     int* info) {
  return isomer_emulator_solved(isomer::emulator::solver::getrf(type, m, n, a, lda, pivots, info));
}
static inline cusolverStatus_t cusolverDnXgetrs(cusolverDnHandle_t, cusolverDnParams_t, cublasOperation_t op,
                                                int64_t n, int64_t nrhs, cudaDataType type, const void* a,
                                                int64_t lda, const int64_t* pivots, cudaDataType, void* b,
                                                int64_t ldb, int* info) {
  return isomer_emulator_solved(
      isomer::emulator::solver::getrs(type, op, n, nrhs, a, lda, pivots, b, ldb, info));
}
static inline cusolverStatus_t cusolverDnXgeqrf_bufferSize
ISOMER_EMULATOR_ROOMS(int64_t, int64_t, cudaDataType, const void*, int64_t, cudaDataType, const void*,
                      cudaDataType) static inline cusolverStatus_t
    cusolverDnXgeqrf(cusolverDnHandle_t, cusolverDnParams_t, int64_t m, int64_t n, cudaDataType type, void* a,
                     int64_t lda, cudaDataType, void* tau, cudaDataType, void*, std::size_t, void*,
                     std::size_t, int* info) {
  return isomer_emulator_solved(isomer::emulator::solver::geqrf(type, m, n, a, lda, tau, info));
}
static inline cusolverStatus_t cusolverDnXsyevd_bufferSize
ISOMER_EMULATOR_ROOMS(cusolverEigMode_t, cublasFillMode_t, int64_t, cudaDataType, const void*, int64_t,
                      cudaDataType, const void*, cudaDataType) static inline cusolverStatus_t
    cusolverDnXsyevd(cusolverDnHandle_t, cusolverDnParams_t, cusolverEigMode_t mode, cublasFillMode_t fill,
                     int64_t n, cudaDataType type, void* a, int64_t lda, cudaDataType, void* w, cudaDataType,
                     void*, std::size_t, void*, std::size_t, int* info) {
  return isomer_emulator_solved(
      isomer::emulator::solver::syev(type, mode == CUSOLVER_EIG_MODE_VECTOR, fill, n, a, lda, w, info));
}
static inline cusolverStatus_t cusolverDnXgesvd_bufferSize
ISOMER_EMULATOR_ROOMS(signed char, signed char, int64_t, int64_t, cudaDataType, const void*, int64_t,
                      cudaDataType, const void*, cudaDataType, const void*, int64_t, cudaDataType,
                      const void*, int64_t, cudaDataType) static inline cusolverStatus_t
    cusolverDnXgesvd(cusolverDnHandle_t, cusolverDnParams_t, signed char want_u, signed char want_v,
                     int64_t m, int64_t n, cudaDataType type, void* a, int64_t lda, cudaDataType, void* s,
                     cudaDataType, void* u, int64_t ldu, cudaDataType, void* vt, int64_t ldvt, cudaDataType,
                     void*, std::size_t, void*, std::size_t, int* info) {
  return isomer_emulator_solved(
      isomer::emulator::solver::gesvd(type, want_u, want_v, m, n, a, lda, s, u, ldu, vt, ldvt, true, info));
}
#undef ISOMER_EMULATOR_ROOMS
