// Whole programs, with a main of their own: what they find stays found however they end.
#include <gtest/gtest.h>

#include "isomer/emulator/module.hpp"
#include "written_source.hpp"

namespace isomer::emulator::tests {
namespace {

const char* const kEnds = R"(
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <unistd.h>
__global__ void fill(int* p, int n) { if (threadIdx.x < n) p[threadIdx.x] = n; }
int main(int count, char** words) {
  int* p;
  cudaMalloc(&p, 40);
  fill<<<1, 32>>>(p, atoi(words[2]));
  cudaDeviceSynchronize();
  std::ios::sync_with_stdio(false);
  std::cout << "on the way";
  switch (words[1][0]) {
    case 'e': exit(atoi(words[3]));
    case 'E': _exit(atoi(words[3]));
    case 'a': abort();
    case 'f': if (fork() == 0) exit(9); return 0;
  }
  return atoi(words[3]);
}
)";

class Ends : public testing::Test {
 protected:
  static RunResult run(const std::vector<std::string>& words) {
    static const WrittenSource source(kEnds, "ends.cu");
    static const Module module = Module::build({.sources = {source.path()}, .watch = true});
    return module.run_main(words);
  }
};

TEST_F(Ends, WhatWasFoundStaysFoundHoweverMainEnds) {
  for (const char* how : {"return", "exit", "Exit", "abort", "fork"}) {
    const RunResult r = run({how, "11", "0"});
    ASSERT_EQ(r.reports.size(), 1u) << how << ": " << r.failure;
    EXPECT_EQ(r.reports[0].kind, Kind::out_of_bounds_write);
    EXPECT_EQ(r.reports[0].place.line, 6u);
    EXPECT_EQ(r.launches.size(), 1u) << how;
  }
}

TEST_F(Ends, StatusZeroIsSuccessAndAnyOtherIsHandedOn) {
  for (const char* how : {"return", "exit", "Exit", "fork"}) {
    const RunResult r = run({how, "10", "0"});
    EXPECT_TRUE(r.ok()) << how << ": " << r.failure;
    EXPECT_EQ(r.exit_status, 0) << how;
    EXPECT_EQ(r.output.find("on the way"), 0u) << how;
  }
  for (const char* how : {"return", "exit", "Exit"}) EXPECT_EQ(run({how, "10", "7"}).exit_status, 7) << how;
  const RunResult aborted = run({"abort", "10", "0"});
  EXPECT_NE(aborted.failure.find("host code stopped with an abort"), std::string::npos) << aborted.failure;
  EXPECT_EQ(aborted.launches.size(), 1u);
}

struct Written {
  const char* name;
  const char* file;
  const char* text;
};

// What programs of others are written with: each runs to its end, with nothing found.
const Written kWritten[] = {
    {"default_arguments_of_kernels", "k.cu", R"(
__global__ void fill(int* p, int n = 16, int value = 3) { if (threadIdx.x < n) p[threadIdx.x] = value; }
template <class T> __global__ void fill_as(T* p, int n = 16) { if (threadIdx.x < n) p[threadIdx.x] = T(n); }
int main() {
  int *p, host[16];
  cudaMalloc(&p, sizeof host);
  fill_as<<<1, 32>>>(p);
  fill<<<1, 32>>>(p);
  fill<<<1, 32>>>(p, 8);
  cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
  return host[15] != 3;
})"},
    {"alignment_behind_a_typedef", "k.cu", R"(
typedef struct { float x, y, z; } __align__(16) Point;
struct __align__(8) Pair { int a, b; };
__global__ void move(Point* p) { __shared__ __align__(32) char room[64]; room[threadIdx.x] = 1; p[threadIdx.x].x = room[threadIdx.x]; }
int main() {
  Point* p;
  cudaMalloc(&p, 64 * sizeof(Point));
  move<<<1, 64>>>(p);
  return sizeof(Point) != 16 || alignof(Pair) != 8;
})"},
    {"the_default_stream_by_its_macro", "k.hip.cpp", R"(
#include <hip/hip_runtime.h>
#ifndef hipStreamDefault
#error a macro
#endif
__global__ void fill(int* p) { p[threadIdx.x] = 1; }
int main() {
  int* p;
  hipStream_t stream = hipStreamDefault;
  if (hipMalloc(&p, 128) != hipSuccess) return 1;
  fill<<<1, 32, 0, hipStreamDefault>>>(p);
  hipLaunchKernelGGL(fill, dim3(1), dim3(32), 0, stream, p);
  return hipDeviceSynchronize();
})"},
    {"any_group", "k.cu", R"(
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__device__ int sum(cg::thread_group g, int* room, int v) {
  const int rank = g.thread_rank();
  for (int i = g.size() / 2; i > 0; i /= 2) {
    room[rank] = v;
    g.sync();
    if (rank < i) v += room[rank + i];
    g.sync();
  }
  return rank == 0 ? v : -1;
}
__global__ void sums(int* out) {
  __shared__ int room[64];
  const cg::thread_block block = cg::this_thread_block();
  const int all = sum(block, room, threadIdx.x);
  if (all >= 0) out[0] = all;
  const cg::thread_group tile = cg::tiled_partition(block, 16);
  const int part = sum(tile, room + threadIdx.x / 16 * 16, 1);
  if (part >= 0) out[1 + threadIdx.x / 16] = part;
}
int main() {
  int *out, host[5];
  cudaMalloc(&out, sizeof host);
  sums<<<1, 64>>>(out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  return host[0] != 2016 || host[4] != 16;
})"},
    {"what_helpers_ask_of_the_runtime", "k.cu", R"(
#include <cuComplex.h>
#include <cuda_profiler_api.h>
#include <driver_types.h>
#include <vector_functions.h>
#if !defined(__CUDA_RUNTIME_H__) || !defined(__DRIVER_TYPES_H__)
#error by these they know that the runtime is there
#endif
static void CUDART_CB done(cudaStream_t, cudaError_t status, void* flag) { *static_cast<int*>(flag) += status == cudaSuccess; }
static void CUDART_CB called(void* flag) { *static_cast<int*>(flag) += 10; }
__global__ void twice(cuComplex* z) { z[threadIdx.x] = cuCmulf(z[threadIdx.x], make_cuComplex(0, 2)); }
int main() {
  cudaError error = cudaSuccess;
  int mode = 9, major = 0, flag = 0;
  cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, 0);
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
  cudaDeviceProp p;
  error = cudaGetDeviceProperties(&p, 0);
  cuComplex *z, host = make_cuComplex(1, 1), *mapped;
  static cuComplex ours[2];
  cudaHostRegister(ours, sizeof ours, cudaHostRegisterMapped);
  cudaHostGetDevicePointer(&mapped, ours, 0);
  cudaMallocManaged(&z, sizeof *z);
  *z = host;
  cudaMemPrefetchAsync(z, sizeof *z, 0);
  twice<<<1, 1>>>(z);
  twice<<<1, 2>>>(mapped);
  cudaStreamAddCallback(nullptr, done, &flag, 0);
  cudaLaunchHostFunc(nullptr, called, &flag);
  cudaFuncAttributes a;
  cudaFuncGetAttributes(&a, twice);
  cudaThreadSynchronize();
  return error != cudaSuccess || mode != cudaComputeModeDefault || major != 9 || flag != 11 || cuCrealf(*z) != -2 ||
         a.maxThreadsPerBlock != 1024 || p.asyncEngineCount != 1;
})"},
};

class ProgramOfOthers : public testing::TestWithParam<Written> {};

TEST_P(ProgramOfOthers, RunsToItsEnd) {
  const WrittenSource source(GetParam().text, GetParam().file);
  const RunResult r = Module::build({.sources = {source.path()}, .watch = true}).run_main();
  EXPECT_TRUE(r.ok()) << r.failure;
  for (const Report& report : r.reports) ADD_FAILURE() << report.text;
  for (const std::string& refusal : r.refusals) ADD_FAILURE() << refusal;
  EXPECT_EQ(r.exit_status, 0);
}

INSTANTIATE_TEST_SUITE_P(All, ProgramOfOthers, testing::ValuesIn(kWritten),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace isomer::emulator::tests
