// A watched launch whose blocks run side by side on several cores says what it says on one: the same findings with the
// same lines and counts, the same values in memory, the same order of what is printed.
#include <gtest/gtest.h>

#include "good_program.hpp"
#include "written_source.hpp"

namespace isomer::emulator::tests {
namespace {

constexpr const char* kSource = R"(#include <cuda_runtime.h>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>
constexpr int kThreads = 64, kBlocks = 24, kAll = kThreads * kBlocks;
#define AT (blockIdx.x * blockDim.x + threadIdx.x)
__global__ void doubled(const float* x, float* y) { y[AT] = 2 * x[AT]; }
__global__ void in_place(float* y) { y[AT] += 1; }
__global__ void shares_reads(float* x, float* y) { y[AT] = x[AT] + x[(AT + kThreads) % kAll] + x[3]; }
__global__ void bytes(unsigned char* x) { x[AT] = x[AT] + 1; }
__global__ void in_tiles(const float* x, float* y) {
  __shared__ float tile[kThreads];
  tile[threadIdx.x] = x[AT];
  __syncthreads();
  y[AT] = tile[kThreads - 1 - threadIdx.x];
}
__global__ void counted(unsigned* count) {
  __shared__ unsigned own[16];
  if (threadIdx.x < 16) own[threadIdx.x] = 0;
  __syncthreads();
  for (unsigned i = 0; i < 400; ++i) atomicAdd(&own[(AT + i * i) % 16], 1u);
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&count[threadIdx.x], own[threadIdx.x]);
}
__global__ void summed(const float* x, float* sum) {
  __shared__ float part[kThreads];
  part[threadIdx.x] = x[AT] / 3;
  for (int d = kThreads / 2; d > 0; d /= 2) {
    __syncthreads();
    if (threadIdx.x < d) part[threadIdx.x] += part[threadIdx.x + d];
  }
  if (threadIdx.x == 0) atomicAdd(sum, part[0]);
}
__global__ void listed(unsigned* count, float* y) {
  __shared__ unsigned place;
  if (threadIdx.x == 0) place = atomicAdd(count, 1u);
  __syncthreads();
  y[place * kThreads + threadIdx.x] = AT;
}
__global__ void last_sums(const float* x, float* parts, unsigned* done, bool fences) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = x[AT];
    if (fences) __threadfence();
    last = atomicAdd(done, 1u) == gridDim.x - 1;
    if (last) __threadfence();
    if (last)
      for (unsigned i = 1; i < gridDim.x; ++i) parts[0] += parts[i];
  }
}
__global__ void writes_anew(float* y, bool late) {
  y[AT] += 1;
  if (late && blockIdx.x == kBlocks - 1) y[threadIdx.x] += 1;
}
__global__ void reads_next(float* y) { y[AT] = y[(AT + kThreads) % kAll]; }
__global__ void same_value(float* y) { y[threadIdx.x] = 7; }
__global__ void in_one_block(float* y) {
  __shared__ float tile[kThreads];
  tile[threadIdx.x] = AT;
  if (blockIdx.x % 5 != 3) __syncthreads();
  y[AT] = tile[threadIdx.x ^ 1];
}
__global__ void outside(float* x, float* y) {
  y[AT] = x[AT];
  if (blockIdx.x > 9 && threadIdx.x == 2) y[kAll + blockIdx.x] = 1;
}
__global__ void outside_of_tile(float* y) {
  __shared__ float first[8], second[8];
  first[threadIdx.x % 8] = second[threadIdx.x / 8] = 0;
  if (blockIdx.x == 11 && threadIdx.x == 0) first[5000] = 1;
  y[AT] = 1;
}
__global__ void unwritten(float* x, float* y) { y[AT] = x[kAll - 1 - AT / 2]; }
__global__ void says(float* y) {
  y[AT] += 1;
  if (threadIdx.x == 0) printf("block %d\n", blockIdx.x);
}
__global__ void asserts(float* y) {
  y[AT] += 1;
  assert(blockIdx.x != 5 || threadIdx.x != 9);
}
__global__ void divides(const float* x, float* y) { y[AT] = 100 / (int(AT) - 1000 - int(x[0])); }
__global__ void through_null(float* x, float* y) {
  y[AT] = 1;
  if (blockIdx.x == 7) y[AT] = *(x + threadIdx.x);
}
__global__ void allocates(float* y) {
  if (threadIdx.x == 0) {
    float* own = static_cast<float*>(malloc(8));
    own[0] = blockIdx.x;
    y[blockIdx.x] = own[0];
    free(own);
  }
}
__global__ void awaits_next(volatile unsigned* flags, float* y) {
  if (threadIdx.x == 0) {
    if (blockIdx.x + 1 < gridDim.x)
      while (flags[blockIdx.x + 1] == 0) {}
    __threadfence();
    y[blockIdx.x] = 1;
    __threadfence();
    flags[blockIdx.x] = 1;
  }
}
int main(int, char** word) {
  float *x, *y, *fresh;
  cudaMalloc(&x, kAll * 4), cudaMalloc(&y, kAll * 4), cudaMalloc(&fresh, kAll * 4);
  float host[kAll];
  for (int i = 0; i < kAll; ++i) host[i] = i % 37;
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemset(y, 0, sizeof host);
  unsigned* n = reinterpret_cast<unsigned*>(y) + 64;
  const auto is = [&](const char* name) { return std::strcmp(word[1], name) == 0; };
#define RUN(KERNEL, ...) if (is(#KERNEL)) KERNEL<<<kBlocks, kThreads>>>(__VA_ARGS__)
  RUN(doubled, x, y);
  RUN(in_place, y);
  RUN(shares_reads, x, y);
  RUN(bytes, reinterpret_cast<unsigned char*>(y));
  RUN(in_tiles, x, y);
  RUN(counted, n);
  RUN(summed, x, y);
  if (is("listed")) listed<<<kBlocks - 1, kThreads>>>(reinterpret_cast<unsigned*>(y) + kAll - 1, y);
  if (is("last_sums")) last_sums<<<kBlocks, kThreads>>>(x, y, n, true);
  if (is("last_sums_unfenced")) last_sums<<<kBlocks, kThreads>>>(x, y, n, false);
  if (is("writes_anew")) writes_anew<<<kBlocks, kThreads>>>(y, true), writes_anew<<<kBlocks, kThreads>>>(y, false);
  RUN(reads_next, y);
  RUN(same_value, y);
  RUN(in_one_block, y);
  RUN(outside, x, y);
  RUN(outside_of_tile, y);
  RUN(unwritten, fresh, y);
  RUN(says, y);
  RUN(asserts, y);
  RUN(divides, x, y);
  RUN(through_null, nullptr, y);
  RUN(allocates, y);
  RUN(awaits_next, n, y);
  std::printf("%d\n", cudaDeviceSynchronize());
  cudaMemcpy(host, y, sizeof host, cudaMemcpyDeviceToHost);
  unsigned sum = 0, bits;
  for (int i = 0; i < kAll; ++i) std::memcpy(&bits, &host[i], 4), sum = sum * 31 + bits;
  std::printf("%08x\n", sum);
}
)";

