// cuSPARSE's products, triangles, conversions and vectors. Included by sparse.h.
#pragma once

ISOMER_EMULATOR_LITTLE_ROOM(cusparseStatus_t, cusparseHandle_t, cusparseSpMV_bufferSize)
ISOMER_EMULATOR_BEFOREHAND(cusparseStatus_t, cusparseHandle_t, cusparseSpMV_preprocess)
static inline cusparseStatus_t cusparseSpMV(cusparseHandle_t h, cusparseOperation_t op, const void* alpha,
                                            cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x,
                                            const void* beta, cusparseDnVecDescr_t y, cudaDataType compute,
                                            cusparseSpMVAlg_t, void*) {
  namespace sparse = isomer::emulator::sparse;
  return sparse::recorded(h, sparse::multiply, op, CUSPARSE_OPERATION_NON_TRANSPOSE, {compute, alpha}, *a,
                          sparse::as_dense(*x), {compute, beta}, sparse::as_dense(*y), compute);
}
ISOMER_EMULATOR_LITTLE_ROOM(cusparseStatus_t, cusparseHandle_t, cusparseSpMM_bufferSize)
ISOMER_EMULATOR_BEFOREHAND(cusparseStatus_t, cusparseHandle_t, cusparseSpMM_preprocess)
static inline cusparseStatus_t cusparseSpMM(cusparseHandle_t h, cusparseOperation_t op_a,
                                            cusparseOperation_t op_b, const void* alpha,
                                            cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                                            const void* beta, cusparseDnMatDescr_t c, cudaDataType compute,
                                            cusparseSpMMAlg_t, void*) {
  namespace sparse = isomer::emulator::sparse;
  return sparse::recorded(h, sparse::multiply, op_a, op_b, {compute, alpha}, *a, *b, {compute, beta}, *c, compute);
}
ISOMER_EMULATOR_LITTLE_ROOM(cusparseStatus_t, cusparseHandle_t, cusparseSDDMM_bufferSize)
ISOMER_EMULATOR_BEFOREHAND(cusparseStatus_t, cusparseHandle_t, cusparseSDDMM_preprocess)
static inline cusparseStatus_t cusparseSDDMM(cusparseHandle_t h, cusparseOperation_t op_a, cusparseOperation_t op_b,
                                             const void* alpha, cusparseConstDnMatDescr_t a,
                                             cusparseConstDnMatDescr_t b, const void* beta, cusparseSpMatDescr_t c,
                                             cudaDataType compute, cusparseSDDMMAlg_t, void*) {
  namespace sparse = isomer::emulator::sparse;
  return sparse::recorded(h, sparse::multiply_sampled, op_a, op_b, {compute, alpha}, *a, *b, {compute, beta}, *c, compute);
}

// Two sparse matrices: the entries of the product are kept until the program has made room for them.
typedef std::vector<isomer::emulator::sparse::Entry>* cusparseSpGEMMDescr_t;
ISOMER_EMULATOR_MADE(cusparseStatus_t, cusparseSpGEMM_createDescr, cusparseSpGEMM_destroyDescr, cusparseSpGEMMDescr_t,
                     std::vector<isomer::emulator::sparse::Entry>)
