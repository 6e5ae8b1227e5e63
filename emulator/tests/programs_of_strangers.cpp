// Programs with what courses, books and samples put around their kernels: the samples' helpers, launches that
// an editor has spaced, hosts in C, launches from the device.
#include <gtest/gtest.h>

#include "isomer/emulator/module.hpp"
#include "written_source.hpp"

namespace isomer::emulator::tests {
namespace {

const char* const kAsSamplesAre = R"(
#include <cublas_v2.h>
#include <curand.h>
#include <helper_cuda.h>
#include <helper_functions.h>
#include <helper_math.h>
#include <nvToolsExt.h>
template <class T> struct Box;
template <class T> std::ostream& operator<<(std::ostream& out, const Box<T>& box);
template <class T> struct Box {
  T value;
  friend std::ostream& operator<< <T>(std::ostream& out, const Box<T>& box);
};
template <class T> std::ostream& operator<<(std::ostream& out, const Box<T>& box) { return out << box.value; }
template <int N> struct Room {
  float3 places[N];
  template <bool Twice> __device__ float3 take(int i) const { return Twice ? 2.0f * places[i] : places[i]; }
  static __device__ void turn(float3* p) {
    __shared__ Room<N> room;
    room.places[threadIdx.x] = p[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = room.take<true>(N - 1 - threadIdx.x);
  }
};
__global__ void turn(float3* p) { Room<32>::turn(p); }
__global__ void directions(float3* p, float4* q, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float3 v = normalize(make_float3(1.0f + i, 2, 3)) * 2.0f;
  v -= make_float3(0.5f);
  p[i] = clamp(v, 0.0f, 1.0f);
  q[i] = lerp(make_float4(v, 1), make_float4(0.f), 0.5f) + make_float4(dot(v, v), length(v), 0, max(make_int2(i), make_int2(3)).y);
}
// Each grid launches the next when the host's has ended.
__global__ void deeper(int* reached, int depth) {
  reached[threadIdx.x] = depth;
  if (threadIdx.x == 0 && depth < 3) deeper << <1, 2 + depth >> >(reached, depth + 1);
}
int main(int argc, char** argv) {
  findCudaDevice(argc, (const char**)argv);
  StopWatchInterface* timer = NULL;
  sdkCreateTimer(&timer), sdkStartTimer(&timer);
  nvtxRangePush("all");
  cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeEightByte);
  float3 *p, first;
  float4 *q, fourth;
  checkCudaErrors(cudaMalloc(&p, 32 * sizeof *p));
  checkCudaErrors(cudaMalloc(&q, 32 * sizeof *q));
  directions << < dim3(2), 16 >> >(p, q, getCmdLineArgumentInt(argc, (const char**)argv, "n"));
  turn < < < 1, 32 >>> (p);
  getLastCudaError("the launches failed");
  cudaMemcpy(&first, p + 31, sizeof first, cudaMemcpyDeviceToHost);
  cudaMemcpy(&fourth, q + 3, sizeof fourth, cudaMemcpyDeviceToHost);
  const float by = 2 / sqrtf(14.0f);
  if (fabsf(first.x - 2 * (by - 0.5f)) > 1e-6f || first.z != 2 || fourth.w != 3.5f) return 1;
  int* reached;
  cudaMallocManaged(&reached, 64);  // zero, as an operating system gives it
  if (reached[15] != 0) return 2;
  int* tensor;  // as PyTorch's allocator asks for it: poison, by which unwritten elements are known
  if (isomer_emulator_malloc((void**)&tensor, 64, 2) != 0 || tensor[15] == 0) return 10;
  deeper<<<1, 1>>>(reached, 0);
  cudaDeviceSynchronize();
  for (int i = 0; i < 5; ++i) if (reached[i] != (i < 4 ? 3 : 0)) return 3;
  cublasHandle_t handle;
  checkCudaErrors(cublasCreate(&handle));
  const float a[4] = {1, 2, 3, 4}, one = 1, zero = 0;
  float *d, c[4];
  checkCudaErrors(cudaMalloc(&d, sizeof a));
  checkCudaErrors(cublasSetMatrixAsync(2, 2, 4, a, 2, d, 2, (cudaStream_t)0));
  checkCudaErrors(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, d, CUDA_R_32F, 2, d, CUDA_R_32F, 2, &zero, d, CUDA_R_32F, 2, CUDA_R_32F, CUBLAS_GEMM_DFALT_TENSOR_OP));
  checkCudaErrors(cublasGetMatrix(2, 2, 4, d, 2, c, 2));
  nvtxRangePop();
  sdkStopTimer(&timer);
  std::cout << Box<int>{c[0] == 7 && c[3] == 22} << '\n';
  return c[0] != 7 || c[3] != 22 || sdkGetTimerValue(&timer) <= 0 || !compareData(a, a, 4, 0.0f, 0.0f);
}
)";

