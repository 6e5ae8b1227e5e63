// What CUDA 12 and 13 have added or call differently, and what programs do with both kinds of memory.
#include <gtest/gtest.h>

#include "good_program.hpp"
#include "isomer/emulator/module.hpp"
#include "written_source.hpp"

namespace isomer::emulator::tests {
namespace {

const char* const kFrees = R"(
int main(int count, char**) {
  int *mapped, *own, *managed, *seen;
  cudaHostAlloc(&mapped, 64, cudaHostAllocMapped);
  cudaHostGetDevicePointer(&seen, mapped, 0);
  cudaMalloc(&own, 64), cudaMallocManaged(&managed, 64);
  if (count > 1) return cudaFree(seen) != cudaErrorInvalidValue || cudaFreeHost(own) != cudaErrorInvalidValue;
  return cudaFreeHost(mapped) || cudaFree(own) || cudaFree(managed) || cudaFreeHost(nullptr);
}
)";

TEST(NamesOfCuda13, EachKindOfMemoryHasItsFree) {
  const WrittenSource source(kFrees, "frees.cu");
  const Module module = Module::build({.sources = {source.path()}, .watch = true});
  expect_good(module);
  const RunResult faulty = module.run_main({"wrong"});
  EXPECT_EQ(faulty.exit_status, 0);
  ASSERT_EQ(faulty.refusals.size(), 2u);
  EXPECT_NE(faulty.refusals[0].text.find("cudaFreeHost frees"), std::string::npos) << faulty.refusals[0].text;
  EXPECT_NE(faulty.refusals[1].text.find("cudaFree frees"), std::string::npos) << faulty.refusals[1].text;
}

// As seen on an H200 with CUDA 13: what is said to be the host's may be the device's, and not the other way
// round.
const char* const kDirections = R"(
int main(int count, char**) {
  int *device, *other, *pinned, host[16] = {};
  cudaMalloc(&device, 64), cudaMalloc(&other, 64), cudaMallocHost(&pinned, 64), cudaMemset(device, 0, 64);
  if (count > 1)
    return cudaMemcpy(other, host, 64, cudaMemcpyDeviceToDevice) != cudaErrorInvalidValue ||
           cudaMemcpy(host, device, 64, cudaMemcpyHostToDevice) != cudaErrorInvalidValue;
  return cudaMemcpy(other, device, 64, cudaMemcpyHostToDevice) || cudaMemcpy(other, device, 64, cudaMemcpyDeviceToHost) ||
         cudaMemcpy(other, device, 64, cudaMemcpyHostToHost) || cudaMemcpy(other, pinned, 64, cudaMemcpyDeviceToDevice) ||
         cudaMemcpy(pinned, device, 64, cudaMemcpyHostToDevice);
}
)";

TEST(NamesOfCuda13, DirectionsOfCopies) {
  const WrittenSource source(kDirections, "directions.cu");
  const Module module = Module::build({.sources = {source.path()}, .watch = true});
  expect_good(module);
  const RunResult faulty = module.run_main({"wrong"});
  EXPECT_EQ(faulty.exit_status, 0);
  EXPECT_EQ(faulty.refusals.size(), 2u);
}

const char* const kGraphs = R"(
__global__ void add(int* p, int by) { p[threadIdx.x] += by; }
int main(int count, char**) {
  int *p, h[32], by = 1;
  void* arguments[] = {&p, &by};
  cudaMalloc(&p, 128), cudaMemset(p, 0, 128);
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaGraphNode_t first, second;
  cudaGraphCreate(&graph, 0);
  cudaKernelNodeParams k = {0};
  k.func = (void*)add, k.gridDim = dim3(1), k.blockDim = dim3(32), k.kernelParams = arguments;
  if (cudaGraphAddKernelNode(&first, graph, nullptr, 0, &k)) return 1;
  if (cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0) || cudaGraphLaunch(exec, 0)) return 2;
  // The executable copy alone, then the graph alone, then the copy as the graph.
  by = 10;
  if (count > 1) k.blockDim = dim3(33);
  if (cudaGraphExecKernelNodeSetParams(exec, first, &k) || cudaGraphLaunch(exec, 0)) return 3;
  by = 100;
  if (cudaGraphKernelNodeSetParams(first, &k) || cudaGraphLaunch(exec, 0)) return 4;
  cudaGraphExecUpdateResultInfo how;
  if (cudaGraphExecUpdate(exec, graph, &how) || cudaGraphLaunch(exec, 0)) return 5;
  // A node by its kind, behind an edge with data.
  cudaGraphNodeParams params = {cudaGraphNodeTypeKernel};
  cudaGraphEdgeData edge{};
  params.kernel = k;
  if (cudaGraphAddNode(&second, graph, &first, &edge, 1, &params)) return 6;
  if (cudaGraphAddDependencies_v2(graph, &first, &second, &edge, 1)) return 7;
  if (cudaGraphExecUpdate(exec, graph, &how) == cudaSuccess || how.result != cudaGraphExecUpdateErrorTopologyChanged) return 8;
  cudaMemcpy(h, p, 128, cudaMemcpyDeviceToHost);
  return h[31] == 121 ? 0 : 9;
}
)";

