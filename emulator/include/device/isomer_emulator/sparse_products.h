// cuSPARSE's products, conversions and vectors. Included by sparse.h.
#pragma once

static inline cusparseStatus_t cusparseSpMV_bufferSize(cusparseHandle_t, cusparseOperation_t, const void*,
                                                       cusparseConstSpMatDescr_t, cusparseConstDnVecDescr_t,
                                                       const void*, cusparseDnVecDescr_t, cudaDataType,
                                                       cusparseSpMVAlg_t, std::size_t* bytes) {
  *bytes = 256;
  return CUSPARSE_STATUS_SUCCESS;
}
static inline cusparseStatus_t cusparseSpMV_preprocess(cusparseHandle_t, cusparseOperation_t, const void*,
                                                       cusparseConstSpMatDescr_t, cusparseConstDnVecDescr_t,
                                                       const void*, cusparseDnVecDescr_t, cudaDataType,
                                                       cusparseSpMVAlg_t, void*) {
  return CUSPARSE_STATUS_SUCCESS;
}
static inline cusparseStatus_t cusparseSpMV(cusparseHandle_t, cusparseOperation_t op, const void* alpha,
                                            cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x,
                                            const void* beta, cusparseDnVecDescr_t y, cudaDataType compute,
                                            cusparseSpMVAlg_t, void*) {
  namespace sparse = isomer::emulator::sparse;
  return sparse::multiply(op, CUSPARSE_OPERATION_NON_TRANSPOSE, alpha, *a, sparse::as_dense(*x), beta,
                          sparse::as_dense(*y), compute);
}
static inline cusparseStatus_t cusparseSpMM_bufferSize(cusparseHandle_t, cusparseOperation_t,
                                                       cusparseOperation_t, const void*,
                                                       cusparseConstSpMatDescr_t, cusparseConstDnMatDescr_t,
                                                       const void*, cusparseDnMatDescr_t, cudaDataType,
                                                       cusparseSpMMAlg_t, std::size_t* bytes) {
  *bytes = 256;
  return CUSPARSE_STATUS_SUCCESS;
}
static inline cusparseStatus_t cusparseSpMM_preprocess(cusparseHandle_t, cusparseOperation_t,
                                                       cusparseOperation_t, const void*,
                                                       cusparseConstSpMatDescr_t, cusparseConstDnMatDescr_t,
                                                       const void*, cusparseDnMatDescr_t, cudaDataType,
                                                       cusparseSpMMAlg_t, void*) {
  return CUSPARSE_STATUS_SUCCESS;
}
static inline cusparseStatus_t cusparseSpMM(cusparseHandle_t, cusparseOperation_t op_a,
                                            cusparseOperation_t op_b, const void* alpha,
                                            cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                                            const void* beta, cusparseDnMatDescr_t c, cudaDataType compute,
                                            cusparseSpMMAlg_t, void*) {
  return isomer::emulator::sparse::multiply(op_a, op_b, alpha, *a, *b, beta, *c, compute);
}