TEST(ProgramOfStrangers, HelpersOfTheSamplesAndSpacedLaunches) {
  const WrittenSource source(kAsSamplesAre, "sample.cu");
  const Module module = Module::build({.sources = {source.path()}, .watch = true});
  const RunResult good = module.run_main({"--n=32"});
  EXPECT_TRUE(good.ok()) << good.failure;
  EXPECT_EQ(good.exit_status, 0) << good.output;
  for (const Report& report : good.reports) ADD_FAILURE() << report.text;
  EXPECT_EQ(good.launches.size(), 6u);
  EXPECT_EQ(good.launches.back().kernel, "deeper");
  EXPECT_EQ(good.launches.back().block[0], 4u);
  // Without the argument the first kernel writes nothing, and the second reads that.
  const RunResult faulty = module.run_main();
  ASSERT_FALSE(faulty.reports.empty());
  EXPECT_EQ(faulty.reports[0].kind, Kind::uninitialised_read);
}

// The host in C of the first edition, the device in C++ of 2011.
const char* const kHostInC = R"(
#include <stdlib.h>
extern int run_on_the_device();
static int sum(values, count)
  int* values;
  int count;
{
  int i, new = 0;
  for (i = 0; i < count; ++i) new += values[i];
  return new;
}
int main(int count, char** words) {
  int *class = malloc(32 * sizeof(int));
  if (run_on_the_device(class, atoi(words[1]), atoi(words[2])) != 0) return 2;
  return sum(class, 32) != 32 * 31 / 2;
}
)";
const char* const kDeviceInCpp = R"(
__global__ void child(int* p, int n) { if (threadIdx.x < n) p[threadIdx.x] += threadIdx.x; }
__global__ void parent(int* p, int n, int depth) {
  if (threadIdx.x < 32) p[threadIdx.x] = 0;
  if (threadIdx.x == 0) child<<<1, 64>>>(p, n);
  if (threadIdx.x == 0 && depth > 0) parent<<<1, 32>>>(p, n, depth - 1);
}
extern "C" int run_on_the_device(int* host, int n, int depth) {
  int* p;
  cudaMalloc(&p, 128);
  parent<<<1, 32>>>(p, n, depth);
  return cudaMemcpy(host, p, 128, cudaMemcpyDeviceToHost);
}
)";

TEST(ProgramOfStrangers, AHostInCAndLaunchesFromTheDeviceThatAreJudged) {
  const WrittenSource host(kHostInC, "host.c");
  const WrittenSource device(kDeviceInCpp, "device.cu");
  const Module module =
      Module::build({.sources = {host.path(), device.path()}, .watch = true, .standard = "c++11"});
  const RunResult good = module.run_main({"32", "2"});
  EXPECT_TRUE(good.ok()) << good.failure;
  EXPECT_EQ(good.exit_status, 0);
  EXPECT_EQ(good.reports.size(), 0u);
  EXPECT_EQ(good.launches.size(), 6u);
  const RunResult faulty = module.run_main({"33", "0"});
  ASSERT_EQ(faulty.reports.size(), 2u);
  EXPECT_EQ(faulty.reports[0].kernel, "child");
  EXPECT_EQ(faulty.reports[0].kind, Kind::out_of_bounds_read);
  EXPECT_EQ(faulty.reports[0].place.line, 2u);
  const RunResult deep = module.run_main({"32", "24"});
  ASSERT_EQ(deep.refusals.size(), 2u);  // both of the last grid's
  EXPECT_NE(deep.refusals[1].text.find("parent: launched from the device at a depth of more than 24"),
            std::string::npos);
}