/// All that a run says, but for times.
std::string said(const RunResult& result) {
  std::string all = result.output + result.failure + result.not_finished;
  for (const Report& r : result.reports) all += r.text + " (" + std::to_string(r.count) + " times)\n";
  for (const Refusal& r : result.refusals) all += r.text + "\n";
  for (const LaunchRecord& l : result.launches)
    all += l.kernel + " " + std::to_string(l.error) + " " + std::to_string(l.thread_steps) + "\n";
  return all;
}

TEST(SideBySide, SaysWhatOneCoreSays) {
  const WrittenSource source(kSource);
  const Module module = Module::build({.sources = {source.path()}, .watch = true});
  const struct {
    const char* program;
    bool clean;  ///< nothing is found, and its blocks run so to the end
  } programs[] = {{"doubled", true},       {"in_place", true},     {"shares_reads", true},
                  {"bytes", true},         {"in_tiles", true},     {"counted", true},
                  {"summed", true},        {"listed", true},       {"last_sums", true},
                  {"writes_anew", false},  {"reads_next", false},  {"same_value", false},
                  {"in_one_block", false}, {"outside", false},     {"outside_of_tile", false},
                  {"unwritten", false},    {"says", false},        {"asserts", false},
                  {"divides", false},      {"through_null", false}, {"allocates", false},
                  {"awaits_next", false},  {"last_sums_unfenced", false}};
  for (const std::uint64_t seed : {std::uint64_t{0}, RunOptions::kReversed}) {
    for (const auto& each : programs) {
      SCOPED_TRACE(each.program);
      RunOptions options;
      options.seed = seed;
      options.workers = 1;
      const RunResult alone = module.run_main({each.program}, options);
      EXPECT_FALSE(alone.launches.at(0).side_by_side);
      if (each.clean) EXPECT_TRUE(alone.reports.empty()) << alone.reports[0].text;
      options.workers = seed == 0 ? 3 : 2;
      const RunResult beside = module.run_main({each.program}, options);
      EXPECT_EQ(said(beside), said(alone));
      // In the opposite order every block finds that the one it waits for has ended.
      const bool waits_for_earlier = seed != 0 && std::string(each.program) == "awaits_next";
      EXPECT_EQ(beside.launches.at(0).side_by_side, each.clean || waits_for_earlier);
    }
  }
}

}  // namespace
}  // namespace isomer::emulator::tests
