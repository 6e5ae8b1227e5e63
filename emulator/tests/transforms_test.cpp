// cuFFT's and hipFFT's plans, and what cuBLAS does with triangles: each program checks what it gets.
#include <gtest/gtest.h>

#include "isomer/emulator/module.hpp"
#include "written_source.hpp"

namespace isomer::emulator::tests {
namespace {

const char* const kTransforms = R"(
#include <cufft.h>
#include <cuda_runtime.h>
#include <cstdio>
#include <cmath>
__global__ void scale(cufftComplex* x, int n, float by) {
  const int i = threadIdx.x;
  if (i < n) x[i].x *= by, x[i].y *= by;
}
bool near(double a, double b) { return fabs(a - b) < 1e-4; }
int main(int argc, char**) {
  const int n = 30, rows = 4, columns = 6, half = columns / 2 + 1;
  cufftComplex h[2 * n], f[2 * n], *d;
  for (int i = 0; i < 2 * n; ++i) h[i].x = i % 5, h[i].y = i % 3;
  cudaMalloc(&d, sizeof h);
  cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
  cufftHandle two;
  if (cufftPlan1d(&two, n, CUFFT_C2C, 2) != CUFFT_SUCCESS) return 1;
  if (cufftExecC2C(two, d, d, CUFFT_FORWARD) != CUFFT_SUCCESS) return 2;
  cudaMemcpy(f, d, sizeof f, cudaMemcpyDeviceToHost);
  for (int k = 0; k < 2 * n; ++k) {
    double x = 0, y = 0;
    for (int i = 0; i < n; ++i) {
      const cufftComplex v = h[k / n * n + i];
      const double turn = -2 * M_PI * (k % n) * i / n;
      x += v.x * cos(turn) - v.y * sin(turn), y += v.x * sin(turn) + v.y * cos(turn);
    }
    if (!near(x, f[k].x) || !near(y, f[k].y)) return 3;
  }
  cufftExecC2C(two, d, d, CUFFT_INVERSE);
  scale<<<1, 64>>>(d, argc > 1 ? 61 : 60, 1.0f / n);
  cudaMemcpy(f, d, sizeof f, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 2 * n; ++i)
    if (!near(f[i].x, h[i].x) || !near(f[i].y, h[i].y)) return 4;
  // Reals of two dimensions, in a place of their own and in the same.
  float real[rows * columns], back[rows * columns], *dr;
  for (int i = 0; i < rows * columns; ++i) real[i] = i * i % 7;
  cufftComplex* dc;
  cudaMalloc(&dr, sizeof real);
  cudaMalloc(&dc, rows * half * sizeof *dc);
  cudaMemcpy(dr, real, sizeof real, cudaMemcpyHostToDevice);
  cufftHandle there, again;
  cufftPlan2d(&there, rows, columns, CUFFT_R2C);
  cufftPlan2d(&again, rows, columns, CUFFT_C2R);
  if (cufftExecR2C(there, dr, dc) || cudaMemset(dr, 0, sizeof real) || cufftExecC2R(again, dc, dr)) return 5;
  cudaMemcpy(back, dr, sizeof back, cudaMemcpyDeviceToHost);
  for (int i = 0; i < rows * columns; ++i)
    if (!near(back[i] / (rows * columns), real[i])) return 6;
  cudaMemcpy2D(dc, half * 8, real, columns * 4, columns * 4, rows, cudaMemcpyHostToDevice);
  if (cufftExecR2C(there, (cufftReal*)dc, dc) || cufftExecC2R(again, dc, (cufftReal*)dc)) return 7;
  cudaMemcpy2D(back, columns * 4, dc, half * 8, columns * 4, rows, cudaMemcpyDeviceToHost);
  for (int i = 0; i < rows * columns; ++i)
    if (!near(back[i] / (rows * columns), real[i])) return 8;
  // The columns of a matrix, each a transform.
  int size = 5, room = 5;
  cufftHandle down;
  if (cufftPlanMany(&down, 1, &size, &room, 4, 1, &room, 4, 1, CUFFT_C2C, 4)) return 9;
  cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
  cufftExecC2C(down, d, d, CUFFT_FORWARD);
  cudaMemcpy(f, d, sizeof f, cudaMemcpyDeviceToHost);
  if (!near(f[2].x, h[2].x + h[6].x + h[10].x + h[14].x + h[18].x) || f[20].x != h[20].x) return 10;
  cufftDestroy(down);
  return cufftExecC2C(down, d, d, CUFFT_FORWARD) == CUFFT_INVALID_PLAN ? 0 : 11;
}
)";

const char* const kOfHip = R"(
#include <hip/hip_runtime.h>
#include <hipfft/hipfft.h>
int main() {
  hipfftDoubleComplex h[4] = {{1, 0}, {2, 0}, {3, 0}, {4, 0}}, *d;
  hipMalloc(&d, sizeof h);
  hipMemcpy(d, h, sizeof h, hipMemcpyHostToDevice);
  hipfftHandle plan;
  if (hipfftPlan1d(&plan, 4, HIPFFT_Z2Z, 1) != HIPFFT_SUCCESS) return 1;
  if (hipfftExecZ2Z(plan, d, d, HIPFFT_FORWARD) != HIPFFT_SUCCESS) return 2;
  hipMemcpy(h, d, sizeof h, hipMemcpyDeviceToHost);
  hipfftDestroy(plan);
  return h[0].x == 10 && fabs(h[1].y - 2) < 1e-12 && fabs(h[2].x + 2) < 1e-12 ? 0 : 3;
}
)";