// Texture references, arguments that the host's functions copy and destroy, and a copy by the compiler's own
// word whose length no access has.
const char* const kBeforeObjects = R"(
texture<float, 1, cudaReadModeElementType> line;
texture<uchar4, 2, cudaReadModeNormalizedFloat> image;
static texture<float, 2> plane;
texture<int2> pairs;
__global__ void k(float* o, int n) {
  int i = threadIdx.x;
  if (i < n) { float4 c = tex2D(image, i + 0.5f, 0.5f); int2 p = tex1Dfetch(pairs, i); o[i] = tex1Dfetch(line, i) * 2 + tex2D(plane, i + 1.0f, 1.0f) + c.x + p.y; }
}
struct Owner {  // its functions are the host's
  static int copied, gone;
  char* p;
  Owner(char* begin) : p(begin) {}
  Owner(const Owner& of) : p(of.p) { ++copied; }
  ~Owner() { ++gone; }
};
int Owner::copied = 0, Owner::gone = 0;
__global__ void fills(Owner to, float by, Owner) { to.p[threadIdx.x] = by; to.p = nullptr; }
__global__ void copies(char* p, int n) { __builtin_memcpy(p + threadIdx.x * n, p + 64 + 8 * threadIdx.x, 12); }
int main(int argc, char**) {
  float h[8] = {0, 1, 2, 3, 10, 11, 12, 13}, *d, *o; uchar4 px[4] = {{255,0,0,0},{51,0,0,0},{0,0,0,0},{255,0,0,0}}; int2 pr[4] = {{1,2},{3,4},{5,6},{7,8}};
  cudaMalloc(&d, sizeof h); cudaMalloc(&o, 32); cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
  cudaBindTexture(0, line, d, sizeof h);
  cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>();
  cudaArray* a; cudaMallocArray(&a, &desc, 4, 2); cudaMemcpyToArray(a, 0, 0, h, sizeof h, cudaMemcpyHostToDevice);
  plane.filterMode = cudaFilterModeLinear; plane.addressMode[0] = cudaAddressModeClamp; plane.normalized = false;
  cudaBindTextureToArray(plane, a, desc);
  uchar4* di; cudaMalloc(&di, 16); cudaMemcpy(di, px, 16, cudaMemcpyHostToDevice);
  cudaBindTexture2D(NULL, image, di, image.channelDesc, 4, 1, 16);
  int2* dp; cudaMalloc(&dp, 32); cudaMemcpy(dp, pr, 32, cudaMemcpyHostToDevice); cudaBindTexture(NULL, &pairs, dp, &pairs.channelDesc, 32);
  k<<<1, 4>>>(o, 4);
  float r[4]; cudaMemcpy(r, o, 16, cudaMemcpyDeviceToHost); if (r[0] != 8.5f || fabsf(r[1] - 12.7f) > 1e-5f || r[2] != 17.5f || r[3] != 23) return 1;
  cudaUnbindTexture(line);
  char* p; cudaMalloc(&p, 128); cudaMemset(p, 1, 128); copies<<<1, 4>>>(p, argc > 1 ? 6 : 12);
  const Owner owner(p);
  fills<<<1, 4>>>(owner, 2, owner);
  if (Owner::copied != 2 || Owner::gone != 2) return 2;
  return cudaDeviceSynchronize();
}
)";

TEST(ProgramOfStrangers, TextureReferencesArgumentsAsBytesAndCopiesByTheCompilersWord) {
  const WrittenSource source(kBeforeObjects, "textures.cu");
  const Module module = Module::build({.sources = {source.path()}, .watch = true});
  const RunResult good = module.run_main();
  EXPECT_TRUE(good.ok()) << good.failure;
  EXPECT_EQ(good.exit_status, 0);
  // Copies that overlap.
  const RunResult faulty = module.run_main({"faulty"});
  ASSERT_EQ(faulty.reports.size(), 1u);
  EXPECT_EQ(faulty.reports[0].kind, Kind::benign_race);
  EXPECT_EQ(faulty.reports[0].kernel, "copies");
}

}  // namespace
}  // namespace isomer::emulator::tests
