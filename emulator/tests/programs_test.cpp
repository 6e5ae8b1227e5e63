// Whole programs, with a main of their own: what they find stays found however they end.
#include <gtest/gtest.h>

#include "isomer/emulator/module.hpp"
#include "programs.hpp"
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
__global__ void move(Point* p) { __shared__ __align__(32) char room[64]; room[threadIdx.x] = 1; __align__(16) __shared__ float front[64]; front[threadIdx.x] = room[threadIdx.x]; p[threadIdx.x].x = front[threadIdx.x]; }
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
    synchronize(g);
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
    {"special_functions_of_the_standard_library", "k.cu", R"(
__global__ void least(double* p) { p[0] = std::min(p[0], std::cyl_bessel_j(0, p[1])); }
int main() {
  double *p, host[2] = {1, 1};
  cudaMalloc(&p, sizeof host);
  cudaMemcpy(p, host, sizeof host, cudaMemcpyHostToDevice);
  least<<<1, 1>>>(p);
  cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
  return fabs(host[0] - 0.7651976865579666) > 1e-12;
}
)"},
    {"headers_that_hipcc_brings_along", "k.hip.cpp", R"(
#include <hip/hip_runtime.h>
__global__ void one(int* p) { *p = 1; }
void check(hipError_t code) {
  if (code != hipSuccess) throw std::runtime_error("error " + std::to_string(code));
}
int main() {
  int *p, host = 0;
  check(hipMalloc(&p, sizeof host));
  one<<<1, 1>>>(p);
  check(hipMemcpy(&host, p, sizeof host, hipMemcpyDeviceToHost));
  const std::string said = "one";
  return host != 1 || said.size() != 3;
}
)"},
    {"cub_is_given_operators_of_cuda", "k.cu", R"(
#include <cub/cub.cuh>
#include <cuda/functional>
#include <cuda/std/functional>
__device__ __half kept_as_half;  // CUB's header brings the small types
__global__ void largest(const float* x, float* out) {
  using Reduce = cub::BlockReduce<float, 64>;
  __shared__ typename Reduce::TempStorage room;
  const float top = Reduce(room).Reduce(x[threadIdx.x], cuda::maximum<float>());
  __syncthreads();
  const float least = Reduce(room).Reduce(x[threadIdx.x], cuda::minimum<>());
  if (threadIdx.x == 0) kept_as_half = __float2half(top), out[0] = __half2float(kept_as_half), out[1] = least;
}
int main() {
  float host[64], *x, *out;
  for (int i = 0; i < 64; ++i) host[i] = (i * 37) % 64 - 5;
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&out, 8);
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  largest<<<1, 64>>>(x, out);
  cudaMemcpy(host, out, 8, cudaMemcpyDeviceToHost);
  return cuda::std::identity()(host[0]) != 58 || host[1] != -5;
}
)"},
    {"two_threads_of_a_block_wait_for_another_block", "k.cu", R"(
__device__ int flag = 0;
__global__ void waits(int* out) {
  if (blockIdx.x == 0) {
    while (atomicAdd(&flag, 0) == 0) {}
    __threadfence();
    out[threadIdx.x] = out[2] + 1;
  } else if (threadIdx.x == 0) {
    out[2] = 6;
    __threadfence();
    atomicExch(&flag, 1);
  }
}
int main() {
  int *out, got[3];
  cudaMalloc(&out, 12);
  waits<<<2, 2>>>(out);
  cudaMemcpy(got, out, 12, cudaMemcpyDeviceToHost);
  return got[0] != 7 || got[1] != 7;
}
)"},
    {"null_for_a_pointer_of_a_template", "k.cu", R"(
#include <cstddef>
template <class T, int Shift> __global__ void fills(T* a, T* b, int n) { if (b == nullptr) a[threadIdx.x] = n + Shift - 4; }
int main() {
  int *p, got[2];
  cudaMalloc(&p, 8);
  fills<int, (1 << (1 + 1))><<<1, 2>>>(p, NULL, 3);
  cudaMemcpy(got, p, 8, cudaMemcpyDeviceToHost);
  return got[0] != 3 || got[1] != 3;
}
)"},
    {"a_name_of_another_scope_is_no_host_function", "k.cu", R"(
namespace inner { __device__ int last(int n) { return n - 1; } }
namespace in = inner;
static double last(double* x, int n) { return x[n - 1]; }
namespace of_the_host { inline int max(int a, int b) { return a > b ? a : b; } }
template <class T> __global__ void takes(T* p) { *p = in::last(max(*p, -5)); }
int main() {
  int *p, got;
  double x[2] = {0, 0};
  cudaMalloc(&p, 4);
  cudaMemset(p, 0, 4);
  takes<<<1, 1>>>(p);
  cudaMemcpy(&got, p, 4, cudaMemcpyDeviceToHost);
  return got != -1 || last(x, 2) != 0;
}
)"},
    {"inline_ptx", "k.cu", R"(
#include <cuda_fp16.h>
#include <cstdint>
__device__ unsigned lane() { unsigned l; asm volatile("mov.u32 %0, %%laneid;" : "=r"(l)); return l; }
__device__ unsigned below() { unsigned l; asm("mov.u32%0, %%lanemask_lt;" : "=r"(l)); return l; }
__device__ int wrapped(int a, int b) {
  int c;
  asm("{\n\t"
      ".reg .pred p;\n\t"          // a comment
      ".reg .b32 t<2>;\n\t"
      "setp.gt.s32 p, %1, %2;\n\t"
      "mad.lo.s32 t1, %1, 10, %2;\n\t"
      "@p add.s32 t1, t1, 1000;\n\t"
      "@!p mov.u32 t0, 7;\n\t"
      "mov.b32 %0, t1;\n\t"
      "}" : "=r"(c) : "r"(a), "r"(b));
  return c;
}
__global__ void small(unsigned* out) {
  unsigned v, i = 0;
  const auto put = [&](unsigned x) { if (lane() == 0) out[i] = x; ++i; };
  asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(v) : "r"(0xff00ff00u), "r"(0x0ff00ff0u), "r"(0xffffffffu)); put(v == (0xff00ff00u ^ 0x0ff00ff0u ^ ~0u));
  asm("prmt.b32 %0, %1, %2, 0x5410;" : "=r"(v) : "r"(0x44332211u), "r"(0x88776655u)); put(v == 0x66552211u);
  asm("bfind.u32 %0, %1;" : "=r"(v) : "r"(0x00010000u)); put(v == 16);
  asm("shf.l.wrap.b32 %0, %1, %2, %3;" : "=r"(v) : "r"(0x80000000u), "r"(1u), "r"(4u)); put(v == 24);
  asm("mul.hi.u32 %0, %1, %2;" : "=r"(v) : "r"(0x80000000u), "r"(6u)); put(v == 3);
  asm volatile("bfe.s32 %0, %1, 4, 4;" : "=r"(v) : "r"(0xf5u)); put(v == ~0u);
  put(wrapped(3, 4) == 34);
  put(wrapped(5, 4) == 1054);
  put(below() == 0);
  unsigned from;
  asm volatile("shfl.sync.bfly.b32 %0, %1, 1, 0x1f, 0xffffffff;" : "=r"(from) : "r"(lane() * 3)); put(from == 3);
  asm volatile("{ .reg .pred q; .reg .b32 o; setp.lt.u32 q, %1, 5; vote.sync.ballot.b32 o, q, 0xffffffff; vote.ballot.sync.b32 %0, q, 0xffffffff; and.b32 %0, %0, o; }" : "=r"(v) : "r"(lane())); put(v == 31);
  float f = 1.5f, g;
  asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(g) : "f"(f), "f"(2.0f), "f"(0.25f)); put(g == 3.25f);
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(g) : "f"(3.0f)); put(g == 8.0f);
  asm("cvt.rzi.s32.f32 %0, %1;" : "=r"(v) : "f"(3e9f)); put(v == 0x7fffffffu);
  asm("{ .reg .b16 lo, hi; mov.b32 {lo, hi}, %1; mov.b32 %0, {hi, lo}; }" : "=r"(v) : "r"(0x12345678u)); put(v == 0x56781234u);
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(v) : "f"(2.0f), "f"(1.0f)); put(v == 0x40003c00u);
}
__global__ void memory(const float4* in, float* out, int* count) {
  __shared__ __align__(16) float room[128];
  float a, b, c, d;
  asm volatile("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(a), "=f"(b), "=f"(c), "=f"(d) : "l"(in + threadIdx.x));
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(room + 4 * threadIdx.x));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(at), "l"(in + threadIdx.x) : "memory");
  asm volatile("cp.async.commit_group;\n" ::);
  asm volatile("cp.async.wait_group %0;\n" :: "n"(0));
  asm volatile("bar.sync 0;");
  float mine;
  asm volatile("ld.shared.f32 %0, [%1+4];" : "=f"(mine) : "r"(at ^ 16));
  asm volatile("st.global.cs.f32 [%0], %1;" :: "l"(out + threadIdx.x), "f"(a + b + c + d + mine));
  asm volatile("red.global.add.s32 [%0], %1;" :: "l"(count), "r"(2));
  asm volatile("membar.gl;");
}
// a is 16x16, b is 16x8 by columns, both in shared memory, as a kernel for tensor cores loads them.
__global__ void product(const __half* a, const __half* b, float* d) {
  __shared__ __align__(16) __half sa[256], sb[128];
  const int l = threadIdx.x;
  for (int i = l; i < 256; i += 32) sa[i] = a[i];
  for (int i = l; i < 128; i += 32) sb[i] = b[i];
  __syncthreads();
  uint32_t ra[4], rb[2];
  float acc[4] = {1, 1, 1, 1};
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3])
               : "r"((unsigned)__cvta_generic_to_shared(sa + (l % 16) * 16 + l / 16 * 8)));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
               : "=r"(rb[0]), "=r"(rb[1]) : "r"((unsigned)__cvta_generic_to_shared(sb + (l % 8) * 16 + l / 8 % 2 * 8)));
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
               : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
  uint32_t halves[2] = {0x3c003c00u, 0x3c003c00u};
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"
               : "+r"(halves[0]), "+r"(halves[1])
               : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
  for (int i = 0; i < 4; ++i)
    if (__half2float(reinterpret_cast<const __half*>(halves)[i]) != acc[i]) acc[0] = -1e9f;
  const int row = l / 4, column = l % 4 * 2;
  d[row * 8 + column] = acc[0], d[row * 8 + column + 1] = acc[1];
  d[(row + 8) * 8 + column] = acc[2], d[(row + 8) * 8 + column + 1] = acc[3];
}
int main() {
  unsigned *flags, known[16];
  cudaMalloc(&flags, sizeof known);
  small<<<1, 32>>>(flags);
  cudaMemcpy(known, flags, sizeof known, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 16; ++i) if (!known[i]) return 1 + i;
  float4* in; float* out; int* count;
  cudaMallocManaged(&in, 512); cudaMallocManaged(&out, 512); cudaMallocManaged(&count, 4);
  *count = 0;
  for (int i = 0; i < 32; ++i) in[i] = make_float4(i, 1, 2, 3);
  memory<<<1, 32>>>(in, out, count);
  cudaDeviceSynchronize();
  if (out[5] != 12 || *count != 64) return 20;
  __half *a, *b; float* d;
  cudaMallocManaged(&a, 512); cudaMallocManaged(&b, 256); cudaMallocManaged(&d, 512);
  for (int i = 0; i < 256; ++i) a[i] = __float2half((i * 7 % 11) - 5.0f);
  for (int i = 0; i < 128; ++i) b[i] = __float2half((i * 5 % 13) - 6.0f);
  product<<<1, 32>>>(a, b, d);
  cudaDeviceSynchronize();
  for (int r = 0; r < 16; ++r) for (int c = 0; c < 8; ++c) {
    float sum = 1;
    for (int k = 0; k < 16; ++k) sum += __half2float(a[r * 16 + k]) * __half2float(b[c * 16 + k]);
    if (d[r * 8 + c] != sum) return 30;
  }
  return 0;
}
)"},
};

