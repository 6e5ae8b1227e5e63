// cuSOLVER's dense part under its own names, over solver_core.h. Work space is asked for and not used.
#pragma once

#include "solver_core.h"

#define CUSOLVER_COMMON_H_  // as headers of others ask whether cuSOLVER is there
#define CUSOLVER_VER_MAJOR 11
#define CUSOLVER_VER_MINOR 4
#define CUSOLVER_VER_PATCH 0
#define CUSOLVER_VERSION (CUSOLVER_VER_MAJOR * 1000 + CUSOLVER_VER_MINOR * 100 + CUSOLVER_VER_PATCH)

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
typedef struct isomer_emulator_solver_params {
} * cusolverDnParams_t;
/// Of Jacobi's method, whose tolerance here is always the smallest.
typedef struct isomer_emulator_jacobi {
  int sweeps = 1;
} * syevjInfo_t;
typedef struct isomer_emulator_jacobi* gesvdjInfo_t;

namespace isomer::emulator::solver {
inline cusolverStatus_t solved(bool done) {
  return done ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_EXECUTION_FAILED;
}
}  // namespace isomer::emulator::solver
#define ISOMER_EMULATOR_ROOM(NAME) ISOMER_EMULATOR_LITTLE_ROOM(cusolverStatus_t, cusolverDnHandle_t, NAME)

ISOMER_EMULATOR_MADE(cusolverStatus_t, cusolverDnCreate, cusolverDnDestroy, cusolverDnHandle_t, isomer_emulator_solver)
static inline cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUSOLVER_STATUS_SUCCESS;
}
static inline cusolverStatus_t cusolverDnGetStream(cusolverDnHandle_t handle, cudaStream_t* stream) {
  *stream = handle->stream;
  return CUSOLVER_STATUS_SUCCESS;
}
ISOMER_EMULATOR_MADE(cusolverStatus_t, cusolverDnCreateParams, cusolverDnDestroyParams, cusolverDnParams_t,
                     isomer_emulator_solver_params)
static inline cusolverStatus_t cusolverDnSetAdvOptions(cusolverDnParams_t, cusolverDnFunction_t,
                                                       cusolverAlgMode_t) {
  return CUSOLVER_STATUS_SUCCESS;
}
ISOMER_EMULATOR_MADE(cusolverStatus_t, cusolverDnCreateSyevjInfo, cusolverDnDestroySyevjInfo, syevjInfo_t,
                     isomer_emulator_jacobi)
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

namespace isomer::emulator::solver::names {

using Handle = cusolverDnHandle_t;
using Status = cusolverStatus_t;

template <class T>
Status potrf(Handle, cublasFillMode_t fill, int n, T* a, int lda, T*, int, int* info) {
  return solved(solver::potrf(kTypeOf<T>, fill, n, a, lda, info));
}
template <class T>
Status potrs(Handle, cublasFillMode_t fill, int n, int nrhs, const T* a, int lda, T* b, int ldb, int* info) {
  return solved(solver::potrs(kTypeOf<T>, fill, n, nrhs, a, lda, b, ldb, info));
}
template <class T>
Status getrf(Handle, int m, int n, T* a, int lda, T*, int* pivots, int* info) {
  return solved(solver::getrf(kTypeOf<T>, m, n, a, lda, pivots, info));
}
template <class T>
Status getrs(Handle, cublasOperation_t op, int n, int nrhs, const T* a, int lda, const int* pivots, T* b, int ldb,
             int* info) {
  return solved(solver::getrs(kTypeOf<T>, op, n, nrhs, a, lda, pivots, b, ldb, info));
}
template <class T>
Status geqrf(Handle, int m, int n, T* a, int lda, T* tau, T*, int, int* info) {
  return solved(solver::geqrf(kTypeOf<T>, m, n, a, lda, tau, info));
}
template <class T>
Status orgqr(Handle, int m, int n, int k, T* a, int lda, const T* tau, T*, int, int* info) {
  return solved(solver::orgqr(kTypeOf<T>, m, n, k, a, lda, tau, info));
}
template <class T>
Status ormqr(Handle, cublasSideMode_t side, cublasOperation_t op, int m, int n, int k, const T* a, int lda, const T* tau,
             T* c, int ldc, T*, int, int* info) {
  return solved(solver::ormqr(kTypeOf<T>, side, op, m, n, k, a, lda, tau, c, ldc, info));
}
template <class T>
Status syevd(Handle, cusolverEigMode_t mode, cublasFillMode_t fill, int n, T* a, int lda, T* w, T*, int, int* info) {
  return solved(solver::syev(kTypeOf<T>, mode == CUSOLVER_EIG_MODE_VECTOR, fill, n, a, lda, w, info));
}
template <class T>
Status syevj(Handle h, cusolverEigMode_t mode, cublasFillMode_t fill, int n, T* a, int lda, T* w, T* work, int size,
             int* info, syevjInfo_t) {
  return syevd(h, mode, fill, n, a, lda, w, work, size, info);
}
template <class T>
Status syevj_batched(Handle h, cusolverEigMode_t mode, cublasFillMode_t fill, int n, T* a, int lda, T* w, T* work,
                     int size, int* info, syevjInfo_t, int count) {
  for (long i = 0; i < count; ++i) {
    const Status status = syevd(h, mode, fill, n, a + i * lda * n, lda, w + i * n, work, size, info + i);
    if (status != CUSOLVER_STATUS_SUCCESS) return status;
  }
  return CUSOLVER_STATUS_SUCCESS;
}
template <class T>
Status sygvd(Handle, cusolverEigType_t kind, cusolverEigMode_t mode, cublasFillMode_t fill, int n, T* a, int lda, T* b,
             int ldb, T* w, T*, int, int* info) {
  return solved(solver::sygv(kTypeOf<T>, kind, mode == CUSOLVER_EIG_MODE_VECTOR, fill, n, a, lda, b, ldb, w, info));
}
template <class T>
Status sygvj(Handle h, cusolverEigType_t kind, cusolverEigMode_t mode, cublasFillMode_t fill, int n, T* a, int lda, T* b,
             int ldb, T* w, T* work, int size, int* info, syevjInfo_t) {
  return sygvd(h, kind, mode, fill, n, a, lda, b, ldb, w, work, size, info);
}
template <class T>
Status gesvd(Handle, signed char want_u, signed char want_v, int m, int n, T* a, int lda, T* s, T* u, int ldu, T* vt,
             int ldvt, T*, int, T*, int* info) {
  return solved(solver::gesvd(kTypeOf<T>, want_u, want_v, m, n, a, lda, s, u, ldu, vt, ldvt, true, info));
}
template <class T>
Status gesvdj(Handle, cusolverEigMode_t mode, int few, int m, int n, T* a, int lda, T* s, T* u, int ldu, T* v, int ldv,
              T*, int, int* info, gesvdjInfo_t) {
  const char want = mode != CUSOLVER_EIG_MODE_VECTOR ? 'N' : few ? 'S' : 'A';
  return solved(solver::gesvd(kTypeOf<T>, want, want, m, n, a, lda, s, u, ldu, v, ldv, false, info));
}

}  // namespace isomer::emulator::solver::names

