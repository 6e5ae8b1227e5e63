// Programs in what one vendor's compiler has and others do not: clang's vectors, specifiers in odd places.
#include <gtest/gtest.h>

#include "isomer/emulator/module.hpp"
#include "written_source.hpp"

namespace isomer::emulator::tests {
namespace {

// Each way to write the attribute.
const char* const kExtVectors = R"(
#include <hip/hip_runtime.h>
#include <stdint.h>
typedef float floatx4 __attribute__((ext_vector_type(4)));
typedef _Float16 __attribute__((ext_vector_type(8))) half8;
typedef __attribute__((ext_vector_type(16))) float floatx16;
typedef __attribute__((__ext_vector_type__(4))) unsigned int uint32x4;
using u16x4 = __attribute__((ext_vector_type(4))) uint16_t;
using three __attribute__((ext_vector_type(3))) = float;
template <class T> using pair = T __attribute__((ext_vector_type(2)));
template <class T, int N> struct vec { typedef T type __attribute__((ext_vector_type(N))); };
static_assert(sizeof(three) == 16 && alignof(half8) == 16 && sizeof(floatx16) == 64, "as clang lays them out");
__global__ void sums(const float* in, float* out, int* marks, int n) {
  const int i = threadIdx.x;
  __shared__ floatx4 tile[64];
  const floatx4 v = *(const floatx4*)(in + 4 * i);
  tile[i] = v * 2.0f + 1;
  __syncthreads();
  typename vec<float, 4>::type sum = {0};
  for (int j = 0; j < n; ++j) sum += tile[(i + j) & 63];
  sum.x -= 1.f, sum[3] = -sum.w;
  *(floatx4*)(out + 4 * i) = (floatx4)((uint32x4)sum ^ 0x80000000u) - sum;
  half8 h = 3;
  h[1] = h.s7 + (_Float16)1;
  floatx16 wide = {0.f, 1.f};
  const three t = wide.s1;
  pair<int> p = {1, 2};
  p = 4 - p;
  const floatx4 few = __builtin_convertvector(u16x4{1, 2, 3, 70}, floatx4);
  marks[i] = (float)h[1] == 4 && t.z == 1 && wide.sf == 0 && (p > 2).x == -1 && (p > 2).y == 0 && few.w == 70;
}
int main(int argc, char**) {
  float *in, *out, h[256];
  int *marks, m[64];
  for (int i = 0; i < 256; ++i) h[i] = 1;
  if (hipMalloc(&in, sizeof h) || hipMalloc(&out, sizeof h) || hipMalloc(&marks, sizeof m)) return 1;
  hipMemcpy(in, h, argc > 1 ? 240 * sizeof(float) : sizeof h, hipMemcpyHostToDevice);
  sums<<<1, 64>>>(in, out, marks, 2);
  hipMemcpy(h, out, sizeof h, hipMemcpyDeviceToHost);
  hipMemcpy(m, marks, sizeof m, hipMemcpyDeviceToHost);
  for (int i = 0; i < 64; ++i)
    if (m[i] != 1 || h[4 * i] != -10 || h[4 * i + 1] != -12 || h[4 * i + 3] != 12) return 2;
  return 0;
}
)";

TEST(ProgramsInDialects, VectorsByAnAttributeOfClang) {
  const WrittenSource source(kExtVectors, "sums.hip");
  const Module module = Module::build({.sources = {source.path()}, .watch = true});
  const RunResult good = module.run_main();
  EXPECT_TRUE(good.ok()) << good.failure;
  EXPECT_EQ(good.exit_status, 0);
  for (const Report& report : good.reports) ADD_FAILURE() << report.text;
  const RunResult faulty = module.run_main({"short"});
  ASSERT_FALSE(faulty.reports.empty());
  EXPECT_EQ(faulty.reports[0].kind, Kind::uninitialised_read);
  EXPECT_EQ(faulty.reports[0].bytes, 16u);
  EXPECT_EQ(faulty.reports[0].place.line, 16u);
}

const char* const kSharedParameter = R"(
__device__ void half_of(volatile __shared__ int* values, int width) {
  if (threadIdx.x < width) values[threadIdx.x] += values[threadIdx.x + width];
  __syncthreads();
}
__global__ void sum(int* out, int barriers) {
  __shared__ int values[64];
  values[threadIdx.x] = threadIdx.x;
  if (barriers) __syncthreads();
  for (int width = 32; width > 0; width /= 2) half_of(values, width);
  if (threadIdx.x == 0) *out = values[0];
}
int main(int argc, char**) {
  int *out, got;
  cudaMalloc(&out, sizeof got);
  sum<<<1, 64>>>(out, argc == 1);
  cudaMemcpy(&got, out, sizeof got, cudaMemcpyDeviceToHost);
  return got != 63 * 32;
}
)";