TEST(NamesOfCuda13, NodesOfAGraphGetOtherWork) {
  const WrittenSource source(kGraphs, "graphs.cu");
  const Module module = Module::build({.sources = {source.path()}, .watch = true});
  expect_good(module);
  const RunResult faulty = module.run_main({"wide"});
  ASSERT_FALSE(faulty.reports.empty());
  EXPECT_EQ(faulty.reports[0].kind, Kind::out_of_bounds_read);
}

const char* const kSmall = R"(
#include <cuda_bf16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
static_assert(alignof(double4_16a) == 16 && alignof(longlong4_32a) == 32 && sizeof(double4_32a) == 32, "");
static_assert(sizeof(__nv_fp4x4_e2m1) == 2 && sizeof(__nv_fp6x4_e3m2) == 4 && sizeof(__nv_fp4x2_e2m1) == 1, "");
__global__ void convert(float* out, int n) {
  if (threadIdx.x >= n) return;
  const float x = (threadIdx.x - 16.0f) / 2;
  float2 pair = static_cast<float2>(__nv_fp4x2_e2m1(make_float2(x, -x)));
  out[3 * threadIdx.x] = pair.x == -pair.y ? float(__nv_fp4_e2m1(x)) : 99;
  out[3 * threadIdx.x + 1] = float(__nv_fp6_e2m3(x));
  out[3 * threadIdx.x + 2] = float(__nv_fp6_e3m2(x));
}
int main(int count, char**) {
  float *out, h[96];
  cudaMalloc(&out, sizeof h);
  cudaMemLocation here = {cudaMemLocationTypeDevice, 0};
  int* managed;
  cudaMallocManaged(&managed, 64);
  if (cudaMemPrefetchAsync(managed, 64, here, 0, 0) || cudaMemAdvise_v2(managed, 64, cudaMemAdviseSetReadMostly, here)) return 1;
  convert<<<1, 64>>>(out, count > 1 ? 33 : 32);
  cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
  // -8, -4.5, 2.5, 7.5: the nearest, even where two are as near, and never more than the largest.
  const struct { int at; float e2m1, e2m3, e3m2; } known[] = {{0, -6, -7.5f, -8}, {7, -4, -4.5f, -4}, {21, 2, 2.5f, 2.5f}, {31, 6, 7.5f, 8}};
  for (const auto& k : known)
    if (h[3 * k.at] != k.e2m1 || h[3 * k.at + 1] != k.e2m3 || h[3 * k.at + 2] != k.e3m2) return 2 + k.at;
  constexpr __nv_bfloat16_raw kOne{.x = 0x3f80};
  static constexpr __nv_bfloat16 one = __nv_bfloat16(kOne);
  const __nv_bfloat16_raw again = __float2bfloat16(-2.0f);
  if (float(one) != 1 || again.x != 0xc000) return 90;
  const __half2_raw two = __nv_cvt_fp4x2_to_halfraw2(__nv_cvt_float2_to_fp4x2(make_float2(1.5f, -3), __NV_E2M1, cudaRoundNearest), __NV_E2M1);
  return float(__half(__half_raw{two.x})) != 1.5f || float(__half(__half_raw{two.y})) != -3;
}
)";

TEST(NamesOfCuda13, NumbersOfSixAndFourBits) {
  const WrittenSource source(kSmall, "small.cu");
  const Module module = Module::build({.sources = {source.path()}, .watch = true});
  expect_good(module);
  const RunResult faulty = module.run_main({"wide"});
  ASSERT_EQ(faulty.reports.size(), 3u);
  EXPECT_EQ(faulty.reports[0].kind, Kind::out_of_bounds_write);
}

const char* const kApproximate = R"(
#include <cuda_fp16.h>
__global__ void tanhs(__half* one, __half2* two, int n) {
  if (threadIdx.x >= n) return;
  one[threadIdx.x] = htanh_approx(one[threadIdx.x]);
  two[threadIdx.x] = h2tanh_approx(two[threadIdx.x]);
}
int main(int count, char**) {
  __half *one, h[4] = {0.0f, 0.5f, -1.0f, 4.0f};
  __half2 *two, g[4];
  cudaMalloc(&one, sizeof h), cudaMalloc(&two, sizeof g);
  for (int i = 0; i < 4; ++i) g[i] = __half2(h[i], h[3 - i]);
  cudaMemcpy(one, h, sizeof h, cudaMemcpyHostToDevice), cudaMemcpy(two, g, sizeof g, cudaMemcpyHostToDevice);
  tanhs<<<1, 32>>>(one, two, count > 1 ? 5 : 4);
  cudaMemcpy(h, one, sizeof h, cudaMemcpyDeviceToHost), cudaMemcpy(g, two, sizeof g, cudaMemcpyDeviceToHost);
  return fabsf(float(h[1]) - tanhf(0.5f)) > 1e-3f || float(g[1].x) != float(h[1]) || float(g[1].y) != float(h[2]);
}
)";

TEST(NamesOfCuda13, ApproximateFunctionsOfHalves) {
  const WrittenSource source(kApproximate, "approximate.cu");
  const Module module = Module::build({.sources = {source.path()}, .watch = true});
  expect_good(module);
  const RunResult faulty = module.run_main({"one more"});
  ASSERT_FALSE(faulty.reports.empty());
  EXPECT_EQ(faulty.reports[0].kind, Kind::out_of_bounds_read);
  EXPECT_EQ(faulty.reports[0].place.line, 5u);
}

}  // namespace
}  // namespace isomer::emulator::tests
