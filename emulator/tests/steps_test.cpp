// Threads that step together have their steps numbered in one run, one that steps alone has them listed: who
// did what has to be told of both. And the constants of a launch, in each form in which sources use them.
#include <gtest/gtest.h>

#include "good_program.hpp"
#include "written_source.hpp"

namespace isomer::emulator::tests {
namespace {

constexpr const char* kSteps = R"(#include <cuda_runtime.h>
#include <cstdlib>
__device__ int flag;
__global__ void steps(int* x, int* y, int how) {
  const int t = threadIdx.x;
  if (how == 0 || how == 1) {
    // Thread 3 fences and publishes again and again, and writes one element between two fences.
    if (t == 3)
      for (int i = 0; i < 200; ++i) {
        x[i] = i;
        __threadfence();
        atomicAdd(&flag, 1);
      }
    if (how == 0) __syncthreads();
    if (t == 70) y[0] = x[50];
  } else {
    // Lanes step by shuffles together; then lane 5 of the second warp writes what a lane of the third reads.
    int v = t;
    for (int h = 16; h > 0; h /= 2) v += __shfl_xor_sync(0xffffffffu, v, h);
    y[t] = v;
    v += __shfl_xor_sync(0xffffffffu, v, 1);
    if (t == 37) x[0] = v;
    if (how == 2) __syncthreads();
    if (t == 90) y[0] = x[0];
  }
}
int main(int words, char** word) {
  int *x, *y;
  cudaMalloc(&x, 1024);
  cudaMalloc(&y, 1024);
  cudaMemset(y, 0, 1024);
  steps<<<1, 96>>>(x, y, words > 1 ? std::atoi(word[1]) : 0);
  return cudaDeviceSynchronize();
}
)";

TEST(Steps, WhoStepsAloneAndWhoStepsWithOthersIsTold) {
  const WrittenSource source(kSteps);
  const Module module = Module::build({.sources = {source.path()}, .watch = true});
  expect_good(module);
  EXPECT_TRUE(module.run_main({"2"}).reports.empty());
  const struct {
    const char *how, *reader, *writer;
  } faulty[] = {{"1", "thread (70,0,0)", "thread (3,0,0)"}, {"3", "thread (90,0,0)", "thread (37,0,0)"}};
  for (const auto& fault : faulty) {
    const RunResult result = module.run_main({fault.how});
    ASSERT_FALSE(result.reports.empty()) << fault.how;
    const std::string& text = result.reports[0].text;
    EXPECT_EQ(result.reports[0].kind, Kind::race) << text;
    EXPECT_NE(text.find(fault.reader), std::string::npos) << text;
    EXPECT_NE(text.find(fault.writer), std::string::npos) << text;
  }
}

constexpr const char* kSameWord = R"(#include <cuda_runtime.h>
#include <cstdlib>
__global__ void add(unsigned* out, int how) {
  __shared__ unsigned sum, least, bits, turned;
  if (threadIdx.x == 0) sum = 0, least = 100000, bits = 0, turned = 0;
  __syncthreads();
  for (int i = 0; i < 150; ++i) atomicAdd(&sum, 2u);
  for (int i = 0; i < 150; ++i) atomicSub(&least, 1u);
  atomicOr(&bits, 1u << threadIdx.x % 32);
  for (int i = 0; i < 3; ++i) atomicXor(&turned, 1u << threadIdx.x % 32);
  atomicAnd(&bits, 0xffff00ffu | 1u << threadIdx.x);
  if (how != 1) __syncthreads();
  if (threadIdx.x == 0) out[0] = sum, out[1] = least, out[2] = bits, out[3] = turned;
}
int main(int words, char**) {
  unsigned *out, got[4];
  cudaMalloc(&out, sizeof got);
  add<<<1, 32>>>(out, words > 1);
  cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
  return got[0] != 32 * 300 || got[1] != 100000 - 32 * 150 || got[3] != 0xffffffffu;
}
)";

TEST(Steps, AtomicsOfOneWordAgainAndAgainGiveWhatTheySayAndAPlainReadIsTold) {
  const WrittenSource source(kSameWord);
  const Module module = Module::build({.sources = {source.path()}, .watch = true});
  expect_good(module);
  const RunResult result = module.run_main({"1"});
  ASSERT_FALSE(result.reports.empty());
  EXPECT_EQ(result.reports[0].kind, Kind::race) << result.reports[0].text;
}

constexpr const char* kSizes = R"(#include <cuda_runtime.h>
struct Pair {
  dim3 size;
  uint3 place;
  __device__ Pair(dim3 s, uint3 p) : size(s), place(p) {}
};
__device__ unsigned of_size(dim3 d) { return d.x * d.y * d.z; }
__device__ unsigned of_reference(const dim3& d) { return d.x + d.y; }
__device__ unsigned of_triple(uint3 d) { return d.x + d.z; }
template <class T>
__device__ unsigned of_any(T d) { d.x += 1; return d.x; }
__global__ void sizes(unsigned* out, bool first) {
  dim3 copied = blockDim, made(gridDim);
  uint3 triple = blockDim;
  auto own = blockDim;
  own.y = 9;
  copied = gridDim;
  const dim3 chosen = first ? blockDim : dim3(7);
  Pair both(blockDim, gridDim);
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    unsigned sum = copied.x + made.y * 10 + triple.x * 100 + own.x * own.y * 1000;
    sum += of_size(blockDim) + of_reference(gridDim) + of_triple(blockDim) + of_any(gridDim);
    out[blockIdx.x] = sum + chosen.y + both.size.x + both.place.y;
  }
}
int main() {
  unsigned *out, got[3];
  cudaMalloc(&out, sizeof got);
  sizes<<<dim3(3, 1), dim3(4, 2)>>>(out, true);
  cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
  return got[2] != 3 + 10 + 400 + 36000 + 8 + 4 + 5 + 4 + 2 + 4 + 1;
}
)";

TEST(Steps, TheSizesOfALaunchInEveryForm) {
  for (const bool watch : {true, false}) {
    const WrittenSource source(kSizes);
    expect_good(Module::build({.sources = {source.path()}, .watch = watch}));
  }
}

}  // namespace
}  // namespace isomer::emulator::tests