// Triangles: the analysis finds nothing out that the solution needs.
typedef struct isomer_emulator_spsv* cusparseSpSVDescr_t;
static inline cusparseStatus_t cusparseSpSV_createDescr(cusparseSpSVDescr_t* descr) {
  *descr = nullptr;
  return CUSPARSE_STATUS_SUCCESS;
}
static inline cusparseStatus_t cusparseSpSV_destroyDescr(cusparseSpSVDescr_t) {
  return CUSPARSE_STATUS_SUCCESS;
}
static inline cusparseStatus_t cusparseSpSV_bufferSize(cusparseHandle_t, cusparseOperation_t, const void*,
                                                       cusparseConstSpMatDescr_t, cusparseConstDnVecDescr_t,
                                                       cusparseDnVecDescr_t, cudaDataType, cusparseSpSVAlg_t,
                                                       cusparseSpSVDescr_t, std::size_t* bytes) {
  *bytes = 256;
  return CUSPARSE_STATUS_SUCCESS;
}
static inline cusparseStatus_t cusparseSpSV_analysis(cusparseHandle_t, cusparseOperation_t, const void*,
                                                     cusparseConstSpMatDescr_t, cusparseConstDnVecDescr_t,
                                                     cusparseDnVecDescr_t, cudaDataType, cusparseSpSVAlg_t,
                                                     cusparseSpSVDescr_t, void*) {
  return CUSPARSE_STATUS_SUCCESS;
}
/// y with op(a) · y = alpha · x, for the triangle of a that its attributes name.
static inline cusparseStatus_t cusparseSpSV_solve(cusparseHandle_t, cusparseOperation_t op, const void* alpha,
                                                  cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x,
                                                  cusparseDnVecDescr_t y, cudaDataType compute,
                                                  cusparseSpSVAlg_t, cusparseSpSVDescr_t) {
  namespace sparse = isomer::emulator::sparse;
  std::vector<sparse::Entry> all;
  std::vector<double> right;
  if (!sparse::entries(*a, all) || !sparse::get_values(x->type, x->values, x->size, right))
    return CUSPARSE_STATUS_EXECUTION_FAILED;
  const bool turned = op != CUSPARSE_OPERATION_NON_TRANSPOSE, upper = a->upper != turned;
  std::vector<std::vector<sparse::Entry>> rows(right.size());
  for (const sparse::Entry& e : all) {
    const long row = turned ? e.column : e.row, column = turned ? e.row : e.column;
    if ((upper ? column >= row : column <= row) && row < x->size && column < x->size)
      rows[static_cast<std::size_t>(row)].push_back({row, column, e.value});
  }
  const double factor = isomer::emulator::blas::number(compute, alpha);
  for (long step = 0; step < x->size; ++step) {
    const long row = upper ? x->size - 1 - step : step;
    double sum = factor * right[static_cast<std::size_t>(row)], diagonal = a->unit ? 1 : 0;
    for (const sparse::Entry& e : rows[static_cast<std::size_t>(row)]) {
      if (e.column != row) sum -= e.value * right[static_cast<std::size_t>(e.column)];
      if (e.column == row && !a->unit) diagonal = e.value;
    }
    right[static_cast<std::size_t>(row)] = sum / diagonal;
  }
  return sparse::done(sparse::put_values(y->type, y->values, right));
}

