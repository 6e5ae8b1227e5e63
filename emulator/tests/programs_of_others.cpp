// Forms in which other people's programs waited, sorted, asked for memory on the device or were not complete.
#include <gtest/gtest.h>

#include <algorithm>

#include "isomer/emulator/error.hpp"
#include "isomer/emulator/module.hpp"
#include "written_source.hpp"

namespace isomer::emulator::tests {
namespace {

// Flag and value in one word, awaited by a loop that looks again with `continue`; `early`: the value is read
// without waiting for it.
const char* const kLooksBack = R"(
typedef unsigned long long u64;
__global__ void scan(const int* in, int* out, u64* state, unsigned* ticket, int early) {
  int b = atomicAdd(ticket, 1), sum = 0;
  if (b > 0) atomicExch(&state[b], 1ull << 32 | in[b]);
  if (early && b == 7) sum = (int)*(volatile u64*)&state[0];
  for (int j = b - 1; j >= 0;) {
    u64 s = *(volatile u64*)&state[j];
    if (s >> 32 == 0) continue;
    sum += (int)(unsigned)s;
    if (s >> 32 == 2) break;
    --j;
  }
  atomicExch(&state[b], 2ull << 32 | (unsigned)(sum + in[b]));
  out[b] = sum + in[b];
}
int main(int argc, char**) {
  int *in, *out, n = 8; u64* state; unsigned* ticket;
  cudaMallocManaged(&in, 4 * n); cudaMallocManaged(&out, 4 * n);
  cudaMallocManaged(&state, 8 * n); cudaMallocManaged(&ticket, 4);
  for (int i = 0; i < n; ++i) in[i] = i;
  scan<<<n, 1>>>(in, out, state, ticket, argc > 1);
  cudaDeviceSynchronize();
  return argc == 1 && out[n - 1] != 28;
}
)";

TEST(ProgramOfOthers, ALoopThatLooksAgainWithContinueWaits) {
  const WrittenSource source(kLooksBack, "lookback.cu");
  const Module module = Module::build({.sources = {source.path()}, .watch = true});
  const RunResult good = module.run_main();
  EXPECT_TRUE(good.ok()) << (good.reports.empty() ? good.failure : good.reports[0].text);
  EXPECT_EQ(good.exit_status, 0);
  const RunResult early = module.run_main({"early"});
  ASSERT_EQ(early.reports.size(), 1u);
  EXPECT_EQ(early.reports[0].kind, Kind::race);
  EXPECT_EQ(early.reports[0].place.line, 6u);
}

TEST(ProgramOfOthers, ItsLoopsAreKnownByARelativePathToo) {
  const WrittenSource source(kLooksBack, "lookback.cu");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(source.directory());
  const Module module = Module::build({.sources = {"lookback.cu"}, .watch = true});
  const RunResult good = module.run_main();
  std::filesystem::current_path(before);
  EXPECT_TRUE(good.ok()) << (good.reports.empty() ? good.failure : good.reports[0].text);
}

const char* const kForms = R"(
#include <cooperative_groups.h>
#include <cooperative_groups/scan.h>
#include <cub/block/block_radix_sort.cuh>
#ifdef __CUDA_ARCH__
#define UNROLL #pragma unroll
#else
#define UNROLL
#endif
namespace cg = cooperative_groups;
__host__ __device__ int sum_of(const int* x) {
  int s = 0;
  UNROLL
  for (int i = 0; i < 4; ++i) s += x[i];
  return s;
}
__global__ void forms(int* o) {
  const int t = threadIdx.x;
  int sum, most, four, x = t + 1, words[4] = {1, 2, 3, 4};
  asm("redux.sync.add.s32 %0, %1, 0xffffffff;" : "=r"(sum) : "r"(x));
  asm("redux.sync.max.s32 %0, %1, 0xffffffff;" : "=r"(most) : "r"(-x));
  asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(four) : "r"(0x01ff0203), "r"(0x01010101), "r"(4));
  int byte;
  asm("cvt.rni.sat.s8.f32 %0, %1;" : "=r"(byte) : "f"(300.5f * (t - 1)));
  const int before = cg::exclusive_scan(cg::tiled_partition<32>(cg::this_thread_block()), 2, cg::plus<int>());
  int* own = nullptr;
  if (cudaMalloc((void**)&own, 4 * sizeof(int)) == cudaSuccess) own[3] = 7;
  o[t] = sum == 528 && most == -1 && four == 9 && byte == (t == 0 ? -128 : t == 1 ? 0 : 127) && before == 2 * t && own[3] == 7 && sum_of(words) == 10;
  cudaFree(own);
}
template <class Key> __global__ void sorts(Key* keys, int* values, int descending) {
  typedef cub::BlockRadixSort<Key, 64, 3, int> Sort;
  __shared__ typename Sort::TempStorage storage;
  Key k[3]; int v[3];
  for (int i = 0; i < 3; ++i) k[i] = keys[threadIdx.x * 3 + i], v[i] = threadIdx.x * 3 + i;
  if (descending) Sort(storage).SortDescending(k, v); else Sort(storage).SortBlockedToStriped(k, v);
  for (int i = 0; i < 3; ++i) {
    const int at = descending ? threadIdx.x * 3 + i : i * 64 + threadIdx.x;
    keys[at] = k[i], values[at] = v[i];
  }
}
template <class Key> int sorted(int descending) {
  Key h[192], r[192], *d; int from[192], *v;
  for (int i = 0; i < 192; ++i) h[i] = (Key)((i * 7919 + 13) % 97 - 40);
  cudaMalloc(&d, sizeof h); cudaMalloc(&v, sizeof from);
  cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
  sorts<<<1, 64>>>(d, v, descending);
  cudaMemcpy(r, d, sizeof h, cudaMemcpyDeviceToHost); cudaMemcpy(from, v, sizeof from, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 192; ++i) if (r[i] != h[from[i]]) return 1;
  for (int i = 1; i < 192; ++i) {
    if (descending ? r[i] > r[i - 1] : r[i] < r[i - 1]) return 2;
    if (r[i] == r[i - 1] && from[i] < from[i - 1]) return 3;
  }
  return 0;
}
int main() {
  unsigned lo, hi;
  __asm__ volatile(".byte 0x0f, 0x31" : "=a"(lo), "=d"(hi));
  int h[32], *o;
  cudaMalloc(&o, sizeof h);
  forms<<<1, 32>>>(o);
  cudaMemcpy(h, o, sizeof h, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 32; ++i) if (!h[i]) return 10 + i;
  if (int wrong = sorted<int>(0)) return wrong;
  if (int wrong = sorted<float>(1)) return 3 + wrong;
  return sorted<signed char>(0) ? 7 : 0;
}
)";

