// What programs ask of the runtime's host API.
#include "programs.hpp"

namespace isomer::emulator::tests {

std::vector<Written> programs_of_the_runtime() {
  return {
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
      {"graphs_captured_and_made", "k.cu", R"(
#include <cuda_runtime.h>
__global__ void add(int* p, int v) { p[threadIdx.x] += v; }
int main() {
  int *p, host[32], ones[32];
  for (int& v : ones) v = 1;
  cudaMalloc(&p, sizeof host);
  cudaStream_t s, other;
  cudaEvent_t fork, join;
  cudaGraph_t graph, made;
  cudaGraphExec_t exec, again;
  cudaStreamCreate(&s);
  cudaStreamCreate(&other);
  cudaEventCreate(&fork);
  cudaEventCreate(&join);
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  cudaMemcpyAsync(p, ones, sizeof ones, cudaMemcpyHostToDevice, s);
  int v = 10;
  add<<<1, 32, 0, s>>>(p, v);
  v = 1000;
  cudaEventRecord(fork, s);
  cudaStreamWaitEvent(other, fork, 0);
  add<<<1, 32, 0, other>>>(p, 100);
  cudaEventRecord(join, other);
  cudaStreamWaitEvent(s, join, 0);
  cudaStreamEndCapture(s, &graph);
  size_t nodes = 0;
  cudaGraphGetNodes(graph, nullptr, &nodes);
  cudaGraphNode_t all[8];
  cudaGraphNodeType kind;
  nodes = 8;
  cudaGraphGetNodes(graph, all, &nodes);
  if (cudaGraphNodeGetType(all[0], &kind) || kind != cudaGraphNodeTypeMemcpy) return 20;
  if (cudaGraphNodeGetType(all[1], &kind) || kind != cudaGraphNodeTypeKernel) return 21;
  if (cudaGraphNodeGetType(nullptr, &kind) == cudaSuccess || cudaGetLastError() == cudaSuccess) return 22;
  cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0);
  for (int i = 0; i < 3; ++i) cudaGraphLaunch(exec, s);
  add<<<1, 32, 0, s>>>(p, 1000);
  cudaStreamSynchronize(s);
  cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
  if (nodes != 3 || host[31] != 1111) return 1;
  cudaGraphCreate(&made, 0);
  cudaKernelNodeParams k = {};
  int seven = 7;
  void* arguments[] = {&p, &seven};
  k.func = (void*)add;
  k.gridDim = dim3(1), k.blockDim = dim3(32), k.kernelParams = arguments;
  cudaGraphNode_t node;
  cudaGraphAddKernelNode(&node, made, nullptr, 0, &k);
  seven = 8;
  cudaGraphInstantiate(&again, made, 0);
  cudaGraphLaunch(again, s);
  cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
  return host[0] != 1118;
}
)"},
      {"launches_by_the_address_of_a_template", "k.cu", R"(
#include <cuda_runtime.h>
struct Pair { double first; char second; };
template <class T> __global__ void add(T* p, Pair by, char c) { p[threadIdx.x] += by.first + (by.second == c ? 1 : 0); }
int main() {
  double *p, host[4];
  Pair by = {2, 'x'};
  char c = 'x';
  void* arguments[] = {&p, &by, &c};
  cudaMalloc(&p, sizeof host);
  cudaMemset(p, 0, sizeof host);
  if (cudaLaunchKernel((const void*)add<double>, dim3(1), dim3(4), arguments, 0, 0)) return 1;
  if (cudaLaunchKernel(add<double>, dim3(1), dim3(4), arguments, 0, 0)) return 2;
  cudaStream_t s;
  cudaGraph_t graph, clone;
  cudaGraphExec_t exec;
  cudaStreamCreate(&s);
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  cudaLaunchKernel((const void*)add<double>, dim3(1), dim3(4), arguments, 0, s);
  cudaStreamEndCapture(s, &graph);
  by.first = 100;
  cudaGraphClone(&clone, graph);
  cudaGraphDestroy(graph);
  cudaGraphInstantiate(&exec, clone, 0);
  cudaGraphDestroy(clone);
  cudaGraphLaunch(exec, s);
  cudaGraphLaunch(exec, s);
  cudaGraphExecDestroy(exec);
  cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
  if (host[0] != 12 || host[3] != 12) return 3;
  return cudaLaunchKernel((const void*)host, dim3(1), dim3(4), arguments, 0, 0) != cudaErrorInvalidDeviceFunction;
}
)"},
      {"texture_objects_of_linear_memory_and_arrays", "k.cu", R"(
#include <cuda_runtime.h>
__global__ void points(cudaTextureObject_t t, float* out, int n) { if (threadIdx.x < n) out[threadIdx.x] = tex1Dfetch<float>(t, threadIdx.x) * 2; }
__global__ void plane(cudaTextureObject_t t, float* out) { out[threadIdx.x] = tex2D<float>(t, threadIdx.x + 1.0f, 1.0f); }
__global__ void bytes(cudaTextureObject_t t, float4* out) { out[threadIdx.x] = tex2D<float4>(t, (threadIdx.x + 0.5f) / 2, 1.25f); }
int main() {
  float *p, *out, host[16], grid[8] = {0, 1, 2, 3, 10, 11, 12, 13};
  cudaMalloc(&p, sizeof grid);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(p, grid, sizeof grid, cudaMemcpyHostToDevice);
  cudaResourceDesc linear = {};
  linear.resType = cudaResourceTypeLinear;
  linear.res.linear.devPtr = p;
  linear.res.linear.desc = cudaCreateChannelDesc<float>();
  linear.res.linear.sizeInBytes = sizeof grid;
  cudaTextureDesc how = {};
  cudaTextureObject_t t;
  cudaCreateTextureObject(&t, &linear, &how, nullptr);
  points<<<1, 32>>>(t, out, 8);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  if (host[7] != 26) return 1;
  cudaDestroyTextureObject(t);
  cudaArray_t array;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
  cudaMallocArray(&array, &format, 4, 2);
  cudaMemcpy2DToArray(array, 0, 0, grid, 16, 16, 2, cudaMemcpyHostToDevice);
  cudaResourceDesc of = {};
  of.resType = cudaResourceTypeArray;
  of.res.array.array = array;
  how.filterMode = cudaFilterModeLinear;
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
  cudaCreateTextureObject(&t, &of, &how, nullptr);
  plane<<<1, 4>>>(t, out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  if (host[0] != 5.5f || host[3] != 8) return 2;
  uchar4 pixels[2] = {{255, 0, 51, 255}, {0, 255, 0, 0}};
  const cudaChannelFormatDesc colours = cudaCreateChannelDesc<uchar4>();
  cudaArray_t image;
  cudaMallocArray(&image, &colours, 2, 1);
  cudaMemcpy2DToArray(image, 0, 0, pixels, 8, 8, 1, cudaMemcpyHostToDevice);
  of.res.array.array = image;
  how = {};
  how.readMode = cudaReadModeNormalizedFloat;
  how.normalizedCoords = 1;
  cudaCreateTextureObject(&t, &of, &how, nullptr);
  bytes<<<1, 3>>>(t, (float4*)out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  cudaFreeArray(array);
  return host[0] != 1 || host[2] != 0.2f || host[5] != 1 || host[8] != 1;
}
)"},
      {"the_driver_pools_and_cuda_atomics", "k.cu", R"(
#include <cuda.h>
#include <cuda/atomic>
__global__ void count(int* p, int n) {
  cuda::atomic_ref<int, cuda::thread_scope_device> all(p[0]);
  if (threadIdx.x < n) all.fetch_add(2, cuda::memory_order_relaxed);
}
__device__ cuda::atomic<int, cuda::thread_scope_device> flag;
__device__ int data;
__global__ void hand_over(int* out) {
  if (blockIdx.x == 0) {
    data = 5;
    flag.store(1, cuda::memory_order_release);
  } else {
    while (flag.load(cuda::memory_order_acquire) == 0) {}
    out[0] = data;
  }
}
int main() {
  CUdeviceptr p;
  CUcontext c;
  CUdevice d;
  CUfunction f;
  int host = 0, n = 20;
  if (cuInit(0) || cuDeviceGet(&d, 0) || cuCtxCreate(&c, 0, d) || cuMemAlloc(&p, 4)) return 1;
  cuMemsetD32(p, 2, 1);
  cudaGetFuncBySymbol(&f, count);
  void* arguments[] = {&p, &n};
  if (cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr)) return 2;
  cuMemcpyDtoH(&host, p, 4);
  if (host != 42) return 3;
  hand_over<<<2, 1>>>((int*)p);
  cuMemcpyDtoH(&host, p, 4);
  cudaMemPool_t pool;
  cudaDeviceGetDefaultMemPool(&pool, 0);
  unsigned long long keep = ~0ull;
  cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep);
  cudaMemAccessDesc reaches = {};
  reaches.location.type = cudaMemLocationTypeDevice, reaches.flags = cudaMemAccessFlagsProtReadWrite;
  if (cudaMemPoolSetAccess(pool, &reaches, 1)) return 1;
  int* q;
  cudaMallocFromPoolAsync(&q, 64, pool, 0);
  cudaFreeAsync(q, 0);
  return host != 5 || cuMemFree(p);
}
)"},
      {"rows_that_are_set", "k.cu", R"(
__global__ void sums(const unsigned char* p, int* out) { *out = p[0] + p[64 + 3] + p[128 + 9]; }
int main() {
  unsigned char* p;
  int *out, got = 0, pools = 0;
  cudaMalloc(&p, 192), cudaMalloc(&out, 4);
  if (cudaMemset2D(p, 64, 7, 10, 3) || cudaMemset2DAsync(p, 64, 8, 1, 1, 0)) return 1;
  sums<<<1, 1>>>(p, out);
  cudaMemcpy(&got, out, 4, cudaMemcpyDefault);
  return got != 22 || INT_MAX < got || cudaDeviceGetAttribute(&pools, cudaDevAttrMemoryPoolsSupported, 0) || pools != 1;
}
)"},
      {"a_launch_with_events_round_it", "k.hip.cpp", R"(
#include <hip/hip_runtime.h>
#include <hip/hip_ext.h>
__global__ void adds(int* p, int n) { p[threadIdx.x] += n; }
int main() {
  int *d, h[32];
  hipEvent_t a, b;
  hipEventCreate(&a), hipEventCreate(&b);
  if (hipMalloc((void**)&d, 128) != HIP_SUCCESS) return 1;
  hipMemset(d, 0, 128);
  hipExtLaunchKernelGGL(adds, dim3(1), dim3(32), 0, 0, a, b, 0, d, 5);
  float ms = -1;
  hipEventSynchronize(b);
  hipEventElapsedTime(&ms, a, b);
  hipMemcpy(h, d, 128, hipMemcpyDeviceToHost);
  return h[31] != 5 || ms < 0;
}
)"},
      {"a_source_that_asks_which_compiler_reads_it", "asks.cu", R"(
#ifdef __CUDACC__
#define BOTH __host__ __device__
#else
#define BOTH
#endif
#if !defined(__NVCC__) || __CUDACC_VER_MAJOR__ < 11
#error an old compiler
#endif
BOTH inline double twice(double x) { return 2 * x; }
__global__ void rounds(double* p) {
  p[0] = twice(__dadd_ru(1.0, 1e-30)), p[1] = __dadd_rd(1.0, 1e-30), p[2] = __dmul_rz(1.1, 1.1), p[3] = __ddiv_rd(1.0, 3.0);
  p[4] = __ddiv_ru(1.0, 3.0), p[5] = __dsqrt_ru(2.0), p[6] = __fma_rd(1.0, 1.0, -1e-30), p[7] = __dsub_rz(1.0, 1e-30);
}
int main() {
  double *d, h[8];
  cudaMalloc(&d, sizeof h);
  rounds<<<1, 1>>>(d);
  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
  if (twice(1) != 2 || h[0] != 2 * (1 + 0x1p-52) || h[1] != 1) return 1;
  if (h[2] > 1.1 * 1.1 || h[3] >= h[4] || h[5] * h[5] < 2) return 2;
  return h[6] != 1 - 0x1p-53 || h[7] != 1 - 0x1p-53;
}
)"},
  };
}

}  // namespace isomer::emulator::tests
