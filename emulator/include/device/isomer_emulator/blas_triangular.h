// cuBLAS's symmetric, Hermitian and triangular matrices, and the small systems of a batch. Included by blas.h.
#pragma once

#include "blas_vectors.h"

namespace isomer::emulator::blas {

enum class Mirror { no, symmetric, hermitian };
/// Makes a whole matrix of one of which one triangle is stored, with zeros in the other or what mirrors it.
template <class V>
void mirror_triangle(MatrixOf<V>& m, cublasFillMode_t fill, Mirror mirror, bool unit) {
  const auto mirrored = [mirror](V v) {
    return mirror == Mirror::no ? V(0) : mirror == Mirror::hermitian ? conjugate(v) : v;
  };
  for (long j = 0; j < m.columns; ++j) {
    for (long i = 0; i < j; ++i) {
      if (fill == CUBLAS_FILL_MODE_LOWER)
        m.at(i, j) = mirrored(m.at(j, i));
      else
        m.at(j, i) = mirrored(m.at(i, j));
    }
    if (unit) m.at(j, j) = V(1);
    if (mirror == Mirror::hermitian) m.at(j, j) = V(std::real(m.at(j, j)));
  }
}
template <class V>
bool bring_triangle(MatrixOf<V>& m, cudaDataType_t type, const void* at, long n, long stride, cublasFillMode_t fill,
                    Mirror mirror, bool unit) {
  if (!m.bring(type, at, n, n, stride)) return false;
  mirror_triangle(m, fill, mirror, unit);
  return true;
}
template <class P>
bool bring_triangle(Columns<P>& m, const P* at, long n, long stride, cublasFillMode_t fill, Mirror mirror,
                    cublasDiagType_t diag = CUBLAS_DIAG_NON_UNIT) {
  return bring_triangle(m, kTypeOf<P>, at, n, stride, fill, mirror, diag == CUBLAS_DIAG_UNIT);
}
template <class V>
void turn(MatrixOf<V>& m, cublasOperation_t op) {
  if (op == CUBLAS_OP_C) m = m.conjugated();
  if (op != CUBLAS_OP_N) m = m.transposed();
}

/// b = t⁻¹ · b for a triangle.
template <class T, class V>
void solve(const MatrixOf<V>& t, MatrixOf<V>& b, long n, long columns, bool lower) {
  for (long c = 0; c < columns; ++c) {
    for (long step = 0; step < n; ++step) {
      const long i = lower ? step : n - 1 - step;
      T sum = T(b.at(i, c));
      for (long k = lower ? 0 : i + 1; k < (lower ? i : n); ++k) sum -= times(T(t.at(i, k)), T(b.at(k, c)));
      b.at(i, c) = V(sum / T(t.at(i, i)));
    }
  }
}

/// The factors L and U in place, with the row that each step has taken (from one); 0, or the column without a
/// pivot.
template <class V>
int factorise(MatrixOf<V>& a, long n, std::vector<int>& pivots, bool pivoted) {
  int singular = 0;
  for (long k = 0; k < n; ++k) {
    long best = k;
    for (long i = k + 1; pivoted && i < n; ++i)
      if (size_of(a.at(i, k)) > size_of(a.at(best, k))) best = i;
    pivots[static_cast<std::size_t>(k)] = static_cast<int>(best) + 1;
    for (long j = 0; best != k && j < n; ++j) std::swap(a.at(k, j), a.at(best, j));
    if (a.at(k, k) == V(0)) {
      if (singular == 0) singular = static_cast<int>(k) + 1;
      continue;
    }
    for (long i = k + 1; i < n; ++i) {
      a.at(i, k) /= a.at(k, k);
      for (long j = k + 1; j < n; ++j) a.at(i, j) -= times(a.at(i, k), a.at(k, j));
    }
  }
  return singular;
}
inline void keep(int* to, int value) {
  if (to) isomer_emulator_copy(to, &value, sizeof value, kAnyDirection);
}

template <class P>
cublasStatus_t trsm(cublasHandle_t, cublasSideMode_t side, cublasFillMode_t fill, cublasOperation_t op,
                    cublasDiagType_t diag, int m, int n, Number<P> alpha, const P* a, int lda, P* b, int ldb) {
  const bool right = side == CUBLAS_SIDE_RIGHT;
  const long size = right ? n : m;
  Columns<P> t, x;
  if (!bring_triangle(t, a, size, lda, fill, Mirror::no, diag) || !bring<P>(x, CUBLAS_OP_N, b, ldb, m, n))
    return kRefused;
  const Counted<P> by = alpha;
  for (auto& v : x.values) v = times(by, v);
  turn(t, op);
  if (right) t = t.transposed(), x = x.transposed();  // x · t⁻¹ is what the transposed ones give from the left
  solve<Counted<P>>(t, x, size, right ? m : n, (fill == CUBLAS_FILL_MODE_LOWER) == ((op == CUBLAS_OP_N) != right));
  return take(right ? x.transposed() : x, b, ldb);
}
/// x = op(t) · x, and x with op(t) · x as it was.
template <class P>
cublasStatus_t triangle_times(Columns<P> t, cublasOperation_t op, P* x, int incx) {
  Columns<P> v;
  if (!bring<P>(v, x, t.rows, incx)) return kRefused;
  turn(t, op);
  return take(product_in<Counted<P>>(t, v.transposed()).transposed(), x, incx);
}
template <class P>
cublasStatus_t triangle_solves(Columns<P> t, cublasFillMode_t fill, cublasOperation_t op, P* x, int incx) {
  Columns<P> v;
  if (!bring<P>(v, x, t.rows, incx)) return kRefused;
  turn(t, op);
  v = v.transposed();
  solve<Counted<P>>(t, v, t.rows, 1, (fill == CUBLAS_FILL_MODE_LOWER) == (op == CUBLAS_OP_N));
  return take(v.transposed(), x, incx);
}
template <class P>
cublasStatus_t trsv(cublasHandle_t, cublasFillMode_t fill, cublasOperation_t op, cublasDiagType_t diag, int n,
                    const P* a, int lda, P* x, int incx) {
  Columns<P> t;
  return bring_triangle(t, a, n, lda, fill, Mirror::no, diag) ? triangle_solves(t, fill, op, x, incx) : kRefused;
}
template <class P>
cublasStatus_t trmv(cublasHandle_t, cublasFillMode_t fill, cublasOperation_t op, cublasDiagType_t diag, int n,
                    const P* a, int lda, P* x, int incx) {
  Columns<P> t;
  return bring_triangle(t, a, n, lda, fill, Mirror::no, diag) ? triangle_times(t, op, x, incx) : kRefused;
}
template <class P>
cublasStatus_t trmm(cublasHandle_t, cublasSideMode_t side, cublasFillMode_t fill, cublasOperation_t op,
                    cublasDiagType_t diag, int m, int n, Number<P> alpha, const P* a, int lda, const P* b, int ldb,
                    P* c, int ldc) {
  const bool left = side == CUBLAS_SIDE_LEFT;
  Columns<P> t, x;
  if (!bring_triangle(t, a, left ? m : n, lda, fill, Mirror::no, diag) || !bring(x, CUBLAS_OP_N, b, ldb, m, n))
    return kRefused;
  turn(t, op);
  Columns<P> sums = left ? product_in<Counted<P>>(t, x) : product_in<Counted<P>>(x, t);
  const Counted<P> by = alpha;
  for (auto& v : sums.values) v = times(by, v);
  return take(sums, c, ldc);
}

/// sum = by · products + kept · sum, where `stored` says so.
template <class V, class Stored>
void combine(MatrixOf<V>& sum, V by, const MatrixOf<V>& products, V kept, Stored stored) {
  for (long j = 0; j < sum.columns; ++j)
    for (long i = 0; i < sum.rows; ++i)
      if (stored(i, j))
        sum.at(i, j) = times(by, products.at(i, j)) + (kept != V(0) ? times(kept, sum.at(i, j)) : V(0));
}
inline auto triangle(cublasFillMode_t fill) {
  return [fill](long i, long j) { return fill == CUBLAS_FILL_MODE_LOWER ? i >= j : i <= j; };
}
template <class P, Mirror How>
cublasStatus_t symm(cublasHandle_t, cublasSideMode_t side, cublasFillMode_t fill, int m, int n, Number<P> alpha,
                    const P* a, int lda, const P* b, int ldb, Number<P> beta, P* c, int ldc) {
  const Counted<P> by = alpha, kept = beta;
  const bool left = side == CUBLAS_SIDE_LEFT;
  Columns<P> s, x, sum(m, n);
  if (!bring_triangle(s, a, left ? m : n, lda, fill, How) || !bring(x, CUBLAS_OP_N, b, ldb, m, n) ||
      (kept != Counted<P>(0) && !bring<P>(sum, CUBLAS_OP_N, c, ldc, m, n)))
    return kRefused;
  combine(sum, by, left ? product_in<Counted<P>>(s, x) : product_in<Counted<P>>(x, s), kept,
          [](long, long) { return true; });
  return take(sum, c, ldc);
}
/// y = alpha · s · x + beta · y.
template <class P>
cublasStatus_t times_vector(const Columns<P>& s, Number<P> alpha, const P* x, int incx, Number<P> beta, P* y, int incy) {
  Columns<P> in, out;
  if (!bring(in, x, s.columns, incx) || !bring<P>(out, y, s.rows, incy)) return kRefused;
  const Counted<P> by = alpha, kept = beta;
  out = out.transposed();
  combine(out, by, product_in<Counted<P>>(s, in.transposed()), kept, [](long, long) { return true; });
  return take(out.transposed(), y, incy);
}
template <class P>
cublasStatus_t gemv(cublasHandle_t, cublasOperation_t op, int m, int n, Number<P> alpha, const P* a, int lda, const P* x,
                    int incx, Number<P> beta, P* y, int incy) {
  Columns<P> s;
  if (!bring(s, op, a, lda, op == CUBLAS_OP_N ? m : n, op == CUBLAS_OP_N ? n : m)) return kRefused;
  return times_vector(s, alpha, x, incx, beta, y, incy);
}
template <class P, Mirror How>
cublasStatus_t symv(cublasHandle_t, cublasFillMode_t fill, int n, Number<P> alpha, const P* a, int lda, const P* x,
                    int incx, Number<P> beta, P* y, int incy) {
  Columns<P> s;
  return bring_triangle(s, a, n, lda, fill, How) ? times_vector(s, alpha, x, incx, beta, y, incy) : kRefused;
}
/// Adds to one triangle the product of x (and, where there is one, of y) with its own columns turned.
template <class P, Mirror How>
void add_to_triangle(Columns<P>& sum, cublasFillMode_t fill, Counted<P> by, const Columns<P>& x, const Columns<P>* y,
                     bool both, Counted<P> kept) {
  constexpr bool hermitian = How == Mirror::hermitian;
  const auto turned = [](const Columns<P>& m) { return hermitian ? m.conjugated().transposed() : m.transposed(); };
  Columns<P> products = product_in<Counted<P>>(x, turned(y ? *y : x));
  for (auto& v : products.values) v = times(by, v);
  if (both) {
    const Columns<P> others = product_in<Counted<P>>(*y, turned(x));
    const Counted<P> other = hermitian ? conjugate(by) : by;
    for (std::size_t i = 0; i < others.values.size(); ++i) products.values[i] += times(other, others.values[i]);
  }
  combine(sum, Counted<P>(1), products, kept, triangle(fill));
  for (long i = 0; hermitian && i < sum.rows; ++i) sum.at(i, i) = Counted<P>(std::real(sum.at(i, i)));
}
template <class P, Mirror How>
cublasStatus_t add_to_triangle(cublasFillMode_t fill, Counted<P> by, const Columns<P>& x, const Columns<P>* y, bool both,
                               Counted<P> kept, P* c, int ldc) {
  Columns<P> sum;
  if (!bring<P>(sum, CUBLAS_OP_N, c, ldc, x.rows, x.rows)) return kRefused;
  add_to_triangle<P, How>(sum, fill, by, x, y, both, kept);
  return take(sum, c, ldc);
}
/// The scalars of Hermitian updates are real.
template <class P, Mirror How>
using Scale = std::conditional_t<How == Mirror::hermitian, RealOf<P>, P>;
template <class P, Mirror How>
cublasStatus_t syrk(cublasHandle_t, cublasFillMode_t fill, cublasOperation_t op, int n, int k,
                    Number<Scale<P, How>> alpha, const P* a, int lda, Number<Scale<P, How>> beta, P* c, int ldc) {
  Columns<P> x;
  if (!bring(x, op, a, lda, n, k)) return kRefused;
  return add_to_triangle<P, How>(fill, alpha.template as<Counted<P>>(), x, nullptr, false,
                                 beta.template as<Counted<P>>(), c, ldc);
}
/// `Both`: a·bᵀ + b·aᵀ; else a·bᵀ alone, which the caller knows to be symmetric.
template <class P, Mirror How, bool Both>
cublasStatus_t syr2k(cublasHandle_t, cublasFillMode_t fill, cublasOperation_t op, int n, int k, Number<P> alpha,
                     const P* a, int lda, const P* b, int ldb, Number<Scale<P, How>> beta, P* c, int ldc) {
  Columns<P> x, y;
  if (!bring(x, op, a, lda, n, k) || !bring(y, op, b, ldb, n, k)) return kRefused;
  return add_to_triangle<P, How>(fill, alpha, x, &y, Both, beta.template as<Counted<P>>(), c, ldc);
}
template <class P, Mirror How>
cublasStatus_t syr(cublasHandle_t, cublasFillMode_t fill, int n, Number<Scale<P, How>> alpha, const P* x, int incx, P* a,
                   int lda) {
  Columns<P> v;
  if (!bring(v, x, n, incx)) return kRefused;
  return add_to_triangle<P, How>(fill, alpha.template as<Counted<P>>(), v.transposed(), nullptr, false, Counted<P>(1), a,
                                 lda);
}
template <class P, Mirror How>
cublasStatus_t syr2(cublasHandle_t, cublasFillMode_t fill, int n, Number<P> alpha, const P* x, int incx, const P* y,
                    int incy, P* a, int lda) {
  Columns<P> v, w;
  if (!bring(v, x, n, incx) || !bring(w, y, n, incy)) return kRefused;
  w = w.transposed();
  return add_to_triangle<P, How>(fill, alpha, v.transposed(), &w, true, Counted<P>(1), a, lda);
}

template <class P>
cublasStatus_t trsm_list(cublasHandle_t h, cublasSideMode_t side, cublasFillMode_t fill, cublasOperation_t op,
                         cublasDiagType_t diag, int m, int n, Number<P> alpha, const P* const* a, int lda, P* const* b,
                         int ldb, int count) {
  for (int i = 0; i < count; ++i) {
    const cublasStatus_t status =
        trsm<P>(h, side, fill, op, diag, m, n, alpha, pointer_at(a, i), lda, pointer_at(b, i), ldb);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
  }
  return CUBLAS_STATUS_SUCCESS;
}
template <class P>
cublasStatus_t getrf_list(cublasHandle_t, int n, P* const* a, int lda, int* pivots, int* info, int count) {
  for (int i = 0; i < count; ++i) {
    Columns<P> m;
    P* const at = pointer_at(a, i);
    if (!bring<P>(m, CUBLAS_OP_N, at, lda, n, n)) return kRefused;
    std::vector<int> rows(static_cast<std::size_t>(n));
    keep(info + i, factorise(m, n, rows, pivots != nullptr));
    if (take(m, at, lda) != CUBLAS_STATUS_SUCCESS) return kRefused;
    for (int k = 0; pivots && k < n; ++k) keep(pivots + i * n + k, rows[static_cast<std::size_t>(k)]);
  }
  return CUBLAS_STATUS_SUCCESS;
}
template <class P>
cublasStatus_t getri_list(cublasHandle_t, int n, const P* const* a, int lda, const int* pivots, P* const* c, int ldc,
                          int* info, int count) {
  for (int i = 0; i < count; ++i) {
    Columns<P> m, inverse(n, n);
    if (!bring(m, CUBLAS_OP_N, pointer_at(a, i), lda, n, n)) return kRefused;
    for (long k = 0; k < n; ++k) inverse.at(k, k) = Counted<P>(1);
    for (long k = 0; pivots && k < n; ++k) {
      int row = 0;
      isomer_emulator_copy(&row, pivots + i * n + k, sizeof row, kAnyDirection);
      for (long j = 0; row - 1 != k && j < n; ++j) std::swap(inverse.at(k, j), inverse.at(row - 1, j));
    }
    Columns<P> lower = m;
    for (long k = 0; k < n; ++k) lower.at(k, k) = Counted<P>(1);
    solve<Counted<P>>(lower, inverse, n, n, true);
    solve<Counted<P>>(m, inverse, n, n, false);
    keep(info + i, 0);
    if (take(inverse, pointer_at(c, i), ldc) != CUBLAS_STATUS_SUCCESS) return kRefused;
  }
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace isomer::emulator::blas
