// Programs that call cuBLAS and its relatives on complex types, and libraries whose calls are recorded in a
// graph.
#include <gtest/gtest.h>

#include "good_program.hpp"
#include "isomer/emulator/module.hpp"
#include "written_source.hpp"

namespace isomer::emulator::tests {
namespace {

// Each answer is compared with one that is written out beside the call.
const char* const kComplex = R"(
#include <cublas_v2.h>
#include <cuComplex.h>
#include <complex>
#include <stdio.h>
#include <string.h>
typedef std::complex<double> Z;
const Z a[4] = {{1, 2}, {3, -1}, {0, 1}, {2, 2}}, b[4] = {{1, 0}, {0, -1}, {2, 1}, {1, 1}}, h2[4] = {{3, 0}, {1, -2}, {1, 2}, {5, 0}};
cuDoubleComplex *da, *db, *dc;
cublasHandle_t h;
void send(cuDoubleComplex* to, const Z* from) { cudaMemcpy(to, from, 64, cudaMemcpyHostToDevice); }
bool is(const char* what, const cuDoubleComplex* at, const Z* want, int count = 4) {
  Z got[4];
  cudaMemcpy(got, at, count * 16, cudaMemcpyDeviceToHost);
  for (int i = 0; i < count; ++i)
    if (std::abs(got[i] - want[i]) > 1e-12) {
      printf("%s: element %d is %g %g, expected %g %g\n", what, i, got[i].real(), got[i].imag(), want[i].real(), want[i].imag());
      return false;
    }
  return true;
}
Z at(const Z* m, int i, int j, cublasOperation_t op) {
  return op == CUBLAS_OP_N ? m[2 * j + i] : op == CUBLAS_OP_T ? m[2 * i + j] : std::conj(m[2 * i + j]);
}
int main(int count, char**) {
  cublasCreate(&h);
  cudaMalloc(&da, 64), cudaMalloc(&db, 64), cudaMalloc(&dc, 64);
  const cuDoubleComplex one = {1, 0}, none = {0, 0}, turn = {0, 1};
  for (const auto op_a : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C})
    for (const auto op_b : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C}) {
      send(da, a), send(db, b), send(dc, a);
      Z want[4];
      for (int j = 0; j < 2; ++j)
        for (int i = 0; i < 2; ++i) {
          want[2 * j + i] = a[2 * j + i];
          for (int k = 0; k < 2; ++k) want[2 * j + i] += Z(0, 1) * at(a, i, k, op_a) * at(b, k, j, op_b);
        }
      if (cublasZgemm(h, op_a, op_b, 2, 2, 2, &turn, da, count > 1 ? 3 : 2, db, 2, &one, dc, 2) || !is("gemm", dc, want)) return 1;
    }
  // The product of the triangle with what it solves is what was asked for.
  for (const auto op : {CUBLAS_OP_N, CUBLAS_OP_C})
    for (const auto side : {CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT}) {
      send(da, a), send(db, b);
      cublasZtrsm(h, side, CUBLAS_FILL_MODE_LOWER, op, CUBLAS_DIAG_NON_UNIT, 2, 2, &one, da, 2, db, 2);
      cublasZtrmm(h, side, CUBLAS_FILL_MODE_LOWER, op, CUBLAS_DIAG_NON_UNIT, 2, 2, &one, da, 2, db, 2, dc, 2);
      if (!is("trsm", dc, b)) return 2;
    }
  // A Hermitian matrix of which the lower half is there; what lies in the other is not read.
  Z half[4];
  memcpy(half, h2, 64), half[2] = {99, 99};
  send(da, half), send(db, b);
  cublasZhemm(h, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, 2, 2, &one, da, 2, db, 2, &none, dc, 2);
  Z want[4];
  for (int j = 0; j < 2; ++j)
    for (int i = 0; i < 2; ++i) want[2 * j + i] = h2[i] * b[2 * j] + h2[2 + i] * b[2 * j + 1];
  if (!is("hemm", dc, want)) return 3;
  const double two = 2, zero = 0;
  send(da, a), send(dc, half);
  cublasZherk(h, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, 2, 2, &two, da, 2, &zero, dc, 2);
  for (int j = 0; j < 2; ++j)
    for (int i = 0; i < 2; ++i)
      want[2 * j + i] = 2. * (a[i] * std::conj(a[j]) + a[2 + i] * std::conj(a[2 + j]));
  want[2] = half[2];
  if (!is("herk", dc, want)) return 4;
  send(db, b), send(dc, half);
  cublasZher2k(h, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, 2, 2, &turn, da, 2, db, 2, &zero, dc, 2);
  for (int j = 0; j < 2; ++j)
    for (int i = 0; i < 2; ++i) {
      want[2 * j + i] = 0;
      for (int k = 0; k < 2; ++k)
        want[2 * j + i] += Z(0, 1) * a[2 * k + i] * std::conj(b[2 * k + j]) - Z(0, 1) * b[2 * k + i] * std::conj(a[2 * k + j]);
    }
  want[2] = half[2];
  if (!is("her2k", dc, want)) return 5;
  // Vectors.
  cuDoubleComplex dot;
  double norm, sum;
  int largest;
  cublasZdotc(h, 4, da, 1, db, 1, &dot);
  Z expected = 0;
  for (int i = 0; i < 4; ++i) expected += std::conj(a[i]) * b[i];
  if (std::abs(Z(dot.x, dot.y) - expected) > 1e-12) return 6;
  if (cublasDznrm2(h, 4, da, 1, &norm) || fabs(norm * norm - 24) > 1e-12) return 7;
  if (cublasDzasum(h, 4, da, 1, &sum) || sum != 12 || cublasIzamax(h, 4, da, 1, &largest) || largest != 2) return 8;
  cublasZdscal(h, 4, &two, da, 1);
  for (int i = 0; i < 4; ++i) want[i] = 2. * a[i];
  if (!is("scal", da, want)) return 9;
  cublasZgerc(h, 2, 2, &turn, da, 1, db, 1, dc, 2);
  cublasGetVector(4, 16, dc, 1, want, 1);
  cuComplex single[2] = {{1, 1}, {2, -1}}, *ds, got[2], by = {0, 2};
  cudaMalloc(&ds, sizeof single);
  cudaMemcpy(ds, single, sizeof single, cudaMemcpyHostToDevice);
  if (cublasCaxpy(h, 2, &by, ds, 1, ds, 1) || cudaMemcpy(got, ds, sizeof got, cudaMemcpyDeviceToHost)) return 10;
  return got[0].x != -1 || got[0].y != 3 || got[1].x != 4 || got[1].y != 3 ? 11 : 0;
}
)";

