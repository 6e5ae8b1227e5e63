// cuSPARSE on matrices by rows, by columns and by coordinates: brought to the host, worked on there and brought back, as a
// copy is. Formats of blocks are not here.
#pragma once

#include <array>
#include <map>

#include "blas.h"

#define CUSPARSEAPI  // as headers of others ask whether cuSPARSE is there
#define CUSPARSE_VER_MAJOR 12
#define CUSPARSE_VER_MINOR 0
#define CUSPARSE_VER_PATCH 0
#define CUSPARSE_VERSION (CUSPARSE_VER_MAJOR * 1000 + CUSPARSE_VER_MINOR * 100 + CUSPARSE_VER_PATCH)

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
enum cusparseSpSMAlg_t { CUSPARSE_SPSM_ALG_DEFAULT = 0 };
enum cusparseSDDMMAlg_t { CUSPARSE_SDDMM_ALG_DEFAULT = 0 };
enum cusparseSpGEMMAlg_t {
  CUSPARSE_SPGEMM_DEFAULT = 0,
  CUSPARSE_SPGEMM_CSR_ALG_DETERMINITIC = 1,
  CUSPARSE_SPGEMM_CSR_ALG_NONDETERMINITIC = 2,
  CUSPARSE_SPGEMM_ALG1 = 3,
  CUSPARSE_SPGEMM_ALG2 = 4,
  CUSPARSE_SPGEMM_ALG3 = 5
};
enum cusparseSolvePolicy_t { CUSPARSE_SOLVE_POLICY_NO_LEVEL = 0, CUSPARSE_SOLVE_POLICY_USE_LEVEL = 1 };
enum cusparseFillMode_t { CUSPARSE_FILL_MODE_LOWER = 0, CUSPARSE_FILL_MODE_UPPER = 1 };
enum cusparseDiagType_t { CUSPARSE_DIAG_TYPE_NON_UNIT = 0, CUSPARSE_DIAG_TYPE_UNIT = 1 };
enum cusparseSpMatAttribute_t { CUSPARSE_SPMAT_FILL_MODE = 0, CUSPARSE_SPMAT_DIAG_TYPE = 1 };
enum cusparseCsr2CscAlg_t { CUSPARSE_CSR2CSC_ALG_DEFAULT = 1, CUSPARSE_CSR2CSC_ALG1 = 1 };

#include "sparse_core.h"

typedef struct isomer_emulator_sparse {
  cudaStream_t stream = nullptr;
} * cusparseHandle_t;
typedef isomer::emulator::sparse::Matrix* cusparseSpMatDescr_t;
typedef const isomer::emulator::sparse::Matrix* cusparseConstSpMatDescr_t;
typedef isomer::emulator::sparse::Vector *cusparseDnVecDescr_t, *cusparseSpVecDescr_t;
typedef const isomer::emulator::sparse::Vector *cusparseConstDnVecDescr_t, *cusparseConstSpVecDescr_t;
typedef isomer::emulator::sparse::Dense* cusparseDnMatDescr_t;
typedef const isomer::emulator::sparse::Dense* cusparseConstDnMatDescr_t;

ISOMER_EMULATOR_MADE(cusparseStatus_t, cusparseCreate, cusparseDestroy, cusparseHandle_t, isomer_emulator_sparse)
static inline cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUSPARSE_STATUS_SUCCESS;
}
static inline cusparseStatus_t cusparseGetStream(cusparseHandle_t handle, cudaStream_t* stream) {
  *stream = handle->stream;
  return CUSPARSE_STATUS_SUCCESS;
}
static inline cusparseStatus_t cusparseSetPointerMode(cusparseHandle_t, cusparsePointerMode_t) {
  return CUSPARSE_STATUS_SUCCESS;
}
// The descriptor of the functions that name their arrays themselves.
typedef struct isomer_emulator_mat_descr {
  cusparseMatrixType_t type = CUSPARSE_MATRIX_TYPE_GENERAL;
  cusparseIndexBase_t base = CUSPARSE_INDEX_BASE_ZERO;
  cusparseFillMode_t fill = CUSPARSE_FILL_MODE_LOWER;
  cusparseDiagType_t diagonal = CUSPARSE_DIAG_TYPE_NON_UNIT;
} * cusparseMatDescr_t;
ISOMER_EMULATOR_MADE(cusparseStatus_t, cusparseCreateMatDescr, cusparseDestroyMatDescr, cusparseMatDescr_t, isomer_emulator_mat_descr)
#define ISOMER_EMULATOR_DESCRIBED(NAME, TYPE, MEMBER)                                          \
  static inline cusparseStatus_t cusparseSetMat##NAME(cusparseMatDescr_t descr, TYPE value) {  \
    descr->MEMBER = value;                                                                     \
    return CUSPARSE_STATUS_SUCCESS;                                                            \
  }                                                                                            \
  static inline TYPE cusparseGetMat##NAME(cusparseMatDescr_t descr) { return descr->MEMBER; }