/// One function of a type, under a library's name.
#define ISOMER_EMULATOR_SOLVES(NAME, FUNCTION, T) static constexpr auto NAME = &isomer::emulator::solver::names::FUNCTION<T>;
/// Those that cuSOLVER and hipSOLVER call alike, with the room that they want.
#define ISOMER_EMULATOR_SOLVER(LIBRARY, L, T)                            \
  ISOMER_EMULATOR_SOLVES(LIBRARY##L##potrf, potrf, T)                    \
  ISOMER_EMULATOR_SOLVES(LIBRARY##L##geqrf, geqrf, T)                    \
  ISOMER_EMULATOR_SOLVES(LIBRARY##L##orgqr, orgqr, T)                    \
  ISOMER_EMULATOR_SOLVES(LIBRARY##L##ormqr, ormqr, T)                    \
  ISOMER_EMULATOR_SOLVES(LIBRARY##L##syevd, syevd, T)                    \
  ISOMER_EMULATOR_SOLVES(LIBRARY##L##syevj, syevj, T)                    \
  ISOMER_EMULATOR_SOLVES(LIBRARY##L##syevjBatched, syevj_batched, T)     \
  ISOMER_EMULATOR_SOLVES(LIBRARY##L##sygvd, sygvd, T)                    \
  ISOMER_EMULATOR_SOLVES(LIBRARY##L##sygvj, sygvj, T)                    \
  ISOMER_EMULATOR_SOLVES(LIBRARY##L##gesvd, gesvd, T)                    \
  ISOMER_EMULATOR_SOLVES(LIBRARY##L##gesvdj, gesvdj, T)                  \
  ISOMER_EMULATOR_ROOM(LIBRARY##L##potrf_bufferSize)                     \
  ISOMER_EMULATOR_ROOM(LIBRARY##L##getrf_bufferSize)                     \
  ISOMER_EMULATOR_ROOM(LIBRARY##L##geqrf_bufferSize)                     \
  ISOMER_EMULATOR_ROOM(LIBRARY##L##orgqr_bufferSize)                     \
  ISOMER_EMULATOR_ROOM(LIBRARY##L##ormqr_bufferSize)                     \
  ISOMER_EMULATOR_ROOM(LIBRARY##L##syevd_bufferSize)                     \
  ISOMER_EMULATOR_ROOM(LIBRARY##L##syevj_bufferSize)                     \
  ISOMER_EMULATOR_ROOM(LIBRARY##L##syevjBatched_bufferSize)              \
  ISOMER_EMULATOR_ROOM(LIBRARY##L##sygvd_bufferSize)                     \
  ISOMER_EMULATOR_ROOM(LIBRARY##L##sygvj_bufferSize)                     \
  ISOMER_EMULATOR_ROOM(LIBRARY##L##gesvd_bufferSize)                     \
  ISOMER_EMULATOR_ROOM(LIBRARY##L##gesvdj_bufferSize)
ISOMER_EMULATOR_SOLVER(cusolverDn, S, float)
ISOMER_EMULATOR_SOLVER(cusolverDn, D, double)
ISOMER_EMULATOR_SOLVES(cusolverDnSpotrs, potrs, float)
ISOMER_EMULATOR_SOLVES(cusolverDnDpotrs, potrs, double)
ISOMER_EMULATOR_SOLVES(cusolverDnSgetrf, getrf, float)
ISOMER_EMULATOR_SOLVES(cusolverDnDgetrf, getrf, double)
ISOMER_EMULATOR_SOLVES(cusolverDnSgetrs, getrs, float)
ISOMER_EMULATOR_SOLVES(cusolverDnDgetrs, getrs, double)

// The functions of any type.
ISOMER_EMULATOR_ROOM(cusolverDnXpotrf_bufferSize)
static inline cusolverStatus_t cusolverDnXpotrf(cusolverDnHandle_t, cusolverDnParams_t, cublasFillMode_t fill, int64_t n,
                     cudaDataType type, void* a, int64_t lda, cudaDataType, void*, std::size_t, void*,
                     std::size_t, int* info) {
  return isomer::emulator::solver::solved(isomer::emulator::solver::potrf(type, fill, n, a, lda, info));
}
static inline cusolverStatus_t cusolverDnXpotrs(cusolverDnHandle_t, cusolverDnParams_t, cublasFillMode_t fill,
                                                int64_t n, int64_t nrhs, cudaDataType type, const void* a,
                                                int64_t lda, cudaDataType, void* b, int64_t ldb, int* info) {
  return isomer::emulator::solver::solved(isomer::emulator::solver::potrs(type, fill, n, nrhs, a, lda, b, ldb, info));
}
ISOMER_EMULATOR_ROOM(cusolverDnXgetrf_bufferSize)
static inline cusolverStatus_t cusolverDnXgetrf(cusolverDnHandle_t, cusolverDnParams_t, int64_t m, int64_t n, cudaDataType type, void* a,
                     int64_t lda, int64_t* pivots, cudaDataType, void*, std::size_t, void*, std::size_t,
                     int* info) {
  return isomer::emulator::solver::solved(isomer::emulator::solver::getrf(type, m, n, a, lda, pivots, info));
}
static inline cusolverStatus_t cusolverDnXgetrs(cusolverDnHandle_t, cusolverDnParams_t, cublasOperation_t op,
                                                int64_t n, int64_t nrhs, cudaDataType type, const void* a,
                                                int64_t lda, const int64_t* pivots, cudaDataType, void* b,
                                                int64_t ldb, int* info) {
  return isomer::emulator::solver::solved(
      isomer::emulator::solver::getrs(type, op, n, nrhs, a, lda, pivots, b, ldb, info));
}
ISOMER_EMULATOR_ROOM(cusolverDnXgeqrf_bufferSize)
static inline cusolverStatus_t cusolverDnXgeqrf(cusolverDnHandle_t, cusolverDnParams_t, int64_t m, int64_t n, cudaDataType type, void* a,
                     int64_t lda, cudaDataType, void* tau, cudaDataType, void*, std::size_t, void*,
                     std::size_t, int* info) {
  return isomer::emulator::solver::solved(isomer::emulator::solver::geqrf(type, m, n, a, lda, tau, info));
}
ISOMER_EMULATOR_ROOM(cusolverDnXsyevd_bufferSize)
static inline cusolverStatus_t cusolverDnXsyevd(cusolverDnHandle_t, cusolverDnParams_t, cusolverEigMode_t mode, cublasFillMode_t fill,
                     int64_t n, cudaDataType type, void* a, int64_t lda, cudaDataType, void* w, cudaDataType,
                     void*, std::size_t, void*, std::size_t, int* info) {
  return isomer::emulator::solver::solved(
      isomer::emulator::solver::syev(type, mode == CUSOLVER_EIG_MODE_VECTOR, fill, n, a, lda, w, info));
}
ISOMER_EMULATOR_ROOM(cusolverDnXgesvd_bufferSize)
static inline cusolverStatus_t cusolverDnXgesvd(cusolverDnHandle_t, cusolverDnParams_t, signed char want_u, signed char want_v,
                     int64_t m, int64_t n, cudaDataType type, void* a, int64_t lda, cudaDataType, void* s,
                     cudaDataType, void* u, int64_t ldu, cudaDataType, void* vt, int64_t ldvt, cudaDataType,
                     void*, std::size_t, void*, std::size_t, int* info) {
  return isomer::emulator::solver::solved(
      isomer::emulator::solver::gesvd(type, want_u, want_v, m, n, a, lda, s, u, ldu, vt, ldvt, true, info));
}
