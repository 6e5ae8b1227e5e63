// The language: shared memory in all its spellings, barriers, templates, lambdas, device variables, launch bounds.
#include <cuda_runtime.h>

#include <cstdio>

typedef unsigned long long u64;
#define KERNEL(NAME) extern "C" __global__ void NAME(u64* out)
#define T (blockIdx.x * blockDim.x + threadIdx.x)

KERNEL(linear_index) {
  out[(blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x] =
      threadIdx.x == blockDim.x - 1 && blockDim.y == 1 ? blockIdx.x + 10 * blockIdx.y + 100 * blockIdx.z : 7;
}
KERNEL(static_shared) {
  __shared__ int s[256];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[T] = s[blockDim.x - 1 - threadIdx.x];
}
KERNEL(shared_several) {
  __shared__ int a[256], *p, b;
  if (threadIdx.x == 0) { p = a; b = 5; }
  a[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[T] = p[(threadIdx.x + 1) % blockDim.x] + b;
}
KERNEL(shared_two_dimensional) {
  __shared__ float tile[16][17];
  const unsigned x = threadIdx.x % 16, y = threadIdx.x / 16;
  tile[y][x] = (float)threadIdx.x;
  __syncthreads();
  out[T] = (u64)tile[x][y];
}
KERNEL(shared_struct) {
  __shared__ struct { int n; float v[4]; } s;
  if (threadIdx.x == 1) { s.n = 3; s.v[3] = 4.0f; }
  __syncthreads();
  out[T] = s.n * 10 + (int)s.v[3];
}
KERNEL(shared_union_aligned) {
  __shared__ alignas(16) union { float4 f; int i[4]; } u;
  if (threadIdx.x < 4) u.i[threadIdx.x] = __float_as_int(1.0f + threadIdx.x);
  __syncthreads();
  out[T] = (u64)(u.f.x + u.f.y + u.f.z + u.f.w) + ((u64)&u & 15);
}
KERNEL(dynamic_shared) {
  extern __shared__ int dyn[];
  dyn[threadIdx.x] = threadIdx.x * 3;
  __syncthreads();
  out[T] = dyn[(threadIdx.x + 1) % blockDim.x];
}
KERNEL(dynamic_shared_carved) {
  extern __shared__ __align__(16) unsigned char raw[];
  double* d = reinterpret_cast<double*>(raw);
  short* s = (short*)(raw + blockDim.x * sizeof(double));
  d[threadIdx.x] = threadIdx.x * 0.5;
  s[threadIdx.x] = (short)threadIdx.x;
  __syncthreads();
  const unsigned o = blockDim.x - 1 - threadIdx.x;
  out[T] = (u64)(d[o] * 2) + s[o];
}
extern __shared__ float file_scope[];
KERNEL(dynamic_shared_at_file_scope) {
  file_scope[threadIdx.x] = threadIdx.x;
  __syncthreads();
  float* p = reinterpret_cast<float*>(file_scope);
  out[T] = (u64)p[threadIdx.x ^ 1];
}
template <class E, int N>
__device__ E block_sum(E v) {
  __shared__ E part[N];
  part[threadIdx.x] = v;
  for (int s = N / 2; s > 0; s /= 2) {
    __syncthreads();
    if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
  }
  __syncthreads();
  const E r = part[0];
  __syncthreads();
  return r;
}
KERNEL(template_shared) { out[T] = (u64)block_sum<int, 256>(threadIdx.x) + (u64)block_sum<double, 256>(0.5) + (u64)block_sum<int, 256>(1); }
KERNEL(barrier_or_and_count) {
  const int o = __syncthreads_or(threadIdx.x == 7), n = __syncthreads_and(threadIdx.x != 7), c = __syncthreads_count(threadIdx.x % 3 == 0);
  out[T] = (o != 0) * 10000 + (n != 0) * 5000 + c;
}
KERNEL(barrier_after_exit) {
  if (threadIdx.x >= 100) { out[T] = 1; return; }
  __shared__ int s[128];
  s[threadIdx.x] = 2;
  __syncthreads();
  out[T] = s[99 - threadIdx.x];
}
KERNEL(barrier_in_loop) {
  __shared__ int s[2][256];
  s[0][threadIdx.x] = threadIdx.x;
  for (int i = 0; i < 10; ++i) {
    __syncthreads();
    s[(i + 1) % 2][threadIdx.x] = s[i % 2][(threadIdx.x + 1) % blockDim.x];
  }
  out[T] = s[0][threadIdx.x];
}
KERNEL(named_barriers) {
  __shared__ int s[256];
  const unsigned half = threadIdx.x / 128;
  s[threadIdx.x] = threadIdx.x;
  __barrier_sync_count(1 + half, 128);
  out[T] = s[half * 128 + 127 - threadIdx.x % 128];
}
struct Functor {
  int k;
  __device__ int operator()(int x) const { return k * x; }
};
template <class F>
__device__ int apply(F f, int x) { return f(x); }
KERNEL(lambdas) {
  const int a = 3;
  auto f = [=] __device__(int x) { return a * x + 1; };
  out[T] = apply(f, (int)T) + apply(Functor{2}, (int)T);
}
__device__ int table[4] = {5, 6, 7, 8};
__constant__ float weights[3] = {0.5f, 1.5f, 2.0f};
__device__ __managed__ int shared_counter;
namespace deep { namespace { __device__ int hidden = 9; } __constant__ int known = 4; }
KERNEL(device_variables) { out[T] = table[T % 4] + (u64)(weights[T % 3] * 2) + deep::hidden + deep::known; }
__device__ __noinline__ unsigned fibonacci(unsigned n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
KERNEL(recursion) { out[T] = fibonacci(10 + T % 3); }
__device__ __forceinline__ int twice(int x) { return 2 * x; }
__host__ __device__ constexpr int thrice(int x) { return 3 * x; }
extern "C" __global__ void __launch_bounds__(256, 2) bounded(u64* out) { out[T] = twice(T) + thrice(T); }
KERNEL(local_array) {
  int a[64];
  for (int i = 0; i < 64; ++i) a[i] = i * T;
  u64 s = 0;
  for (int i = 0; i < 64; ++i) s += a[(i * 7) % 64];
  out[T] = s;
}
KERNEL(vector_types) {
  const float4 v = make_float4(T, 1, 2, 3);
  const int2 w = make_int2(4, 5);
  const uchar4 c = make_uchar4(255, 1, 2, 3);
  out[T] = (u64)(v.x + v.y + v.z + v.w) + w.x * w.y + c.x + sizeof(float3) + alignof(double2);
}
KERNEL(bits) {
  const unsigned v = T + 1;
  out[T] = __popc(v) + 100 * __clz(v) + 10000 * __ffs(v) + 1000000ull * (__brev(v) >> 20) + (u64)__popcll(~0ull << v % 64) * 10000000000ull;
}
KERNEL(integer_intrinsics) {
  out[T] = __mulhi(1 << 30, 12) + __umulhi(1u << 31, 6) + __mul24(-3, 5) + 100 + __sad(3, -4, 5u) + __byte_perm(0x33221100u, 0x77665544u, 0x0005u) % 256 +
           __dp4a(0x01020304, 0x01010101, 7) + __funnelshift_l(0x80000000u, 1u, 1) + min(3u, 5) + max(-1, 2);
}
KERNEL(rounding_intrinsics) {
  const float x = 2.5f + (T % 4);
  out[T] = __float2int_rn(x) + 100 * __float2int_rz(-x + 100.0f) + 10000 * __float2int_ru(x) + 1000000 * __float2int_rd(x) +
           (__float2int_rn(3e9f) == 2147483647) * 100000000ull + (__float2int_rz(__int_as_float(0x7fc00000)) == 0) * 200000000ull;
}
KERNEL(directed_rounding) {
  const float a = 1.0f, b = 1e-9f;
  u64 r = (__fadd_ru(a, b) > a) + 2 * (__fadd_rd(a, b) == a) + 4 * (__fadd_rz(-a, -b) == -a) + 8 * (__fdiv_ru(1.0f, 3.0f) > __fdiv_rd(1.0f, 3.0f));
  r += 16 * (__fmul_rn(3.0f, 7.0f) == 21.0f) + 32 * (__frcp_rn(8.0f) == 0.125f) + 64 * (__fsqrt_rd(2.0f) < __fsqrt_ru(2.0f)) + 128 * (__fadd_rd(a, -b) < a);
  out[T] = r;
}
__device__ __shared__ int tile_of_the_file[32];
KERNEL(shared_array_of_the_file) {
  tile_of_the_file[T % 32] = 2 * T;
  __syncthreads();
  out[T] = tile_of_the_file[31 - T % 32];
}
KERNEL(directed_longs) {
  const long long big = (1ll << 60) + 1;
  const unsigned long long most = ~0ull;
  u64 r = (__ll2float_ru(big) > __ll2float_rd(big)) + 2 * (__ll2float_rz(-big) == __ll2float_ru(-big)) + 4 * (__ll2double_rd(big) == 1152921504606846976.0);
  r += 8 * (__ll2double_ru(big) > __ll2double_rn(big)) + 16 * (__ull2double_rz(most) < __ull2double_ru(most)) + 32 * (__ull2float_ru(most) == 18446744073709551616.0f) + 64 * (__ll2float_ru(1ll << 60) == __ll2float_rd(1ll << 60));
  out[T] = r;
}
KERNEL(fast_math) {
  const float x = 1.25f;
  out[T] = (fabsf(__expf(x) - expf(x)) < 1e-6f) + 2 * (fabsf(__logf(x) - logf(x)) < 1e-6f) + 4 * (fabsf(__sinf(x) - sinf(x)) < 1e-6f) +
           8 * (__fdividef(6.0f, 3.0f) == 2.0f) + 16 * (rsqrtf(4.0f) == 0.5f) + 32 * (fabsf(__powf(2.0f, 3.0f) - 8.0f) < 1e-5f) + 64 * isnan(__int_as_float(0x7fffffff));
}
KERNEL(special_functions) {
  double s, c;
  sincospi(1.0, &s, &c);
  const float v[3] = {2.0f, 3.0f, 6.0f};
  out[T] = (s == 0.0) + 2 * (c == -1.0) + 4 * (sinpif(0.5f) == 1.0f) + 8 * (cospif(0.5f) == 0.0f) + 16 * (fabs(erf(erfinv(0.3)) - 0.3) < 1e-14) +
           32 * (fabs(erfc(erfcinv(1e-10)) / 1e-10 - 1) < 1e-10) + 64 * (normf(3, v) == 7.0f) + 128 * (fabs(normcdf(normcdfinv(0.1)) - 0.1) < 1e-14) +
           256 * (norm3d(2.0, 3.0, 6.0) == 7.0) + 512 * (fabsf(erfcinvf(1.9f) - -1.16308715f) < 1e-6f);
}
KERNEL(ldg_and_clock) {
  const long long a = clock64();
  const int v = __ldg(&table[T % 4]);
  out[T] = v + (clock64() >= a && clock() >= a);  // both count the same
}
KERNEL(threadfence_flag) {
  __shared__ volatile int flag;
  __shared__ int value;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == blockDim.x - 1) { value = 41; __threadfence_block(); atomicExch((int*)&flag, 1); }
  if (threadIdx.x == 0) { while (atomicAdd((int*)&flag, 0) == 0) {} out[blockIdx.x] = value + 1; }
}
