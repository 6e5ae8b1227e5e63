// rocSPARSE's names for what sparse_core.h computes, on matrices by rows, by columns and by coordinates.
#pragma once

#include "blas_hip.h"
#include "sparse.h"

#define ROCSPARSE_VERSION_MAJOR 3
#define ROCSPARSE_VERSION_MINOR 0

typedef cusparseHandle_t rocsparse_handle;
typedef cusparseStatus_t rocsparse_status;
typedef cusparseOperation_t rocsparse_operation;
typedef cusparseIndexBase_t rocsparse_index_base;
typedef cusparseIndexType_t rocsparse_indextype;
typedef cusparseOrder_t rocsparse_order;
typedef cusparsePointerMode_t rocsparse_pointer_mode;
typedef cusparseMatrixType_t rocsparse_matrix_type;
typedef cusparseFillMode_t rocsparse_fill_mode;
typedef cusparseDiagType_t rocsparse_diag_type;
typedef cusparseSpMatAttribute_t rocsparse_spmat_attribute;
typedef cusparseMatDescr_t rocsparse_mat_descr;
typedef cusparseSpMatDescr_t rocsparse_spmat_descr;
typedef cusparseConstSpMatDescr_t rocsparse_const_spmat_descr;
typedef cusparseDnMatDescr_t rocsparse_dnmat_descr;
typedef cusparseConstDnMatDescr_t rocsparse_const_dnmat_descr;
typedef cusparseDnVecDescr_t rocsparse_dnvec_descr, rocsparse_spvec_descr;
typedef cusparseConstDnVecDescr_t rocsparse_const_dnvec_descr, rocsparse_const_spvec_descr;
typedef cudaDataType_t rocsparse_datatype;
typedef int rocsparse_int;
typedef float2 rocsparse_float_complex;
typedef double2 rocsparse_double_complex;
#define rocsparse_status_success CUSPARSE_STATUS_SUCCESS
#define rocsparse_status_invalid_handle CUSPARSE_STATUS_NOT_INITIALIZED
#define rocsparse_status_not_implemented CUSPARSE_STATUS_NOT_SUPPORTED
#define rocsparse_status_invalid_pointer CUSPARSE_STATUS_MAPPING_ERROR
#define rocsparse_status_invalid_size CUSPARSE_STATUS_ARCH_MISMATCH
#define rocsparse_status_memory_error CUSPARSE_STATUS_ALLOC_FAILED
#define rocsparse_status_internal_error CUSPARSE_STATUS_INTERNAL_ERROR
#define rocsparse_status_invalid_value CUSPARSE_STATUS_INVALID_VALUE
#define rocsparse_status_arch_mismatch static_cast<rocsparse_status>(101)
#define rocsparse_status_zero_pivot CUSPARSE_STATUS_ZERO_PIVOT
#define rocsparse_status_not_initialized static_cast<rocsparse_status>(102)
#define rocsparse_status_type_mismatch CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED
#define rocsparse_status_requires_sorted_storage static_cast<rocsparse_status>(103)
#define rocsparse_status_thrown_exception static_cast<rocsparse_status>(104)
#define rocsparse_status_continue static_cast<rocsparse_status>(105)
#define rocsparse_operation_none CUSPARSE_OPERATION_NON_TRANSPOSE
#define rocsparse_operation_transpose CUSPARSE_OPERATION_TRANSPOSE
#define rocsparse_operation_conjugate_transpose CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE
#define rocsparse_index_base_zero CUSPARSE_INDEX_BASE_ZERO
#define rocsparse_index_base_one CUSPARSE_INDEX_BASE_ONE
#define rocsparse_indextype_u16 CUSPARSE_INDEX_16U
#define rocsparse_indextype_i32 CUSPARSE_INDEX_32I
#define rocsparse_indextype_i64 CUSPARSE_INDEX_64I
#define rocsparse_order_column CUSPARSE_ORDER_COL
#define rocsparse_order_row CUSPARSE_ORDER_ROW
#define rocsparse_pointer_mode_host CUSPARSE_POINTER_MODE_HOST
#define rocsparse_pointer_mode_device CUSPARSE_POINTER_MODE_DEVICE
#define rocsparse_matrix_type_general CUSPARSE_MATRIX_TYPE_GENERAL
#define rocsparse_matrix_type_symmetric CUSPARSE_MATRIX_TYPE_SYMMETRIC
#define rocsparse_fill_mode_lower CUSPARSE_FILL_MODE_LOWER
#define rocsparse_fill_mode_upper CUSPARSE_FILL_MODE_UPPER
#define rocsparse_diag_type_non_unit CUSPARSE_DIAG_TYPE_NON_UNIT
#define rocsparse_diag_type_unit CUSPARSE_DIAG_TYPE_UNIT
#define rocsparse_spmat_fill_mode CUSPARSE_SPMAT_FILL_MODE
#define rocsparse_spmat_diag_type CUSPARSE_SPMAT_DIAG_TYPE
#define rocsparse_datatype_f32_r CUDA_R_32F
#define rocsparse_datatype_f64_r CUDA_R_64F
#define rocsparse_datatype_f32_c CUDA_C_32F
#define rocsparse_datatype_f64_c CUDA_C_64F
enum rocsparse_solve_policy { rocsparse_solve_policy_auto = 0 };
enum rocsparse_analysis_policy { rocsparse_analysis_policy_reuse = 0, rocsparse_analysis_policy_force = 1 };
#define ISOMER_EMULATOR_STAGES(NAME)                            \
  enum rocsparse_##NAME##_alg { rocsparse_##NAME##_alg_default = 0 }; \
  enum rocsparse_##NAME##_stage {                               \
    rocsparse_##NAME##_stage_buffer_size = 1,                   \
    rocsparse_##NAME##_stage_preprocess = 2,                    \
    rocsparse_##NAME##_stage_compute = 3,                       \
    rocsparse_##NAME##_stage_nnz = 4                            \
  };
