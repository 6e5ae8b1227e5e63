// cuSPARSE's generic functions on matrices by rows, by columns and by coordinates, of real types: brought to
// the host, worked on there and brought back, as a copy is. Other formats and solvers are not here.
#pragma once

#include "blas.h"

#define CUSPARSEAPI  // as headers of others ask whether cuSPARSE is there

enum cusparseStatus_t {
  CUSPARSE_STATUS_SUCCESS = 0,
  CUSPARSE_STATUS_NOT_INITIALIZED = 1,
  CUSPARSE_STATUS_ALLOC_FAILED = 2,
  CUSPARSE_STATUS_INVALID_VALUE = 3,
  CUSPARSE_STATUS_ARCH_MISMATCH = 4,
  CUSPARSE_STATUS_MAPPING_ERROR = 5,
  CUSPARSE_STATUS_EXECUTION_FAILED = 6,
  CUSPARSE_STATUS_INTERNAL_ERROR = 7,
  CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED = 8,
  CUSPARSE_STATUS_ZERO_PIVOT = 9,
  CUSPARSE_STATUS_NOT_SUPPORTED = 10,
  CUSPARSE_STATUS_INSUFFICIENT_RESOURCES = 11
};
enum cusparseOperation_t {
  CUSPARSE_OPERATION_NON_TRANSPOSE = 0,
  CUSPARSE_OPERATION_TRANSPOSE = 1,
  CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE = 2
};
enum cusparseIndexType_t { CUSPARSE_INDEX_16U = 1, CUSPARSE_INDEX_32I = 2, CUSPARSE_INDEX_64I = 3 };
enum cusparseIndexBase_t { CUSPARSE_INDEX_BASE_ZERO = 0, CUSPARSE_INDEX_BASE_ONE = 1 };
enum cusparseOrder_t { CUSPARSE_ORDER_COL = 1, CUSPARSE_ORDER_ROW = 2 };
enum cusparseAction_t { CUSPARSE_ACTION_SYMBOLIC = 0, CUSPARSE_ACTION_NUMERIC = 1 };
enum cusparsePointerMode_t { CUSPARSE_POINTER_MODE_HOST = 0, CUSPARSE_POINTER_MODE_DEVICE = 1 };
enum cusparseMatrixType_t { CUSPARSE_MATRIX_TYPE_GENERAL = 0, CUSPARSE_MATRIX_TYPE_SYMMETRIC = 1 };
enum cusparseSpMVAlg_t {
  CUSPARSE_SPMV_ALG_DEFAULT = 0,
  CUSPARSE_MV_ALG_DEFAULT = 0,
  CUSPARSE_SPMV_COO_ALG1 = 1,
  CUSPARSE_SPMV_CSR_ALG1 = 2,
  CUSPARSE_SPMV_CSR_ALG2 = 3,
  CUSPARSE_SPMV_COO_ALG2 = 4
};
enum cusparseSpMMAlg_t {
  CUSPARSE_SPMM_ALG_DEFAULT = 0,
  CUSPARSE_SPMM_COO_ALG1 = 1,
  CUSPARSE_SPMM_COO_ALG2 = 2,
  CUSPARSE_SPMM_COO_ALG3 = 3,
  CUSPARSE_SPMM_CSR_ALG1 = 4,
  CUSPARSE_SPMM_COO_ALG4 = 5,
  CUSPARSE_SPMM_CSR_ALG2 = 6,
  CUSPARSE_SPMM_CSR_ALG3 = 12
};
enum cusparseSparseToDenseAlg_t { CUSPARSE_SPARSETODENSE_ALG_DEFAULT = 0 };
enum cusparseDenseToSparseAlg_t { CUSPARSE_DENSETOSPARSE_ALG_DEFAULT = 0 };
enum cusparseSpSVAlg_t { CUSPARSE_SPSV_ALG_DEFAULT = 0 };
enum cusparseFillMode_t { CUSPARSE_FILL_MODE_LOWER = 0, CUSPARSE_FILL_MODE_UPPER = 1 };
enum cusparseDiagType_t { CUSPARSE_DIAG_TYPE_NON_UNIT = 0, CUSPARSE_DIAG_TYPE_UNIT = 1 };
enum cusparseSpMatAttribute_t { CUSPARSE_SPMAT_FILL_MODE = 0, CUSPARSE_SPMAT_DIAG_TYPE = 1 };
enum cusparseCsr2CscAlg_t { CUSPARSE_CSR2CSC_ALG_DEFAULT = 1, CUSPARSE_CSR2CSC_ALG1 = 1 };

