// cuBLAS's vectors: levels one and two. Included by blas.h.
#pragma once

#include "blas_matrix.h"

#define ISOMER_EMULATOR_VECTORS(L, l, T)                                                                    \
  static inline cublasStatus_t cublas##L##axpy(cublasHandle_t, int n, const T* alpha, const T* x, int incx, \
                                               T* y, int incy) {                                            \
    isomer::emulator::blas::Matrix a, b;                                                                    \
    constexpr cudaDataType_t type = isomer::emulator::blas::kTypeOf<T>;                                     \
    if (!a.bring(type, x, 1, n, incx) || !b.bring(type, y, 1, n, incy))                                     \
      return CUBLAS_STATUS_EXECUTION_FAILED;                                                                \
    const T factor = T(isomer::emulator::blas::number(type, alpha));                                        \
    for (int i = 0; i < n; ++i) b.at(0, i) = T(b.at(0, i)) + factor * T(a.at(0, i));                        \
    return b.take(type, y, incy) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;                  \
  }                                                                                                         \
  static inline cublasStatus_t cublas##L##scal(cublasHandle_t, int n, const T* alpha, T* x, int incx) {     \
    isomer::emulator::blas::Matrix a;                                                                       \
    constexpr cudaDataType_t type = isomer::emulator::blas::kTypeOf<T>;                                     \
    if (!a.bring(type, x, 1, n, incx)) return CUBLAS_STATUS_EXECUTION_FAILED;                               \
    const T factor = T(isomer::emulator::blas::number(type, alpha));                                        \
    for (double& v : a.values) v = factor * T(v);                                                           \
    return a.take(type, x, incx) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;                  \
  }                                                                                                         \
  static inline cublasStatus_t cublas##L##copy(cublasHandle_t, int n, const T* x, int incx, T* y,           \
                                               int incy) {                                                  \
    isomer::emulator::blas::Matrix a;                                                                       \
    constexpr cudaDataType_t type = isomer::emulator::blas::kTypeOf<T>;                                     \
    return a.bring(type, x, 1, n, incx) && a.take(type, y, incy) ? CUBLAS_STATUS_SUCCESS                    \
                                                                 : CUBLAS_STATUS_EXECUTION_FAILED;          \
  }                                                                                                         \
  static inline cublasStatus_t cublas##L##dot(cublasHandle_t, int n, const T* x, int incx, const T* y,      \
                                              int incy, T* result) {                                        \
    isomer::emulator::blas::Matrix a, b;                                                                    \
    constexpr cudaDataType_t type = isomer::emulator::blas::kTypeOf<T>;                                     \
    if (!a.bring(type, x, 1, n, incx) || !b.bring(type, y, 1, n, incy))                                     \
      return CUBLAS_STATUS_EXECUTION_FAILED;                                                                \
    T sum = 0;                                                                                              \
    for (int i = 0; i < n; ++i) sum += T(a.at(0, i)) * T(b.at(0, i));                                       \
    isomer::emulator::blas::put_number(type, result, sum);                                                  \
    return CUBLAS_STATUS_SUCCESS;                                                                           \
  }                                                                                                         \
  static inline cublasStatus_t cublas##L##nrm2(cublasHandle_t h, int n, const T* x, int incx, T* result) {  \
    T sum = 0;                                                                                              \
    const cublasStatus_t status = cublas##L##dot(h, n, x, incx, x, incx, &sum);                             \
    isomer::emulator::blas::put_number(isomer::emulator::blas::kTypeOf<T>, result, std::sqrt(sum));         \
    return status;                                                                                          \
  }                                                                                                         \
  static inline cublasStatus_t cublas##L##asum(cublasHandle_t, int n, const T* x, int incx, T* result) {    \
    isomer::emulator::blas::Matrix a;                                                                       \
    constexpr cudaDataType_t type = isomer::emulator::blas::kTypeOf<T>;                                     \
    if (!a.bring(type, x, 1, n, incx)) return CUBLAS_STATUS_EXECUTION_FAILED;                               \
    T sum = 0;                                                                                              \
    for (double v : a.values) sum += T(std::fabs(v));                                                       \
    isomer::emulator::blas::put_number(type, result, sum);                                                  \
    return CUBLAS_STATUS_SUCCESS;                                                                           \
  }                                                                                                         \
  static inline cublasStatus_t cublasI##l##amax(cublasHandle_t, int n, const T* x, int incx, int* result) { \
    isomer::emulator::blas::Matrix a;                                                                       \
    constexpr cudaDataType_t type = isomer::emulator::blas::kTypeOf<T>;                                     \
    if (!a.bring(type, x, 1, n, incx)) return CUBLAS_STATUS_EXECUTION_FAILED;                               \
    int best = 0;                                                                                           \
    for (int i = 0; i < n; ++i)                                                                             \
      if (best == 0 || std::fabs(a.at(0, i)) > std::fabs(a.at(0, best - 1))) best = i + 1; /* from one */   \
    isomer::emulator::blas::put_number(CUDA_R_32I, result, best);                                           \
    return CUBLAS_STATUS_SUCCESS;                                                                           \
  }                                                                                                         \
  static inline cublasStatus_t cublas##L##gemv(cublasHandle_t, cublasOperation_t op, int m, int n,          \
                                               const T* alpha, const T* a, int lda, const T* x, int incx,   \
                                               const T* beta, T* y, int incy) {                             \
    using namespace isomer::emulator::blas;                                                                 \
    constexpr cudaDataType_t type = kTypeOf<T>;                                                             \
    Matrix factors, in, out;                                                                                \
    const long rows = op == CUBLAS_OP_N ? m : n, depth = op == CUBLAS_OP_N ? n : m;                         \
    if (!::isomer::emulator::blas::bring(factors, {op, a, type, lda}, rows, depth) ||                       \
        !in.bring(type, x, 1, depth, incx) || !out.bring(type, y, 1, rows, incy))                           \
      return CUBLAS_STATUS_EXECUTION_FAILED;                                                                \
    const T by = T(number(type, alpha)), kept = T(number(type, beta));                                      \
    const Matrix sums = product_in<T>(factors, in.transposed());                                            \
    for (long i = 0; i < rows; ++i)                                                                         \
      out.at(0, i) = by * T(sums.at(i, 0)) + (kept != T(0) ? kept * T(out.at(0, i)) : T(0));                \
    return out.take(type, y, incy) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;                \
  }                                                                                                         \
  static inline cublasStatus_t cublas##L##ger(cublasHandle_t, int m, int n, const T* alpha, const T* x,     \
                                              int incx, const T* y, int incy, T* a, int lda) {              \
    using namespace isomer::emulator::blas;                                                                 \
    constexpr cudaDataType_t type = kTypeOf<T>;                                                             \
    Matrix left, right, sum;                                                                                \
    if (!left.bring(type, x, 1, m, incx) || !right.bring(type, y, 1, n, incy) ||                            \
        !sum.bring(type, a, m, n, lda))                                                                     \
      return CUBLAS_STATUS_EXECUTION_FAILED;                                                                \
    const T by = T(number(type, alpha));                                                                    \
    for (int j = 0; j < n; ++j)                                                                             \
      for (int i = 0; i < m; ++i)                                                                           \
        sum.at(i, j) = T(sum.at(i, j)) + by * T(left.at(0, i)) * T(right.at(0, j));                         \
    return sum.take(type, a, lda) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;                 \
  }                                                                                                         \
  static inline cublasStatus_t cublas##L##geam(                                                             \
      cublasHandle_t, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, const T* alpha,         \
      const T* a, int lda, const T* beta, const T* b, int ldb, T* c, int ldc) {                             \
    using namespace isomer::emulator::blas;                                                                 \
    constexpr cudaDataType_t type = kTypeOf<T>;                                                             \
    const T by_a = T(number(type, alpha)), by_b = T(number(type, beta));                                    \
    Matrix left(m, n), right(m, n), sum(m, n);                                                              \
    if ((by_a != T(0) && !::isomer::emulator::blas::bring(left, {op_a, a, type, lda}, m, n)) ||             \
        (by_b != T(0) && !::isomer::emulator::blas::bring(right, {op_b, b, type, ldb}, m, n)))              \
      return CUBLAS_STATUS_EXECUTION_FAILED;                                                                \
    for (std::size_t i = 0; i < sum.values.size(); ++i)                                                     \
      sum.values[i] = by_a * T(left.values[i]) + by_b * T(right.values[i]);                                 \
    return sum.take(type, c, ldc) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;                 \
  }
