// Hosts in C that call the runtime beside kernels in C++.
#include <gtest/gtest.h>

#include <regex>

#include "isomer/emulator/module.hpp"
#include "written_source.hpp"

namespace isomer::emulator::tests {
namespace {

// C that no C++ is; step has the name of a function that the C library once had.
const char* const kHost = R"(
#include <cuda_runtime.h>
#include <stdlib.h>
#include <string.h>
extern void step(float*, int);
extern void twice(float*, int);
static int check(error)
  cudaError_t error;
{
  return error != cudaSuccess || strcmp(cudaGetErrorString(cudaSuccess), cudaGetErrorName(error)) != 0;
}
int main(int count, char** words) {
  int class = atoi(words[1]), i;
  float *new = malloc(64 * sizeof(float)), *d, ms;
  struct cudaDeviceProp properties;
  cudaEvent_t begin, end;
  cudaStream_t stream;
  dim3 grid = {1, 1, 1}, block = {64, 1, 1};
  void* arguments[] = {&d, &class};
  float4 four = make_float4(0, 1, 2, 3);
  if (check(cudaGetDeviceProperties(&properties, 0)) || properties.warpSize != 32) return 1;
  if (check(cudaEventCreate(&begin)) || check(cudaEventCreate(&end)) || check(cudaStreamCreate(&stream))) return 2;
  if (check(cudaMalloc((void**)&d, 64 * sizeof *d))) return 3;
  for (i = 0; i < 64; ++i) new[i] = i;
  cudaMemcpyAsync(d, new, 64 * sizeof *d, cudaMemcpyHostToDevice, stream);
  cudaEventRecord(begin, 0);
  step(d, class);
  if (check(cudaLaunchKernel((void*)twice, grid, block, arguments, 0, stream))) return 4;
  cudaEventRecord(end, 0);
  cudaEventSynchronize(end);
  if (check(cudaEventElapsedTime(&ms, begin, end))) return 5;
  cudaMemcpy(new, d, 64 * sizeof *d, cudaMemcpyDeviceToHost);
  for (i = 0; i < 64; ++i)
    if (new[i] != 2 * (i + four.y)) return 6;
  cudaFree(d);
  return check(cudaGetLastError());
}
)";
const char* const kDevice = R"(
#include <cuda_runtime.h>
extern "C" __global__ void twice(float* d, int n) { if (threadIdx.x < n) d[threadIdx.x] *= 2; }
__global__ void add(float* d, int n) { if (threadIdx.x < n) d[threadIdx.x] += 1; }
extern "C" void step(float* d, int n) { add<<<1, 96>>>(d, n); }
)";

void expect_good_and_faulty(const Module& module) {
  const RunResult good = module.run_main({"64"});
  EXPECT_TRUE(good.ok()) << good.failure;
  EXPECT_EQ(good.exit_status, 0);
  EXPECT_EQ(good.launches.size(), 2u);
  for (const Report& report : good.reports) ADD_FAILURE() << report.text;
  const RunResult faulty = module.run_main({"65"});
  ASSERT_EQ(faulty.reports.size(), 2u);
  EXPECT_EQ(faulty.reports[0].kind, Kind::out_of_bounds_read);
  EXPECT_EQ(faulty.reports[0].kernel, "add");
  EXPECT_EQ(faulty.reports[0].place.line, 4u);
}

TEST(HostsInC, CallCudasRuntimeAndLaunchByAddress) {
  const WrittenSource host(kHost, "host.c");
  const WrittenSource device(kDevice, "device.cu");
  expect_good_and_faulty(Module::build({.sources = {host.path(), device.path()}, .watch = true}));
}

TEST(HostsInC, CallHipsRuntime) {
  const auto in_hip = [](std::string text) {
    text = std::regex_replace(text, std::regex("struct cudaDeviceProp"), "hipDeviceProp_t");
    text = std::regex_replace(text, std::regex("cuda_runtime.h"), "hip/hip_runtime.h");
    return std::regex_replace(text, std::regex("cuda"), "hip");
  };
  const WrittenSource host(in_hip(kHost), "host.c");
  const WrittenSource device(in_hip(kDevice), "device.hip");
  expect_good_and_faulty(
      Module::build({.sources = {host.path(), device.path()}, .lanes = 32, .watch = true}));
}