TEST(ProgramOfOthers, InstructionsSortsAndMemoryOfTheDevice) {
  const WrittenSource source(kForms, "forms.cu");
  const RunResult r = Module::build({.sources = {source.path()}, .watch = true}).run_main();
  EXPECT_TRUE(r.ok()) << (r.reports.empty() ? r.failure : r.reports[0].text);
  EXPECT_EQ(r.exit_status, 0);
}

const char* const kOfHip = R"(
#include <hip/hip_runtime.h>
#include <hip/channel_descriptor.h>
#include <hip/driver_types.h>
#include <hip/hip_texture_types.h>
#include <hip/surface_types.h>
template <int A, int B> __global__ void counts(int* o) {
  asm volatile("s_waitcnt vmcnt(0)\n s_nop 0" ::: "memory");
  o[threadIdx.x] = __mbcnt_hi(~0u, __mbcnt_lo(~0u, 0u)) + A + B;
}
int main() {
  int *o, h[64];
  hipMalloc(&o, sizeof h);
  hipLaunchKernelGGL(HIP_KERNEL_NAME(counts<3, 4>), 1, 64, 0, 0, o);
  hipMemcpy(h, o, sizeof h, hipMemcpyDeviceToHost);
  return h[5] != 12;
}
)";

TEST(ProgramOfOthers, HeadersNamesAndWaitsOfHip) {
  const WrittenSource source(kOfHip, "counts.hip");
  const RunResult r = Module::build({.sources = {source.path()}, .lanes = 64, .watch = true}).run_main();
  EXPECT_TRUE(r.ok()) << (r.reports.empty() ? r.failure : r.reports[0].text);
  EXPECT_EQ(r.exit_status, 0);
  ASSERT_EQ(r.launches.size(), 1u);
  EXPECT_EQ(r.launches[0].kernel, "counts<3, 4>");
}

TEST(ProgramOfOthers, ABracketThatIsNeverClosedIsNamed) {
  const WrittenSource source(
      "__global__ void k(int* z) { *z = 1; }\nint main() {\n  while (true) {\n    return 1;\n", "open.cu");
  try {
    Module::build({.sources = {source.path()}});
    FAIL() << "it was built";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("open.cu:3: '{' is never closed"), std::string::npos) << e.what();
  }
}

TEST(ProgramOfOthers, WhatEndsTheHostIsNoErrorOfTheDevice) {
  const WrittenSource source(R"(
#include <cassert>
__global__ void k(int* y) { *y = 3; }
int main() {
  int r = 0, *y;
  cudaMalloc(&y, 4);
  k<<<1, 1>>>(y);
  cudaMemcpy(&r, y, 4, cudaMemcpyDeviceToHost);
  assert(r == 4);
}
)",
                             "asserts.cu");
  const RunResult r = Module::build({.sources = {source.path()}, .watch = true}).run_main();
  EXPECT_NE(r.failure.find("host code stopped with an abort"), std::string::npos) << r.failure;
  EXPECT_EQ(r.error, 0);
  EXPECT_TRUE(
      std::all_of(r.launches.begin(), r.launches.end(), [](const LaunchRecord& l) { return l.watched; }));
}

}  // namespace
}  // namespace isomer::emulator::tests