TEST(ProgramsInDialects, SharedAsAWordOfAParameter) {
  const WrittenSource source(kSharedParameter, "sum.cu");
  const Module module = Module::build({.sources = {source.path()}, .watch = true});
  const RunResult good = module.run_main();
  EXPECT_EQ(good.exit_status, 0);
  for (const Report& report : good.reports) ADD_FAILURE() << report.text;
  const RunResult faulty = module.run_main({"none"});
  ASSERT_FALSE(faulty.reports.empty());
  EXPECT_EQ(faulty.reports[0].place.line, 3u);
}

// What only the device's reading has: members of a class, a specialisation, types and constants of a
// namespace.
const char* const kOnlyOnTheDevice = R"(
#if defined(__CUDA_ARCH__)
#define WIDTH 4
#define BOTH __host__ __device__
#else
#define BOTH
#endif
namespace of_host { int smaller(int a, int b) { return a < b ? a : b; } }
__device__ int smaller(int a, int b) { return a < b ? a : b; }
template <class T, class = decltype(T(0) > T(1))> BOTH T half(T x) {
#ifdef __CUDA_ARCH__
  return x / 2;
#else
  return -x;
#endif
}
namespace parts {
template <int n> struct lanes { static __device__ int twice(int x) { return n / n * 2 * x; } };
template <class T, bool fast> struct load { static __host__ __device__ T of(const T* p) { return *p; } };
#ifdef __CUDA_ARCH__
template <class T> struct load<T, true> { static __device__ T of(const T* p) { return __ldg(p); } };
struct offset_t { int value; __device__ int twice() const { return 2 * value; } };
constexpr int kOffset = 5;
__device__ int add(int x) { return x + kOffset; }
#endif
template <int n> struct sum {
  int unused;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 300
  typedef lanes<n> group;
  enum { width = WIDTH };
  static constexpr int more = 3;
  __device__ int help(int x) const { return group::twice(x) + more; }
  __device__ int get(int x) const { return help(x) + width; }
#else
  __device__ int get(int x) const { return -x; }
#endif
};
__global__ void fill(const int* in, int* out, int n) {
#ifdef __CUDA_ARCH__
  const offset_t one{1};
  if (threadIdx.x < n) out[threadIdx.x] = sum<4>().get(load<int, true>::of(in + threadIdx.x)) + add(half(2 * smaller(one.twice(), 7)));
#endif
}
}
int main(int argc, char**) {
  int *in, *out, h[32];
  for (int i = 0; i < 32; ++i) h[i] = i;
  cudaMalloc(&in, sizeof h), cudaMalloc(&out, sizeof h);
  cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice);
  parts::fill<<<1, 64>>>(in, out, argc > 1 ? 33 : 32);
  cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
  return h[3] != 2 * 3 + 3 + 4 + 2 + 5 || half(2) != -2 || of_host::smaller(1, 2) != 1;
}
)";

TEST(ProgramsInDialects, TypesAndConstantsOfTheDevicesReading) {
  const WrittenSource source(kOnlyOnTheDevice, "fill.cu");
  const Module module = Module::build({.sources = {source.path()}, .watch = true});
  const RunResult good = module.run_main();
  EXPECT_EQ(good.exit_status, 0);
  for (const Report& report : good.reports) ADD_FAILURE() << report.text;
  const RunResult faulty = module.run_main({"one more"});
  ASSERT_EQ(faulty.reports.size(), 2u);
  EXPECT_EQ(faulty.reports[0].place.line, 21u);
  EXPECT_EQ(faulty.reports[1].kind, Kind::out_of_bounds_write);
  EXPECT_EQ(faulty.reports[1].place.line, 41u);
}

// Words that are read again behind the loop that waits for them; without the loop nothing orders the two.
const char* const kReadAgain = R"(
#include <vector>
__global__ void chain(int* words, int* out, int waits) {
  if (threadIdx.x != 0) return;
  volatile int* w = words;
  int sum = blockIdx.x + 1;
  if (blockIdx.x > 0) {
    if (waits) while (w[blockIdx.x - 1] == 0) {}
    sum += w[blockIdx.x - 1];
  }
  w[blockIdx.x] = sum;
  out[blockIdx.x] = sum;
}
int main(int argc, char**) {
  int *words, *out;
  std::vector<int> h(32);
  cudaMalloc(&words, 128), cudaMalloc(&out, 128), cudaMemset(words, 0, 128);
  chain<<<32, 32>>>(words, out, argc == 1);
  cudaMemcpy(h.data(), out, 128, cudaMemcpyDeviceToHost);
  return std::accumulate(h.begin(), h.end(), 0) != 5984 || *std::max_element(h.begin(), h.end()) != 528;
}
)";

TEST(ProgramsInDialects, VolatileWordsReadAgainBehindTheLoopThatWaitsForThem) {
  const WrittenSource source(kReadAgain, "chain.cu");
  const Module module = Module::build({.sources = {source.path()}, .watch = true});
  const RunResult good = module.run_main();
  EXPECT_EQ(good.exit_status, 0);
  for (const Report& report : good.reports) ADD_FAILURE() << report.text;
  const RunResult faulty = module.run_main({"without waiting"});
  ASSERT_EQ(faulty.reports.size(), 1u);
  EXPECT_EQ(faulty.reports[0].kind, Kind::race);
  EXPECT_EQ(faulty.reports[0].place.line, 9u);
}

