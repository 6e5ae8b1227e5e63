// cuBLAS's matrices of which a triangle is packed or a band is stored. Included by blas.h.
#pragma once

#include "blas_triangular.h"

namespace isomer::emulator::blas {

/// Where an element of a packed triangle lies, columns behind one another.
inline long packed_at(cublasFillMode_t fill, long n, long row, long column) {
  return fill == CUBLAS_FILL_MODE_UPPER ? row + column * (column + 1) / 2 : row + (2 * n - column - 1) * column / 2;
}
template <class P>
bool bring_packed(Columns<P>& m, const P* at, long n, cublasFillMode_t fill, Mirror mirror,
                  cublasDiagType_t diag = CUBLAS_DIAG_NON_UNIT) {
  Columns<P> stored;
  if (!bring(stored, at, n * (n + 1) / 2, 1)) return false;
  m = Columns<P>(n, n);
  for (long j = 0; j < n; ++j)
    for (long i = 0; i < n; ++i)
      if (triangle(fill)(i, j)) m.at(i, j) = stored.at(0, packed_at(fill, n, i, j));
  mirror_triangle(m, fill, mirror, diag == CUBLAS_DIAG_UNIT);
  return true;
}
template <class P>
cublasStatus_t take_packed(const Columns<P>& m, P* at, cublasFillMode_t fill) {
  Columns<P> stored(1, m.rows * (m.rows + 1) / 2);
  for (long j = 0; j < m.columns; ++j)
    for (long i = 0; i < m.rows; ++i)
      if (triangle(fill)(i, j)) stored.at(0, packed_at(fill, m.rows, i, j)) = m.at(i, j);
  return take(stored, at, 1);
}
/// `below` and `above`: how many diagonals there are beside the main one. Of each column as many rows are stored.
template <class P>
bool bring_band(Columns<P>& m, const P* at, long stride, long rows, long columns, long below, long above) {
  Columns<P> stored;
  if (!bring(stored, CUBLAS_OP_N, at, stride, below + above + 1, columns)) return false;
  m = Columns<P>(rows, columns);
  for (long j = 0; j < columns; ++j)
    for (long i = std::max(0L, j - above); i <= std::min(rows - 1, j + below); ++i)
      m.at(i, j) = stored.at(above + i - j, j);
  return true;
}
template <class P>
bool bring_band_triangle(Columns<P>& m, const P* at, long stride, long n, long beside, cublasFillMode_t fill,
                         Mirror mirror, cublasDiagType_t diag = CUBLAS_DIAG_NON_UNIT) {
  const bool upper = fill == CUBLAS_FILL_MODE_UPPER;
  if (!bring_band(m, at, stride, n, n, upper ? 0 : beside, upper ? beside : 0)) return false;
  mirror_triangle(m, fill, mirror, diag == CUBLAS_DIAG_UNIT);
  return true;
}

template <class P, Mirror How>
cublasStatus_t spmv(cublasHandle_t, cublasFillMode_t fill, int n, Number<P> alpha, const P* a, const P* x, int incx,
                    Number<P> beta, P* y, int incy) {
  Columns<P> s;
  return bring_packed(s, a, n, fill, How) ? times_vector(s, alpha, x, incx, beta, y, incy) : kRefused;
}
template <class P, Mirror How>
cublasStatus_t sbmv(cublasHandle_t, cublasFillMode_t fill, int n, int beside, Number<P> alpha, const P* a, int lda,
                    const P* x, int incx, Number<P> beta, P* y, int incy) {
  Columns<P> s;
  return bring_band_triangle(s, a, lda, n, beside, fill, How) ? times_vector(s, alpha, x, incx, beta, y, incy)
                                                               : kRefused;
}
template <class P>
cublasStatus_t gbmv(cublasHandle_t, cublasOperation_t op, int m, int n, int below, int above, Number<P> alpha, const P* a,
                    int lda, const P* x, int incx, Number<P> beta, P* y, int incy) {
  Columns<P> s;
  if (!bring_band(s, a, lda, m, n, below, above)) return kRefused;
  turn(s, op);
  return times_vector(s, alpha, x, incx, beta, y, incy);
}
template <class P>
cublasStatus_t tpmv(cublasHandle_t, cublasFillMode_t fill, cublasOperation_t op, cublasDiagType_t diag, int n, const P* a,
                    P* x, int incx) {
  Columns<P> t;
  return bring_packed(t, a, n, fill, Mirror::no, diag) ? triangle_times(t, op, x, incx) : kRefused;
}
template <class P>
cublasStatus_t tpsv(cublasHandle_t, cublasFillMode_t fill, cublasOperation_t op, cublasDiagType_t diag, int n, const P* a,
                    P* x, int incx) {
  Columns<P> t;
  return bring_packed(t, a, n, fill, Mirror::no, diag) ? triangle_solves(t, fill, op, x, incx) : kRefused;
}
template <class P>
cublasStatus_t tbmv(cublasHandle_t, cublasFillMode_t fill, cublasOperation_t op, cublasDiagType_t diag, int n, int beside,
                    const P* a, int lda, P* x, int incx) {
  Columns<P> t;
  return bring_band_triangle(t, a, lda, n, beside, fill, Mirror::no, diag) ? triangle_times(t, op, x, incx) : kRefused;
}
template <class P>
cublasStatus_t tbsv(cublasHandle_t, cublasFillMode_t fill, cublasOperation_t op, cublasDiagType_t diag, int n, int beside,
                    const P* a, int lda, P* x, int incx) {
  Columns<P> t;
  return bring_band_triangle(t, a, lda, n, beside, fill, Mirror::no, diag) ? triangle_solves(t, fill, op, x, incx)
                                                                           : kRefused;
}
template <class P, Mirror How>
cublasStatus_t spr(cublasHandle_t, cublasFillMode_t fill, int n, Number<Scale<P, How>> alpha, const P* x, int incx, P* a) {
  Columns<P> v, s;
  if (!bring(v, x, n, incx) || !bring_packed<P>(s, a, n, fill, Mirror::no)) return kRefused;
  add_to_triangle<P, How>(s, fill, alpha.template as<Counted<P>>(), v.transposed(), nullptr, false, Counted<P>(1));
  return take_packed(s, a, fill);
}
template <class P, Mirror How>
cublasStatus_t spr2(cublasHandle_t, cublasFillMode_t fill, int n, Number<P> alpha, const P* x, int incx, const P* y,
                    int incy, P* a) {
  Columns<P> v, w, s;
  if (!bring(v, x, n, incx) || !bring(w, y, n, incy) || !bring_packed<P>(s, a, n, fill, Mirror::no)) return kRefused;
  w = w.transposed();
  add_to_triangle<P, How>(s, fill, alpha, v.transposed(), &w, true, Counted<P>(1));
  return take_packed(s, a, fill);
}

}  // namespace isomer::emulator::blas
