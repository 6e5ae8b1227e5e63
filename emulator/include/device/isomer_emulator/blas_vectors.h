// cuBLAS's vectors, and a matrix with vectors. Included by blas.h.
#pragma once

#include "blas_matrix.h"

namespace isomer::emulator::blas {

template <class P>
using RealOf = decltype(std::abs(Counted<P>()));  ///< of a complex type its parts'
template <class P>
using Columns = MatrixOf<Counted<P>>;
constexpr cublasStatus_t kRefused = CUBLAS_STATUS_EXECUTION_FAILED;  ///< a copy to or from the host was

template <class P>
cublasStatus_t axpy(cublasHandle_t, int n, Number<P> alpha, const P* x, int incx, P* y, int incy) {
  Columns<P> a, b;
  if (!bring(a, x, n, incx) || !bring(b, y, n, incy)) return kRefused;
  const Counted<P> by = alpha;
  for (int i = 0; i < n; ++i) b.at(0, i) += times(by, a.at(0, i));
  return take(b, y, incy);
}
/// `S` is the factor's type: a complex vector may be scaled by a real number.
template <class P, class S = P>
cublasStatus_t scal(cublasHandle_t, int n, Number<S> alpha, P* x, int incx) {
  Columns<P> a;
  if (!bring(a, static_cast<const P*>(x), n, incx)) return kRefused;
  const auto by = alpha.template as<Counted<P>>();
  for (auto& v : a.values) v = times(by, v);
  return take(a, x, incx);
}
template <class P>
cublasStatus_t copy(cublasHandle_t, int n, const P* x, int incx, P* y, int incy) {
  Columns<P> a;
  return bring(a, x, n, incx) ? take(a, y, incy) : kRefused;
}
template <class P>
cublasStatus_t swap(cublasHandle_t, int n, P* x, int incx, P* y, int incy) {
  Columns<P> a, b;
  if (!bring<P>(a, x, n, incx) || !bring<P>(b, y, n, incy) || take(b, x, incx) != CUBLAS_STATUS_SUCCESS)
    return kRefused;
  return take(a, y, incy);
}
template <class P, bool Conjugated>
cublasStatus_t dot(cublasHandle_t, int n, const P* x, int incx, const P* y, int incy, P* result) {
  Columns<P> a, b;
  if (!bring(a, x, n, incx) || !bring(b, y, n, incy)) return kRefused;
  Counted<P> sum{};
  for (int i = 0; i < n; ++i) sum += times(Conjugated ? conjugate(a.at(0, i)) : a.at(0, i), b.at(0, i));
  return answer(kTypeOf<P>, result, sum);
}
template <class P>
cublasStatus_t nrm2(cublasHandle_t, int n, const P* x, int incx, RealOf<P>* result) {
  Columns<P> a;
  if (!bring(a, x, n, incx)) return kRefused;
  RealOf<P> sum{};
  for (const auto& v : a.values) sum += RealOf<P>(std::real(times(conjugate(v), v)));
  return answer(kTypeOf<RealOf<P>>, result, std::sqrt(sum));
}
/// Of a complex number both parts count.
template <class V>
auto size_of(V v) {
  return std::fabs(std::real(v)) + std::fabs(std::imag(v));
}
template <class P>
cublasStatus_t asum(cublasHandle_t, int n, const P* x, int incx, RealOf<P>* result) {
  Columns<P> a;
  if (!bring(a, x, n, incx)) return kRefused;
  RealOf<P> sum{};
  for (const auto& v : a.values) sum += RealOf<P>(size_of(v));
  return answer(kTypeOf<RealOf<P>>, result, sum);
}
/// Where an index goes, on the host or the device.
struct IndexTo {
  void* at;
  std::size_t bytes;
  template <class I>
  IndexTo(I* to) : at(to), bytes(sizeof(I)) {
    static_assert(std::is_integral_v<I> && sizeof(I) >= sizeof(int));
  }
};
/// Where the largest or the smallest is, from one.
template <class P, bool Least>
cublasStatus_t extreme(cublasHandle_t, int n, const P* x, int incx, IndexTo result) {
  Columns<P> a;
  if (!bring(a, x, n, incx)) return kRefused;
  int best = 0;
  for (int i = 0; i < n; ++i) {
    const auto now = size_of(a.at(0, i)), before = best == 0 ? now : size_of(a.at(0, best - 1));
    if (best == 0 || (Least ? now < before : now > before)) best = i + 1;
  }
  const long index = best;  // the low bytes come first
  return done(isomer_emulator_copy(result.at, &index, result.bytes, kAnyDirection) == 0);
}
/// `C` and `S` are the types of cosine and sine.
template <class P, class C, class S>
cublasStatus_t rot(cublasHandle_t, int n, P* x, int incx, P* y, int incy, Number<C> c, Number<S> s) {
  Columns<P> a, b;
  if (!bring<P>(a, x, n, incx) || !bring<P>(b, y, n, incy)) return kRefused;
  const auto cosine = c.template as<Counted<P>>(), sine = s.template as<Counted<P>>();
  for (long i = 0; i < n; ++i) {
    const auto u = a.at(0, i), v = b.at(0, i);
    a.at(0, i) = times(cosine, u) + times(sine, v), b.at(0, i) = times(cosine, v) - times(conjugate(sine), u);
  }
  return take(a, x, incx) == CUBLAS_STATUS_SUCCESS ? take(b, y, incy) : kRefused;
}

/// The rotation that makes b zero; a becomes the length and b what both can be made of again.
template <class P>
cublasStatus_t rotg(cublasHandle_t, P* a, P* b, P* c, P* s) {
  constexpr cudaDataType_t type = kTypeOf<P>;
  const P x = AnyNumber(type, a).as<P>(), y = AnyNumber(type, b).as<P>();
  const bool first = std::fabs(x) > std::fabs(y);
  const P r = std::copysign(std::hypot(x, y), first ? x : y);
  const P cosine = r == 0 ? 1 : x / r, sine = r == 0 ? 0 : y / r;
  const P again = r == 0 ? 0 : first ? sine : cosine != 0 ? 1 / cosine : 1;
  for (const auto& [to, value] : {std::make_pair(a, r), {b, again}, {c, cosine}, {s, sine}})
    if (answer(type, to, value) != CUBLAS_STATUS_SUCCESS) return kRefused;
  return CUBLAS_STATUS_SUCCESS;
}
/// A modified rotation: a flag, and as many entries of the matrix as it does not fix.
template <class P>
cublasStatus_t rotm(cublasHandle_t, int n, P* x, int incx, P* y, int incy, const P* parameters) {
  Columns<P> a, b, h;
  if (!bring<P>(a, x, n, incx) || !bring<P>(b, y, n, incy) || !bring(h, parameters, 5, 1)) return kRefused;
  const P flag = h.at(0, 0);
  const P h11 = flag == -2 || flag == 0 ? 1 : h.at(0, 1), h22 = flag == -2 || flag == 0 ? 1 : h.at(0, 4);
  const P h21 = flag == -2 ? 0 : flag == 1 ? -1 : h.at(0, 2), h12 = flag == -2 ? 0 : flag == 1 ? 1 : h.at(0, 3);
  for (int i = 0; i < n; ++i) {
    const P u = a.at(0, i), v = b.at(0, i);
    a.at(0, i) = h11 * u + h12 * v, b.at(0, i) = h21 * u + h22 * v;
  }
  return take(a, x, incx) == CUBLAS_STATUS_SUCCESS ? take(b, y, incy) : kRefused;
}

template <class P, bool Conjugated>
cublasStatus_t ger(cublasHandle_t, int m, int n, Number<P> alpha, const P* x, int incx, const P* y, int incy, P* a,
                   int lda) {
  Columns<P> left, right, sum;
  if (!bring(left, x, m, incx) || !bring(right, y, n, incy) || !bring<P>(sum, CUBLAS_OP_N, a, lda, m, n))
    return kRefused;
  const Counted<P> by = alpha;
  if (Conjugated) right = right.conjugated();
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i) sum.at(i, j) += times(times(by, left.at(0, i)), right.at(0, j));
  return take(sum, a, lda);
}
template <class P>
cublasStatus_t geam(cublasHandle_t, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, Number<P> alpha,
                    const P* a, int lda, Number<P> beta, const P* b, int ldb, P* c, int ldc) {
  const Counted<P> by_a = alpha, by_b = beta, none{};
  Columns<P> left(m, n), right(m, n), sum(m, n);
  if ((by_a != none && !bring(left, op_a, a, lda, m, n)) || (by_b != none && !bring(right, op_b, b, ldb, m, n)))
    return kRefused;
  for (std::size_t i = 0; i < sum.values.size(); ++i)
    sum.values[i] = times(by_a, left.values[i]) + times(by_b, right.values[i]);
  return take(sum, c, ldc);
}
template <class P>
cublasStatus_t dgmm(cublasHandle_t, cublasSideMode_t side, int m, int n, const P* a, int lda, const P* x, int incx,
                    P* c, int ldc) {
  Columns<P> s, d;
  if (!bring(s, CUBLAS_OP_N, a, lda, m, n) || !bring(d, x, side == CUBLAS_SIDE_LEFT ? m : n, incx)) return kRefused;
  for (long j = 0; j < n; ++j)
    for (long i = 0; i < m; ++i) s.at(i, j) = times(s.at(i, j), d.at(0, side == CUBLAS_SIDE_LEFT ? i : j));
  return take(s, c, ldc);
}