ISOMER_EMULATOR_STAGES(spmv)
ISOMER_EMULATOR_STAGES(spmm)
ISOMER_EMULATOR_STAGES(spsv)
ISOMER_EMULATOR_STAGES(spsm)
ISOMER_EMULATOR_STAGES(spgemm)
#undef ISOMER_EMULATOR_STAGES
enum rocsparse_sddmm_alg { rocsparse_sddmm_alg_default = 0 };

#define rocsparse_create_handle cusparseCreate
#define rocsparse_destroy_handle cusparseDestroy
#define rocsparse_set_pointer_mode cusparseSetPointerMode
#define rocsparse_create_mat_descr cusparseCreateMatDescr
#define rocsparse_destroy_mat_descr cusparseDestroyMatDescr
#define rocsparse_set_mat_type cusparseSetMatType
#define rocsparse_set_mat_index_base cusparseSetMatIndexBase
#define rocsparse_set_mat_fill_mode cusparseSetMatFillMode
#define rocsparse_set_mat_diag_type cusparseSetMatDiagType
#define rocsparse_create_csr_descr cusparseCreateCsr
#define rocsparse_create_csc_descr cusparseCreateCsc
#define rocsparse_create_coo_descr cusparseCreateCoo
#define rocsparse_destroy_spmat_descr cusparseDestroySpMat
#define rocsparse_spmat_get_size cusparseSpMatGetSize
#define rocsparse_csr_set_pointers cusparseCsrSetPointers
#define rocsparse_spmat_set_attribute cusparseSpMatSetAttribute
#define rocsparse_create_dnvec_descr cusparseCreateDnVec
#define rocsparse_destroy_dnvec_descr cusparseDestroyDnVec
#define rocsparse_create_spvec_descr cusparseCreateSpVec
#define rocsparse_destroy_spvec_descr cusparseDestroySpVec
#define rocsparse_create_dnmat_descr cusparseCreateDnMat
#define rocsparse_destroy_dnmat_descr cusparseDestroyDnMat
#define rocsparse_axpby cusparseAxpby
#define rocsparse_gather cusparseGather
#define rocsparse_scatter cusparseScatter
#define rocsparse_rot cusparseRot
#define rocsparse_coo2csr cusparseXcoo2csr
#define rocsparse_csr2coo cusparseXcsr2coo
static inline rocsparse_status rocsparse_set_stream(rocsparse_handle handle, hipStream_t stream) {
  return cusparseSetStream(handle, reinterpret_cast<cudaStream_t>(stream));
}
static inline rocsparse_status rocsparse_get_version(rocsparse_handle, int* version) {
  *version = 300000;
  return rocsparse_status_success;
}