// Bodies that are there for the device alone, and functions of both that take another way there.
const char* const kDevicePaths = R"(
__host__ __device__ inline void add(int* x, int v) {
#ifdef __CUDA_ARCH__
  atomicAdd(x, v);
#else
  *x += v;
#endif
}
template <class T>
__host__ __device__ constexpr T shifted(T x) {
#if defined(__CUDA_ARCH__)
  return x + 100;
#else
  return x + 1;
#endif
}
struct Limit {
  int most;
  __device__ int get() const {
#if __CUDA_ARCH__ >= 800
    return most;
#else
    return -1;
#endif
  }
};
#if __CUDA_ARCH__ >= 700
template <class T>
__device__ T twice(T x) { return 2 * x; }
#endif
__global__ void count(int* x, Limit limit) {
#if __CUDA_ARCH__ >= 700
  add(x, 1);
  if (threadIdx.x == 0) x[1] = shifted(1), x[2] = limit.get(), x[3] = twice(4);
#endif
  if (threadIdx.x == limit.most) x[4] = 1;
}
template <class T> __device__ int picked(T) { return 1; }
#if __CUDA_ARCH__ >= 700
template <> __device__ __forceinline__ int picked<int>(int) { return 2; }
__device__ int picked(double) { return 3; }
#endif
__global__ void picks(int* x) { x[0] = picked(1) + 10 * picked(1.0) + 100 * picked(1.0f); }
int main(int words, char**) {
  static_assert(shifted(1) == 2);
  int *d, h[4] = {}, z = 3;
  cudaMalloc(&d, sizeof h);
  cudaMemset(d, 0, sizeof h);
  count<<<1, 32>>>(d, Limit{words > 1 ? 5 : 50});
  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
  add(&z, 2);
  int *one, which = 0;
  cudaMalloc(&one, sizeof which);
  picks<<<1, 1>>>(one);
  cudaMemcpy(&which, one, sizeof which, cudaMemcpyDeviceToHost);
  if (which != 132) return 2;
  return !(h[0] == 32 && h[1] == 101 && h[2] == (words > 1 ? 5 : 50) && h[3] == 8 && z == 5 && shifted(z) == 6);
}
)";