namespace isomer::emulator::sparse {

enum class Format { rows, columns, coordinates };
/// Offsets of rows or columns and the other index of each value, or both indices.
struct Matrix {
  Format format;
  long rows, columns, count;
  void *first, *second, *values;
  cusparseIndexType_t first_type, second_type;
  long base;
  cudaDataType_t type;
  bool upper = false, unit = false;  ///< of one that is a triangle
};
struct Vector {  ///< with indices or, where there are none, every value
  long size, count;
  void *indices, *values;
  cusparseIndexType_t index_type;
  long base;
  cudaDataType_t type;
};
struct Dense {
  long rows, columns, stride;
  void* values;
  cudaDataType_t type;
  cusparseOrder_t order;
};

inline bool get_indices(const void* from, cusparseIndexType_t type, long count, long base,
                        std::vector<long>& to) {
  const std::size_t each = type == CUSPARSE_INDEX_64I ? 8 : type == CUSPARSE_INDEX_16U ? 2 : 4;
  std::vector<unsigned char> raw(static_cast<std::size_t>(count) * each);
  if (count > 0 && isomer_emulator_copy(raw.data(), from, raw.size(), blas::kAnyDirection) != 0) return false;
  to.clear();
  for (long i = 0; i < count; ++i) {
    const unsigned char* at = raw.data() + static_cast<std::size_t>(i) * each;
    to.push_back((each == 8   ? blas::piece<long>(at)
                  : each == 4 ? long{blas::piece<int>(at)}
                              : long{blas::piece<unsigned short>(at)}) -
                 base);
  }
  return true;
}
inline bool put_indices(void* to, cusparseIndexType_t type, long base, const std::vector<long>& from) {
  const std::size_t each = type == CUSPARSE_INDEX_64I ? 8 : 4;
  std::vector<unsigned char> raw(from.size() * each);
  for (std::size_t i = 0; i < from.size(); ++i) {
    const long value = from[i] + base;
    std::memcpy(raw.data() + i * each, &value, each);  // the low bytes come first
  }
  return raw.empty() || isomer_emulator_copy(to, raw.data(), raw.size(), blas::kAnyDirection) == 0;
}
inline bool get_values(cudaDataType_t type, const void* from, long count, std::vector<double>& to) {
  blas::Matrix m;
  if (!m.bring(type, from, 1, count, 1)) return false;
  to = m.values;
  return true;
}
inline bool put_values(cudaDataType_t type, void* to, const std::vector<double>& from) {
  blas::Matrix m(1, static_cast<long>(from.size()));
  m.values = from;
  return m.take(type, to, 1);
}

struct Entry {
  long row, column;
  double value;
};
/// Every value with its place; false where a copy was refused or an index lies outside.
inline bool entries(const Matrix& m, std::vector<Entry>& to) {
  std::vector<long> first, second;
  std::vector<double> values;
  const long lines = m.format == Format::rows ? m.rows : m.columns;
  if (!get_indices(m.second, m.second_type, m.count, m.base, second) ||
      !get_values(m.type, m.values, m.count, values) ||
      !get_indices(m.first, m.first_type, m.format == Format::coordinates ? m.count : lines + 1, m.base,
                   first))
    return false;
  to.clear();
  const auto add = [&](long line, long i) {
    const long other = second[static_cast<std::size_t>(i)];
    const bool by_columns = m.format == Format::columns;
    to.push_back({by_columns ? other : line, by_columns ? line : other, values[static_cast<std::size_t>(i)]});
    return to.back().row >= 0 && to.back().row < m.rows && to.back().column >= 0 &&
           to.back().column < m.columns;
  };
  if (m.format == Format::coordinates) {
    for (long i = 0; i < m.count; ++i)
      if (!add(first[static_cast<std::size_t>(i)], i)) return false;
    return true;
  }
  for (long line = 0; line < lines; ++line)
    for (long i = first[static_cast<std::size_t>(line)]; i < first[static_cast<std::size_t>(line) + 1]; ++i)
      if (i < 0 || i >= m.count || !add(line, i)) return false;
  return true;
}
/// Of a dense matrix in either order.
inline bool bring(const Dense& d, blas::Matrix& to) {
  if (d.order == CUSPARSE_ORDER_COL) return to.bring(d.type, d.values, d.rows, d.columns, d.stride);
  if (!to.bring(d.type, d.values, d.columns, d.rows, d.stride)) return false;
  to = to.transposed();
  return true;
}
inline bool take(const Dense& d, const blas::Matrix& from) {
  return d.order == CUSPARSE_ORDER_COL ? from.take(d.type, d.values, d.stride)
                                       : from.transposed().take(d.type, d.values, d.stride);
}
inline cusparseStatus_t done(bool well) {
  return well ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_EXECUTION_FAILED;
}

/// c = alpha · op(a) · op(b) + beta · c, in the type of `compute`.
inline cusparseStatus_t multiply(cusparseOperation_t op_a, cusparseOperation_t op_b, const void* alpha,
                                 const Matrix& a, const Dense& b, const void* beta, const Dense& c,
                                 cudaDataType_t compute) {
  std::vector<Entry> all;
  blas::Matrix right, sums;
  const double factor = blas::number(compute, alpha), keep = blas::number(compute, beta);
  if (!entries(a, all) || !bring(b, right)) return CUSPARSE_STATUS_EXECUTION_FAILED;
  if (op_b != CUSPARSE_OPERATION_NON_TRANSPOSE) right = right.transposed();
  if (keep == 0)
    sums = blas::Matrix(c.rows, c.columns);
  else if (!bring(c, sums))
    return CUSPARSE_STATUS_EXECUTION_FAILED;
  const bool single = compute != CUDA_R_64F;
  blas::Matrix products(c.rows, c.columns);
  for (const Entry& e : all) {
    const long row = op_a == CUSPARSE_OPERATION_NON_TRANSPOSE ? e.row : e.column,
               inner = op_a == CUSPARSE_OPERATION_NON_TRANSPOSE ? e.column : e.row;
    if (row >= c.rows || inner >= right.rows) return CUSPARSE_STATUS_INVALID_VALUE;
    for (long j = 0; j < c.columns; ++j) {
      double& sum = products.at(row, j);
      sum = single ? double(float(sum) + float(e.value) * float(right.at(inner, j)))
                   : sum + e.value * right.at(inner, j);
    }
  }
  for (std::size_t i = 0; i < sums.values.size(); ++i) {
    const double before = keep == 0 ? 0 : keep * sums.values[i];
    sums.values[i] = factor * products.values[i] + before;
  }
  return done(take(c, sums));
}
inline Dense as_dense(const Vector& v) { return {v.size, 1, v.size, v.values, v.type, CUSPARSE_ORDER_COL}; }

}  // namespace isomer::emulator::sparse