typedef isomer_emulator_pivot* rocsparse_mat_info;
ISOMER_EMULATOR_MADE(cusparseStatus_t, rocsparse_create_mat_info, rocsparse_destroy_mat_info, rocsparse_mat_info, isomer_emulator_pivot)

namespace isomer::emulator::sparse {
template <class P>
cusparseStatus_t csrmv(cusparseHandle_t, cusparseOperation_t op, int m, int n, int count, const P* alpha,
                       cusparseMatDescr_t descr, const P* values, const int* offsets, const int* indices,
                       rocsparse_mat_info, const P* x, const P* beta, P* y) {
  return times_vector(op, alpha, described(Format::rows, descr, m, n, count, values, offsets, indices), x, beta, y);
}
template <class P>
cusparseStatus_t coomv(cusparseHandle_t, cusparseOperation_t op, int m, int n, int count, const P* alpha,
                       cusparseMatDescr_t descr, const P* values, const int* rows, const int* columns, const P* x,
                       const P* beta, P* y) {
  return times_vector(op, alpha, described(Format::coordinates, descr, m, n, count, values, rows, columns), x, beta, y);
}
template <class P>
cusparseStatus_t csrsv(cusparseHandle_t, cusparseOperation_t op, int m, int count, const P* alpha, cusparseMatDescr_t descr,
                       const P* values, const int* offsets, const int* indices, rocsparse_mat_info info, const P* x, P* y,
                       rocsparse_solve_policy, void*) {
  return solve(op, CUSPARSE_OPERATION_NON_TRANSPOSE, {blas::kTypeOf<P>, alpha},
               described(Format::rows, descr, m, m, count, values, offsets, indices), vector_of(x, m), vector_of(y, m),
               blas::kTypeOf<P>, &info->row);
}
/// The right sides are overwritten with the solution, which lies as they do.
template <class P>
cusparseStatus_t csrsm(cusparseHandle_t, cusparseOperation_t op_a, cusparseOperation_t op_b, int m, int sides, int count,
                       const P* alpha, cusparseMatDescr_t descr, const P* values, const int* offsets, const int* indices,
                       P* b, int ldb, rocsparse_mat_info info, rocsparse_solve_policy, void*) {
  const bool turned = op_b != CUSPARSE_OPERATION_NON_TRANSPOSE;
  const Dense in = columns_of(b, turned ? sides : m, turned ? m : sides, ldb);
  Dense out = in;
  if (turned) out = {m, sides, ldb, b, blas::kTypeOf<P>, CUSPARSE_ORDER_ROW};
  return solve(op_a, op_b, {blas::kTypeOf<P>, alpha}, described(Format::rows, descr, m, m, count, values, offsets, indices), in, out,
               blas::kTypeOf<P>, &info->row);
}
template <class P>
cusparseStatus_t csr2dense(cusparseHandle_t, int m, int n, cusparseMatDescr_t descr, const P* values, const int* offsets,
                           const int* indices, P* a, int lda) {
  std::vector<long> ends;
  std::vector<Entry> all;
  Columns to(m, n);
  if (!get_indices(offsets + m, CUSPARSE_INDEX_32I, 1, descr->base, ends) ||
      !entries(described(Format::rows, descr, m, n, ends[0], values, offsets, indices), all))
    return kRefused;
  for (const Entry& e : all) to.at(e.row, e.column) = e.value;
  return done(take(columns_of(a, m, n, lda), to));
}
/// x has the values of y at its indices, also where it takes the place of y.
template <class P>
cusparseStatus_t gthr(cusparseHandle_t, int count, const P* y, P* x, const int* indices, cusparseIndexBase_t base) {
  std::vector<long> at;
  if (!get_indices(indices, CUSPARSE_INDEX_32I, count, base, at)) return kRefused;
  const long size = at.empty() ? 0 : *std::max_element(at.begin(), at.end()) + 1;
  const Vector of{size, count, const_cast<int*>(indices), x, CUSPARSE_INDEX_32I, base, blas::kTypeOf<P>},
      from{size, size, nullptr, const_cast<P*>(y), CUSPARSE_INDEX_32I, 0, blas::kTypeOf<P>};
  return both(of, from, [&](const auto& places, auto& few, const auto& all) {
    for (std::size_t i = 0; i < few.size(); ++i) few[i] = all[static_cast<std::size_t>(places[i])];
    return put_values(of.type, of.values, few);
  });
}
}  // namespace isomer::emulator::sparse