TEST(DevicePaths, AreTakenByWhatRunsOnTheDeviceAndLinesKeepTheirNumbers) {
  const WrittenSource source(kDevicePaths, "paths.cu");
  const Module module = Module::build({.sources = {source.path()}, .watch = true});
  const RunResult good = module.run_main();
  EXPECT_TRUE(good.ok()) << good.failure;
  EXPECT_EQ(good.exit_status, 0);
  EXPECT_EQ(good.reports.size(), 0u);
  const RunResult faulty = module.run_main({"faulty"});
  EXPECT_EQ(faulty.exit_status, 0);
  ASSERT_EQ(faulty.reports.size(), 1u);
  EXPECT_EQ(faulty.reports[0].kind, Kind::out_of_bounds_write);
  EXPECT_EQ(faulty.reports[0].place.line, 36u);
}

std::string name_of(const testing::TestParamInfo<Written>& info) { return info.param.name; }

class ProgramOfOthers : public testing::TestWithParam<Written> {};

TEST_P(ProgramOfOthers, RunsToItsEnd) {
  const WrittenSource source(GetParam().text, GetParam().file);
  const RunResult r = Module::build({.sources = {source.path()}, .watch = true}).run_main();
  EXPECT_TRUE(r.ok()) << r.failure;
  for (const Report& report : r.reports) ADD_FAILURE() << report.text;
  for (const Refusal& refusal : r.refusals) ADD_FAILURE() << refusal.text;
  EXPECT_EQ(r.exit_status, 0);
}

INSTANTIATE_TEST_SUITE_P(All, ProgramOfOthers, testing::ValuesIn(kWritten), name_of);
INSTANTIATE_TEST_SUITE_P(Runtime, ProgramOfOthers, testing::ValuesIn(programs_of_the_runtime()), name_of);

}  // namespace
}  // namespace isomer::emulator::tests