const char* const kTriangles = R"(
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cmath>
#include <cstring>
int main(int argc, char**) {
  // Column by column; what lies above the diagonal is never looked at.
  const double low[9] = {2, 1, 3, 99, 4, 5, 99, 99, 6}, one = 1, none = 0;
  double b[6] = {2, 9, 31, 4, 2, 12}, got[9], *a, *x, *c;
  cudaMalloc(&a, sizeof low), cudaMalloc(&x, sizeof b), cudaMalloc(&c, sizeof low);
  cudaMemcpy(a, low, sizeof low, cudaMemcpyHostToDevice);
  cublasHandle_t h;
  cublasCreate(&h);
  const auto is = [&](const double* at, std::initializer_list<double> want) {
    cudaMemcpy(got, at, want.size() * 8, cudaMemcpyDeviceToHost);
    int i = 0;
    for (const double w : want)
      if (fabs(got[i++] - w) > 1e-12) return false;
    return true;
  };
  cudaMemcpy(x, b, sizeof b, cudaMemcpyHostToDevice);
  if (cublasDtrsm(h, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, 3, 2, &one, a, 3, x, 3))
    return 1;
  if (!is(x, {1, 2, 3, 2, 0, 1})) return 2;
  if (cublasDtrmm(h, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, 3, 2, &one, a, 3, x, 3, c, 3))
    return 3;
  if (!is(c, {2, 9, 31, 4, 2, 12})) return 4;
  // y · t = b, with y from the right, and with the transposed triangle.
  for (const bool turned : {false, true}) {
    const double y[3] = {1, 2, 3};
    double want[3] = {};
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) {
        const int row = turned ? i : k, column = turned ? k : i;
        want[i] += y[k] * (row >= column ? low[column * 3 + row] : 0);
      }
    cudaMemcpy(x, want, sizeof want, cudaMemcpyHostToDevice);
    if (cublasDtrsm(h, CUBLAS_SIDE_RIGHT, CUBLAS_FILL_MODE_LOWER, turned ? CUBLAS_OP_T : CUBLAS_OP_N,
                    CUBLAS_DIAG_NON_UNIT, 1, 3, &one, a, 3, x, 1))
      return 5;
    if (!is(x, {1, 2, 3})) return 6 + turned;
  }
  if (cublasDsymm(h, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, 3, 1, &one, a, 3, x, 3, &none, c, 3)) return 8;
  if (!is(c, {2 + 2 + 9, 1 + 8 + 15, 3 + 10 + 18})) return 9;
  if (cublasDsymv(h, CUBLAS_FILL_MODE_LOWER, 3, &one, a, 3, x, 1, &none, c, 1) || !is(c, {13, 24, 31})) return 10;
  if (cublasDsyrk(h, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, 2, 1, &one, x, 2, &none, c, 2)) return 11;
  if (!is(c, {1, 24, 2, 4})) return 12;
  // A small system with a zero on its diagonal.
  const double system[4] = {0, 2, 1, 3};
  double *m, *inverse, **list, **to, *hosts[2];
  int *pivots, *info, said = 5;
  cudaMalloc(&m, 32), cudaMalloc(&inverse, 32), cudaMalloc(&list, 8), cudaMalloc(&to, 8), cudaMalloc(&pivots, 8), cudaMalloc(&info, 4);
  cudaMemcpy(m, system, 32, cudaMemcpyHostToDevice);
  hosts[0] = m, hosts[1] = inverse;
  cudaMemcpy(list, hosts, 8, cudaMemcpyHostToDevice), cudaMemcpy(to, hosts + 1, 8, cudaMemcpyHostToDevice);
  if (cublasDgetrfBatched(h, 2, list, 2, pivots, info, 1) || cublasDgetriBatched(h, 2, list, 2, pivots, to, 2, info, 1)) return 13;
  cudaMemcpy(&said, info, 4, cudaMemcpyDeviceToHost);
  if (said != 0 || !is(inverse, {-1.5, 1, 0.5, 0})) return 14;
  int least = 0;
  if (cublasIdamin(h, 3, x, 1, &least) || least != 1) return 15;
  // What is refused as a copy would be.
  return argc > 1 ? cublasDtrsm(h, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_UNIT, 9, 9, &one, a, 9, x, 9) : 0;
}
)";

RunResult run(const char* text, const char* file, std::vector<std::string> words = {}) {
  const WrittenSource source(text, file);
  return Module::build({.sources = {source.path()}, .watch = true}).run_main(words);
}

TEST(Transforms, OfOneAndTwoDimensionsOfRealsAndOfMany) {
  const RunResult good = run(kTransforms, "transforms.cu");
  EXPECT_EQ(good.exit_status, 0) << good.failure;
  for (const Report& report : good.reports) ADD_FAILURE() << report.text;
  const RunResult faulty = run(kTransforms, "transforms.cu", {"faulty"});
  ASSERT_FALSE(faulty.reports.empty());
  EXPECT_EQ(faulty.reports[0].kernel, "scale");
}

TEST(Transforms, ByHipsNames) { EXPECT_EQ(run(kOfHip, "transforms.hip").exit_status, 0); }

TEST(Triangles, AreSolvedMultipliedAndInverted) {
  EXPECT_EQ(run(kTriangles, "triangles.cu").exit_status, 0);
  EXPECT_EQ(run(kTriangles, "triangles.cu", {"faulty"}).exit_status, 13);
}

}  // namespace
}  // namespace isomer::emulator::tests