const char* const kLibraries = R"(
#include <cublas_v2.h>
#include <cufft.h>
#include <curand.h>
#include <cuda.h>
#include <stdlib.h>
static int near(a, b) float a, b; { float d = a - b; return d < 1e-5f && d > -1e-5f; }
int main(int count, char** words) {
  float class[4] = {1, 2, 3, 4}, one = 1, zero = 0, *new = malloc(16), *d, dot;
  cublasHandle_t h;
  cufftHandle plan;
  curandGenerator_t g;
  CUdevice device;
  CUdeviceptr p;
  cufftComplex *c, back[4];
  if (cublasCreate(&h) != CUBLAS_STATUS_SUCCESS) return 1;
  cudaMalloc((void**)&d, 3 * sizeof class);
  if (cublasSetMatrix(2, 2, sizeof(float), class, 2, d, 2)) return 2;
  if (cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, d, 2, d, 2, &zero, d + 4, 2)) return 3;
  cudaMemcpy(new, d + 4, 16, cudaMemcpyDeviceToHost);
  if (new[0] != 7 || new[3] != 22) return 4;
  if (cublasSdot(h, 4, d, 1, d, 1, &dot) || dot != 30) return 5;
  cudaMalloc((void**)&c, 4 * sizeof *c);
  if (cufftPlan1d(&plan, 4, CUFFT_R2C, 1) != CUFFT_SUCCESS || cufftExecR2C(plan, d, c) || cufftDestroy(plan)) return 6;
  cudaMemcpy(back, c, sizeof back, cudaMemcpyDeviceToHost);
  if (!near(back[0].x, 10.0f) || !near(back[2].x, -2.0f)) return 7;
  if (curandCreateGenerator(&g, CURAND_RNG_PSEUDO_DEFAULT) || curandSetPseudoRandomGeneratorSeed(g, 7) || curandGenerateUniform(g, d, 4)) return 8;
  cudaMemcpy(new, d, 16, cudaMemcpyDeviceToHost);
  if (!(new[0] > 0 && new[0] <= 1) || new[0] == new[1]) return 9;
  if (cuInit(0) != CUDA_SUCCESS || cuDeviceGet(&device, 0) || cuMemAlloc(&p, 16) || cuMemcpyHtoD(p, class, 16) || cuMemcpyDtoH(new, p, 16) || cuMemFree(p)) return 10;
  if (atoi(words[1]) != 4 && cublasSdot(h, atoi(words[1]), d + 8, 1, d + 8, 1, &dot) != CUBLAS_STATUS_SUCCESS) return 11;
  return new[2] != 3 || cublasDestroy(h) || curandDestroyGenerator(g);
}
)";

TEST(HostsInC, CallLibrariesAndTheDriver) {
  const WrittenSource host(kLibraries, "host.c");
  const Module module = Module::build({.sources = {host.path()}, .watch = true});
  const RunResult good = module.run_main({"4"});
  EXPECT_EQ(good.exit_status, 0) << good.failure;
  EXPECT_TRUE(good.refusals.empty());
  const RunResult faulty = module.run_main({"5"});
  EXPECT_EQ(faulty.exit_status, 11);
  EXPECT_EQ(faulty.refusals.size(), 1u);
}

TEST(HostsInC, WhatOnlyCppHasIsReadAsCpp) {
  // cuSPARSE is there in C++ alone, even where a toolkit's header of it lies in the system's folder.
  const WrittenSource host(R"(
#include <cuda_runtime.h>
#include <cusparse.h>
#include <stdlib.h>
int main(void) {
  int* room = malloc(64);
  cusparseHandle_t handle;
  free(room);
  return cusparseCreate(&handle) != CUSPARSE_STATUS_SUCCESS || cusparseDestroy(handle) != CUSPARSE_STATUS_SUCCESS;
}
)",
                           "host.c");
  EXPECT_EQ(Module::build({.sources = {host.path()}, .watch = true}).run_main().exit_status, 0);
  // What is not there at all is told by its name.
  const WrittenSource other(
      "#include <cuda_runtime.h>\n#include <cusparse.h>\nint main(void) { return cusparseUnknown(); }\n",
      "other.c");
  try {
    Module::build({.sources = {other.path()}, .watch = true});
    ADD_FAILURE() << "it builds";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("cusparseUnknown"), std::string::npos) << e.what();
  }
  // What neither reads is told as C has it.
  const WrittenSource neither("#include <cuda_runtime.h>\nint main(void) { int class = nothing; }\n",
                              "neither.c");
  try {
    Module::build({.sources = {neither.path()}, .watch = true});
    ADD_FAILURE() << "it builds";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("undeclared"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace isomer::emulator::tests