// Of any types, which are named; sums and products are in double where the execution is, else in float.
inline cublasStatus_t dot_of_types(cublasHandle_t, int n, const void* x, cudaDataType_t x_type, int incx,
                                   const void* y, cudaDataType_t y_type, int incy, void* result,
                                   cudaDataType_t result_type, cudaDataType_t execution) {
  Matrix a, b;
  if (!a.bring(x_type, x, 1, n, incx) || !b.bring(y_type, y, 1, n, incy)) return kRefused;
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    sum += a.at(0, i) * b.at(0, i);
    if (execution != CUDA_R_64F) sum = float(sum);
  }
  return answer(result_type, result, sum);
}
inline cublasStatus_t nrm2_of_types(cublasHandle_t h, int n, const void* x, cudaDataType_t x_type, int incx,
                                    void* result, cudaDataType_t result_type, cudaDataType_t execution) {
  double sum = 0;
  const cublasStatus_t status =
      dot_of_types(h, n, x, x_type, incx, x, x_type, incx, &sum, CUDA_R_64F, execution);
  return status == CUBLAS_STATUS_SUCCESS ? answer(result_type, result, std::sqrt(sum)) : status;
}
inline cublasStatus_t scal_of_types(cublasHandle_t, int n, AnyNumber alpha, void* x, cudaDataType_t x_type,
                                    int incx) {
  Matrix a;
  if (!a.bring(x_type, x, 1, n, incx)) return kRefused;
  const auto factor = alpha.as<double>();
  for (double& v : a.values) v *= factor;
  return done(a.take(x_type, x, incx));
}
inline cublasStatus_t axpy_of_types(cublasHandle_t, int n, AnyNumber alpha, const void* x, cudaDataType_t x_type,
                                    int incx, void* y, cudaDataType_t y_type, int incy) {
  Matrix a, b;
  if (!a.bring(x_type, x, 1, n, incx) || !b.bring(y_type, y, 1, n, incy)) return kRefused;
  const auto factor = alpha.as<double>();
  for (int i = 0; i < n; ++i) b.at(0, i) += factor * a.at(0, i);
  return done(b.take(y_type, y, incy));
}

}  // namespace isomer::emulator::blas