TEST(Blas, ComplexTypesAndAProductPastABufferThatIsRefused) {
  const WrittenSource source(kComplex, "complex.cu");
  const Module module = Module::build({.sources = {source.path()}, .watch = true});
  expect_good(module);
  const RunResult faulty = module.run_main({"more"});
  ASSERT_EQ(faulty.refusals.size(), 1u);
  EXPECT_NE(faulty.refusals[0].text.find("which has 64 bytes"), std::string::npos) << faulty.refusals[0].text;
}

// What is packed or a band gives what the whole matrix gives.
const char* const kStored = R"(
#include <cublas_v2.h>
#include <math.h>
const double whole[9] = {4, 1, 2, 1, 5, 3, 2, 3, 6}, band[9] = {4, 1, 0, 1, 5, 3, 0, 3, 6}, x[3] = {1, 2, 3};
const double lower_packed[6] = {4, 1, 2, 5, 3, 6}, upper_packed[6] = {4, 1, 5, 2, 3, 6};
const double lower_band[6] = {4, 1, 5, 3, 6, 0}, upper_band[6] = {0, 4, 1, 5, 3, 6}, wide_band[9] = {0, 4, 1, 1, 5, 3, 3, 6, 0};
double *da, *dp, *dx, *dy;
template <int N> double* send(double* to, const double (&from)[N]) {
  cudaMemcpy(to, from, sizeof from, cudaMemcpyHostToDevice);
  return to;
}
bool same(const double* a, const double* b, int count) {
  double l[9], r[9];
  if (cudaMemcpy(l, a, 8 * count, cudaMemcpyDeviceToHost) || cudaMemcpy(r, b, 8 * count, cudaMemcpyDeviceToHost)) return false;
  for (int i = 0; i < count; ++i) if (fabs(l[i] - r[i]) > 1e-12) return false;
  return true;
}
int main(int count, char**) {
  cublasHandle_t h;
  cublasCreate(&h);
  const double one = 1, none = 0, two = 2;
  double *dz, *dw;
  cudaMalloc(&da, 72), cudaMalloc(&dp, count > 1 ? 40 : 72), cudaMalloc(&dx, 24), cudaMalloc(&dy, 24), cudaMalloc(&dz, 24), cudaMalloc(&dw, 72);
  send(dx, x);
  for (const auto fill : {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER}) {
    const bool low = fill == CUBLAS_FILL_MODE_LOWER;
    cublasDsymv(h, fill, 3, &two, send(da, whole), 3, dx, 1, &none, dy, 1);
    cudaMemcpy(dp, low ? lower_packed : upper_packed, 48, cudaMemcpyHostToDevice);
    if (count > 1) return cublasDspmv(h, fill, 3, &two, dp, dx, 1, &none, dz, 1) == CUBLAS_STATUS_SUCCESS;
    if (cublasDspmv(h, fill, 3, &two, dp, dx, 1, &none, dz, 1) || !same(dy, dz, 3)) return 1;
    for (const auto op : {CUBLAS_OP_N, CUBLAS_OP_T}) {
      cublasDtrsv(h, fill, op, CUBLAS_DIAG_NON_UNIT, 3, da, 3, send(dy, x), 1);
      if (cublasDtpsv(h, fill, op, CUBLAS_DIAG_NON_UNIT, 3, dp, send(dz, x), 1) || !same(dy, dz, 3)) return 2;
      cublasDtrmv(h, fill, op, CUBLAS_DIAG_UNIT, 3, da, 3, send(dy, x), 1);
      if (cublasDtpmv(h, fill, op, CUBLAS_DIAG_UNIT, 3, dp, send(dz, x), 1) || !same(dy, dz, 3)) return 3;
    }
    cublasDsyr(h, fill, 3, &two, dx, 1, da, 3), cublasDspr(h, fill, 3, &two, dx, 1, dp);
    cublasDsymv(h, fill, 3, &one, da, 3, dx, 1, &none, dy, 1), cublasDspmv(h, fill, 3, &one, dp, dx, 1, &none, dz, 1);
    if (!same(dy, dz, 3)) return 4;
    send(da, band), cudaMemcpy(dp, low ? lower_band : upper_band, 48, cudaMemcpyHostToDevice);
    cublasDsymv(h, fill, 3, &two, da, 3, dx, 1, &none, dy, 1);
    if (cublasDsbmv(h, fill, 3, 1, &two, dp, 2, dx, 1, &none, dz, 1) || !same(dy, dz, 3)) return 5;
    cublasDtrsv(h, fill, CUBLAS_OP_T, CUBLAS_DIAG_NON_UNIT, 3, da, 3, send(dy, x), 1);
    if (cublasDtbsv(h, fill, CUBLAS_OP_T, CUBLAS_DIAG_NON_UNIT, 3, 1, dp, 2, send(dz, x), 1) || !same(dy, dz, 3)) return 6;
  }
  double length = 3, other = 4, c, s, turned[3];
  const double flips[5] = {1, 2, 99, 99, 3};  // (2 1; -1 3)
  if (cublasDrotg(h, &length, &other, &c, &s) || length != 5 || c != 3 / 5. || s != 4 / 5. || other != 5 / 3.) return 8;
  if (cublasDrotm(h, 3, send(dy, x), 1, send(dz, x), 1, flips) || cudaMemcpy(turned, dz, 24, cudaMemcpyDeviceToHost) || turned[2] != 6) return 9;
  cublasDgemv(h, CUBLAS_OP_N, 3, 3, &two, da, 3, dx, 1, &none, dy, 1);
  return cublasDgbmv(h, CUBLAS_OP_N, 3, 3, 1, 1, &two, send(dw, wide_band), 3, dx, 1, &none, dz, 1) || !same(dy, dz, 3) ? 7 : 0;
}
)";

