// Memory that nodes of graphs ask for, and textures with layers and faces.
#include <gtest/gtest.h>

#include "good_program.hpp"
#include "written_source.hpp"

namespace isomer::emulator::tests {
namespace {

constexpr const char* kMemoryOfGraphs = R"(#include <cuda_runtime.h>
#include <cstring>
constexpr int n = 32, bytes = n * sizeof(int);
__global__ void fill(int* p, int v) { p[threadIdx.x] = v + threadIdx.x; }
__global__ void add(const int* p, int* q) { q[threadIdx.x] += p[threadIdx.x]; }
int main(int count, char** words) {
  const bool late = count > 1 && !std::strcmp(words[1], "late"), again = count > 1 && !std::strcmp(words[1], "again");
  int* sum;
  cudaMalloc(&sum, bytes);
  cudaMemset(sum, 0, bytes);
  cudaGraph_t graph;
  cudaGraphExec_t made, captured;
  cudaGraphCreate(&graph, 0);
  cudaMemAllocNodeParams wanted = {};
  wanted.poolProps.allocType = cudaMemAllocationTypePinned;
  wanted.poolProps.location.type = cudaMemLocationTypeDevice;
  wanted.bytesize = bytes;
  cudaGraphNode_t asks, fills, adds, frees;
  if (cudaGraphAddMemAllocNode(&asks, graph, nullptr, 0, &wanted)) return 1;
  int* const own = static_cast<int*>(wanted.dptr);
  int value = 5;
  void *of_fill[] = {(void*)&own, &value}, *of_add[] = {(void*)&own, &sum};
  cudaKernelNodeParams how = {(void*)fill, dim3(1), dim3(n), 0, of_fill, nullptr};
  if (cudaGraphAddKernelNode(&fills, graph, &asks, 1, &how)) return 2;
  how.func = (void*)add, how.kernelParams = of_add;
  if (late) {
    if (cudaGraphAddMemFreeNode(&frees, graph, &fills, 1, own) || cudaGraphAddKernelNode(&adds, graph, &frees, 1, &how)) return 3;
  } else {
    if (cudaGraphAddKernelNode(&adds, graph, &fills, 1, &how)) return 3;
    if (!again && cudaGraphAddMemFreeNode(&frees, graph, &adds, 1, own)) return 4;
  }
  cudaGraphInstantiate(&made, graph, nullptr, nullptr, 0);
  if (cudaGraphLaunch(made, 0)) return 5;
  if (again) return cudaGraphLaunch(made, 0) != cudaErrorInvalidValue;
  if (cudaGraphLaunch(made, 0)) return 6;
  unsigned long long used = 1;
  cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used);
  if (used != 0) return 7;
  // The same of a stream that is captured; the program frees what it asks for.
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  int* later;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  cudaMallocAsync(&later, bytes, stream);
  fill<<<1, n, 0, stream>>>(later, 7);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&captured, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch);
  cudaGraphLaunch(captured, stream);
  if (cudaGraphLaunch(captured, stream)) return 8;
  add<<<1, n, 0, stream>>>(later, sum);
  if (cudaFreeAsync(later, stream)) return 9;
  int host[n];
  cudaMemcpy(host, sum, bytes, cudaMemcpyDeviceToHost);
  return host[3] != 2 * (5 + 3) + (7 + 3);
}
)";

TEST(GraphMemory, IsThereFromItsNodeToItsFree) {
  const WrittenSource source(kMemoryOfGraphs);
  const Module module = Module::build({.sources = {source.path()}, .watch = true});
  expect_good(module);
  const RunResult late = module.run_main({"late"});
  ASSERT_FALSE(late.reports.empty());
  EXPECT_EQ(late.reports[0].kind, Kind::use_after_free) << late.reports[0].text;
  EXPECT_EQ(late.reports[0].kernel, "add");
  const RunResult again = module.run_main({"again"});
  EXPECT_EQ(again.exit_status, 0);
  ASSERT_EQ(again.refusals.size(), 1u);
  EXPECT_NE(again.refusals[0].text.find("nobody has freed them"), std::string::npos)
      << again.refusals[0].text;
}

constexpr const char* kLayers = R"(#include <cuda_runtime.h>
#include <cstring>
__global__ void layers(cudaTextureObject_t t, float* out) {
  out[threadIdx.x] = tex2DLayered<float>(t, threadIdx.x % 2 + 1.0f, 1.0f, threadIdx.x / 2);
}
__global__ void faces(cudaTextureObject_t t, float* out) {
  const float far = threadIdx.x % 2 ? -2 : 2;
  float at[3] = {0.5f, 0.5f, 0.5f};
  at[threadIdx.x / 2] = far;
  out[threadIdx.x] = texCubemap<float>(t, at[0], at[1], at[2]);
}
int main(int count, char**) {
  float values[24], host[6], *out;
  for (int i = 0; i < 24; ++i) values[i] = i;
  cudaMalloc(&out, sizeof host);
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t layered, cube;
  if (cudaMalloc3DArray(&layered, &format, make_cudaExtent(3, 2, 3), cudaArrayLayered)) return 1;
  if (cudaMalloc3DArray(&cube, &format, make_cudaExtent(2, 2, 6), cudaArrayCubemap)) return 2;
  if (!cudaMalloc3DArray(&cube, &format, make_cudaExtent(2, 3, 6), cudaArrayCubemap)) return 3;
  cudaMalloc3DArray(&cube, &format, make_cudaExtent(2, 2, 6), cudaArrayCubemap);
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(values, 12, 3, 2);
  copy.dstArray = layered;
  copy.extent = make_cudaExtent(3, 2, count > 1 ? 2 : 3);
  copy.kind = cudaMemcpyHostToDevice;
  cudaMemcpy3D(&copy);
  cudaResourceDesc of = {};
  of.resType = cudaResourceTypeArray;
  of.res.array.array = layered;
  cudaTextureDesc how = {};
  how.filterMode = cudaFilterModeLinear;
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
  cudaTextureObject_t t;
  cudaCreateTextureObject(&t, &of, &how, nullptr);
  layers<<<1, 6>>>(t, out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  // Between four texels of each layer.
  if (count == 1 && (host[0] != 2 || host[1] != 3 || host[2] != 8 || host[5] != 15)) return 4;
  copy.srcPtr = make_cudaPitchedPtr(values, 8, 2, 2);
  copy.dstArray = cube;
  copy.extent = make_cudaExtent(2, 2, 6);
  cudaMemcpy3D(&copy);
  of.res.array.array = cube;
  how = {};
  how.normalizedCoords = 1;
  cudaCreateTextureObject(&t, &of, &how, nullptr);
  faces<<<1, 6>>>(t, out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  const float expected[6] = {0, 5, 11, 13, 17, 20};
  return std::memcmp(host, expected, sizeof host) != 0;
}
)";

TEST(Textures, LayersAndFacesOfCubesAreChosenAsTheDeviceDoes) {
  const WrittenSource source(kLayers);
  const Module module = Module::build({.sources = {source.path()}, .watch = true});
  expect_good(module);
  // The last layer was not copied.
  const RunResult part = module.run_main({"part"});
  ASSERT_FALSE(part.reports.empty());
  EXPECT_EQ(part.reports[0].kind, Kind::uninitialised_read);
}

}  // namespace
}  // namespace isomer::emulator::tests