typedef struct isomer_emulator_sparse {
  cudaStream_t stream = nullptr;
} * cusparseHandle_t;
typedef isomer::emulator::sparse::Matrix* cusparseSpMatDescr_t;
typedef const isomer::emulator::sparse::Matrix* cusparseConstSpMatDescr_t;
typedef isomer::emulator::sparse::Vector *cusparseDnVecDescr_t, *cusparseSpVecDescr_t;
typedef const isomer::emulator::sparse::Vector *cusparseConstDnVecDescr_t, *cusparseConstSpVecDescr_t;
typedef isomer::emulator::sparse::Dense* cusparseDnMatDescr_t;
typedef const isomer::emulator::sparse::Dense* cusparseConstDnMatDescr_t;

static inline cusparseStatus_t cusparseCreate(cusparseHandle_t* handle) {
  *handle = new isomer_emulator_sparse;
  return CUSPARSE_STATUS_SUCCESS;
}
static inline cusparseStatus_t cusparseDestroy(cusparseHandle_t handle) {
  delete handle;
  return CUSPARSE_STATUS_SUCCESS;
}
static inline cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUSPARSE_STATUS_SUCCESS;
}
static inline cusparseStatus_t cusparseSetPointerMode(cusparseHandle_t, cusparsePointerMode_t) {
  return CUSPARSE_STATUS_SUCCESS;
}
// The descriptor of the functions of before: programs make one beside those that say everything.
typedef struct isomer_emulator_mat_descr {
  cusparseMatrixType_t type = CUSPARSE_MATRIX_TYPE_GENERAL;
  cusparseIndexBase_t base = CUSPARSE_INDEX_BASE_ZERO;
} * cusparseMatDescr_t;
static inline cusparseStatus_t cusparseCreateMatDescr(cusparseMatDescr_t* descr) {
  *descr = new isomer_emulator_mat_descr;
  return CUSPARSE_STATUS_SUCCESS;
}
static inline cusparseStatus_t cusparseDestroyMatDescr(cusparseMatDescr_t descr) {
  delete descr;
  return CUSPARSE_STATUS_SUCCESS;
}
static inline cusparseStatus_t cusparseSetMatType(cusparseMatDescr_t descr, cusparseMatrixType_t type) {
  descr->type = type;
  return CUSPARSE_STATUS_SUCCESS;
}
static inline cusparseStatus_t cusparseSetMatIndexBase(cusparseMatDescr_t descr, cusparseIndexBase_t base) {
  descr->base = base;
  return CUSPARSE_STATUS_SUCCESS;
}
static inline cusparseMatrixType_t cusparseGetMatType(cusparseMatDescr_t descr) { return descr->type; }
static inline cusparseIndexBase_t cusparseGetMatIndexBase(cusparseMatDescr_t descr) { return descr->base; }
static inline cusparseStatus_t cusparseGetVersion(cusparseHandle_t, int* version) {
  *version = 12000;
  return CUSPARSE_STATUS_SUCCESS;
}
static inline const char* cusparseGetErrorString(cusparseStatus_t s) {
  return s == CUSPARSE_STATUS_SUCCESS         ? "success"
         : s == CUSPARSE_STATUS_INVALID_VALUE ? "invalid value"
         : s == CUSPARSE_STATUS_NOT_SUPPORTED ? "operation not supported"
                                              : "execution failed";
}
static inline const char* cusparseGetErrorName(cusparseStatus_t s) { return cusparseGetErrorString(s); }

