// What the solvers' libraries do with matrices of the device, whatever their functions are called: real
// types, brought to the host and back as copies are. Each gives false where a copy was refused.
#pragma once

#include "dense.h"

namespace isomer::emulator::solver {

using blas::Matrix;
using Type = cudaDataType_t;

template <class T>
constexpr Type kTypeOf = sizeof(T) == 8 ? CUDA_R_64F : CUDA_R_32F;

inline bool put_vector(Type type, void* to, const std::vector<double>& values) {
  Matrix m(1, static_cast<long>(values.size()));
  m.values = values;
  return m.take(type, to, 1);
}
inline bool get_vector(Type type, const void* from, std::vector<double>& values, long count) {
  Matrix m;
  if (!m.bring(type, from, 1, count, 1)) return false;
  values = m.values;
  return true;
}
template <class I>
bool put_integers(I* to, const std::vector<int>& values) {
  const std::vector<I> as(values.begin(), values.end());
  return to == nullptr || as.empty() ||
         isomer_emulator_copy(to, as.data(), as.size() * sizeof(I), blas::kAnyDirection) == 0;
}
template <class I>
bool get_integers(const I* from, std::vector<int>& values, long count) {
  std::vector<I> as(static_cast<std::size_t>(count));
  if (count > 0 && isomer_emulator_copy(as.data(), from, as.size() * sizeof(I), blas::kAnyDirection) != 0)
    return false;
  values.assign(as.begin(), as.end());
  return true;
}
inline bool lower(cublasFillMode_t fill) { return fill == CUBLAS_FILL_MODE_LOWER; }

inline bool potrf(Type type, cublasFillMode_t fill, long n, void* a, long lda, int* info) {
  Matrix m;
  if (!m.bring(type, a, n, n, lda)) return false;
  blas::keep(info, dense::cholesky(m, lower(fill)));
  return m.take(type, a, lda);
}
inline bool potrs(Type type, cublasFillMode_t fill, long n, long nrhs, const void* a, long lda, void* b,
                  long ldb, int* info) {
  Matrix m, x;
  if (!m.bring(type, a, n, n, lda) || !x.bring(type, b, n, nrhs, ldb)) return false;
  dense::solve_triangle(m, x, lower(fill), !lower(fill));
  dense::solve_triangle(m, x, lower(fill), lower(fill));
  blas::keep(info, 0);
  return x.take(type, b, ldb);
}
template <class I>
bool getrf(Type type, long m, long n, void* a, long lda, I* pivots, int* info) {
  Matrix of;
  std::vector<int> taken;
  if (!of.bring(type, a, m, n, lda)) return false;
  blas::keep(info, dense::lu(of, taken, pivots != nullptr));
  return of.take(type, a, lda) && put_integers(pivots, taken);
}
template <class I>
bool getrs(Type type, cublasOperation_t op, long n, long nrhs, const void* a, long lda, const I* pivots,
           void* b, long ldb, int* info) {
  Matrix m, x;
  std::vector<int> taken;
  if (!m.bring(type, a, n, n, lda) || !x.bring(type, b, n, nrhs, ldb)) return false;
  if (pivots != nullptr && !get_integers(pivots, taken, n)) return false;
  dense::solve_lu(m, taken, x, op != CUBLAS_OP_N);
  blas::keep(info, 0);
  return x.take(type, b, ldb);
}
inline bool getri(Type type, long n, void* a, long lda, const int* pivots, int* info) {
  Matrix m, x = dense::identity(n, n);
  std::vector<int> taken;
  if (!m.bring(type, a, n, n, lda) || !get_integers(pivots, taken, n)) return false;
  dense::solve_lu(m, taken, x, false);
  blas::keep(info, 0);
  return x.take(type, a, lda);
}
inline bool geqrf(Type type, long m, long n, void* a, long lda, void* tau, int* info) {
  Matrix of;
  if (!of.bring(type, a, m, n, lda)) return false;
  const std::vector<double> scales = dense::qr(of);
  blas::keep(info, 0);
  return of.take(type, a, lda) && put_vector(type, tau, scales);
}
inline bool orgqr(Type type, long m, long n, long k, void* a, long lda, const void* tau, int* info) {
  Matrix of, q = dense::identity(m, n);
  std::vector<double> scales;
  if (!of.bring(type, a, m, k, lda) || !get_vector(type, tau, scales, k)) return false;
  dense::reflect(of, scales, q, false);
  blas::keep(info, 0);
  return q.take(type, a, lda);
}
inline bool ormqr(Type type, cublasSideMode_t side, cublasOperation_t op, long m, long n, long k,
                  const void* a, long lda, const void* tau, void* c, long ldc, int* info) {
  const bool left = side == CUBLAS_SIDE_LEFT, transposed = op != CUBLAS_OP_N;
  Matrix of, to;
  std::vector<double> scales;
  if (!of.bring(type, a, left ? m : n, k, lda) || !to.bring(type, c, m, n, ldc) ||
      !get_vector(type, tau, scales, k))
    return false;
  if (!left) to = to.transposed();
  dense::reflect(of, scales, to, left == transposed);
  if (!left) to = to.transposed();
  blas::keep(info, 0);
  return to.take(type, c, ldc);
}
inline bool syev(Type type, bool vectors, cublasFillMode_t fill, long n, void* a, long lda, void* w,
                 int* info) {
  Matrix m;
  if (!blas::bring_triangle(m, type, a, n, lda, fill, blas::Mirror::symmetric, false)) return false;
  const std::vector<double> values = dense::eigen(m);
  blas::keep(info, 0);
  return put_vector(type, w, values) && (!vectors || m.take(type, a, lda));
}
/// A·x = λ·B·x (kind 1), A·B·x = λ·x (2), B·A·x = λ·x (3), by the factor of B, which is left in its place.
inline bool sygv(Type type, int kind, bool vectors, cublasFillMode_t fill, long n, void* a, long lda, void* b,
                 long ldb, void* w, int* info) {
  Matrix m, factor, raw;
  if (!blas::bring_triangle(m, type, a, n, lda, fill, blas::Mirror::symmetric, false) ||
      !blas::bring_triangle(factor, type, b, n, ldb, fill, blas::Mirror::no, false) || !raw.bring(type, b, n, n, ldb))
    return false;
  const int minor = dense::cholesky(factor, lower(fill));
  if (minor != 0) {
    blas::keep(info, static_cast<int>(n) + minor);
    return true;
  }
  const Matrix l = lower(fill) ? factor : factor.transposed();
  if (kind == 1) {  // L⁻¹·A·L⁻ᵀ
    dense::solve_triangle(l, m, true, false);
    m = m.transposed();
    dense::solve_triangle(l, m, true, false);
  } else {  // Lᵀ·A·L
    m = blas::product(blas::product(l.transposed(), m, blas::Computes::in_double), l,
                      blas::Computes::in_double);
  }
  const std::vector<double> values = dense::eigen(m);
  if (kind == 3)
    m = blas::product(l, m, blas::Computes::in_double);
  else
    dense::solve_triangle(l, m, true, true);
  for (long j = 0; j < n; ++j)
    for (long i = 0; i < n; ++i)
      if (lower(fill) ? i >= j : i <= j) raw.at(i, j) = factor.at(i, j);
  blas::keep(info, 0);
  return put_vector(type, w, values) && raw.take(type, b, ldb) && (!vectors || m.take(type, a, lda));
}
/// What of U and of Vᵀ (or V) is wanted: 'A' all, 'S' the first columns, 'O' in the place of A, 'N' none.
inline bool gesvd(Type type, char want_u, char want_v, long m, long n, void* a, long lda, void* s, void* u,
                  long ldu, void* v, long ldv, bool transposed, int* info) {
  Matrix of;
  if (!of.bring(type, a, m, n, lda)) return false;
  const dense::Singular found = dense::singular(of);
  const long few = std::min(m, n);
  const auto columns = [](const Matrix& from, long count) {
    Matrix part(from.rows, count);
    std::copy_n(from.values.begin(), part.values.size(), part.values.begin());
    return part;
  };
  blas::keep(info, 0);
  if (!put_vector(type, s, std::vector<double>(found.values.begin(), found.values.begin() + few)))
    return false;
  if ((want_u == 'A' || want_u == 'S') && !columns(found.u, want_u == 'A' ? m : few).take(type, u, ldu))
    return false;
  if (want_u == 'O' && !columns(found.u, few).take(type, a, lda)) return false;
  if (want_v == 'N') return true;
  const Matrix right = columns(found.v, want_v == 'A' ? n : few);
  return want_v == 'O' ? right.transposed().take(type, a, lda)
                       : (transposed ? right.transposed() : right).take(type, v, ldv);
}
/// The x for which |A·x − b| is least.
inline bool gels(Type type, long m, long n, long nrhs, void* a, long lda, const void* b, long ldb, void* x,
                 long ldx, int* info) {
  Matrix of, right;
  if (m < n || !of.bring(type, a, m, n, lda) || !right.bring(type, b, m, nrhs, ldb)) return false;
  const std::vector<double> scales = dense::qr(of);
  dense::reflect(of, scales, right, true);
  dense::solve_triangle(of, right, false, false);
  Matrix out(n, nrhs);
  for (long j = 0; j < nrhs; ++j)
    for (long i = 0; i < n; ++i) out.at(i, j) = right.at(i, j);
  blas::keep(info, 0);
  return out.take(type, x, ldx);
}

}  // namespace isomer::emulator::solver