ISOMER_EMULATOR_VECTORS(S, s, float)
ISOMER_EMULATOR_VECTORS(D, d, double)
#undef ISOMER_EMULATOR_VECTORS

// Of any types, which are named; sums and products are in double where the execution is, else in float.
static inline cublasStatus_t cublasDotEx(cublasHandle_t, int n, const void* x, cudaDataType_t x_type,
                                         int incx, const void* y, cudaDataType_t y_type, int incy,
                                         void* result, cudaDataType_t result_type, cudaDataType_t execution) {
  isomer::emulator::blas::Matrix a, b;
  if (!a.bring(x_type, x, 1, n, incx) || !b.bring(y_type, y, 1, n, incy))
    return CUBLAS_STATUS_EXECUTION_FAILED;
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    sum += a.at(0, i) * b.at(0, i);
    if (execution != CUDA_R_64F) sum = float(sum);
  }
  isomer::emulator::blas::put_number(result_type, result, sum);
  return CUBLAS_STATUS_SUCCESS;
}
static inline cublasStatus_t cublasNrm2Ex(cublasHandle_t h, int n, const void* x, cudaDataType_t x_type,
                                          int incx, void* result, cudaDataType_t result_type,
                                          cudaDataType_t execution) {
  double sum = 0;
  const cublasStatus_t status =
      cublasDotEx(h, n, x, x_type, incx, x, x_type, incx, &sum, CUDA_R_64F, execution);
  isomer::emulator::blas::put_number(result_type, result, std::sqrt(sum));
  return status;
}
static inline cublasStatus_t cublasScalEx(cublasHandle_t, int n, const void* alpha, cudaDataType_t alpha_type,
                                          void* x, cudaDataType_t x_type, int incx, cudaDataType_t) {
  isomer::emulator::blas::Matrix a;
  if (!a.bring(x_type, x, 1, n, incx)) return CUBLAS_STATUS_EXECUTION_FAILED;
  const double factor = isomer::emulator::blas::number(alpha_type, alpha);
  for (double& v : a.values) v *= factor;
  return a.take(x_type, x, incx) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}
static inline cublasStatus_t cublasAxpyEx(cublasHandle_t, int n, const void* alpha, cudaDataType_t alpha_type,
                                          const void* x, cudaDataType_t x_type, int incx, void* y,
                                          cudaDataType_t y_type, int incy, cudaDataType_t) {
  isomer::emulator::blas::Matrix a, b;
  if (!a.bring(x_type, x, 1, n, incx) || !b.bring(y_type, y, 1, n, incy))
    return CUBLAS_STATUS_EXECUTION_FAILED;
  const double factor = isomer::emulator::blas::number(alpha_type, alpha);
  for (int i = 0; i < n; ++i) b.at(0, i) += factor * a.at(0, i);
  return b.take(y_type, y, incy) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
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