TEST(ProgramsInDialects, TheFunctionsOfTr1) {
  const WrittenSource source(R"(
#include <tr1/cmath>
__global__ void fill(int* p, int n) { if (threadIdx.x < n) p[threadIdx.x] = 1; }
int main(int argc, char**) {
  int* p;
  cudaMalloc(&p, 128);
  fill<<<1, 64>>>(p, 31 + argc);
  return std::tr1::beta(1.0, 1.0) != 1;
}
)",
                             "fill.cu");
  const Module module = Module::build({.sources = {source.path()}, .watch = true});
  EXPECT_TRUE(module.run_main().ok());
  EXPECT_EQ(module.run_main({"one more"}).reports.size(), 1u);
}

// Macros of the program in front of the runtime's header, with names that any header has; a header of the
// library that the vendor's compiler brings along; the host's generators, which curand_kernel.h does.
const char* const kMacrosFirst = R"(
#define fp float
#define N 64
#define T 3
#include <hip/hip_runtime.h>
__global__ void scale(fp* p, int n) {
  if (threadIdx.x < n) p[threadIdx.x] *= T;
}
int main(int count, char**) {
  const auto begin = std::chrono::steady_clock::now();
  fp *p, h[N];
  for (int i = 0; i < N; ++i) h[i] = i;
  hipMalloc(&p, sizeof h), hipMemcpy(p, h, sizeof h, hipMemcpyHostToDevice);
  scale<<<1, 2 * N>>>(p, count > 1 ? N + 1 : N);
  hipMemcpy(h, p, sizeof h, hipMemcpyDeviceToHost);
  return h[5] != 15 || (std::chrono::steady_clock::now() - begin).count() < 0;
}
)";
const char* const kBothGenerators = R"(
#include <curand_kernel.h>
__global__ void add(float* p, int n) {
  curandState state;
  curand_init(1, threadIdx.x, 0, &state);
  if (threadIdx.x < n) p[threadIdx.x] += curand_uniform(&state);
}
int main(int count, char**) {
  curandGenerator_t host;
  float *p, h[32];
  cudaMalloc(&p, sizeof h);
  if (curandCreateGenerator(&host, CURAND_RNG_PSEUDO_DEFAULT) || curandGenerateUniform(host, p, 32)) return 1;
  add<<<1, 64>>>(p, count > 1 ? 33 : 32);
  cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost);
  return !(h[31] > 0 && h[31] <= 2);
}
)";

TEST(ProgramsInDialects, WhatTheVendorsHeadersBringAlong) {
  for (const auto& [text, file] :
       {std::pair{kMacrosFirst, "macros.hip"}, {kBothGenerators, "generators.cu"}}) {
    const WrittenSource source(text, file);
    const Module module = Module::build({.sources = {source.path()}, .watch = true});
    const RunResult good = module.run_main();
    EXPECT_EQ(good.exit_status, 0) << file << ": " << good.failure;
    for (const Report& report : good.reports) ADD_FAILURE() << report.text;
    const RunResult faulty = module.run_main({"more"});
    ASSERT_FALSE(faulty.reports.empty()) << file;
    EXPECT_EQ(faulty.reports[0].kind, Kind::out_of_bounds_read);
  }
}

// Kernels and functions of the host that are specialised by a value.
const char* const kSpecialised = R"(
#include <vector>
enum class kind { a, b };
template <kind K> __global__ void k(float* p, int n);
template <>
__global__ void __launch_bounds__(32) k<kind::a>(float* p, int n) {
  if (threadIdx.x < n) p[threadIdx.x] = 1;
}
template <kind K> void run(float* p, int n);
template <>
__host__ void run<kind::a>(float* p, int n) {
  const std::vector<int> sizes(1, 32);
  k<kind::a><<<1, sizes[0]>>>(p, n);
}
int main(int count, char**) {
  std::vector<float> h(16);
  float* p;
  cudaMalloc(&p, 64);
  run<kind::a>(p, count > 1 ? 17 : 16);
  cudaMemcpy(h.data(), p, 64, cudaMemcpyDeviceToHost);
  return h[15] != 1;
}
)";

TEST(ProgramsInDialects, SpecialisedKernelsAndTheirHosts) {
  const WrittenSource source(kSpecialised, "specialised.cu");
  const Module module = Module::build({.sources = {source.path()}, .watch = true});
  const RunResult good = module.run_main();
  EXPECT_EQ(good.exit_status, 0) << good.failure;
  for (const Report& report : good.reports) ADD_FAILURE() << report.text;
  const RunResult faulty = module.run_main({"more"});
  ASSERT_EQ(faulty.reports.size(), 1u);
  EXPECT_EQ(faulty.reports[0].kind, Kind::out_of_bounds_write);
  EXPECT_EQ(faulty.reports[0].place.line, 7u);
}

}  // namespace
}  // namespace isomer::emulator::tests
