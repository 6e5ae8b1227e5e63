// What nvcc's front end takes and g++ by itself does not, and a class that owns memory as the argument of a template.
#include <gtest/gtest.h>

#include <string>

#include "good_program.hpp"
#include "isomer/emulator/error.hpp"
#include "written_source.hpp"

namespace isomer::emulator::tests {
namespace {

std::string lenient_source(const std::string& type, const std::string& more) {
  return R"(#include <cuda_runtime.h>
#include <memory>
template <class T> struct box { T low, high; };
// The second member gives the first one's type another meaning.
template <class T> struct tree {
  box<T> bounds;
  using box = ::box<T>;
  using value_type = T;
  __host__ __device__ value_type width() const;
};
template <class T>
__host__ __device__ )" + type + R"( tree<T>::value_type tree<T>::width() const { return bounds.high - bounds.low; }
template <class T> __device__ int coded(T x) { return code_of(x); }
__device__ int code_of(int x) { return 3 * x; }
__global__ void fill(int* out, tree<int> t) {
  __builtin_assume(t.bounds.low > 0);
  __assume(blockDim.x == 32);
  int at = threadIdx.x + \ // the next line comes to this one
           blockIdx.x * blockDim.x;
  out[at] = t.width() + coded(at);
}
int main() {
  int* out;
  cudaMalloc(&out, 128);
  tree<int> t{{2, 7}};
  fill<<<1, 32>>>(out, t);
  int got[32];
  cudaMemcpy(got, out, 128, cudaMemcpyDeviceToHost);
)" + more + R"(
  return got[4] != 5 + 12;
}
)";
}

TEST(LenientForms, WhatGxxRefusesAlone) {
  const WrittenSource source(lenient_source("", ""));
  expect_good(Module::build({.sources = {source.path()}, .watch = true}));
}

TEST(LenientForms, NothingElseIsLetThroughWithIt) {
  const WrittenSource source(lenient_source("typename", "int* none = got[0];"));
  try {
    Module::build({.sources = {source.path()}, .watch = true});
    ADD_FAILURE() << "an integer became a pointer";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("invalid conversion"), std::string::npos) << error.what();
  }
}

const char* const kOwner = R"(#include <cuda_runtime.h>
#include <memory>
// Copied on the host alone: its counter is memory of the host.
template <class T> struct list {
  std::shared_ptr<T> kept;
  T* first = nullptr;
  explicit list(int n) {
    cudaMalloc(&first, n * sizeof(T));
    kept = std::shared_ptr<T>(first, [](T* p) { cudaFree(p); });
  }
  list(const list& other) : kept(other.kept), first(other.first) {}
};
template <class List> __global__ void fill(List all, int n) {
  int at = threadIdx.x + blockIdx.x * blockDim.x;
  if (at < n) all.first[at] = at;
}
int main(int count, char**) {
  list<int> all(40);
  fill<<<2, 32>>>(all, count > 1 ? 41 : 40);
  if (cudaDeviceSynchronize() != cudaSuccess) return 2;
  int got[40];
  cudaMemcpy(got, all.first, sizeof got, cudaMemcpyDeviceToHost);
  return got[39] != 39 || all.kept.use_count() != 1;
}
)";

TEST(LenientForms, AClassThatOwnsMemoryReachesATemplateAsItsBytes) {
  const WrittenSource source(kOwner);
  const Module module = Module::build({.sources = {source.path()}, .watch = true});
  expect_good(module);
  const RunResult faulty = module.run_main({"one_more"});
  ASSERT_EQ(faulty.reports.size(), 1u);
  EXPECT_EQ(faulty.reports[0].kind, Kind::out_of_bounds_write);
  EXPECT_EQ(faulty.reports[0].place.line, 15u);
}

