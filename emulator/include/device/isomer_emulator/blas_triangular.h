// cuBLAS's symmetric and triangular matrices, and the small systems of a batch. Included by blas.h.
#pragma once

#include "blas_matrix.h"


namespace isomer::emulator::blas {

/// The whole of a matrix of which one triangle is stored; `mirrored`: symmetric, else zeros in the other.
inline bool bring_triangle(Matrix& m, cudaDataType_t type, const void* at, long n, long stride,
                           cublasFillMode_t fill, bool mirrored, bool unit) {
  if (!m.bring(type, at, n, n, stride)) return false;
  for (long j = 0; j < n; ++j) {
    for (long i = 0; i < n; ++i) {
      const bool stored = fill == CUBLAS_FILL_MODE_LOWER ? i >= j : i <= j;
      if (!stored && !mirrored) m.at(i, j) = 0;
    }
    if (unit) m.at(j, j) = 1;
  }
  for (long j = 0; mirrored && j < n; ++j) {
    for (long i = 0; i < j; ++i) {
      if (fill == CUBLAS_FILL_MODE_LOWER) {
        m.at(i, j) = m.at(j, i);
      } else {
        m.at(j, i) = m.at(i, j);
      }
    }
  }
  return true;
}

/// b = t⁻¹ · b for a triangle.
template <class T>
void solve(const Matrix& t, Matrix& b, long n, long columns, bool lower) {
  for (long c = 0; c < columns; ++c) {
    for (long step = 0; step < n; ++step) {
      const long i = lower ? step : n - 1 - step;
      T sum = T(b.at(i, c));
      for (long k = lower ? 0 : i + 1; k < (lower ? i : n); ++k) sum -= T(t.at(i, k)) * T(b.at(k, c));
      b.at(i, c) = sum / T(t.at(i, i));
    }
  }
}

/// The factors L and U in place, with the row that each step has taken (from one); 0, or the column without a
/// pivot.
template <class T>
int factorise(Matrix& a, long n, std::vector<int>& pivots, bool pivoted) {
  int singular = 0;
  for (long k = 0; k < n; ++k) {
    long best = k;
    for (long i = k + 1; pivoted && i < n; ++i)
      if (std::fabs(a.at(i, k)) > std::fabs(a.at(best, k))) best = i;
    pivots[static_cast<std::size_t>(k)] = static_cast<int>(best) + 1;
    for (long j = 0; best != k && j < n; ++j) std::swap(a.at(k, j), a.at(best, j));
    if (a.at(k, k) == 0) {
      if (singular == 0) singular = static_cast<int>(k) + 1;
      continue;
    }
    for (long i = k + 1; i < n; ++i) {
      a.at(i, k) = T(a.at(i, k)) / T(a.at(k, k));
      for (long j = k + 1; j < n; ++j) a.at(i, j) = T(a.at(i, j)) - T(a.at(i, k)) * T(a.at(k, j));
    }
  }
  return singular;
}
template <class P>
P pointer_at(P const* list, int i) {
  P p = nullptr;
  return isomer_emulator_copy(&p, list + i, sizeof p, kAnyDirection) == 0 ? p : nullptr;
}
inline void keep(int* to, int value) {
  if (to) isomer_emulator_copy(to, &value, sizeof value, kAnyDirection);
}

}  // namespace isomer::emulator::blas