static inline cusparseStatus_t cusparseSpGEMM_workEstimation(cusparseHandle_t, cusparseOperation_t, cusparseOperation_t,
                                                             const void*, cusparseConstSpMatDescr_t,
                                                             cusparseConstSpMatDescr_t, const void*,
                                                             cusparseSpMatDescr_t, cudaDataType, cusparseSpGEMMAlg_t,
                                                             cusparseSpGEMMDescr_t, std::size_t* bytes, void*) {
  return isomer::emulator::sparse::little_room(bytes);
}
static inline cusparseStatus_t cusparseSpGEMM_compute(cusparseHandle_t, cusparseOperation_t op_a,
                                                      cusparseOperation_t op_b, const void* alpha,
                                                      cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b,
                                                      const void* beta, cusparseSpMatDescr_t c, cudaDataType compute,
                                                      cusparseSpGEMMAlg_t, cusparseSpGEMMDescr_t descr,
                                                      std::size_t* bytes, void* room) {
  namespace sparse = isomer::emulator::sparse;
  if (room == nullptr) return sparse::little_room(bytes);
  if (sparse::Number(compute, beta).as<sparse::Wide>() != 0. || c->format != sparse::Format::rows)
    return CUSPARSE_STATUS_NOT_SUPPORTED;
  if (!sparse::multiply_sparse(op_a, op_b, sparse::Number(compute, alpha).as<sparse::Wide>(), *a, *b, *descr))
    return CUSPARSE_STATUS_EXECUTION_FAILED;
  c->count = static_cast<long>(descr->size());
  return CUSPARSE_STATUS_SUCCESS;
}
static inline cusparseStatus_t cusparseSpGEMM_copy(cusparseHandle_t, cusparseOperation_t, cusparseOperation_t,
                                                   const void*, cusparseConstSpMatDescr_t, cusparseConstSpMatDescr_t,
                                                   const void*, cusparseSpMatDescr_t c, cudaDataType,
                                                   cusparseSpGEMMAlg_t, cusparseSpGEMMDescr_t descr) {
  return isomer::emulator::sparse::done(isomer::emulator::sparse::put_entries(*c, *descr));
}

// Triangles.
typedef struct isomer_emulator_triangle {
} *cusparseSpSVDescr_t, *cusparseSpSMDescr_t;
ISOMER_EMULATOR_MADE(cusparseStatus_t, cusparseSpSV_createDescr, cusparseSpSV_destroyDescr, cusparseSpSVDescr_t, isomer_emulator_triangle)
ISOMER_EMULATOR_MADE(cusparseStatus_t, cusparseSpSM_createDescr, cusparseSpSM_destroyDescr, cusparseSpSMDescr_t, isomer_emulator_triangle)
ISOMER_EMULATOR_LITTLE_ROOM(cusparseStatus_t, cusparseHandle_t, cusparseSpSV_bufferSize)
ISOMER_EMULATOR_LITTLE_ROOM(cusparseStatus_t, cusparseHandle_t, cusparseSpSM_bufferSize)
ISOMER_EMULATOR_BEFOREHAND(cusparseStatus_t, cusparseHandle_t, cusparseSpSV_analysis)
ISOMER_EMULATOR_BEFOREHAND(cusparseStatus_t, cusparseHandle_t, cusparseSpSM_analysis)
static inline cusparseStatus_t cusparseSpSV_solve(cusparseHandle_t h, cusparseOperation_t op, const void* alpha,
                                                  cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x,
                                                  cusparseDnVecDescr_t y, cudaDataType compute,
                                                  cusparseSpSVAlg_t, cusparseSpSVDescr_t) {
  namespace sparse = isomer::emulator::sparse;
  return sparse::recorded(h, sparse::solve, op, CUSPARSE_OPERATION_NON_TRANSPOSE, {compute, alpha}, *a,
                          sparse::as_dense(*x), sparse::as_dense(*y), compute, nullptr);
}
static inline cusparseStatus_t cusparseSpSM_solve(cusparseHandle_t h, cusparseOperation_t op_a, cusparseOperation_t op_b,
                                                  const void* alpha, cusparseConstSpMatDescr_t a,
                                                  cusparseConstDnMatDescr_t b, cusparseDnMatDescr_t c,
                                                  cudaDataType compute, cusparseSpSMAlg_t, cusparseSpSMDescr_t) {
  namespace sparse = isomer::emulator::sparse;
  return sparse::recorded(h, sparse::solve, op_a, op_b, {compute, alpha}, *a, *b, *c, compute, nullptr);
}