#define ISOMER_EMULATOR_ROCSPARSE(l, P)                                                         \
  static constexpr auto rocsparse_##l##csrmv = &isomer::emulator::sparse::csrmv<P>;             \
  static constexpr auto rocsparse_##l##coomv = &isomer::emulator::sparse::coomv<P>;             \
  static constexpr auto rocsparse_##l##csrmm = &isomer::emulator::sparse::csrmm<P>;             \
  static constexpr auto rocsparse_##l##csrsv_solve = &isomer::emulator::sparse::csrsv<P>;       \
  static constexpr auto rocsparse_##l##csrsm_solve = &isomer::emulator::sparse::csrsm<P>;       \
  static constexpr auto rocsparse_##l##csrilu0 = &isomer::emulator::sparse::factors<P, false, rocsparse_solve_policy>;  \
  static constexpr auto rocsparse_##l##csric0 = &isomer::emulator::sparse::factors<P, true, rocsparse_solve_policy>;    \
  static constexpr auto rocsparse_##l##csr2dense = &isomer::emulator::sparse::csr2dense<P>;     \
  static constexpr auto rocsparse_##l##gthr = &isomer::emulator::sparse::gthr<P>;               \
  ISOMER_EMULATOR_BEFOREHAND(cusparseStatus_t, cusparseHandle_t, rocsparse_##l##csrmv_analysis)                                     \
  ISOMER_EMULATOR_BEFOREHAND(cusparseStatus_t, cusparseHandle_t, rocsparse_##l##csrsv_analysis)                                     \
  ISOMER_EMULATOR_BEFOREHAND(cusparseStatus_t, cusparseHandle_t, rocsparse_##l##csrsm_analysis)                                     \
  ISOMER_EMULATOR_BEFOREHAND(cusparseStatus_t, cusparseHandle_t, rocsparse_##l##csrilu0_analysis)                                   \
  ISOMER_EMULATOR_BEFOREHAND(cusparseStatus_t, cusparseHandle_t, rocsparse_##l##csric0_analysis)                                    \
  ISOMER_EMULATOR_LITTLE_ROOM(cusparseStatus_t, cusparseHandle_t, rocsparse_##l##csrsv_buffer_size)                                 \
  ISOMER_EMULATOR_LITTLE_ROOM(cusparseStatus_t, cusparseHandle_t, rocsparse_##l##csrsm_buffer_size)                                 \
  ISOMER_EMULATOR_LITTLE_ROOM(cusparseStatus_t, cusparseHandle_t, rocsparse_##l##csrilu0_buffer_size)                               \
  ISOMER_EMULATOR_LITTLE_ROOM(cusparseStatus_t, cusparseHandle_t, rocsparse_##l##csric0_buffer_size)
ISOMER_EMULATOR_ROCSPARSE(s, float)
ISOMER_EMULATOR_ROCSPARSE(d, double)
ISOMER_EMULATOR_ROCSPARSE(c, float2)
ISOMER_EMULATOR_ROCSPARSE(z, double2)
#undef ISOMER_EMULATOR_ROCSPARSE
static inline rocsparse_status rocsparse_csrsv_zero_pivot(rocsparse_handle, rocsparse_mat_descr, rocsparse_mat_info info,
                                                          rocsparse_int* position) {
  return isomer::emulator::sparse::tell_pivot(info, position);
}
ISOMER_EMULATOR_ZERO_PIVOT(rocsparse_csrsm_zero_pivot)
ISOMER_EMULATOR_ZERO_PIVOT(rocsparse_csrilu0_zero_pivot)
ISOMER_EMULATOR_ZERO_PIVOT(rocsparse_csric0_zero_pivot)
#undef ISOMER_EMULATOR_ZERO_PIVOT
ISOMER_EMULATOR_BEFOREHAND(cusparseStatus_t, cusparseHandle_t, rocsparse_csrsv_clear)
ISOMER_EMULATOR_BEFOREHAND(cusparseStatus_t, cusparseHandle_t, rocsparse_csrsm_clear)
ISOMER_EMULATOR_BEFOREHAND(cusparseStatus_t, cusparseHandle_t, rocsparse_csrilu0_clear)
ISOMER_EMULATOR_BEFOREHAND(cusparseStatus_t, cusparseHandle_t, rocsparse_csric0_clear)
ISOMER_EMULATOR_BEFOREHAND(cusparseStatus_t, cusparseHandle_t, rocsparse_csrmv_clear)

// Columns in order within each row, and where each value lay before.
ISOMER_EMULATOR_LITTLE_ROOM(cusparseStatus_t, cusparseHandle_t, rocsparse_csrsort_buffer_size)
#define rocsparse_create_identity_permutation cusparseCreateIdentityPermutation
static inline rocsparse_status rocsparse_csrsort(rocsparse_handle, rocsparse_int rows, rocsparse_int columns,
                                                 rocsparse_int count, rocsparse_mat_descr descr,
                                                 const rocsparse_int* offsets, rocsparse_int* indices,
                                                 rocsparse_int* places, void*) {
  namespace sparse = isomer::emulator::sparse;
  std::vector<long> begins, at, moved;
  if (!sparse::get_indices(offsets, CUSPARSE_INDEX_32I, rows + 1, descr->base, begins) ||
      !sparse::get_indices(indices, CUSPARSE_INDEX_32I, count, descr->base, at) ||
      (places && !sparse::get_indices(places, CUSPARSE_INDEX_32I, count, 0, moved)))
    return sparse::kRefused;
  std::vector<long> order(at.size()), sorted(at.size()), from(moved.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<long>(i);
  for (long row = 0; row < rows; ++row) {
    const long begin = begins[static_cast<std::size_t>(row)], end = begins[static_cast<std::size_t>(row) + 1];
    if (begin < 0 || end < begin || end > count) return CUSPARSE_STATUS_INVALID_VALUE;
    std::stable_sort(order.begin() + begin, order.begin() + end, [&](long a, long b) {
      return at[static_cast<std::size_t>(a)] < at[static_cast<std::size_t>(b)];
    });
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    sorted[i] = at[static_cast<std::size_t>(order[i])];
    if (sorted[i] < 0 || sorted[i] >= columns) return CUSPARSE_STATUS_INVALID_VALUE;
    if (places) from[i] = moved[static_cast<std::size_t>(order[i])];
  }
  return sparse::done(sparse::put_indices(indices, CUSPARSE_INDEX_32I, descr->base, sorted) &&
                      (!places || sparse::put_indices(places, CUSPARSE_INDEX_32I, 0, from)));
}

// The generic functions: a stage says whether the room is asked for, the matrix looked at, or the work done.
static inline rocsparse_status rocsparse_spmv(rocsparse_handle h, rocsparse_operation op, const void* alpha,
                                              rocsparse_const_spmat_descr a, rocsparse_const_dnvec_descr x,
                                              const void* beta, rocsparse_dnvec_descr y, rocsparse_datatype compute,
                                              rocsparse_spmv_alg, rocsparse_spmv_stage stage, std::size_t* bytes, void* room) {
  if (stage == rocsparse_spmv_stage_buffer_size) return isomer::emulator::sparse::little_room(bytes);
  return stage == rocsparse_spmv_stage_preprocess
             ? CUSPARSE_STATUS_SUCCESS
             : cusparseSpMV(h, op, alpha, a, x, beta, y, compute, CUSPARSE_SPMV_ALG_DEFAULT, room);
}
static inline rocsparse_status rocsparse_spmm(rocsparse_handle h, rocsparse_operation op_a, rocsparse_operation op_b,
                                              const void* alpha, rocsparse_const_spmat_descr a,
                                              rocsparse_const_dnmat_descr b, const void* beta, rocsparse_dnmat_descr c,
                                              rocsparse_datatype compute, rocsparse_spmm_alg, rocsparse_spmm_stage stage,
                                              std::size_t* bytes, void* room) {
  if (stage == rocsparse_spmm_stage_buffer_size) return isomer::emulator::sparse::little_room(bytes);
  return stage == rocsparse_spmm_stage_preprocess
             ? CUSPARSE_STATUS_SUCCESS
             : cusparseSpMM(h, op_a, op_b, alpha, a, b, beta, c, compute, CUSPARSE_SPMM_ALG_DEFAULT, room);
}
static inline rocsparse_status rocsparse_spsv(rocsparse_handle h, rocsparse_operation op, const void* alpha,
                                              rocsparse_const_spmat_descr a, rocsparse_const_dnvec_descr x,
                                              rocsparse_dnvec_descr y, rocsparse_datatype compute, rocsparse_spsv_alg,
                                              rocsparse_spsv_stage stage, std::size_t* bytes, void*) {
  if (stage == rocsparse_spsv_stage_buffer_size) return isomer::emulator::sparse::little_room(bytes);
  return stage == rocsparse_spsv_stage_preprocess
             ? CUSPARSE_STATUS_SUCCESS
             : cusparseSpSV_solve(h, op, alpha, a, x, y, compute, CUSPARSE_SPSV_ALG_DEFAULT, nullptr);
}
static inline rocsparse_status rocsparse_spsm(rocsparse_handle h, rocsparse_operation op_a, rocsparse_operation op_b,
                                              const void* alpha, rocsparse_const_spmat_descr a,
                                              rocsparse_const_dnmat_descr b, rocsparse_dnmat_descr c,
                                              rocsparse_datatype compute, rocsparse_spsm_alg, rocsparse_spsm_stage stage,
                                              std::size_t* bytes, void*) {
  if (stage == rocsparse_spsm_stage_buffer_size) return isomer::emulator::sparse::little_room(bytes);
  return stage == rocsparse_spsm_stage_preprocess
             ? CUSPARSE_STATUS_SUCCESS
             : cusparseSpSM_solve(h, op_a, op_b, alpha, a, b, c, compute, CUSPARSE_SPSM_ALG_DEFAULT, nullptr);
}
ISOMER_EMULATOR_LITTLE_ROOM(cusparseStatus_t, cusparseHandle_t, rocsparse_sddmm_buffer_size)
ISOMER_EMULATOR_BEFOREHAND(cusparseStatus_t, cusparseHandle_t, rocsparse_sddmm_preprocess)
static inline rocsparse_status rocsparse_sddmm(rocsparse_handle h, rocsparse_operation op_a, rocsparse_operation op_b,
                                               const void* alpha, rocsparse_const_dnmat_descr a,
                                               rocsparse_const_dnmat_descr b, const void* beta, rocsparse_spmat_descr c,
                                               rocsparse_datatype compute, rocsparse_sddmm_alg, void* room) {
  return cusparseSDDMM(h, op_a, op_b, alpha, a, b, beta, c, compute, CUSPARSE_SDDMM_ALG_DEFAULT, room);
}