#define ISOMER_EMULATOR_TRIANGLES(L, l, T)                                                                   \
  static inline cublasStatus_t cublas##L##trsm(cublasHandle_t, cublasSideMode_t side, cublasFillMode_t fill, \
                                               cublasOperation_t op, cublasDiagType_t diag, int m, int n,    \
                                               const T* alpha, const T* a, int lda, T* b, int ldb) {         \
    using namespace isomer::emulator::blas;                                                                  \
    constexpr cudaDataType_t type = kTypeOf<T>;                                                              \
    const long size = side == CUBLAS_SIDE_LEFT ? m : n;                                                      \
    Matrix t, x;                                                                                             \
    if (!bring_triangle(t, type, a, size, lda, fill, false, diag == CUBLAS_DIAG_UNIT) ||                     \
        !x.bring(type, b, m, n, ldb))                                                                        \
      return CUBLAS_STATUS_EXECUTION_FAILED;                                                                 \
    const T by = T(number(type, alpha));                                                                     \
    for (double& v : x.values) v = by * T(v);                                                                \
    /* x · t⁻¹ is what the transposed ones give from the left. */                                        \
    const bool turned = (op != CUBLAS_OP_N) != (side == CUBLAS_SIDE_RIGHT);                                  \
    if (turned) t = t.transposed();                                                                          \
    if (side == CUBLAS_SIDE_RIGHT) x = x.transposed();                                                       \
    solve<T>(t, x, size, side == CUBLAS_SIDE_LEFT ? n : m, (fill == CUBLAS_FILL_MODE_LOWER) != turned);      \
    if (side == CUBLAS_SIDE_RIGHT) x = x.transposed();                                                       \
    return x.take(type, b, ldb) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;                    \
  }                                                                                                          \
  static inline cublasStatus_t cublas##L##trsv(cublasHandle_t, cublasFillMode_t fill, cublasOperation_t op,  \
                                               cublasDiagType_t diag, int n, const T* a, int lda, T* x,      \
                                               int incx) {                                                   \
    using namespace isomer::emulator::blas;                                                                  \
    constexpr cudaDataType_t type = kTypeOf<T>;                                                              \
    Matrix t, v;                                                                                             \
    if (!bring_triangle(t, type, a, n, lda, fill, false, diag == CUBLAS_DIAG_UNIT) ||                        \
        !v.bring(type, x, 1, n, incx))                                                                       \
      return CUBLAS_STATUS_EXECUTION_FAILED;                                                                 \
    if (op != CUBLAS_OP_N) t = t.transposed();                                                               \
    v = v.transposed();                                                                                      \
    solve<T>(t, v, n, 1, (fill == CUBLAS_FILL_MODE_LOWER) == (op == CUBLAS_OP_N));                           \
    return v.transposed().take(type, x, incx) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;      \
  }                                                                                                          \
  static inline cublasStatus_t cublas##L##trmm(cublasHandle_t, cublasSideMode_t side, cublasFillMode_t fill, \
                                               cublasOperation_t op, cublasDiagType_t diag, int m, int n,    \
                                               const T* alpha, const T* a, int lda, const T* b, int ldb,     \
                                               T* c, int ldc) {                                              \
    using namespace isomer::emulator::blas;                                                                  \
    constexpr cudaDataType_t type = kTypeOf<T>;                                                              \
    Matrix t, x;                                                                                             \
    if (!bring_triangle(t, type, a, side == CUBLAS_SIDE_LEFT ? m : n, lda, fill, false,                      \
                        diag == CUBLAS_DIAG_UNIT) ||                                                         \
        !x.bring(type, b, m, n, ldb))                                                                        \
      return CUBLAS_STATUS_EXECUTION_FAILED;                                                                 \
    if (op != CUBLAS_OP_N) t = t.transposed();                                                               \
    Matrix sums = side == CUBLAS_SIDE_LEFT ? product_in<T>(t, x) : product_in<T>(x, t);                      \
    const T by = T(number(type, alpha));                                                                     \
    for (double& v : sums.values) v = by * T(v);                                                             \
    return sums.take(type, c, ldc) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;                 \
  }                                                                                                          \
  static inline cublasStatus_t cublas##L##symm(cublasHandle_t, cublasSideMode_t side, cublasFillMode_t fill, \
                                               int m, int n, const T* alpha, const T* a, int lda,            \
                                               const T* b, int ldb, const T* beta, T* c, int ldc) {          \
    using namespace isomer::emulator::blas;                                                                  \
    constexpr cudaDataType_t type = kTypeOf<T>;                                                              \
    const T by = T(number(type, alpha)), kept = T(number(type, beta));                                       \
    Matrix s, x, sum(m, n);                                                                                  \
    if (!bring_triangle(s, type, a, side == CUBLAS_SIDE_LEFT ? m : n, lda, fill, true, false) ||             \
        !x.bring(type, b, m, n, ldb) || (kept != T(0) && !sum.bring(type, c, m, n, ldc)))                    \
      return CUBLAS_STATUS_EXECUTION_FAILED;                                                                 \
    const Matrix p = side == CUBLAS_SIDE_LEFT ? product_in<T>(s, x) : product_in<T>(x, s);                   \
    for (std::size_t i = 0; i < sum.values.size(); ++i)                                                      \
      sum.values[i] = by * T(p.values[i]) + (kept != T(0) ? kept * T(sum.values[i]) : T(0));                 \
    return sum.take(type, c, ldc) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;                  \
  }                                                                                                          \
  static inline cublasStatus_t cublas##L##symv(cublasHandle_t, cublasFillMode_t fill, int n, const T* alpha, \
                                               const T* a, int lda, const T* x, int incx, const T* beta,     \
                                               T* y, int incy) {                                             \
    using namespace isomer::emulator::blas;                                                                  \
    constexpr cudaDataType_t type = kTypeOf<T>;                                                              \
    Matrix s, in, out;                                                                                       \
    if (!bring_triangle(s, type, a, n, lda, fill, true, false) || !in.bring(type, x, 1, n, incx) ||          \
        !out.bring(type, y, 1, n, incy))                                                                     \
      return CUBLAS_STATUS_EXECUTION_FAILED;                                                                 \
    const T by = T(number(type, alpha)), kept = T(number(type, beta));                                       \
    const Matrix sums = product_in<T>(s, in.transposed());                                                   \
    for (long i = 0; i < n; ++i)                                                                             \
      out.at(0, i) = by * T(sums.at(i, 0)) + (kept != T(0) ? kept * T(out.at(0, i)) : T(0));                 \
    return out.take(type, y, incy) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;                 \
  }                                                                                                          \
  static inline cublasStatus_t cublas##L##syrk(cublasHandle_t, cublasFillMode_t fill, cublasOperation_t op,  \
                                               int n, int k, const T* alpha, const T* a, int lda,            \
                                               const T* beta, T* c, int ldc) {                               \
    using namespace isomer::emulator::blas;                                                                  \
    constexpr cudaDataType_t type = kTypeOf<T>;                                                              \
    const T by = T(number(type, alpha)), kept = T(number(type, beta));                                       \
    Matrix x, sum;                                                                                           \
    if (!bring(x, {op, a, type, lda}, n, k) || !sum.bring(type, c, n, n, ldc))                               \
      return CUBLAS_STATUS_EXECUTION_FAILED;                                                                 \
    const Matrix p = product_in<T>(x, x.transposed());                                                       \
    for (long j = 0; j < n; ++j)                                                                             \
      for (long i = 0; i < n; ++i)                                                                           \
        if (fill == CUBLAS_FILL_MODE_LOWER ? i >= j : i <= j)                                                \
          sum.at(i, j) = by * T(p.at(i, j)) + (kept != T(0) ? kept * T(sum.at(i, j)) : T(0));                \
    return sum.take(type, c, ldc) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;                  \
  }                                                                                                          \
  static inline cublasStatus_t cublas##L##dgmm(cublasHandle_t, cublasSideMode_t side, int m, int n,          \
                                               const T* a, int lda, const T* x, int incx, T* c, int ldc) {   \
    using namespace isomer::emulator::blas;                                                                  \
    constexpr cudaDataType_t type = kTypeOf<T>;                                                              \
    Matrix s, d;                                                                                             \
    if (!s.bring(type, a, m, n, lda) || !d.bring(type, x, 1, side == CUBLAS_SIDE_LEFT ? m : n, incx))        \
      return CUBLAS_STATUS_EXECUTION_FAILED;                                                                 \
    for (long j = 0; j < n; ++j)                                                                             \
      for (long i = 0; i < m; ++i)                                                                           \
        s.at(i, j) = T(s.at(i, j)) * T(d.at(0, side == CUBLAS_SIDE_LEFT ? i : j));                           \
    return s.take(type, c, ldc) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;                    \
  }                                                                                                          \
  static inline cublasStatus_t cublas##L##swap(cublasHandle_t, int n, T* x, int incx, T* y, int incy) {      \
    using namespace isomer::emulator::blas;                                                                  \
    constexpr cudaDataType_t type = kTypeOf<T>;                                                              \
    Matrix a, b;                                                                                             \
    return a.bring(type, x, 1, n, incx) && b.bring(type, y, 1, n, incy) && b.take(type, x, incx) &&          \
                   a.take(type, y, incy)                                                                     \
               ? CUBLAS_STATUS_SUCCESS                                                                       \
               : CUBLAS_STATUS_EXECUTION_FAILED;                                                             \
  }                                                                                                          \
  static inline cublasStatus_t cublas##L##rot(cublasHandle_t, int n, T* x, int incx, T* y, int incy,         \
                                              const T* c, const T* s) {                                      \
    using namespace isomer::emulator::blas;                                                                  \
    constexpr cudaDataType_t type = kTypeOf<T>;                                                              \
    Matrix a, b;                                                                                             \
    if (!a.bring(type, x, 1, n, incx) || !b.bring(type, y, 1, n, incy))                                      \
      return CUBLAS_STATUS_EXECUTION_FAILED;                                                                 \
    const T cosine = T(number(type, c)), sine = T(number(type, s));                                          \
    for (long i = 0; i < n; ++i) {                                                                           \
      const T u = T(a.at(0, i)), v = T(b.at(0, i));                                                          \
      a.at(0, i) = cosine * u + sine * v, b.at(0, i) = cosine * v - sine * u;                                \
    }                                                                                                        \
    return a.take(type, x, incx) && b.take(type, y, incy) ? CUBLAS_STATUS_SUCCESS                            \
                                                          : CUBLAS_STATUS_EXECUTION_FAILED;                  \
  }                                                                                                          \
  static inline cublasStatus_t cublasI##l##amin(cublasHandle_t, int n, const T* x, int incx, int* result) {  \
    using namespace isomer::emulator::blas;                                                                  \
    Matrix a;                                                                                                \
    if (!a.bring(kTypeOf<T>, x, 1, n, incx)) return CUBLAS_STATUS_EXECUTION_FAILED;                          \
    int best = 0;                                                                                            \
    for (int i = 0; i < n; ++i)                                                                              \
      if (best == 0 || std::fabs(a.at(0, i)) < std::fabs(a.at(0, best - 1))) best = i + 1; /* from one */    \
    put_number(CUDA_R_32I, result, best);                                                                    \
    return CUBLAS_STATUS_SUCCESS;                                                                            \
  }                                                                                                          \
  static inline cublasStatus_t cublas##L##getrfBatched(cublasHandle_t, int n, T* const a[], int lda,         \
                                                       int* pivots, int* info, int count) {                  \
    using namespace isomer::emulator::blas;                                                                  \
    for (int i = 0; i < count; ++i) {                                                                        \
      Matrix m;                                                                                              \
      T* const at = pointer_at(a, i);                                                                        \
      if (!m.bring(kTypeOf<T>, at, n, n, lda)) return CUBLAS_STATUS_EXECUTION_FAILED;                        \
      std::vector<int> rows(static_cast<std::size_t>(n));                                                    \
      keep(info + i, factorise<T>(m, n, rows, pivots != nullptr));                                           \
      if (!m.take(kTypeOf<T>, at, lda)) return CUBLAS_STATUS_EXECUTION_FAILED;                               \
      for (int k = 0; pivots && k < n; ++k) keep(pivots + i * n + k, rows[static_cast<std::size_t>(k)]);     \
    }                                                                                                        \
    return CUBLAS_STATUS_SUCCESS;                                                                            \
  }                                                                                                          \
  static inline cublasStatus_t cublas##L##getriBatched(cublasHandle_t, int n, const T* const a[], int lda,   \
                                                       const int* pivots, T* const c[], int ldc, int* info,  \
                                                       int count) {                                          \
    using namespace isomer::emulator::blas;                                                                  \
    for (int i = 0; i < count; ++i) {                                                                        \
      Matrix m, inverse(n, n);                                                                               \
      if (!m.bring(kTypeOf<T>, pointer_at(a, i), n, n, lda)) return CUBLAS_STATUS_EXECUTION_FAILED;          \
      for (long k = 0; k < n; ++k) inverse.at(k, k) = 1;                                                     \
      for (long k = 0; pivots && k < n; ++k) {                                                               \
        int row = 0;                                                                                         \
        isomer_emulator_copy(&row, pivots + i * n + k, sizeof row, kAnyDirection);                           \
        for (long j = 0; row - 1 != k && j < n; ++j) std::swap(inverse.at(k, j), inverse.at(row - 1, j));    \
      }                                                                                                      \
      Matrix lower = m;                                                                                      \
      for (long k = 0; k < n; ++k) lower.at(k, k) = 1;                                                       \
      solve<T>(lower, inverse, n, n, true);                                                                  \
      solve<T>(m, inverse, n, n, false);                                                                     \
      keep(info + i, 0);                                                                                     \
      if (!inverse.take(kTypeOf<T>, pointer_at(c, i), ldc)) return CUBLAS_STATUS_EXECUTION_FAILED;           \
    }                                                                                                        \
    return CUBLAS_STATUS_SUCCESS;                                                                            \
  }
ISOMER_EMULATOR_TRIANGLES(S, s, float)
ISOMER_EMULATOR_TRIANGLES(D, d, double)
#undef ISOMER_EMULATOR_TRIANGLES