static inline cublasStatus_t cublasDotEx(cublasHandle_t h, int n, const void* x, cudaDataType_t x_type, int incx,
                                         const void* y, cudaDataType_t y_type, int incy, void* result,
                                         cudaDataType_t result_type, cudaDataType_t execution) {
  namespace blas = isomer::emulator::blas;
  return blas::recorded(h, blas::dot_of_types, n, x, x_type, incx, y, y_type, incy, result, result_type,
                                                  execution);
}
static inline cublasStatus_t cublasNrm2Ex(cublasHandle_t h, int n, const void* x, cudaDataType_t x_type, int incx,
                                          void* result, cudaDataType_t result_type, cudaDataType_t execution) {
  namespace blas = isomer::emulator::blas;
  return blas::recorded(h, blas::nrm2_of_types, n, x, x_type, incx, result, result_type, execution);
}
static inline cublasStatus_t cublasScalEx(cublasHandle_t h, int n, const void* alpha, cudaDataType_t alpha_type,
                                          void* x, cudaDataType_t x_type, int incx, cudaDataType_t) {
  namespace blas = isomer::emulator::blas;
  return blas::recorded(h, blas::scal_of_types, n, {alpha_type, alpha}, x, x_type, incx);
}
static inline cublasStatus_t cublasAxpyEx(cublasHandle_t h, int n, const void* alpha, cudaDataType_t alpha_type,
                                          const void* x, cudaDataType_t x_type, int incx, void* y,
                                          cudaDataType_t y_type, int incy, cudaDataType_t) {
  namespace blas = isomer::emulator::blas;
  return blas::recorded(h, blas::axpy_of_types, n, {alpha_type, alpha}, x, x_type, incx, y, y_type, incy);
}

