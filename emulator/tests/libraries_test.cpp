// Programs that call the toolkit's libraries, which run on the host here: each checks what it gets.
#include <gtest/gtest.h>

#include "isomer/emulator/module.hpp"
#include "written_source.hpp"

namespace isomer::emulator::tests {
namespace {

struct Written {
  const char *name, *text;
};
void PrintTo(const Written& w, std::ostream* out) { *out << w.name; }

const Written kWritten[] = {
    {"products_and_vectors_of_cublas", R"(
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_fp16.h>
__global__ void twice(float* x) { x[threadIdx.x] *= 2; }
int main() {
  // Column by column: a is 2 by 3, b 3 by 2.
  const float a[6] = {1, 4, 2, 5, 3, 6}, b[6] = {1, 0, 2, 0, 1, 1}, one = 1, none = 0, half = 0.5f;
  float *da, *db, *dc, c[4];
  cudaMalloc(&da, 24);
  cudaMalloc(&db, 24);
  cudaMalloc(&dc, 16);
  cudaMemcpy(da, a, 24, cudaMemcpyHostToDevice);
  cudaMemcpy(db, b, 24, cudaMemcpyHostToDevice);
  const auto differs = [&](float w, float x, float y, float z) {
    cudaMemcpy(c, dc, 16, cudaMemcpyDeviceToHost);
    return c[0] != w || c[1] != x || c[2] != y || c[3] != z;
  };
  cublasHandle_t h;
  if (cublasCreate(&h)) return 1;
  // What nobody has written is not read where beta is 0, and what a product leaves is written.
  if (cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 3, &one, da, 2, db, 3, &none, dc, 2)) return 2;
  twice<<<1, 4>>>(dc);
  if (differs(14, 32, 10, 22)) return 3;
  if (cublasSgemm(h, CUBLAS_OP_T, CUBLAS_OP_T, 2, 2, 3, &half, da, 3, db, 2, &one, dc, 2)) return 4;
  if (differs(19.5f, 40.5f, 11, 25)) return 5;
  float dot = 0;
  int at = 0;
  if (cublasSdot(h, 6, da, 1, db, 1, &dot) || dot != 14) return 6;
  int64_t greatest = 0;
  if (cublasIsamax_64(h, 3, da, 2, &greatest) || greatest != 3) return 17;
  if (cublasSdot_64(h, int64_t{6}, da, 1, db, 1, &dot) || dot != 14) return 16;
  if (cublasIsamax(h, 3, da, 2, &at) || at != 3) return 7;
  if (cublasSgemv(h, CUBLAS_OP_T, 2, 3, &one, da, 2, db, 1, &none, dc, 1)) return 8;
  cudaMemcpy(c, dc, 12, cudaMemcpyDeviceToHost);
  if (c[0] != 1 || c[1] != 2 || c[2] != 3) return 9;
  const __half eighths[2] = {__half(0.125f), __half(3.0f)};
  __half *dh, got[1];
  cudaMalloc(&dh, 6);
  cudaMemcpy(dh, eighths, 4, cudaMemcpyHostToDevice);
  if (cublasGemmEx(h, CUBLAS_OP_T, CUBLAS_OP_N, 1, 1, 2, &one, dh, CUDA_R_16F, 2, dh, CUDA_R_16F, 2, &none, dh + 2,
                   CUDA_R_16F, 1, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT))
    return 10;
  cudaMemcpy(got, dh + 2, 2, cudaMemcpyDeviceToHost);
  if (float(got[0]) != 9.015625f) return 11;
  if (cublasDotEx(h, 2, dh, CUDA_R_16F, 1, dh, CUDA_R_16F, 1, &dot, CUDA_R_32F, CUDA_R_32F) || dot != 9.015625f) return 61;
  if (cublasScalEx(h, 1, &half, CUDA_R_32F, dh + 1, CUDA_R_16F, 1, CUDA_R_32F)) return 62;
  if (cublasNrm2Ex(h, 1, dh + 1, CUDA_R_16F, 1, &dot, CUDA_R_32F, CUDA_R_32F) || dot != 1.5f) return 63;
  // A bias for each row, then ReLU.
  cublasLtHandle_t lt;
  cublasLtMatmulDesc_t what;
  cublasLtMatrixLayout_t of_a, of_b, of_c;
  cublasLtCreate(&lt);
  cublasLtMatmulDescCreate(&what, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  const cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_RELU_BIAS;
  const float bias[2] = {-6, 0};
  float* db2;
  cudaMalloc(&db2, 8);
  cudaMemcpy(db2, bias, 8, cudaMemcpyHostToDevice);
  cublasLtMatmulDescSetAttribute(what, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
  cublasLtMatmulDescSetAttribute(what, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &db2, sizeof db2);
  cublasLtMatrixLayoutCreate(&of_a, CUDA_R_32F, 2, 3, 2);
  cublasLtMatrixLayoutCreate(&of_b, CUDA_R_32F, 3, 2, 3);
  cublasLtMatrixLayoutCreate(&of_c, CUDA_R_32F, 2, 2, 2);
  if (cublasLtMatmul(lt, what, &one, da, of_a, db, of_b, &none, dc, of_c, dc, of_c, nullptr, nullptr, 0, nullptr))
    return 12;
  // The factors' scales, the result's own, and the largest value before it.
  {
    cublasLtMatmulDescOpaque_t own = {};
    cublasLtMatmulDesc_t scaled = &own;
    if (cublasLtMatmulDescInit(scaled, CUBLAS_COMPUTE_32F, CUDA_R_32F)) return 67;
    cublasLtMatrixLayoutOpaque_t square = {};
    if (cublasLtMatrixLayoutInit(&square, CUDA_R_32F, 2, 2, 2)) return 68;
    const float scales[4] = {2, 0.25f, 10, 0};
    float *ds, *dd;
    cudaMalloc(&ds, 16), cudaMalloc(&dd, 16);
    cudaMemcpy(ds, scales, 16, cudaMemcpyHostToDevice);
    const float *sa = ds, *sb = ds + 1, *sd = ds + 2;
    float* most = ds + 3;
    cublasLtMatmulDescSetAttribute(scaled, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, &sa, sizeof sa);
    cublasLtMatmulDescSetAttribute(scaled, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, &sb, sizeof sb);
    cublasLtMatmulDescSetAttribute(scaled, CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, &sd, sizeof sd);
    cublasLtMatmulDescSetAttribute(scaled, CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, &most, sizeof most);
    if (cublasLtMatmul(lt, scaled, &one, da, of_a, db, of_b, &none, dd, &square, dd, &square, nullptr, nullptr, 0, nullptr))
      return 64;
    cudaMemcpy(c, dd, 16, cudaMemcpyDeviceToHost);
    // 7 16 5 11 without a scale
    if (c[0] != 35 || c[1] != 80 || c[2] != 25 || c[3] != 55) return 65;
    cudaMemcpy(c, most, 4, cudaMemcpyDeviceToHost);
    if (c[0] != 8) return 66;
  }
  if (differs(1, 16, 0, 11)) return 13;
  return cublasDestroy(h);
}
)"},
    {"numbers_of_curand", R"(
#include <cmath>
#include <curand.h>
#include <curand_kernel.h>
__global__ void draws(unsigned* out, float* moments) {
  curandStatePhilox4_32_10_t s, a, b;
  curand_init(0, 0, 0, &s);
  for (int i = 0; i < 4; ++i) out[i] = curand(&s);
  // An offset skips numbers, and a subsequence is another sequence.
  curand_init(5, 1, 0, &a);
  curand_init(5, 1, 3, &b);
  for (int i = 0; i < 3; ++i) curand(&a);
  out[4] = curand(&a) == curand(&b);
  curand_init(5, 2, 3, &b);
  out[5] = curand(&a) == curand(&b);
  curandState t;
  curand_init(7, threadIdx.x, 0, &t);
  float sum = 0, squares = 0, low = 1;
  for (int i = 0; i < 4000; ++i) {
    const float x = curand_normal(&t), u = curand_uniform(&t);
    sum += x, squares += x * x;
    low = fminf(low, u > 1 ? -1 : u);
  }
  moments[0] = sum / 4000, moments[1] = squares / 4000, moments[2] = low;
}
int main() {
  unsigned *out, got[6];
  float *moments, m[3], u[100], *numbers;
  cudaMalloc(&out, 24);
  cudaMalloc(&moments, 12);
  cudaMalloc(&numbers, 400);
  draws<<<1, 1>>>(out, moments);
  cudaMemcpy(got, out, 24, cudaMemcpyDefault);
  cudaMemcpy(m, moments, 12, cudaMemcpyDefault);
  // The published answer for a key and a counter of zeros.
  if (got[0] != 0x6627e8d5 || got[1] != 0xe169c58d || got[2] != 0xbc57ac4c || got[3] != 0x9b00dbd8) return 1;
  if (got[4] != 1 || got[5] != 0) return 2;
  if (std::fabs(m[0]) > 0.08f || std::fabs(m[1] - 1) > 0.12f || m[2] <= 0) return 3;
  curandGenerator_t g;
  curandCreateGenerator(&g, CURAND_RNG_PSEUDO_DEFAULT);
  curandSetPseudoRandomGeneratorSeed(g, 3);
  if (curandGenerateUniform(g, numbers, 100) || cudaMemcpy(u, numbers, 400, cudaMemcpyDefault)) return 4;
  float mean = 0;
  for (float x : u) mean += x / 100;
  if (std::fabs(mean - 0.5f) > 0.15f) return 5;
  return curandGenerateNormal(g, numbers, 99, 0, 1) != CURAND_STATUS_LENGTH_NOT_MULTIPLE;
}
)"},
    {"algorithms_of_cub_for_the_device", R"(
#include <cub/cub.cuh>
__global__ void makes(float* x, int* n) { x[threadIdx.x] = 10.0f - int(threadIdx.x) * (threadIdx.x % 2 ? 1 : -1), n[threadIdx.x] = threadIdx.x; }
struct Even { __host__ __device__ bool operator()(int x) const { return x % 2 == 0; } };
int main() {
  float *x, *sorted, f[8];
  int *n, *moved, *out, got[8];
  cudaMalloc(&x, 32), cudaMalloc(&sorted, 32), cudaMalloc(&n, 32), cudaMalloc(&moved, 32), cudaMalloc(&out, 4);
  makes<<<1, 8>>>(x, n);
  void* room = nullptr;
  size_t bytes = 0;
  // 10, 9, 12, 7, 14, 5, 16, 3
  if (cub::DeviceRadixSort::SortPairs(room, bytes, x, sorted, n, moved, 8) || bytes == 0) return 1;
  cudaMalloc(&room, bytes);
  if (cub::DeviceRadixSort::SortPairs(room, bytes, x, sorted, n, moved, 8)) return 2;
  cudaMemcpy(f, sorted, 32, cudaMemcpyDefault), cudaMemcpy(got, moved, 32, cudaMemcpyDefault);
  if (f[0] != 3 || f[7] != 16 || got[0] != 7 || got[1] != 5 || got[7] != 6) return 3;
  if (cub::DeviceRadixSort::SortKeysDescending(room, bytes, x, sorted, 8)) return 4;
  cudaMemcpy(f, sorted, 32, cudaMemcpyDefault);
  if (f[0] != 16 || f[7] != 3) return 5;
  if (cub::DeviceScan::ExclusiveSum(room, bytes, n, moved, 8)) return 6;
  cudaMemcpy(got, moved, 32, cudaMemcpyDefault);
  if (got[0] != 0 || got[7] != 21) return 7;
  if (cub::DeviceScan::InclusiveScan(room, bytes, n, moved, cub::Max(), 8)) return 8;
  cudaMemcpy(got, moved, 32, cudaMemcpyDefault);
  if (got[7] != 7) return 9;
  if (cub::DeviceReduce::Sum(room, bytes, n, out, 8) || cudaMemcpy(got, out, 4, cudaMemcpyDefault) || got[0] != 28)
    return 10;
  if (cub::DeviceReduce::Max(room, bytes, n, out, 8) || cudaMemcpy(got, out, 4, cudaMemcpyDefault) || got[0] != 7)
    return 11;
  if (cub::DeviceSelect::If(room, bytes, n, moved, out, 8, Even()) || cudaMemcpy(got, out, 4, cudaMemcpyDefault) ||
      got[0] != 4)
    return 12;
  cudaMemcpy(got, moved, 16, cudaMemcpyDefault);
  return got[3] != 6;
}
)"},
    {"runs_segments_and_histograms_of_cub", R"(
#include <cub/cub.cuh>
#include <cub/util_debug.cuh>
__global__ void makes(int* n) { n[threadIdx.x] = threadIdx.x / 3; }  // 0 0 0 1 1 1 2 2
struct Doubles { __host__ __device__ int operator()(int x) const { return 2 * x; } };
template <class In, class Twice> __global__ void sums(In in, Twice twice, int* out) { out[threadIdx.x] = *(in + 1) + twice[threadIdx.x]; }
struct Falls { __host__ __device__ bool operator()(int a, int b) const { return a > b; } };
int main() {
  cub::CachingDeviceAllocator allocator(true);
  int *n, *a, *b, *runs, got[8];
  CubDebugExit(allocator.DeviceAllocate((void**)&n, 32));
  cudaMalloc(&a, 32), cudaMalloc(&b, 32), cudaMalloc(&runs, 4);
  makes<<<1, 8>>>(n);
  void* room = nullptr;
  size_t bytes = 0;
  const auto is = [&](const int* from, int x, int y, int z) {
    return cudaMemcpy(got, from, 12, cudaMemcpyDefault) == 0 && got[0] == x && got[1] == y && got[2] == z;
  };
  CubDebugExit(cub::DeviceRunLengthEncode::Encode(room, bytes, n, a, b, runs, 8));
  cudaMalloc(&room, bytes);
  if (cub::DeviceRunLengthEncode::Encode(room, bytes, n, a, b, runs, 8) || !is(a, 0, 1, 2) || !is(b, 3, 3, 2)) return 1;
  if (cudaMemcpy(got, runs, 4, cudaMemcpyDefault) || got[0] != 3) return 2;
  const int bounds[4] = {0, 2, 2, 8};
  cudaMemcpy(a, bounds, 16, cudaMemcpyDefault);
  if (cub::DeviceSegmentedReduce::Sum(room, bytes, n, b, 3, a, a + 1) || !is(b, 0, 0, 7)) return 3;
  if (cub::DeviceSegmentedReduce::Max(room, bytes, n, b, 3, a, a + 1) || !is(b, 0, -2147483647 - 1, 2)) return 4;
  if (cub::DeviceHistogram::HistogramEven(room, bytes, n, b, 4, 0, 3, 8) || !is(b, 3, 3, 2)) return 5;
  if (cub::DeviceMergeSort::SortKeys(room, bytes, n, 8, Falls()) || !is(n, 2, 2, 1)) return 6;
  if (cub::DeviceReduce::Sum(room, bytes, cub::CountingInputIterator<int>(3), b, 4) || !is(b, 18, 3, 2)) return 7;
  sums<<<1, 2>>>(cub::ConstantInputIterator<int>(5), cub::TransformInputIterator<int, Doubles, int*>(a, Doubles()), b);
  if (!is(b, 5, 9, 2)) return 8;
  cub::DiscardOutputIterator<> nowhere;
  nowhere[3] = 4, *++nowhere = 5;
  if (nowhere - cub::DiscardOutputIterator<>() != 1) return 9;
  CubDebugExit(allocator.DeviceFree(n));
  return 0;
}
)"},
    {"items_exchanged_in_a_block_and_their_differences", R"(
#include <cub/cub.cuh>
struct Minus { __device__ int operator()(int a, int b) const { return a - b; } };
__global__ void moves(int* out) {
  using Exchange = cub::BlockExchange<int, 64, 4>;
  using Difference = cub::BlockAdjacentDifference<int, 64>;
  __shared__ typename Exchange::TempStorage room;
  __shared__ typename Difference::TempStorage edges;
  int x[4];
  for (int i = 0; i < 4; ++i) x[i] = threadIdx.x * 4 + i;
  Exchange(room).BlockedToStriped(x);
  for (int i = 0; i < 4; ++i) out[i * 64 + threadIdx.x] = x[i];
  __syncthreads();
  Exchange(room).StripedToBlocked(x);
  for (int i = 0; i < 4; ++i) x[i] *= x[i];
  Difference(edges).SubtractLeft(x, x, Minus());
  for (int i = 0; i < 4; ++i) out[256 + threadIdx.x * 4 + i] = x[i];
}
int main() {
  int *d, h[512]; cudaMalloc(&d, sizeof h); moves<<<1, 64>>>(d); cudaMemcpy(h, d, sizeof h, cudaMemcpyDefault);
  for (int i = 0; i < 256; ++i) if (h[i] != i || h[256 + i] != (i ? 2 * i - 1 : 0)) return 1;
  return 0;
}
)"},
    {"quasi_random_generators_and_versions", R"(
#include <cublas_v2.h>
#include <cufftXt.h>
#include <curand.h>
#include <vector>
int main() {
  curandGenerator_t g;
  float* p;
  std::vector<float> h(1000);
  if (curandCreateGenerator(&g, CURAND_RNG_QUASI_SOBOL32) || curandSetQuasiRandomGeneratorDimensions(g, 2)) return 1;
  if (curandSetQuasiRandomGeneratorDimensions(g, 20001) != CURAND_STATUS_OUT_OF_RANGE) return 2;
  if (curandSetGeneratorOrdering(g, CURAND_ORDERING_QUASI_DEFAULT)) return 3;
  cudaMalloc(&p, h.size() * sizeof *p);
  if (curandGenerateUniform(g, p, h.size())) return 4;
  cudaMemcpy(h.data(), p, h.size() * sizeof *p, cudaMemcpyDeviceToHost);
  float sum = 0;
  for (float x : h) sum += x;
  cufftHandle plan;
  if (cufftPlan1d(&plan, 8, CUFFT_C2C, 1)) return 5;
  // By the types of elements: eight ones, whose sum comes first.
  cufftHandle typed;
  long long eight = 8;
  std::size_t work;
  cufftComplex* spectrum;
  cufftComplex first;
  const std::vector<float> ones(8, 1.0f);
  cudaMalloc(&spectrum, 5 * sizeof *spectrum);
  cudaMemcpy(p, ones.data(), 32, cudaMemcpyHostToDevice);
  if (cufftCreate(&typed) || cufftXtMakePlanMany(typed, 1, &eight, nullptr, 1, 1, CUDA_R_32F, nullptr, 1, 1, CUDA_C_32F, 1, &work, CUDA_C_32F)) return 6;
  if (cufftExecR2C(typed, p, spectrum)) return 7;
  cudaMemcpy(&first, spectrum, sizeof first, cudaMemcpyDeviceToHost);
  if (first.x != 8 || first.y != 0) return 8;
  if (cufftXtMakePlanMany(typed, 1, &eight, nullptr, 1, 1, CUDA_R_16F, nullptr, 1, 1, CUDA_C_32F, 1, &work, CUDA_C_32F) != CUFFT_INVALID_TYPE) return 9;
  return sum < 400 || sum > 600 || cublasGetCudartVersion() != CUDART_VERSION;
}
)"},
    {"who_asks_openmp_for_its_threads", R"(
#include <omp.h>
__global__ void sets(int* p) { *p = 1; }
int main() {
  int* p;
  cudaMalloc(&p, 4);
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 0) sets<<<1, 1>>>(p);
  return omp_get_num_procs() < 1;
}
)"},
};

class ProgramWithLibraries : public testing::TestWithParam<Written> {};

TEST_P(ProgramWithLibraries, RunsToItsEnd) {
  const WrittenSource source(GetParam().text, "k.cu");
  const RunResult r = Module::build({.sources = {source.path()}, .watch = true}).run_main();
  EXPECT_TRUE(r.ok()) << r.failure;
  for (const Report& report : r.reports) ADD_FAILURE() << report.text;
  for (const Refusal& refusal : r.refusals) ADD_FAILURE() << refusal.text;
  EXPECT_EQ(r.exit_status, 0);
}

INSTANTIATE_TEST_SUITE_P(All, ProgramWithLibraries, testing::ValuesIn(kWritten),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace isomer::emulator::tests
