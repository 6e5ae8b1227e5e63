// The libraries' names for what the other headers compute, for each type: cuBLAS's, and in HIP sources hipBLAS's and
// rocBLAS's too. Included by blas.h.
#pragma once

#include "blas_packed.h"

namespace isomer::emulator::blas {
// Only what a program calls is compiled for it: the type is not known before the address is asked for.
template <class, class P>
struct Later {
  using Type = P;
};
namespace names {

#if defined(ISOMER_EMULATOR_HIP)
#define ISOMER_EMULATOR_BLAS_NAMES(NAME, ROC) \
  cublas##NAME{}, cublas##NAME##_64{}, hipblas##NAME{}, hipblas##NAME##_64{}, rocblas_##ROC{}
#else
#define ISOMER_EMULATOR_BLAS_NAMES(NAME, ROC) cublas##NAME{}, cublas##NAME##_v2{}, cublas##NAME##_64{}
#endif
#define ISOMER_EMULATOR_BLAS(NAME, ROC, FUNCTION, P, ...) \
  struct Of##NAME { \
    template <class Call> \
    static constexpr auto work = &FUNCTION<typename Later<Call, P>::Type, ##__VA_ARGS__>; \
  }; \
  static constexpr Recorded<Of##NAME, decltype(&FUNCTION<P, ##__VA_ARGS__>)> ISOMER_EMULATOR_BLAS_NAMES(NAME, ROC);

#define ISOMER_EMULATOR_BLAS_OF(L, l, P) \
  ISOMER_EMULATOR_BLAS(L##axpy, l##axpy, axpy, P) \
  ISOMER_EMULATOR_BLAS(L##scal, l##scal, scal, P) \
  ISOMER_EMULATOR_BLAS(L##copy, l##copy, copy, P) \
  ISOMER_EMULATOR_BLAS(L##swap, l##swap, swap, P) \
  ISOMER_EMULATOR_BLAS(I##l##amax, i##l##amax, extreme, P, false) \
  ISOMER_EMULATOR_BLAS(I##l##amin, i##l##amin, extreme, P, true) \
  ISOMER_EMULATOR_BLAS(L##gemv, l##gemv, gemv, P) \
  ISOMER_EMULATOR_BLAS(L##geam, l##geam, geam, P) \
  ISOMER_EMULATOR_BLAS(L##dgmm, l##dgmm, dgmm, P) \
  ISOMER_EMULATOR_BLAS(L##gemm, l##gemm, gemm_one, P) \
  ISOMER_EMULATOR_BLAS(L##gemmBatched, l##gemm_batched, gemm_list, P) \
  ISOMER_EMULATOR_BLAS(L##gemmStridedBatched, l##gemm_strided_batched, gemm_batches, P) \
  ISOMER_EMULATOR_BLAS(L##trsm, l##trsm, trsm, P) \
  ISOMER_EMULATOR_BLAS(L##trsmBatched, l##trsm_batched, trsm_list, P) \
  ISOMER_EMULATOR_BLAS(L##trsv, l##trsv, trsv, P) \
  ISOMER_EMULATOR_BLAS(L##trmm, l##trmm, trmm, P) \
  ISOMER_EMULATOR_BLAS(L##trmv, l##trmv, trmv, P) \
  ISOMER_EMULATOR_BLAS(L##gbmv, l##gbmv, gbmv, P) \
  ISOMER_EMULATOR_BLAS(L##tbmv, l##tbmv, tbmv, P) \
  ISOMER_EMULATOR_BLAS(L##tbsv, l##tbsv, tbsv, P) \
  ISOMER_EMULATOR_BLAS(L##tpmv, l##tpmv, tpmv, P) \
  ISOMER_EMULATOR_BLAS(L##tpsv, l##tpsv, tpsv, P) \
  ISOMER_EMULATOR_BLAS(L##symm, l##symm, symm, P, Mirror::symmetric) \
  ISOMER_EMULATOR_BLAS(L##symv, l##symv, symv, P, Mirror::symmetric) \
  ISOMER_EMULATOR_BLAS(L##syrk, l##syrk, syrk, P, Mirror::symmetric) \
  ISOMER_EMULATOR_BLAS(L##syr2k, l##syr2k, syr2k, P, Mirror::symmetric, true) \
  ISOMER_EMULATOR_BLAS(L##syrkx, l##syrkx, syr2k, P, Mirror::symmetric, false) \
  ISOMER_EMULATOR_BLAS(L##syr, l##syr, syr, P, Mirror::symmetric) \
  ISOMER_EMULATOR_BLAS(L##syr2, l##syr2, syr2, P, Mirror::symmetric) \
  ISOMER_EMULATOR_BLAS(L##getrfBatched, l##getrf_batched, getrf_list, P) \
  ISOMER_EMULATOR_BLAS(L##getriBatched, l##getri_batched, getri_list, P)
ISOMER_EMULATOR_BLAS_OF(S, s, float)
ISOMER_EMULATOR_BLAS_OF(D, d, double)
ISOMER_EMULATOR_BLAS_OF(C, c, float2)
ISOMER_EMULATOR_BLAS_OF(Z, z, double2)
#undef ISOMER_EMULATOR_BLAS_OF
#define ISOMER_EMULATOR_BLAS_OF(L, l, R) \
  ISOMER_EMULATOR_BLAS(L##dot, l##dot, dot, R, false) \
  ISOMER_EMULATOR_BLAS(L##nrm2, l##nrm2, nrm2, R) \
  ISOMER_EMULATOR_BLAS(L##asum, l##asum, asum, R) \
  ISOMER_EMULATOR_BLAS(L##rot, l##rot, rot, R, R, R) \
  ISOMER_EMULATOR_BLAS(L##rotg, l##rotg, rotg, R) \
  ISOMER_EMULATOR_BLAS(L##rotm, l##rotm, rotm, R) \
  ISOMER_EMULATOR_BLAS(L##ger, l##ger, ger, R, false) \
  ISOMER_EMULATOR_BLAS(L##spmv, l##spmv, spmv, R, Mirror::symmetric) \
  ISOMER_EMULATOR_BLAS(L##sbmv, l##sbmv, sbmv, R, Mirror::symmetric) \
  ISOMER_EMULATOR_BLAS(L##spr, l##spr, spr, R, Mirror::symmetric) \
  ISOMER_EMULATOR_BLAS(L##spr2, l##spr2, spr2, R, Mirror::symmetric)
ISOMER_EMULATOR_BLAS_OF(S, s, float)
ISOMER_EMULATOR_BLAS_OF(D, d, double)
#undef ISOMER_EMULATOR_BLAS_OF
/// Of complex types alone; LR, RL and rl are how both letters stand in a name.
#define ISOMER_EMULATOR_BLAS_OF(L, l, LR, RL, rl, P, R) \
  ISOMER_EMULATOR_BLAS(L##dotu, l##dotu, dot, P, false) \
  ISOMER_EMULATOR_BLAS(L##dotc, l##dotc, dot, P, true) \
  ISOMER_EMULATOR_BLAS(L##LR##scal, l##LR##scal, scal, P, R) \
  ISOMER_EMULATOR_BLAS(RL##nrm2, rl##nrm2, nrm2, P) \
  ISOMER_EMULATOR_BLAS(RL##asum, rl##asum, asum, P) \
  ISOMER_EMULATOR_BLAS(L##rot, l##rot, rot, P, R, P) \
  ISOMER_EMULATOR_BLAS(L##LR##rot, l##LR##rot, rot, P, R, R) \
  ISOMER_EMULATOR_BLAS(L##geru, l##geru, ger, P, false) \
  ISOMER_EMULATOR_BLAS(L##gerc, l##gerc, ger, P, true) \
  ISOMER_EMULATOR_BLAS(L##gemm3m, l##gemm3m, gemm_one, P) \
  ISOMER_EMULATOR_BLAS(L##hemm, l##hemm, symm, P, Mirror::hermitian) \
  ISOMER_EMULATOR_BLAS(L##hemv, l##hemv, symv, P, Mirror::hermitian) \
  ISOMER_EMULATOR_BLAS(L##herk, l##herk, syrk, P, Mirror::hermitian) \
  ISOMER_EMULATOR_BLAS(L##her2k, l##her2k, syr2k, P, Mirror::hermitian, true) \
  ISOMER_EMULATOR_BLAS(L##herkx, l##herkx, syr2k, P, Mirror::hermitian, false) \
  ISOMER_EMULATOR_BLAS(L##hpmv, l##hpmv, spmv, P, Mirror::hermitian) \
  ISOMER_EMULATOR_BLAS(L##hbmv, l##hbmv, sbmv, P, Mirror::hermitian) \
  ISOMER_EMULATOR_BLAS(L##hpr, l##hpr, spr, P, Mirror::hermitian) \
  ISOMER_EMULATOR_BLAS(L##hpr2, l##hpr2, spr2, P, Mirror::hermitian) \
  ISOMER_EMULATOR_BLAS(L##her, l##her, syr, P, Mirror::hermitian) \
  ISOMER_EMULATOR_BLAS(L##her2, l##her2, syr2, P, Mirror::hermitian)
ISOMER_EMULATOR_BLAS_OF(C, c, s, Sc, sc, float2, float)
ISOMER_EMULATOR_BLAS_OF(Z, z, d, Dz, dz, double2, double)
#undef ISOMER_EMULATOR_BLAS_OF
ISOMER_EMULATOR_BLAS(Hgemm, hgemm, gemm_one, __half)
ISOMER_EMULATOR_BLAS(HgemmBatched, hgemm_batched, gemm_list, __half)
ISOMER_EMULATOR_BLAS(HgemmStridedBatched, hgemm_strided_batched, gemm_batches, __half)
#undef ISOMER_EMULATOR_BLAS
#undef ISOMER_EMULATOR_BLAS_NAMES

}  // namespace names
}  // namespace isomer::emulator::blas
using namespace isomer::emulator::blas::names;

// The functions of the library itself, as they are exported.
#define cublasCreate_v2 cublasCreate
#define cublasDestroy_v2 cublasDestroy
#define cublasGetStream_v2 cublasGetStream
#define cublasSetStream_v2 cublasSetStream
#define cublasSetPointerMode_v2 cublasSetPointerMode
#define cublasGetPointerMode_v2 cublasGetPointerMode
#define cublasSetWorkspace_v2 cublasSetWorkspace