static inline cublasStatus_t cublasSetVector(int n, int bytes, const void* x, int incx, void* y, int incy) {
  return isomer_emulator_copy_2d(y, std::size_t(incy) * bytes, x, std::size_t(incx) * bytes, bytes, n, 4) == 0
             ? CUBLAS_STATUS_SUCCESS
             : CUBLAS_STATUS_MAPPING_ERROR;
}
static inline cublasStatus_t cublasGetVector(int n, int bytes, const void* x, int incx, void* y, int incy) {
  return cublasSetVector(n, bytes, x, incx, y, incy);
}
static inline cublasStatus_t cublasSetMatrix(int rows, int columns, int bytes, const void* a, int lda,
                                             void* b, int ldb) {
  return isomer_emulator_copy_2d(b, std::size_t(ldb) * bytes, a, std::size_t(lda) * bytes,
                                 std::size_t(rows) * bytes, columns, 4) == 0
             ? CUBLAS_STATUS_SUCCESS
             : CUBLAS_STATUS_MAPPING_ERROR;
}
static inline cublasStatus_t cublasGetMatrix(int rows, int columns, int bytes, const void* a, int lda,
                                             void* b, int ldb) {
  return cublasSetMatrix(rows, columns, bytes, a, lda, b, ldb);
}
template <class Stream>
cublasStatus_t cublasSetVectorAsync(int n, int bytes, const void* x, int incx, void* y, int incy, Stream) {
  return cublasSetVector(n, bytes, x, incx, y, incy);
}
template <class Stream>
cublasStatus_t cublasGetVectorAsync(int n, int bytes, const void* x, int incx, void* y, int incy, Stream) {
  return cublasSetVector(n, bytes, x, incx, y, incy);
}
template <class Stream>
cublasStatus_t cublasSetMatrixAsync(int rows, int columns, int bytes, const void* a, int lda, void* b, int ldb,
                                    Stream) {
  return cublasSetMatrix(rows, columns, bytes, a, lda, b, ldb);
}
template <class Stream>
cublasStatus_t cublasGetMatrixAsync(int rows, int columns, int bytes, const void* a, int lda, void* b, int ldb,
                                    Stream) {
  return cublasSetMatrix(rows, columns, bytes, a, lda, b, ldb);
}
