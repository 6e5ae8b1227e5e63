// What stands in front of a launch's angle brackets, and what the calls that launch by address return.
#include <gtest/gtest.h>

#include "good_program.hpp"
#include "isomer/emulator/module.hpp"
#include "written_source.hpp"

namespace isomer::emulator::tests {
namespace {

// Kernels behind pointers that are members of what tables, calls and parentheses give.
const char* const kTables = R"(
#include <cuda_runtime.h>
struct Version { const char* name; void (*run)(int*, int); };
__global__ void plus(int* p, int by) { p[threadIdx.x] += by; }
__global__ void times(int* p, int by) { p[threadIdx.x] *= by; }
struct { Version versions[1]; } nested = {{{"plus", plus}}};
Version table[2] = {{"plus", plus}, {"times", times}};
Version& chosen(int i) { return table[i]; }
Version* pointed(int i) { return &table[i]; }
int main(int argc, char**) {
  int *d, h[4] = {1, 1, 1, 1}, n = argc > 1 ? 5 : 4;
  cudaMalloc(&d, sizeof h);
  cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
  for (int i = 0; i < 2; ++i) table[i].run<<<1, 4>>>(d, 2);     // 6
  if (n) chosen(0).run<<<1, 4>>>(d, 1);                         // 7
  if (n) (*pointed(1)).run<<<1, 4>>>(d, 3);                     // 21
  else pointed(0)->run<<<1, 4>>>(d, 3);
  nested.versions[0].run<<<1, 4>>>(d, 4);                       // 25
  if (n) ::times<<<1, 4>>>(d, 2);                               // 50
  pointed(0)->run<<<1, n>>>(d, 1);                              // 51
  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
  return h[3] == 51 ? 0 : 1;
}
)";

TEST(LaunchForms, KernelsBehindMembersOfTablesCallsAndParentheses) {
  const WrittenSource source(kTables, "tables.cu");
  const Module module = Module::build({.sources = {source.path()}, .watch = true});
  expect_good(module);
  const RunResult faulty = module.run_main({"one more"});
  ASSERT_FALSE(faulty.reports.empty()) << faulty.failure;
  EXPECT_EQ(faulty.reports[0].kind, Kind::out_of_bounds_read);
  EXPECT_EQ(faulty.reports[0].place.line, 4u);
}

// A parameter may be called as a kernel is: what it points to is launched.
const char* const kHidden = R"(
#include <cuda_runtime.h>
__global__ void twice(int* p) { p[threadIdx.x] *= 2; }
__global__ void thrice(int* p) { p[threadIdx.x] *= 3; }
template <class... A> void run(void (*twice)(A...), int threads, A... a) { twice<<<1, threads>>>(a...); }
int main(int argc, char**) {
  int *d, h[4] = {1, 1, 1, 1};
  cudaMalloc(&d, sizeof h);
  cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
  run(&thrice, argc > 1 ? 5 : 4, d);
  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
  return h[3] == 3 ? 0 : 1;
}
)";

TEST(LaunchForms, AVariableThatHidesAKernelIsLaunched) {
  const WrittenSource source(kHidden, "hidden.cu");
  const Module module = Module::build({.sources = {source.path()}, .watch = true});
  expect_good(module);
  const RunResult faulty = module.run_main({"one more"});
  ASSERT_FALSE(faulty.reports.empty()) << faulty.failure;
  EXPECT_EQ(faulty.reports[0].kind, Kind::out_of_bounds_read);
  EXPECT_EQ(faulty.reports[0].place.line, 4u);
}

// A launch has not run when its call returns: what its threads do wrong is told when the host waits.
const char* const kFails = R"(
#include <cuda.h>
#include <cassert>
__global__ void positive(int n) { assert(n > 0); }
int main(int argc, char**) {
  CUfunction function;
  cudaGetFuncBySymbol(&function, positive);
  int n = argc > 1 ? 0 : 1;
  void* arguments[] = {&n};
  if (cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, arguments, 0)) return 1;
  if (cuCtxSynchronize() != (argc > 1 ? CUDA_ERROR_ASSERT : CUDA_SUCCESS)) return 2;
  return cuLaunchKernel(function, 0, 1, 1, 1, 1, 1, 0, 0, arguments, 0) == CUDA_SUCCESS ? 3 : 0;
}
)";

TEST(LaunchForms, WhatThreadsDoWrongIsToldWhenTheHostWaits) {
  const WrittenSource source(kFails, "fails.cu");
  const Module module = Module::build({.sources = {source.path()}, .watch = true});
  const RunResult good = module.run_main();
  EXPECT_EQ(good.exit_status, 0);
  EXPECT_TRUE(good.reports.empty());
  EXPECT_EQ(good.refusals.size(), 1u);  // a launch of no block
  const RunResult faulty = module.run_main({"zero"});
  EXPECT_EQ(faulty.exit_status, 0);
  ASSERT_EQ(faulty.reports.size(), 1u);
  EXPECT_EQ(faulty.reports[0].kind, Kind::assertion);
}

}  // namespace
}  // namespace isomer::emulator::tests