static inline cusparseStatus_t cusparseSparseToDense_bufferSize(cusparseHandle_t, cusparseConstSpMatDescr_t,
                                                                cusparseDnMatDescr_t,
                                                                cusparseSparseToDenseAlg_t,
                                                                std::size_t* bytes) {
  *bytes = 256;
  return CUSPARSE_STATUS_SUCCESS;
}
static inline cusparseStatus_t cusparseSparseToDense(cusparseHandle_t, cusparseConstSpMatDescr_t a,
                                                     cusparseDnMatDescr_t b, cusparseSparseToDenseAlg_t,
                                                     void*) {
  namespace sparse = isomer::emulator::sparse;
  std::vector<sparse::Entry> all;
  isomer::emulator::blas::Matrix to(b->rows, b->columns);
  if (!sparse::entries(*a, all)) return CUSPARSE_STATUS_EXECUTION_FAILED;
  for (const sparse::Entry& e : all) to.at(e.row, e.column) = e.value;
  return sparse::done(sparse::take(*b, to));
}
static inline cusparseStatus_t cusparseDenseToSparse_bufferSize(cusparseHandle_t, cusparseConstDnMatDescr_t,
                                                                cusparseSpMatDescr_t,
                                                                cusparseDenseToSparseAlg_t,
                                                                std::size_t* bytes) {
  *bytes = 256;
  return CUSPARSE_STATUS_SUCCESS;
}
namespace isomer::emulator::sparse {
/// The values that are not zero, line by line of the format, and where each line begins.
inline bool found(const Dense& d, Format format, std::vector<long>& begins, std::vector<Entry>& all) {
  blas::Matrix from;
  if (!bring(d, from)) return false;
  const bool by_columns = format == Format::columns;
  begins.assign(1, 0), all.clear();
  for (long line = 0; line < (by_columns ? d.columns : d.rows); ++line) {
    for (long i = 0; i < (by_columns ? d.rows : d.columns); ++i) {
      const long row = by_columns ? i : line, column = by_columns ? line : i;
      if (from.at(row, column) != 0) all.push_back({row, column, from.at(row, column)});
    }
    begins.push_back(static_cast<long>(all.size()));
  }
  return true;
}
}  // namespace isomer::emulator::sparse
/// Counts the values and writes where lines begin; the conversion needs room for the rest.
static inline cusparseStatus_t cusparseDenseToSparse_analysis(cusparseHandle_t, cusparseConstDnMatDescr_t a,
                                                              cusparseSpMatDescr_t b,
                                                              cusparseDenseToSparseAlg_t, void*) {
  namespace sparse = isomer::emulator::sparse;
  std::vector<long> begins;
  std::vector<sparse::Entry> all;
  if (!sparse::found(*a, b->format, begins, all)) return CUSPARSE_STATUS_EXECUTION_FAILED;
  b->count = static_cast<long>(all.size());
  return sparse::done(b->format == sparse::Format::coordinates ||
                      sparse::put_indices(b->first, b->first_type, b->base, begins));
}
static inline cusparseStatus_t cusparseDenseToSparse_convert(cusparseHandle_t, cusparseConstDnMatDescr_t a,
                                                             cusparseSpMatDescr_t b,
                                                             cusparseDenseToSparseAlg_t, void*) {
  namespace sparse = isomer::emulator::sparse;
  std::vector<long> begins, rows, columns;
  std::vector<sparse::Entry> all;
  std::vector<double> values;
  if (!sparse::found(*a, b->format, begins, all)) return CUSPARSE_STATUS_EXECUTION_FAILED;
  for (const sparse::Entry& e : all)
    rows.push_back(e.row), columns.push_back(e.column), values.push_back(e.value);
  const bool coordinates = b->format == sparse::Format::coordinates;
  return sparse::done(sparse::put_indices(b->first, b->first_type, b->base, coordinates ? rows : begins) &&
                      sparse::put_indices(b->second, b->second_type, b->base,
                                          b->format == sparse::Format::columns ? rows : columns) &&
                      sparse::put_values(b->type, b->values, values));
}

static inline cusparseStatus_t cusparseCsr2cscEx2_bufferSize(cusparseHandle_t, int, int, int, const void*,
                                                             const int*, const int*, void*, int*, int*,
                                                             cudaDataType, cusparseAction_t,
                                                             cusparseIndexBase_t, cusparseCsr2CscAlg_t,
                                                             std::size_t* bytes) {
  *bytes = 256;
  return CUSPARSE_STATUS_SUCCESS;
}
static inline cusparseStatus_t cusparseCsr2cscEx2(cusparseHandle_t, int rows, int columns, int count,
                                                  const void* values, const int* offsets, const int* indices,
                                                  void* to_values, int* to_offsets, int* to_indices,
                                                  cudaDataType type, cusparseAction_t action,
                                                  cusparseIndexBase_t base, cusparseCsr2CscAlg_t, void*) {
  namespace sparse = isomer::emulator::sparse;
  std::vector<sparse::Entry> all;
  const sparse::Matrix from{sparse::Format::rows,
                            rows,
                            columns,
                            count,
                            const_cast<int*>(offsets),
                            const_cast<int*>(indices),
                            const_cast<void*>(values),
                            CUSPARSE_INDEX_32I,
                            CUSPARSE_INDEX_32I,
                            base,
                            type};
  if (!sparse::entries(from, all)) return CUSPARSE_STATUS_EXECUTION_FAILED;
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.column < b.column; });
  std::vector<long> begins(static_cast<std::size_t>(columns) + 1), of_rows;
  std::vector<double> sorted;
  for (const sparse::Entry& e : all) {
    ++begins[static_cast<std::size_t>(e.column) + 1];
    of_rows.push_back(e.row), sorted.push_back(e.value);
  }
  for (std::size_t i = 1; i < begins.size(); ++i) begins[i] += begins[i - 1];
  return sparse::done(sparse::put_indices(to_offsets, CUSPARSE_INDEX_32I, base, begins) &&
                      sparse::put_indices(to_indices, CUSPARSE_INDEX_32I, base, of_rows) &&
                      (action == CUSPARSE_ACTION_SYMBOLIC || sparse::put_values(type, to_values, sorted)));
}