ISOMER_EMULATOR_LITTLE_ROOM(cusparseStatus_t, cusparseHandle_t, cusparseSparseToDense_bufferSize)
static inline cusparseStatus_t cusparseSparseToDense(cusparseHandle_t, cusparseConstSpMatDescr_t a,
                                                     cusparseDnMatDescr_t b, cusparseSparseToDenseAlg_t,
                                                     void*) {
  namespace sparse = isomer::emulator::sparse;
  std::vector<sparse::Entry> all;
  sparse::Columns to(b->rows, b->columns);
  if (!sparse::entries(*a, all)) return CUSPARSE_STATUS_EXECUTION_FAILED;
  for (const sparse::Entry& e : all) to.at(e.row, e.column) = e.value;
  return sparse::done(sparse::take(*b, to));
}
ISOMER_EMULATOR_LITTLE_ROOM(cusparseStatus_t, cusparseHandle_t, cusparseDenseToSparse_bufferSize)
/// Counts the values and writes where lines begin; the conversion needs room for the rest.
static inline cusparseStatus_t cusparseDenseToSparse_analysis(cusparseHandle_t, cusparseConstDnMatDescr_t a,
                                                              cusparseSpMatDescr_t b,
                                                              cusparseDenseToSparseAlg_t, void*) {
  namespace sparse = isomer::emulator::sparse;
  std::vector<sparse::Entry> all;
  if (!sparse::found(*a, b->format, all)) return CUSPARSE_STATUS_EXECUTION_FAILED;
  b->count = static_cast<long>(all.size());
  sparse::Matrix begins = *b;
  begins.second = begins.values = nullptr;
  return sparse::done(b->format == sparse::Format::coordinates || sparse::put_entries(begins, all));
}
static inline cusparseStatus_t cusparseDenseToSparse_convert(cusparseHandle_t, cusparseConstDnMatDescr_t a,
                                                             cusparseSpMatDescr_t b,
                                                             cusparseDenseToSparseAlg_t, void*) {
  namespace sparse = isomer::emulator::sparse;
  std::vector<sparse::Entry> all;
  return sparse::done(sparse::found(*a, b->format, all) && sparse::put_entries(*b, all));
}

ISOMER_EMULATOR_LITTLE_ROOM(cusparseStatus_t, cusparseHandle_t, cusparseCsr2cscEx2_bufferSize)
static inline cusparseStatus_t cusparseCsr2cscEx2(cusparseHandle_t, int rows, int columns, int count,
                                                  const void* values, const int* offsets, const int* indices,
                                                  void* to_values, int* to_offsets, int* to_indices,
                                                  cudaDataType type, cusparseAction_t action,
                                                  cusparseIndexBase_t base, cusparseCsr2CscAlg_t, void*) {
  namespace sparse = isomer::emulator::sparse;
  std::vector<sparse::Entry> all;
  const auto by = [&](sparse::Format format, const void* first, const void* second, const void* numbers) {
    return sparse::Matrix{format, rows, columns, count, const_cast<void*>(first), const_cast<void*>(second),
                          const_cast<void*>(numbers), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, base, type};
  };
  if (!sparse::entries(by(sparse::Format::rows, offsets, indices, values), all)) return CUSPARSE_STATUS_EXECUTION_FAILED;
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.column < b.column; });
  return sparse::done(sparse::put_entries(by(sparse::Format::columns, to_offsets, to_indices,
                                             action == CUSPARSE_ACTION_SYMBOLIC ? nullptr : to_values),
                                          all));
}
/// Where rows begin, of the row of each value, and the other way round.
static inline cusparseStatus_t cusparseXcoo2csr(cusparseHandle_t, const int* row_indices, int count, int rows,
                                                int* offsets, cusparseIndexBase_t base) {
  namespace sparse = isomer::emulator::sparse;
  std::vector<long> lines, begins(static_cast<std::size_t>(rows) + 1);
  if (!sparse::get_indices(row_indices, CUSPARSE_INDEX_32I, count, base, lines)) return CUSPARSE_STATUS_EXECUTION_FAILED;
  for (const long line : lines) {
    if (line < 0 || line >= rows) return CUSPARSE_STATUS_INVALID_VALUE;
    ++begins[static_cast<std::size_t>(line) + 1];
  }
  for (std::size_t i = 1; i < begins.size(); ++i) begins[i] += begins[i - 1];
  return sparse::done(sparse::put_indices(offsets, CUSPARSE_INDEX_32I, base, begins));
}
static inline cusparseStatus_t cusparseXcsr2coo(cusparseHandle_t, const int* offsets, int count, int rows,
                                                int* row_indices, cusparseIndexBase_t base) {
  namespace sparse = isomer::emulator::sparse;
  std::vector<long> begins, lines;
  if (!sparse::get_indices(offsets, CUSPARSE_INDEX_32I, rows + 1, base, begins)) return CUSPARSE_STATUS_EXECUTION_FAILED;
  for (long line = 0; line < rows; ++line)
    for (long i = begins[static_cast<std::size_t>(line)]; i < begins[static_cast<std::size_t>(line) + 1]; ++i)
      lines.push_back(line);
  if (static_cast<long>(lines.size()) != count) return CUSPARSE_STATUS_INVALID_VALUE;
  return sparse::done(sparse::put_indices(row_indices, CUSPARSE_INDEX_32I, base, lines));
}