const char* const kWaits = R"(#include <cuda/atomic>
#include <cuda/std/atomic>
struct Shared {
  cuda::atomic<int, cuda::thread_scope_device> ready;
  cuda::std::atomic_flag taken;
  cuda::atomic<int*, cuda::thread_scope_device> place;
};
__global__ void hand(Shared* s, int* data, int* out, bool orders) {
  if (threadIdx.x > 0) return;
  if (blockIdx.x == 0) {
    data[0] = 41;
    s->ready.store(1, orders ? cuda::memory_order_release : cuda::memory_order_relaxed);
    s->ready.notify_all();
  } else {
    s->ready.wait(0, orders ? cuda::memory_order_acquire : cuda::memory_order_relaxed);
    if (!s->taken.test_and_set(cuda::std::memory_order_acq_rel)) *s->place.fetch_add(1) = data[0] + s->taken.test();
  }
}
int main(int count, char**) {
  Shared* s;
  int *data, *out, got[2] = {};
  cudaMalloc(&s, sizeof(Shared)), cudaMalloc(&data, 4), cudaMalloc(&out, 8);
  cudaMemset(s, 0, sizeof(Shared)), cudaMemset(out, 0, 8);
  const int* begin = out;
  cudaMemcpy(&s->place, &begin, sizeof begin, cudaMemcpyHostToDevice);
  hand<<<3, 32>>>(s, data, out, count == 1);
  cudaMemcpy(got, out, 8, cudaMemcpyDeviceToHost);
  int expected = 1;
  if (!cuda::atomic<int>(1).compare_exchange_strong(expected, 2, cuda::memory_order_acq_rel, cuda::memory_order_relaxed)) return 2;
  return got[0] != 42 || got[1] != 0;
}
)";

TEST(LenientForms, WhoWaitsForAnAtomicKnowsWhatItsOrderSays) {
  const WrittenSource source(kWaits);
  const Module module = Module::build({.sources = {source.path()}, .watch = true});
  expect_good(module);
  const RunResult faulty = module.run_main({"unordered"});
  ASSERT_FALSE(faulty.reports.empty());
  EXPECT_EQ(faulty.reports[0].kind, Kind::race);
  EXPECT_EQ(faulty.reports[0].place.line, 16u) << faulty.reports[0].text;
}

const char* const kLibraries = R"(#include <cublas_v2.h>
#include <cub/cub.cuh>
#include <cstring>
#include <nvml.h>
#if !defined(CUBLAS_VERSION) || CUBLAS_VERSION < 120000
#error no version of cuBLAS
#endif
int main(int count, char**) {
  nvmlDevice_t device;
  nvmlMemory_t memory;
  char name[NVML_DEVICE_NAME_BUFFER_SIZE], bus[32];
  unsigned clock = 0, power = 0;
  if (nvmlInit() || nvmlDeviceGetHandleByIndex(0, &device) || nvmlDeviceGetHandleByIndex(1, &device) != NVML_ERROR_INVALID_ARGUMENT) return 1;
  cudaDeviceProp p;
  cudaGetDeviceProperties(&p, 0);
  if (nvmlDeviceGetName(device, name, sizeof name) || strcmp(name, p.name) || nvmlDeviceGetName(device, name, 3) != NVML_ERROR_INSUFFICIENT_SIZE) return 2;
  if (nvmlDeviceGetMemoryInfo(device, &memory) || memory.total == 0 || nvmlDeviceGetClockInfo(device, NVML_CLOCK_SM, &clock) || clock == 0) return 3;
  if (nvmlDeviceGetPowerUsage(device, &power) != NVML_ERROR_NOT_SUPPORTED) return 4;
  cudaDeviceGetPCIBusId(bus, sizeof bus, 0);
  if (nvmlDeviceGetHandleByPciBusId(bus, &device) || nvmlShutdown()) return 5;

  float host[8] = {1, 2, 3, 4, 5, 6, 7, 8}, *x;
  cudaMalloc(&x, sizeof host);
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  cublasHandle_t h;
  cublasCreate(&h);
  const float one = 1;
  // One number for all, then a vector from its last number on.
  if (cublasSaxpy(h, 4, &one, x, 0, x + 4, 1) || cublasScopy(h, 4, x + 4, -1, x, count > 1 ? 2 : 1)) return 6;
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 4; ++i)
    if (host[i] != 9 - i || host[4 + i] != 6 + i) return 7;
  std::size_t bytes = 0;
  void* room = nullptr;
  cub::DeviceScan::InclusiveSum(room, bytes, x, 8);
  cudaMalloc(&room, bytes);
  cub::DeviceScan::InclusiveSum(room, bytes, x, 8);
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
  return host[7] != 9 + 8 + 7 + 6 + 6 + 7 + 8 + 9;
}
)";

TEST(LenientForms, ADevicesManagementIncrementsOfVectorsAndAScanInPlace) {
  const WrittenSource source(kLibraries);
  const Module module = Module::build({.sources = {source.path()}, .watch = true});
  expect_good(module);
  EXPECT_EQ(module.run_main({"apart"}).exit_status, 7);
}

}  // namespace
}  // namespace isomer::emulator::tests