ISOMER_EMULATOR_DESCRIBED(Type, cusparseMatrixType_t, type)
ISOMER_EMULATOR_DESCRIBED(IndexBase, cusparseIndexBase_t, base)
ISOMER_EMULATOR_DESCRIBED(FillMode, cusparseFillMode_t, fill)
ISOMER_EMULATOR_DESCRIBED(DiagType, cusparseDiagType_t, diagonal)
#undef ISOMER_EMULATOR_DESCRIBED
static inline cusparseStatus_t cusparseGetVersion(cusparseHandle_t, int* version) {
  *version = 12000;
  return CUSPARSE_STATUS_SUCCESS;
}
static inline const char* cusparseGetErrorString(cusparseStatus_t s) {
  return s == CUSPARSE_STATUS_SUCCESS         ? "success"
         : s == CUSPARSE_STATUS_INVALID_VALUE ? "invalid value"
         : s == CUSPARSE_STATUS_NOT_SUPPORTED ? "operation not supported"
         : s == CUSPARSE_STATUS_ZERO_PIVOT    ? "zero pivot"
                                              : "execution failed";
}
static inline const char* cusparseGetErrorName(cusparseStatus_t s) { return cusparseGetErrorString(s); }

// Descriptors; the functions that take pointers to const are the same.
#define ISOMER_EMULATOR_COMPRESSED(NAME, FORMAT)                                                                      \
  static inline cusparseStatus_t NAME(cusparseSpMatDescr_t* m, int64_t rows, int64_t columns, int64_t count,          \
                                      void* offsets, void* indices, void* values, cusparseIndexType_t offset_type,    \
                                      cusparseIndexType_t index_type, cusparseIndexBase_t base, cudaDataType type) {  \
    *m = new isomer::emulator::sparse::Matrix{isomer::emulator::sparse::Format::FORMAT,                               \
                                              rows, columns, count, offsets, indices, values, offset_type,            \
                                              index_type, base, type};                                                \
    return CUSPARSE_STATUS_SUCCESS;                                                                                   \
  }
ISOMER_EMULATOR_COMPRESSED(cusparseCreateCsr, rows)
ISOMER_EMULATOR_COMPRESSED(cusparseCreateCsc, columns)
ISOMER_EMULATOR_COMPRESSED(isomer_emulator_create_coo, coordinates)
#undef ISOMER_EMULATOR_COMPRESSED
static inline cusparseStatus_t cusparseCreateCoo(cusparseSpMatDescr_t* m, int64_t rows, int64_t columns,
                                                 int64_t count, void* row_indices, void* column_indices,
                                                 void* values, cusparseIndexType_t index_type,
                                                 cusparseIndexBase_t base, cudaDataType type) {
  return isomer_emulator_create_coo(m, rows, columns, count, row_indices, column_indices, values, index_type,
                                    index_type, base, type);
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
static inline cusparseStatus_t cusparseDnMatSetValues(cusparseDnMatDescr_t m, void* values) {
  m->values = values;
  return CUSPARSE_STATUS_SUCCESS;
}
static inline cusparseStatus_t cusparseDestroyDnMat(cusparseConstDnMatDescr_t m) {
  delete m;
  return CUSPARSE_STATUS_SUCCESS;
}

#include "sparse_products.h"