/// Pairs in order of rows, then of columns, or the other way round, and where each lay before.
template <bool ByRow>
static inline cusparseStatus_t isomer_emulator_coosort(cusparseHandle_t, int, int, int count, int* rows, int* columns,
                                                       int* places, void*) {
  namespace sparse = isomer::emulator::sparse;
  std::vector<long> of_rows, of_columns, from;
  if (!sparse::get_indices(rows, CUSPARSE_INDEX_32I, count, 0, of_rows) ||
      !sparse::get_indices(columns, CUSPARSE_INDEX_32I, count, 0, of_columns) ||
      !sparse::get_indices(places, CUSPARSE_INDEX_32I, count, 0, from))
    return CUSPARSE_STATUS_EXECUTION_FAILED;
  std::vector<std::array<long, 3>> all;
  for (std::size_t i = 0; i < of_rows.size(); ++i) all.push_back({of_rows[i], of_columns[i], from[i]});
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return ByRow ? std::make_pair(a[0], a[1]) < std::make_pair(b[0], b[1])
                 : std::make_pair(a[1], a[0]) < std::make_pair(b[1], b[0]);
  });
  for (std::size_t i = 0; i < all.size(); ++i) of_rows[i] = all[i][0], of_columns[i] = all[i][1], from[i] = all[i][2];
  return sparse::done(sparse::put_indices(rows, CUSPARSE_INDEX_32I, 0, of_rows) &&
                      sparse::put_indices(columns, CUSPARSE_INDEX_32I, 0, of_columns) &&
                      sparse::put_indices(places, CUSPARSE_INDEX_32I, 0, from));
}
ISOMER_EMULATOR_LITTLE_ROOM(cusparseStatus_t, cusparseHandle_t, cusparseXcoosort_bufferSizeExt)
#define cusparseXcoosortByRow isomer_emulator_coosort<true>
#define cusparseXcoosortByColumn isomer_emulator_coosort<false>
static inline cusparseStatus_t cusparseCreateIdentityPermutation(cusparseHandle_t, int count, int* to) {
  std::vector<long> places;
  for (long i = 0; i < count; ++i) places.push_back(i);
  return isomer::emulator::sparse::done(isomer::emulator::sparse::put_indices(to, CUSPARSE_INDEX_32I, 0, places));
}