TEST(Blas, PackedTrianglesAndBandsGiveWhatTheWholeMatrixGives) {
  const WrittenSource source(kStored, "stored.cu");
  const Module module = Module::build({.sources = {source.path()}, .watch = true});
  expect_good(module);
  const RunResult faulty = module.run_main({"short"});
  EXPECT_EQ(faulty.exit_status, 0) << faulty.output;
  EXPECT_FALSE(faulty.refusals.empty());
}

const char* const kComplexOfHip = R"(
#include <hip/hip_runtime.h>
#include <hipblas/hipblas.h>
#include <rocblas/rocblas.h>
int main() {
  hipblasHandle_t h;
  rocblas_handle r;
  hipblasCreate(&h), rocblas_create_handle(&r);
  const hipComplex x[2] = {{1, 2}, {3, 4}};
  hipComplex *d, got[2], by = {0, 1};
  hipMalloc(&d, sizeof x);
  hipMemcpy(d, x, sizeof x, hipMemcpyHostToDevice);
  if (hipblasCscal_64(h, 2, &by, d, 1) || rocblas_cscal(r, 2, &by, d, 1)) return 1;
  hipMemcpy(got, d, sizeof got, hipMemcpyDeviceToHost);
  float norm;
  if (rocblas_scnrm2(r, 2, d, 1, &norm) || norm * norm < 29.99f || norm * norm > 30.01f) return 2;
  return got[0].x != -1 || got[0].y != -2 || got[1].x != -3 || got[1].y != -4 ? 3 : 0;
}
)";