// Vectors. `work` gets the indices, the values of the sparse one and those of the dense one.
namespace isomer::emulator::sparse {
template <class Work>
cusparseStatus_t both(const Vector& of, const Vector& dense, Work work) {
  std::vector<long> indices;
  std::vector<double> few, all;
  if (!get_indices(of.indices, of.index_type, of.count, of.base, indices) ||
      !get_values(of.type, of.values, of.count, few) ||
      !get_values(dense.type, dense.values, dense.size, all))
    return CUSPARSE_STATUS_EXECUTION_FAILED;
  for (const long i : indices)
    if (i < 0 || i >= dense.size) return CUSPARSE_STATUS_INVALID_VALUE;
  return done(work(indices, few, all));
}
}  // namespace isomer::emulator::sparse
static inline cusparseStatus_t cusparseAxpby(cusparseHandle_t, const void* alpha, cusparseConstSpVecDescr_t x,
                                             const void* beta, cusparseDnVecDescr_t y) {
  namespace sparse = isomer::emulator::sparse;
  const double factor = isomer::emulator::blas::number(y->type, alpha),
               keep = isomer::emulator::blas::number(y->type, beta);
  return sparse::both(*x, *y, [&](const auto& indices, const auto& few, auto& all) {
    for (double& v : all) v *= keep;
    for (std::size_t i = 0; i < few.size(); ++i) all[static_cast<std::size_t>(indices[i])] += factor * few[i];
    return sparse::put_values(y->type, y->values, all);
  });
}
static inline cusparseStatus_t cusparseGather(cusparseHandle_t, cusparseConstDnVecDescr_t y,
                                              cusparseSpVecDescr_t x) {
  namespace sparse = isomer::emulator::sparse;
  return sparse::both(*x, *y, [&](const auto& indices, auto& few, const auto& all) {
    for (std::size_t i = 0; i < few.size(); ++i) few[i] = all[static_cast<std::size_t>(indices[i])];
    return sparse::put_values(x->type, x->values, few);
  });
}
static inline cusparseStatus_t cusparseScatter(cusparseHandle_t, cusparseConstSpVecDescr_t x,
                                               cusparseDnVecDescr_t y) {
  namespace sparse = isomer::emulator::sparse;
  return sparse::both(*x, *y, [&](const auto& indices, const auto& few, auto& all) {
    for (std::size_t i = 0; i < few.size(); ++i) all[static_cast<std::size_t>(indices[i])] = few[i];
    return sparse::put_values(y->type, y->values, all);
  });
}
static inline cusparseStatus_t cusparseSpVV_bufferSize(cusparseHandle_t, cusparseOperation_t,
                                                       cusparseConstSpVecDescr_t, cusparseConstDnVecDescr_t,
                                                       const void*, cudaDataType, std::size_t* bytes) {
  *bytes = 256;
  return CUSPARSE_STATUS_SUCCESS;
}
static inline cusparseStatus_t cusparseSpVV(cusparseHandle_t, cusparseOperation_t,
                                            cusparseConstSpVecDescr_t x, cusparseConstDnVecDescr_t y,
                                            void* result, cudaDataType compute, void*) {
  namespace sparse = isomer::emulator::sparse;
  return sparse::both(*x, *y, [&](const auto& indices, const auto& few, const auto& all) {
    double sum = 0;
    for (std::size_t i = 0; i < few.size(); ++i) sum += few[i] * all[static_cast<std::size_t>(indices[i])];
    isomer::emulator::blas::put_number(compute, result, sum);
    return true;
  });
}
