// Thrust's algorithms run on the host, on memory that kernels share. `./isomer` installs Thrust.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "isomer/emulator/module.hpp"
#include "written_source.hpp"

namespace isomer::emulator::tests {
namespace {

const char* const kProgram = R"(
#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/for_each.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform_reduce.h>
#include <thrust/tuple.h>
__device__ int most;
struct Adds {
  template <class T> __host__ __device__ void operator()(T t) const { thrust::get<1>(t) += thrust::get<0>(t); }
};
__global__ void steps(int* x, int n) { if (threadIdx.x < n) x[threadIdx.x] += 1; }
__global__ void sorts(int* x) {
  if (threadIdx.x > 0) return;
  thrust::sort(thrust::seq, x, x + 16);
  most = x[15];
}
int main(int count, char**) {
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  thrust::device_vector<int> v(100), w(100, 1);
  thrust::sequence(v.begin(), v.end());
  steps<<<1, 128>>>(thrust::raw_pointer_cast(v.data()), count > 1 ? 101 : 100);
  thrust::sort(thrust::cuda::par.on(stream), v.begin(), v.end(), thrust::greater<int>());
  thrust::fill(thrust::device.on(stream), w.begin(), w.end(), 5);
  if (v[0] != 100 || v[99] != 1) return 1;
  const auto pairs = thrust::make_zip_iterator(thrust::make_tuple(v.begin(), w.begin()));
  thrust::for_each(pairs, pairs + 100, Adds());
  thrust::host_vector<int> h = w;
  if (h[0] != 105) return 2;
  if (thrust::transform_reduce(w.begin(), w.end(), [] __device__ (int x) { return x - 5; }, 0, thrust::plus<int>()) != 5050) return 3;
  int *raw, got = 0;
  cudaMalloc(&raw, 64 * 4);
  thrust::device_ptr<int> p(raw);
  thrust::fill(p, p + 64, -1);
  thrust::for_each(thrust::device, thrust::counting_iterator<int>(0), thrust::counting_iterator<int>(64),
                   [=] __device__ (int i) { atomicAdd(&raw[i], 64 - i); });
  sorts<<<1, 32>>>(raw);
  thrust::inclusive_scan(thrust::device, raw, raw + 16, raw);
  cudaMemcpyFromSymbol(&got, most, 4);
  return got == 63 && p[1] == 48 + 49 ? 0 : 4;
}
)";

bool is_there() {
  const char* named = std::getenv("ISOMER_THRUST");
  return std::filesystem::exists(std::filesystem::path(named ? named : "/usr/include") / "thrust/version.h");
}

TEST(Thrust, ItsAlgorithmsAndKernelsShareMemoryAndAFaultOfAKernelIsSeen) {
  ASSERT_TRUE(is_there()) << "install libthrust-dev";
  const WrittenSource source(kProgram, "k.cu");
  const Module module = Module::build({.sources = {source.path()}, .watch = true});
  const RunResult clean = module.run_main();
  for (const Report& report : clean.reports) ADD_FAILURE() << report.text;
  EXPECT_TRUE(clean.ok()) << clean.failure;
  EXPECT_EQ(clean.exit_status, 0);
  const RunResult bad = module.run_main({"past"});
  ASSERT_EQ(bad.reports.size(), 2u);
  EXPECT_EQ(bad.reports[0].kind, Kind::out_of_bounds_read);
}

// Lists of values, which Thrust's vectors take since version 2, and the conversions between its vectors.
const char* const kLists = R"(
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>
#include <vector>
__global__ void twice(int* p, int n) {
  if (threadIdx.x < n) p[threadIdx.x] *= 2;
}
int main(int count, char**) {
  thrust::device_vector<int> d = {3, 1, 2}, e(3, 5);
  thrust::host_vector<int> h{7, 8};
  const thrust::host_vector<int> g = d;
  const std::vector<int> s = {1, 2, 3};
  e = g;
  thrust::device_vector<int> m(e);
  m = s;
  d = {4, 5, 6};
  thrust::sort(e.begin(), e.end());
  twice<<<1, 32>>>(thrust::raw_pointer_cast(e.data()), count > 1 ? 4 : 3);
  h = e;
  return h[0] != 2 || h[2] != 6 || g[0] != 3 || m[2] != 3 || thrust::reduce(d.begin(), d.end()) != 15 || e != h;
}
)";

TEST(Thrust, VectorsOfLists) {
  ASSERT_TRUE(is_there()) << "install libthrust-dev";
  const WrittenSource source(kLists, "lists.cu");
  const Module module = Module::build({.sources = {source.path()}, .watch = true});
  const RunResult clean = module.run_main();
  EXPECT_EQ(clean.exit_status, 0) << clean.failure;
  for (const Report& report : clean.reports) ADD_FAILURE() << report.text;
  const RunResult bad = module.run_main({"past"});
  ASSERT_FALSE(bad.reports.empty());
  EXPECT_EQ(bad.reports[0].place.line, 8u);
}

// A scan of what sixteen of a thousand blocks have written: places that come of it are guesses.
const char* const kSampled = R"(
#include <thrust/device_ptr.h>
#include <thrust/scan.h>
__global__ void flags(unsigned* to) { to[blockIdx.x * 32 + threadIdx.x] = threadIdx.x & 1; }
__global__ void move(const unsigned* places, unsigned* to) { to[places[blockIdx.x * 32 + threadIdx.x]] = threadIdx.x; }
__global__ void past(unsigned* to, int by) { to[blockIdx.x * 32 + threadIdx.x + by] = 1; }
int main(int count, char**) {
  unsigned *places, *to;
  cudaMalloc(&places, 128000), cudaMalloc(&to, 128000);
  flags<<<1000, 32>>>(places);
  const thrust::device_ptr<unsigned> p(places);
  thrust::exclusive_scan(p, p + 32000, p);
  move<<<1000, 1>>>(places, to);
  past<<<1000, 32>>>(to, count > 1 ? 1 : 0);
  return cudaDeviceSynchronize();
}
)";

TEST(Thrust, WhatItMakesOfASampleIsAGuessAndAFaultOfItsOwnIsNot) {
  ASSERT_TRUE(is_there()) << "install libthrust-dev";
  const WrittenSource source(kSampled, "sampled.cu");
  const Module module = Module::build({.sources = {source.path()}, .watch = true});
  for (const std::uint64_t blocks : {16, 0}) {
    const RunResult clean = module.run_main({}, {.blocks = blocks});
    for (const Report& report : clean.reports) ADD_FAILURE() << report.text;
    EXPECT_TRUE(clean.ok()) << clean.failure;
    const RunResult bad = module.run_main({"past"}, {.blocks = blocks});
    ASSERT_EQ(bad.reports.size(), 1u);
    EXPECT_EQ(bad.reports[0].kind, Kind::out_of_bounds_write);
  }
}

TEST(Thrust, WhereAHeaderOfItIsMissingIsSaidWhereToGetIt) {
  const WrittenSource source("#include <thrust/which_nobody_has.h>\nint main() {}\n", "k.cu");
  try {
    Module::build({.sources = {source.path()}});
    ADD_FAILURE() << "it compiled";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("libthrust-dev"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace isomer::emulator::tests
