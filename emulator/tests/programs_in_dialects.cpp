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

}  // namespace
}  // namespace isomer::emulator::tests