// Vectors.
static inline cusparseStatus_t cusparseAxpby(cusparseHandle_t h, const void* alpha, cusparseConstSpVecDescr_t x,
                                             const void* beta, cusparseDnVecDescr_t y) {
  namespace sparse = isomer::emulator::sparse;
  return sparse::recorded(h, sparse::axpby, {y->type, alpha}, *x, {y->type, beta}, *y);
}
static inline cusparseStatus_t cusparseGather(cusparseHandle_t h, cusparseConstDnVecDescr_t y, cusparseSpVecDescr_t x) {
  return isomer::emulator::sparse::recorded(h, isomer::emulator::sparse::gather, *y, *x);
}
static inline cusparseStatus_t cusparseScatter(cusparseHandle_t h, cusparseConstSpVecDescr_t x, cusparseDnVecDescr_t y) {
  return isomer::emulator::sparse::recorded(h, isomer::emulator::sparse::scatter, *x, *y);
}
static inline cusparseStatus_t cusparseRot(cusparseHandle_t h, const void* cosine, const void* sine, cusparseSpVecDescr_t x,
                                           cusparseDnVecDescr_t y) {
  namespace sparse = isomer::emulator::sparse;
  return sparse::recorded(h, sparse::rotate, {x->type, cosine}, {x->type, sine}, *x, *y);
}
ISOMER_EMULATOR_LITTLE_ROOM(cusparseStatus_t, cusparseHandle_t, cusparseSpVV_bufferSize)
static inline cusparseStatus_t cusparseSpVV(cusparseHandle_t h, cusparseOperation_t op, cusparseConstSpVecDescr_t x,
                                            cusparseConstDnVecDescr_t y, void* result, cudaDataType compute, void*) {
  namespace sparse = isomer::emulator::sparse;
  return sparse::recorded(h, sparse::product_of_vectors, op, *x, *y, result, compute);
}

// Functions of one type: products and incomplete factors.
/// What an analysis and a factorisation leave behind.
struct isomer_emulator_pivot {
  long row = -1;
};
namespace isomer::emulator::sparse {
template <class P>
Matrix described(Format format, cusparseMatDescr_t descr, long rows, long columns, long count, const P* values,
                 const int* first, const int* second) {
  return {format,
          rows,
          columns,
          count,
          const_cast<int*>(first),
          const_cast<int*>(second),
          const_cast<P*>(values),
          CUSPARSE_INDEX_32I,
          CUSPARSE_INDEX_32I,
          descr->base,
          blas::kTypeOf<P>,
          descr->fill == CUSPARSE_FILL_MODE_UPPER,
          descr->diagonal == CUSPARSE_DIAG_TYPE_UNIT};
}
template <class P>
Dense columns_of(const P* values, long rows, long columns, long stride) {
  return {rows, columns, stride, const_cast<P*>(values), blas::kTypeOf<P>, CUSPARSE_ORDER_COL};
}
/// A vector that op(matrix) takes or gives.
template <class P>
Dense vector_of(const P* values, long size) {
  return columns_of(values, size, 1, size);
}
template <class P>
cusparseStatus_t times_vector(cusparseOperation_t op, const P* alpha, const Matrix& a, const P* x, const P* beta, P* y) {
  const bool turned = op != CUSPARSE_OPERATION_NON_TRANSPOSE;
  return multiply(op, CUSPARSE_OPERATION_NON_TRANSPOSE, {blas::kTypeOf<P>, alpha}, a, vector_of(x, turned ? a.rows : a.columns),
                  {blas::kTypeOf<P>, beta},
                  vector_of(y, turned ? a.columns : a.rows), blas::kTypeOf<P>);
}
template <class P>
cusparseStatus_t csrmm(cusparseHandle_t, cusparseOperation_t op_a, cusparseOperation_t op_b, int m, int n, int k, int count,
                       const P* alpha, cusparseMatDescr_t descr, const P* values, const int* offsets, const int* indices,
                       const P* b, int ldb, const P* beta, P* c, int ldc) {
  const bool turned = op_a != CUSPARSE_OPERATION_NON_TRANSPOSE, turned_b = op_b != CUSPARSE_OPERATION_NON_TRANSPOSE;
  const long inner = turned ? m : k;
  return multiply(op_a, op_b, {blas::kTypeOf<P>, alpha}, described(Format::rows, descr, m, k, count, values, offsets, indices),
                  columns_of(b, turned_b ? n : inner, turned_b ? inner : n, ldb), {blas::kTypeOf<P>, beta},
                  columns_of(c, turned ? k : m, n, ldc), blas::kTypeOf<P>);
}
template <class P>
cusparseStatus_t csrmv_of_before(cusparseHandle_t, cusparseOperation_t op, int m, int n, int count, const P* alpha,
                                 cusparseMatDescr_t descr, const P* values, const int* offsets, const int* indices,
                                 const P* x, const P* beta, P* y) {
  return times_vector(op, alpha, described(Format::rows, descr, m, n, count, values, offsets, indices), x, beta, y);
}
template <class P>
cusparseStatus_t csrmm_of_before(cusparseHandle_t h, cusparseOperation_t op, int m, int n, int k, int count,
                                 const P* alpha, cusparseMatDescr_t descr, const P* values, const int* offsets,
                                 const int* indices, const P* b, int ldb, const P* beta, P* c, int ldc) {
  return csrmm(h, op, CUSPARSE_OPERATION_NON_TRANSPOSE, m, n, k, count, alpha, descr, values, offsets, indices, b, ldb,
               beta, c, ldc);
}
template <class P, bool Cholesky, class Policy>
cusparseStatus_t factors(cusparseHandle_t, int m, int count, cusparseMatDescr_t descr, P* values, const int* offsets,
                         const int* indices, isomer_emulator_pivot* info, Policy, void*) {
  return factorise(described(Format::rows, descr, m, m, count, static_cast<const P*>(values), offsets, indices), Cholesky,
                   &info->row);
}
inline cusparseStatus_t tell_pivot(const isomer_emulator_pivot* info, int* position) {
  *position = static_cast<int>(info->row);
  return info->row < 0 ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_ZERO_PIVOT;
}
}  // namespace isomer::emulator::sparse
#define ISOMER_EMULATOR_ZERO_PIVOT(NAME)                                                                           \
  static inline cusparseStatus_t NAME(cusparseHandle_t, const isomer_emulator_pivot* info, int* position) {        \
    return isomer::emulator::sparse::tell_pivot(info, position);                                                   \
  }