// Descriptors; the functions that take pointers to const are the same.
static inline cusparseStatus_t cusparseCreateCsr(cusparseSpMatDescr_t* m, int64_t rows, int64_t columns,
                                                 int64_t count, void* offsets, void* indices, void* values,
                                                 cusparseIndexType_t offset_type,
                                                 cusparseIndexType_t index_type, cusparseIndexBase_t base,
                                                 cudaDataType type) {
  *m = new isomer::emulator::sparse::Matrix{isomer::emulator::sparse::Format::rows,
                                            rows,
                                            columns,
                                            count,
                                            offsets,
                                            indices,
                                            values,
                                            offset_type,
                                            index_type,
                                            base,
                                            type};
  return CUSPARSE_STATUS_SUCCESS;
}
static inline cusparseStatus_t cusparseCreateCsc(cusparseSpMatDescr_t* m, int64_t rows, int64_t columns,
                                                 int64_t count, void* offsets, void* indices, void* values,
                                                 cusparseIndexType_t offset_type,
                                                 cusparseIndexType_t index_type, cusparseIndexBase_t base,
                                                 cudaDataType type) {
  *m = new isomer::emulator::sparse::Matrix{isomer::emulator::sparse::Format::columns,
                                            rows,
                                            columns,
                                            count,
                                            offsets,
                                            indices,
                                            values,
                                            offset_type,
                                            index_type,
                                            base,
                                            type};
  return CUSPARSE_STATUS_SUCCESS;
}
static inline cusparseStatus_t cusparseCreateCoo(cusparseSpMatDescr_t* m, int64_t rows, int64_t columns,
                                                 int64_t count, void* row_indices, void* column_indices,
                                                 void* values, cusparseIndexType_t index_type,
                                                 cusparseIndexBase_t base, cudaDataType type) {
  *m = new isomer::emulator::sparse::Matrix{isomer::emulator::sparse::Format::coordinates,
                                            rows,
                                            columns,
                                            count,
                                            row_indices,
                                            column_indices,
                                            values,
                                            index_type,
                                            index_type,
                                            base,
                                            type};
  return CUSPARSE_STATUS_SUCCESS;
}
static inline cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t m) {
  delete m;
  return CUSPARSE_STATUS_SUCCESS;
}
static inline cusparseStatus_t cusparseSpMatGetSize(cusparseConstSpMatDescr_t m, int64_t* rows,
                                                    int64_t* columns, int64_t* count) {
  *rows = m->rows, *columns = m->columns, *count = m->count;
  return CUSPARSE_STATUS_SUCCESS;
}
static inline cusparseStatus_t cusparseCsrSetPointers(cusparseSpMatDescr_t m, void* offsets, void* indices,
                                                      void* values) {
  m->first = offsets, m->second = indices, m->values = values;
  return CUSPARSE_STATUS_SUCCESS;
}
#define cusparseCscSetPointers cusparseCsrSetPointers
#define cusparseCooSetPointers cusparseCsrSetPointers
static inline cusparseStatus_t cusparseSpMatSetAttribute(cusparseSpMatDescr_t m,
                                                         cusparseSpMatAttribute_t which, const void* value,
                                                         std::size_t) {
  const bool on = *static_cast<const int*>(value) != 0;
  (which == CUSPARSE_SPMAT_FILL_MODE ? m->upper : m->unit) = on;
  return CUSPARSE_STATUS_SUCCESS;
}
static inline cusparseStatus_t cusparseSpMatSetValues(cusparseSpMatDescr_t m, void* values) {
  m->values = values;
  return CUSPARSE_STATUS_SUCCESS;
}
static inline cusparseStatus_t cusparseCreateDnVec(cusparseDnVecDescr_t* v, int64_t size, void* values,
                                                   cudaDataType type) {
  *v = new isomer::emulator::sparse::Vector{size, size, nullptr, values, CUSPARSE_INDEX_32I, 0, type};
  return CUSPARSE_STATUS_SUCCESS;
}
static inline cusparseStatus_t cusparseCreateSpVec(cusparseSpVecDescr_t* v, int64_t size, int64_t count,
                                                   void* indices, void* values,
                                                   cusparseIndexType_t index_type, cusparseIndexBase_t base,
                                                   cudaDataType type) {
  *v = new isomer::emulator::sparse::Vector{size, count, indices, values, index_type, base, type};
  return CUSPARSE_STATUS_SUCCESS;
}
static inline cusparseStatus_t cusparseDestroyDnVec(cusparseConstDnVecDescr_t v) {
  delete v;
  return CUSPARSE_STATUS_SUCCESS;
}
#define cusparseDestroySpVec cusparseDestroyDnVec
static inline cusparseStatus_t cusparseDnVecSetValues(cusparseDnVecDescr_t v, void* values) {
  v->values = values;
  return CUSPARSE_STATUS_SUCCESS;
}
static inline cusparseStatus_t cusparseCreateDnMat(cusparseDnMatDescr_t* m, int64_t rows, int64_t columns,
                                                   int64_t stride, void* values, cudaDataType type,
                                                   cusparseOrder_t order) {
  *m = new isomer::emulator::sparse::Dense{rows, columns, stride, values, type, order};
  return CUSPARSE_STATUS_SUCCESS;
}
static inline cusparseStatus_t cusparseDestroyDnMat(cusparseConstDnMatDescr_t m) {
  delete m;
  return CUSPARSE_STATUS_SUCCESS;
}

#include "sparse_products.h"
