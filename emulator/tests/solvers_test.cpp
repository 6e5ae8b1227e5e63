// Programs that call the toolkits' solvers and their products of sparse matrices, which run on the host here.
#include <gtest/gtest.h>

#include "good_program.hpp"
#include "isomer/emulator/module.hpp"
#include "written_source.hpp"

namespace isomer::emulator::tests {
namespace {

const char* const kDense = R"(
#include <cusolverDn.h>
#include <math.h>
const double a[9] = {4, 1, 2, 1, 5, 3, 2, 3, 6}, skew[9] = {.5, 1, 2, 7, 5, 3, 2, 3, 6}, b[3] = {1, 2, 3};
double *da, *db, *work, *tau;
int* info;
void send(const double* m) {
  cudaMemcpy(da, m, 72, cudaMemcpyHostToDevice);
  cudaMemcpy(db, b, 24, cudaMemcpyHostToDevice);
}
bool solved(const double* m) {
  double x[3];
  int status;
  cudaMemcpy(x, db, 24, cudaMemcpyDeviceToHost);
  cudaMemcpy(&status, info, 4, cudaMemcpyDeviceToHost);
  double off = 0;
  for (int i = 0; i < 3; ++i) off += fabs(m[i] * x[0] + m[3 + i] * x[1] + m[6 + i] * x[2] - b[i]);
  return status == 0 && off < 1e-12;
}
int main(int count, char**) {
  cusolverDnHandle_t h;
  int room, *pivots;
  if (cusolverDnCreate(&h)) return 1;
  cudaMalloc(&da, 72), cudaMalloc(&db, 24), cudaMalloc(&info, 4), cudaMalloc(&pivots, 12), cudaMalloc(&tau, 24);
  if (cusolverDnDpotrf_bufferSize(h, CUBLAS_FILL_MODE_UPPER, 3, da, 3, &room)) return 2;
  cudaMalloc(&work, room * sizeof(double));
  for (const auto fill : {CUBLAS_FILL_MODE_UPPER, CUBLAS_FILL_MODE_LOWER}) {
    send(a);
    if (cusolverDnDpotrf(h, fill, 3, da, 3, work, room, info)) return 3;
    if (cusolverDnDpotrs(h, fill, 3, 1, da, 3, db, 3, info) || !solved(a)) return 4;
  }
  send(skew);
  const int n = count > 1 ? 4 : 3;  // four rows are more than the buffer has
  if (cusolverDnDgetrf(h, n, 3, da, n, work, pivots, info)) return 5;
  if (cusolverDnDgetrs(h, CUBLAS_OP_N, 3, 1, da, 3, pivots, db, 3, info) || !solved(skew)) return 6;
  send(skew);
  const double one = 1;
  cublasHandle_t c;
  cublasCreate(&c);
  if (cusolverDnDgeqrf(h, 3, 3, da, 3, tau, work, room, info)) return 7;
  if (cusolverDnDormqr(h, CUBLAS_SIDE_LEFT, CUBLAS_OP_T, 3, 1, 3, da, 3, tau, db, 3, work, room, info)) return 8;
  if (cublasDtrsm(c, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, 3, 1, &one, da, 3, db, 3)) return 9;
  if (!solved(skew)) return 10;
  // a·v = λ·v in rising order, and skew = u·s·vᵀ.
  double *dw, *du, *dv, w[3], u[9], v[9];
  cudaMalloc(&dw, 24), cudaMalloc(&du, 72), cudaMalloc(&dv, 72);
  send(a);
  if (cusolverDnDsyevd(h, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, 3, da, 3, dw, work, room, info)) return 11;
  cudaMemcpy(v, da, 72, cudaMemcpyDeviceToHost), cudaMemcpy(w, dw, 24, cudaMemcpyDeviceToHost);
  double off = w[0] < w[1] && w[1] < w[2] ? 0 : 1;
  for (int k = 0; k < 3; ++k)
    for (int i = 0; i < 3; ++i)
      off += fabs(a[i] * v[3 * k] + a[3 + i] * v[3 * k + 1] + a[6 + i] * v[3 * k + 2] - w[k] * v[3 * k + i]);
  send(skew);
  if (cusolverDnDgesvd(h, 'A', 'A', 3, 3, da, 3, dw, du, 3, dv, 3, work, room, nullptr, info)) return 12;
  cudaMemcpy(u, du, 72, cudaMemcpyDeviceToHost), cudaMemcpy(v, dv, 72, cudaMemcpyDeviceToHost), cudaMemcpy(w, dw, 24, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      off += fabs(u[i] * w[0] * v[3 * j] + u[3 + i] * w[1] * v[3 * j + 1] + u[6 + i] * w[2] * v[3 * j + 2] - skew[3 * j + i]);
  return off < 1e-10 ? 0 : 13;
}
)";

TEST(Solvers, DenseSystemsAndValuesOfCusolver) {
  const WrittenSource source(kDense, "dense.cu");
  const Module module = Module::build({.sources = {source.path()}, .watch = true});
  expect_good(module);
  const RunResult faulty = module.run_main({"long"});
  EXPECT_EQ(faulty.exit_status, 5);
  ASSERT_FALSE(faulty.refusals.empty());
  EXPECT_NE(faulty.refusals[0].text.find("copy: "), std::string::npos);
}

const char* const kSparse = R"(
#include <cusparse.h>
#include <stdlib.h>
// 1 0 2 / 0 3 0 in rows, its product with a vector and with a dense matrix, and both conversions.
template <class T> T* up(const T* from, int n) {
  T* p;
  cudaMalloc(&p, n * sizeof(T)), cudaMemcpy(p, from, n * sizeof(T), cudaMemcpyHostToDevice);
  return p;
}
int main(int count, char**) {
  const int offsets[3] = {0, 2, 3}, indices[3] = {0, count > 1 ? 3 : 2, 1};
  const float values[3] = {1, 2, 3}, x[3] = {1, 10, 100}, dense[6] = {1, 10, 100, 2, 20, 200}, one = 1, none = 0;
  float y[4], *dy, *dc, zeros[4] = {};
  int* doffsets = up(offsets, 3);
  dy = up(zeros, 2), dc = up(zeros, 4);
  cusparseHandle_t h;
  cusparseSpMatDescr_t a;
  cusparseDnVecDescr_t vx, vy;
  cusparseDnMatDescr_t mb, mc;
  size_t room;
  if (cusparseCreate(&h)) return 1;
  if (cusparseCreateCsr(&a, 2, 3, 3, doffsets, up(indices, 3), up(values, 3), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F)) return 2;
  cusparseCreateDnVec(&vx, 3, up(x, 3), CUDA_R_32F), cusparseCreateDnVec(&vy, 2, dy, CUDA_R_32F);
  if (cusparseSpMV_bufferSize(h, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, vx, &none, vy, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, &room)) return 3;
  if (cusparseSpMV(h, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, vx, &none, vy, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, nullptr)) return 4;
  cudaMemcpy(y, dy, 8, cudaMemcpyDeviceToHost);
  if (y[0] != 201 || y[1] != 30) return 5;
  cusparseCreateDnMat(&mb, 3, 2, 3, up(dense, 6), CUDA_R_32F, CUSPARSE_ORDER_COL), cusparseCreateDnMat(&mc, 2, 2, 2, dc, CUDA_R_32F, CUSPARSE_ORDER_COL);
  if (cusparseSpMM(h, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, mb, &none, mc, CUDA_R_32F, CUSPARSE_SPMM_ALG_DEFAULT, nullptr)) return 6;
  cudaMemcpy(y, dc, 16, cudaMemcpyDeviceToHost);
  if (y[0] != 201 || y[1] != 30 || y[2] != 402 || y[3] != 60) return 7;
  float* full;
  cudaMalloc(&full, 24);
  cusparseDnMatDescr_t mf;
  cusparseCreateDnMat(&mf, 2, 3, 3, full, CUDA_R_32F, CUSPARSE_ORDER_ROW);
  if (cusparseSparseToDense(h, a, mf, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, nullptr)) return 8;
  float rows[6];
  cudaMemcpy(rows, full, 24, cudaMemcpyDeviceToHost);
  if (rows[0] != 1 || rows[2] != 2 || rows[4] != 3 || rows[1] != 0) return 9;
  cusparseSpMatDescr_t again;
  int *begins, back[3], *places;
  float *kept;
  int64_t r, c, found;
  cudaMalloc(&begins, 12);
  cusparseCreateCsr(&again, 2, 3, 0, begins, nullptr, nullptr, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
  if (cusparseDenseToSparse_analysis(h, mf, again, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, nullptr)) return 10;
  if (cusparseSpMatGetSize(again, &r, &c, &found) || found != 3) return 11;
  cudaMalloc(&places, 12), cudaMalloc(&kept, 12);
  cusparseCsrSetPointers(again, begins, places, kept);
  if (cusparseDenseToSparse_convert(h, mf, again, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, nullptr)) return 12;
  cudaMemcpy(back, places, 12, cudaMemcpyDeviceToHost);
  return back[0] != 0 || back[1] != 2 || back[2] != 1;
}
)";

TEST(Solvers, SparseProductsAndConversions) {
  const WrittenSource source(kSparse, "sparse.cu");
  const Module module = Module::build({.sources = {source.path()}, .watch = true});
  expect_good(module);
  EXPECT_EQ(module.run_main({"outside"}).exit_status, 4);  // a column that the matrix does not have
}

const char* const kRoc = R"(
#include <hip/hip_runtime.h>
#include <hipsolver/hipsolver.h>
#include <rocblas/rocblas.h>
#include <rocprim/rocprim.hpp>
#include <rocsolver/rocsolver.h>
__global__ void sums(const int* in, int* out, int n) {
  using Load = rocprim::block_load<int, 64, 2>;
  using Reduce = rocprim::block_reduce<int, 64>;
  __shared__ Reduce::storage_type room;
  int own[2], all;
  Load().load(in + blockIdx.x * 128, own, n, 0);
  Reduce().reduce(own, all, room, rocprim::plus<int>());
  int again, place;
  Reduce().reduce(own, again);
  rocprim::block_scan<int, 64>().exclusive_scan(1, place, 0);
  if (threadIdx.x == 0) out[blockIdx.x] = again == all ? all : -1;
  if (place != int(threadIdx.x)) out[blockIdx.x] = -2;
}
int main(int count, char**) {
  const double a[4] = {4, 2, 2, 3}, b[2] = {8, 7}, one = 1, none = 0;
  double *da, *db, *dc, x[4];
  int *pivots, *info;
  rocblas_handle h;
  if (rocblas_create_handle(&h) != rocblas_status_success) return 1;
  hipMalloc(&da, 32), hipMalloc(&db, 16), hipMalloc(&dc, 32), hipMalloc(&pivots, 8), hipMalloc(&info, 4);
  hipMemcpy(da, a, 32, hipMemcpyHostToDevice), hipMemcpy(db, b, 16, hipMemcpyHostToDevice);
  if (rocblas_dgemm(h, rocblas_operation_none, rocblas_operation_none, 2, 2, 2, &one, da, 2, da, 2, &none, dc, 2)) return 2;
  hipMemcpy(x, dc, 32, hipMemcpyDeviceToHost);
  if (x[0] != 20 || x[3] != 13) return 3;
  if (rocsolver_dgetrf(h, 2, 2, da, 2, pivots, info) || rocsolver_dgetrs(h, rocblas_operation_none, 2, 1, da, 2, pivots, db, 2)) return 4;
  hipMemcpy(x, db, 16, hipMemcpyDeviceToHost);
  if (x[0] != 1.25 || x[1] != 1.5) return 5;
  hipsolverHandle_t s;
  int room;
  hipsolverCreate(&s), hipMemcpy(da, a, 32, hipMemcpyHostToDevice);
  if (hipsolverDpotrf_bufferSize(s, HIPSOLVER_FILL_MODE_LOWER, 2, da, 2, &room) != HIPSOLVER_STATUS_SUCCESS) return 6;
  if (hipsolverDpotrf(s, HIPSOLVER_FILL_MODE_LOWER, 2, da, 2, dc, room, info)) return 7;
  hipMemcpy(x, da, 32, hipMemcpyDeviceToHost);
  if (x[0] != 2 || x[1] != 1) return 8;
  int *in, *out, h_in[256], h_out[2];
  for (int i = 0; i < 256; ++i) h_in[i] = i;
  hipMalloc(&in, sizeof h_in), hipMalloc(&out, 8), hipMemcpy(in, h_in, sizeof h_in, hipMemcpyHostToDevice);
  sums<<<count > 1 ? 3 : 2, 64>>>(in, out, 128);
  hipMemcpy(h_out, out, 8, hipMemcpyDeviceToHost);
  if (h_out[0] != 127 * 64 || h_out[1] != 383 * 64) return 9;
  size_t bytes = 0;
  void* storage;
  if (rocprim::reduce(nullptr, bytes, in, out, 0, 256, rocprim::plus<int>()) || hipMalloc(&storage, bytes)) return 10;
  if (rocprim::reduce(storage, bytes, in, out, 0, 256, rocprim::plus<int>())) return 11;
  hipMemcpy(h_out, out, 4, hipMemcpyDeviceToHost);
  return h_out[0] != 255 * 128;
}
)";

TEST(Solvers, AmdsLibrariesByTheirOwnNames) {
  const WrittenSource source(kRoc, "roc.hip");
  const Module module = Module::build({.sources = {source.path()}, .lanes = 64, .watch = true});
  expect_good(module);
  const RunResult faulty = module.run_main({"more"});
  ASSERT_FALSE(faulty.reports.empty());
  EXPECT_EQ(faulty.reports[0].kind, Kind::out_of_bounds_read);
}

}  // namespace
}  // namespace isomer::emulator::tests