TEST(Blas, ComplexTypesByTheNamesOfHip) {
  const WrittenSource source(kComplexOfHip, "complex.hip");
  expect_good(Module::build({.sources = {source.path()}, .watch = true}));
}

// A number on the host counts as it is at the call, one on the device as it is when the graph runs.
const char* const kCaptured = R"(
#include <cublas_v2.h>
#include <cufft.h>
#include <cusolverDn.h>
int main(int count, char**) {
  float *x, *factor, one = 1, three = 3, got[4] = {1, 1, 1, 1};
  cublasHandle_t h;
  cufftHandle plan;
  cudaStream_t s;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaMalloc(&x, 16), cudaMemcpy(x, got, 16, cudaMemcpyHostToDevice);
  cudaMalloc(&factor, 4), cudaMemcpy(factor, &one, 4, cudaMemcpyHostToDevice);
  cublasCreate(&h), cudaStreamCreate(&s), cublasSetStream(h, s);
  cufftPlan1d(&plan, 2, CUFFT_C2C, 1), cufftSetStream(plan, s);
  if (cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal)) return 1;
  if (cublasSaxpy(h, 4, &one, x, 1, x, 1)) return 2;
  cublasSetPointerMode(h, CUBLAS_POINTER_MODE_DEVICE);
  if (cublasSscal(h, 4, factor, x, 1)) return 3;
  if (cufftExecC2C(plan, (cufftComplex*)x, (cufftComplex*)x, CUFFT_FORWARD)) return 4;
  if (count > 1) {
    cusolverDnHandle_t d;
    cusolverDnCreate(&d), cusolverDnSetStream(d, s);
    int* info;
    cudaMalloc(&info, 4);
    if (cusolverDnSpotrf(d, CUBLAS_FILL_MODE_LOWER, 2, x, 2, x, 4, info) == CUSOLVER_STATUS_SUCCESS) return 5;
  }
  one = 100;  // the graph has the number that was here
  if (cudaStreamEndCapture(s, &graph) || cudaGraphInstantiate(&exec, graph, 0)) return 6;
  cudaMemcpy(got, x, 16, cudaMemcpyDeviceToHost);
  if (got[0] != 1) return 7;
  cudaMemcpy(factor, &three, 4, cudaMemcpyHostToDevice);
  for (int i = 0; i < 2; ++i) cudaGraphLaunch(exec, s);
  cudaStreamSynchronize(s);
  cudaMemcpy(got, x, 16, cudaMemcpyDeviceToHost);
  // (1, 1, 1, 1) · 2 · 3 and its transform (12, 12, 0, 0), and that once more.
  return got[0] != 72 || got[1] != 72 || got[2] != 72 || got[3] != 72 ? 8 : 0;
}
)";

TEST(Blas, CallsOnACapturedStreamAreNodesOfItsGraphAndASolversAreRefused) {
  const WrittenSource source(kCaptured, "captured.cu");
  const Module module = Module::build({.sources = {source.path()}, .watch = true});
  expect_good(module);
  const RunResult faulty = module.run_main({"solver"});
  EXPECT_EQ(faulty.exit_status, 0) << faulty.output;
  ASSERT_EQ(faulty.refusals.size(), 1u);
  EXPECT_NE(faulty.refusals[0].text.find("not recorded"), std::string::npos);
}

}  // namespace
}  // namespace isomer::emulator::tests