typedef isomer_emulator_pivot *csrilu02Info_t, *csric02Info_t;
ISOMER_EMULATOR_MADE(cusparseStatus_t, cusparseCreateCsrilu02Info, cusparseDestroyCsrilu02Info, csrilu02Info_t, isomer_emulator_pivot)
ISOMER_EMULATOR_MADE(cusparseStatus_t, cusparseCreateCsric02Info, cusparseDestroyCsric02Info, csric02Info_t, isomer_emulator_pivot)
ISOMER_EMULATOR_ZERO_PIVOT(cusparseXcsrilu02_zeroPivot)
ISOMER_EMULATOR_ZERO_PIVOT(cusparseXcsric02_zeroPivot)
// The products of before CUDA 11 name their arrays themselves, as factors do.
#define ISOMER_EMULATOR_FACTORS(L, P)                                                                               \
  static constexpr auto cusparse##L##csrmv = &isomer::emulator::sparse::csrmv_of_before<P>;                         \
  static constexpr auto cusparse##L##csrmm = &isomer::emulator::sparse::csrmm_of_before<P>;                         \
  static constexpr auto cusparse##L##csrmm2 = &isomer::emulator::sparse::csrmm<P>;                                  \
  static constexpr auto cusparse##L##csrilu02 = &isomer::emulator::sparse::factors<P, false, cusparseSolvePolicy_t>; \
  static constexpr auto cusparse##L##csric02 = &isomer::emulator::sparse::factors<P, true, cusparseSolvePolicy_t>;   \
  ISOMER_EMULATOR_LITTLE_ROOM(cusparseStatus_t, cusparseHandle_t, cusparse##L##csrilu02_bufferSize)                                                     \
  ISOMER_EMULATOR_LITTLE_ROOM(cusparseStatus_t, cusparseHandle_t, cusparse##L##csric02_bufferSize)                                                      \
  ISOMER_EMULATOR_BEFOREHAND(cusparseStatus_t, cusparseHandle_t, cusparse##L##csrilu02_analysis)                                                        \
  ISOMER_EMULATOR_BEFOREHAND(cusparseStatus_t, cusparseHandle_t, cusparse##L##csric02_analysis)
ISOMER_EMULATOR_FACTORS(S, float)
ISOMER_EMULATOR_FACTORS(D, double)
ISOMER_EMULATOR_FACTORS(C, float2)
ISOMER_EMULATOR_FACTORS(Z, double2)
#undef ISOMER_EMULATOR_FACTORS
