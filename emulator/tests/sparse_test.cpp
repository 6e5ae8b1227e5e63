// Programs that multiply, solve and factorise sparse matrices by the libraries' names.
#include <gtest/gtest.h>

#include "good_program.hpp"
#include "isomer/emulator/module.hpp"
#include "written_source.hpp"

namespace isomer::emulator::tests {
namespace {

// a = (1 0 2; 0 3 0; 4 0 5) by rows; its lower triangle has 1, 3, 4 and 5.
const char* const kGeneric = R"(
#include <cusparse.h>
#include <cuComplex.h>
#include <stdio.h>
template <class T, int N> T* up(const T (&from)[N]) {
  T* p;
  cudaMalloc(&p, sizeof from), cudaMemcpy(p, from, sizeof from, cudaMemcpyHostToDevice);
  return p;
}
template <int N> bool is(const char* what, const float* at, const float (&want)[N]) {
  float got[N];
  cudaMemcpy(got, at, sizeof got, cudaMemcpyDeviceToHost);
  for (int i = 0; i < N; ++i)
    if (got[i] != want[i]) { printf("%s: %d is %g, expected %g\n", what, i, got[i], want[i]); return false; }
  return true;
}
int main(int count, char**) {
  const int begins[] = {0, 2, 3, 5}, columns[] = {0, 2, 1, 0, 2};
  const float values[] = {1, 2, 3, 4, 5}, b[] = {1, 6, 9, 2, 3, 13}, one = 1, none = 0, two = 2, none3[3] = {};
  cusparseHandle_t h;
  cusparseCreate(&h);
  cusparseSpMatDescr_t a, c;
  int* const offsets = up(begins);
  float* const numbers = up(values);
  cusparseCreateCsr(&a, 3, 3, 5, offsets, up(columns), numbers, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
  // Its square has five values again: room for three is too little.
  cusparseSpGEMMDescr_t d;
  size_t bytes;
  void* room;
  int* to_begins;
  cudaMalloc(&to_begins, 16), cudaMalloc(&room, 1024);
  cusparseSpGEMM_createDescr(&d);
  cusparseCreateCsr(&c, 3, 3, 0, to_begins, nullptr, nullptr, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
  const auto n = CUSPARSE_OPERATION_NON_TRANSPOSE, t = CUSPARSE_OPERATION_TRANSPOSE;
  if (cusparseSpGEMM_workEstimation(h, n, n, &two, a, a, &none, c, CUDA_R_32F, CUSPARSE_SPGEMM_DEFAULT, d, &bytes, nullptr)) return 1;
  if (cusparseSpGEMM_compute(h, n, n, &two, a, a, &none, c, CUDA_R_32F, CUSPARSE_SPGEMM_DEFAULT, d, &bytes, nullptr)) return 2;
  if (cusparseSpGEMM_compute(h, n, n, &two, a, a, &none, c, CUDA_R_32F, CUSPARSE_SPGEMM_DEFAULT, d, &bytes, room)) return 3;
  int64_t rows, cols, nonzero;
  if (cusparseSpMatGetSize(c, &rows, &cols, &nonzero) || nonzero != 5) return 4;
  float* product;
  int* places;
  cudaMalloc(&product, 4 * (count > 1 ? 3 : nonzero)), cudaMalloc(&places, 4 * nonzero);
  cusparseCsrSetPointers(c, to_begins, places, product);
  const bool copied = cusparseSpGEMM_copy(h, n, n, &two, a, a, &none, c, CUDA_R_32F, CUSPARSE_SPGEMM_DEFAULT, d) == CUSPARSE_STATUS_SUCCESS;
  if (count > 1) return copied;
  if (!copied || !is("product", product, {18, 24, 18, 48, 66})) return 5;
  // Two right sides at once, of the lower triangle and of the transposed upper one.
  const cusparseFillMode_t lower = CUSPARSE_FILL_MODE_LOWER, upper = CUSPARSE_FILL_MODE_UPPER;
  cusparseDnMatDescr_t x, y;
  cusparseSpSMDescr_t s;
  float* solved;
  cudaMalloc(&solved, 24), cusparseSpSM_createDescr(&s);
  cusparseCreateDnMat(&x, 3, 2, 3, up(b), CUDA_R_32F, CUSPARSE_ORDER_COL), cusparseCreateDnMat(&y, 3, 2, 3, solved, CUDA_R_32F, CUSPARSE_ORDER_COL);
  cusparseSpMatSetAttribute(a, CUSPARSE_SPMAT_FILL_MODE, &lower, sizeof lower);
  cusparseSpSM_bufferSize(h, n, n, &one, a, x, y, CUDA_R_32F, CUSPARSE_SPSM_ALG_DEFAULT, s, &bytes);
  cusparseSpSM_analysis(h, n, n, &one, a, x, y, CUDA_R_32F, CUSPARSE_SPSM_ALG_DEFAULT, s, room);
  if (cusparseSpSM_solve(h, n, n, &one, a, x, y, CUDA_R_32F, CUSPARSE_SPSM_ALG_DEFAULT, s) || !is("solved", solved, {1, 2, 1, 2, 1, 1})) return 6;
  cusparseSpMatSetAttribute(a, CUSPARSE_SPMAT_FILL_MODE, &upper, sizeof upper);
  const float other[] = {1, 6, 12, 2, 3, 9};
  cusparseDnMatSetValues(x, up(other));
  if (cusparseSpSM_solve(h, t, n, &one, a, x, y, CUDA_R_32F, CUSPARSE_SPSM_ALG_DEFAULT, s) || !is("turned", solved, {1, 2, 2, 2, 1, 1})) return 7;
  // The dense product where a has values: row · column, here of all ones and twos.
  const float ones[] = {1, 1, 1, 2, 2, 2};
  cusparseDnMatDescr_t l, r;
  cusparseCreateDnMat(&l, 3, 2, 3, up(ones), CUDA_R_32F, CUSPARSE_ORDER_COL), cusparseCreateDnMat(&r, 2, 3, 3, up(ones), CUDA_R_32F, CUSPARSE_ORDER_ROW);
  if (cusparseSDDMM(h, n, n, &two, l, r, &one, a, CUDA_R_32F, CUSPARSE_SDDMM_ALG_DEFAULT, nullptr) || !is("sampled", numbers, {11, 12, 13, 14, 15})) return 8;
  float* const whole = up(values);
  cusparseMatDescr_t described;
  csrilu02Info_t info;
  int pivot, wanted;
  cusparseCreateMatDescr(&described), cusparseCreateCsrilu02Info(&info);
  cusparseScsrilu02_bufferSize(h, 3, 5, described, whole, offsets, up(columns), info, &wanted);
  if (wanted < 1 || cusparseScsrilu02(h, 3, 5, described, whole, offsets, up(columns), info, CUSPARSE_SOLVE_POLICY_NO_LEVEL, room)) return 11;
  if (cusparseXcsrilu02_zeroPivot(h, info, &pivot) || !is("factors", whole, {1, 2, 3, 4, -3})) return 12;
  float* const times = up(none3);
  if (cusparseScsrmv(h, n, 3, 3, 5, &two, described, up(values), offsets, up(columns), up(values), &none, times) || !is("before", times, {14, 12, 38})) return 13;
  const cuComplex z[] = {{0, 1}, {2, 0}, {1, 1}, {3, 0}, {0, -1}}, v[] = {{1, 0}, {0, 1}, {1, 1}}, unit = {1, 0}, zero = {0, 0};
  cuComplex got[3], *to;
  cusparseSpMatDescr_t m;
  cusparseDnVecDescr_t in, out;
  cudaMalloc(&to, 24);
  cusparseCreateCsr(&m, 3, 3, 5, offsets, up(columns), up(z), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_C_32F);
  cusparseCreateDnVec(&in, 3, up(v), CUDA_C_32F), cusparseCreateDnVec(&out, 3, to, CUDA_C_32F);
  if (cusparseSpMV(h, CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE, &unit, m, in, &zero, out, CUDA_C_32F, CUSPARSE_SPMV_ALG_DEFAULT, nullptr)) return 9;
  cudaMemcpy(got, to, 24, cudaMemcpyDeviceToHost);
  // (-i + 3 (1 + i), (1 - i) i, 2 + i (1 + i))
  return got[0].x != 3 || got[0].y != 2 || got[1].x != 1 || got[1].y != 1 || got[2].x != 1 || got[2].y != 1 ? 10 : 0;
}
)";

TEST(Sparse, ProductsOfSparseMatricesAndTrianglesWithManySides) {
  const WrittenSource source(kGeneric, "generic.cu");
  const Module module = Module::build({.sources = {source.path()}, .watch = true});
  expect_good(module);
  const RunResult faulty = module.run_main({"short"});
  EXPECT_EQ(faulty.exit_status, 0) << faulty.output;  // the copy is refused
  ASSERT_EQ(faulty.refusals.size(), 1u);
  EXPECT_NE(faulty.refusals[0].text.find("20 bytes at offset 0 of the destination, which has 12 bytes"),
            std::string::npos)
      << faulty.refusals[0].text;
}

// The same matrix; `zero` takes the diagonal of its last row.
const char* const kRoc = R"(
#include <hip/hip_runtime.h>
#include <hipsparse/hipsparse.h>
#include <rocsparse/rocsparse.h>
template <class T, int N> T* up(const T (&from)[N]) {
  T* p;
  hipMalloc(&p, sizeof from), hipMemcpy(p, from, sizeof from, hipMemcpyHostToDevice);
  return p;
}
template <int N> bool is(const double* at, const double (&want)[N]) {
  double got[N];
  hipMemcpy(got, at, sizeof got, hipMemcpyDeviceToHost);
  for (int i = 0; i < N; ++i)
    if (got[i] != want[i]) return false;
  return true;
}
int main(int count, char**) {
  const int begins[] = {0, 2, 3, 5}, columns[] = {0, 2, 1, 0, 2};
  const double values[] = {1, 2, 3, 4, count > 1 ? 0. : 5.}, x[] = {1, 2, 3}, y[] = {1, 1, 1}, one = 1, two = 2;
  rocsparse_handle h;
  rocsparse_mat_descr d;
  rocsparse_mat_info info;
  if (rocsparse_create_handle(&h) || rocsparse_create_mat_descr(&d) || rocsparse_create_mat_info(&info)) return 1;
  int *const offsets = up(begins), *const places = up(columns), pivot;
  double *const numbers = up(values), *const to = up(y), *const in = up(x);
  if (rocsparse_dcsrsv_solve(h, rocsparse_operation_none, 3, 5, &one, d, numbers, offsets, places, info, in, to, rocsparse_solve_policy_auto, nullptr)) return 2;
  const rocsparse_status said = rocsparse_csrsv_zero_pivot(h, d, info, &pivot);
  if (count > 1) return said != rocsparse_status_zero_pivot || pivot != 2;
  if (said || pivot != -1 || !is(to, {1, 2 / 3., -.2})) return 3;
  hipMemcpy(to, y, sizeof y, hipMemcpyHostToDevice);
  if (rocsparse_dcsrmv(h, rocsparse_operation_none, 3, 3, 5, &two, d, numbers, offsets, places, info, in, &one, to) || !is(to, {15, 13, 39})) return 4;
  if (rocsparse_dcsrmv(h, rocsparse_operation_transpose, 3, 3, 5, &one, d, numbers, offsets, places, nullptr, in, &one, to) || !is(to, {28, 19, 56})) return 5;
  // The same by hipSPARSE's names.
  hipsparseHandle_t other;
  hipsparseSpMatDescr_t a;
  hipsparseDnVecDescr_t from, sums;
  hipMemcpy(to, y, sizeof y, hipMemcpyHostToDevice);
  if (hipsparseCreate(&other) || hipsparseSetStream(other, 0)) return 7;
  hipsparseCreateCsr(&a, 3, 3, 5, offsets, places, numbers, HIPSPARSE_INDEX_32I, HIPSPARSE_INDEX_32I, HIPSPARSE_INDEX_BASE_ZERO, HIP_R_64F);
  hipsparseCreateDnVec(&from, 3, in, HIP_R_64F), hipsparseCreateDnVec(&sums, 3, to, HIP_R_64F);
  if (hipsparseSpMV(other, HIPSPARSE_OPERATION_NON_TRANSPOSE, &two, a, from, &one, sums, HIP_R_64F, HIPSPARSE_SPMV_ALG_DEFAULT, nullptr) != HIPSPARSE_STATUS_SUCCESS || !is(to, {15, 13, 39})) return 8;
  // L and U in place: the last row becomes 4 and 5 - 4 · 2.
  if (rocsparse_dcsrilu0(h, 3, 5, d, numbers, offsets, places, info, rocsparse_solve_policy_auto, nullptr) || !is(numbers, {1, 2, 3, 4, -3})) return 6;
  return rocsparse_csrilu0_zero_pivot(h, info, &pivot) != rocsparse_status_success;
}
)";

TEST(Sparse, AmdsNamesAndAPivotThatIsZero) {
  const WrittenSource source(kRoc, "roc.hip");
  const Module module = Module::build({.sources = {source.path()}, .lanes = 64, .watch = true});
  expect_good(module);
  EXPECT_EQ(module.run_main({"zero"}).exit_status, 0);
}

}  // namespace
}  // namespace isomer::emulator::tests
