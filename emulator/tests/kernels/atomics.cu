// Atomics under contention, and numbers of sixteen and eight bits.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

typedef unsigned long long u64;
#define KERNEL(NAME) extern "C" __global__ void NAME(u64* out)
#define T (blockIdx.x * blockDim.x + threadIdx.x)
#define N (gridDim.x * blockDim.x)

// `out` is zero when these begin.
KERNEL(atomic_add_int) { atomicAdd((int*)out, 1); }
KERNEL(atomic_add_u64) { atomicAdd(out, (u64)T); }
KERNEL(atomic_add_float) { atomicAdd((float*)out, 0.5f); }
KERNEL(atomic_add_double) { atomicAdd((double*)out, 0.25); }
KERNEL(atomic_add_half) { if (T % 4 == 0) atomicAdd((__half*)out, __float2half(1.0f)); }
KERNEL(atomic_add_bf16) { if (T % 8 == 0) atomicAdd((__nv_bfloat16*)out, __float2bfloat16(1.0f)); }
KERNEL(atomic_sub) { atomicSub((int*)out, 2); }
KERNEL(atomic_max) { atomicMax((int*)out, (int)T); }
KERNEL(atomic_min) { atomicMin((int*)out, -(int)T); }
KERNEL(atomic_and_or_xor) { atomicOr((unsigned*)out, 1u << T % 32); atomicXor((unsigned*)out + 1, T); atomicAnd((unsigned*)out + 1, 0xffffffffu); }
KERNEL(atomic_inc) { atomicInc((unsigned*)out, 9); }
KERNEL(atomic_dec) { atomicDec((unsigned*)out, 9); }
KERNEL(atomic_cas_maximum) {
  u64 old = *(volatile u64*)out;
  while (T + 1 > old) {
    const u64 seen = atomicCAS(out, old, (u64)T + 1);
    if (seen == old) break;
    old = seen;
  }
}
KERNEL(atomic_exch_chain) { const u64 before = atomicExch(out, (u64)T + 1); atomicAdd(out + 1, before); }
KERNEL(spin_lock) {
  if (threadIdx.x % 32 == 0) {
    while (atomicCAS((int*)out, 0, 1) != 0) {}
    __threadfence();
    ++*(volatile u64*)(out + 1);
    __threadfence();
    atomicExch((int*)out, 0);
  }
}
KERNEL(histogram) {
  __shared__ unsigned bins[16];
  if (threadIdx.x < 16) bins[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&bins[T % 16], 1u);
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(out + threadIdx.x, (u64)bins[threadIdx.x]);
}
KERNEL(last_block_sums) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    out[1 + blockIdx.x] = blockIdx.x + 1;
    __threadfence();
    last = atomicInc((unsigned*)(out + 40), gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    u64 s = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) s += out[1 + b];
    out[0] = s;
  }
}

KERNEL(half_arithmetic) {
  const __half a = __float2half(1.5f), b = __float2half(0.25f);
  const __half2 p = __floats2half2_rn(1.0f, 2.0f), q = __half2half2(b);
  out[T] = (u64)(__half2float(__hfma(a, b, a)) * 1000) + (u64)__half2float(a / b) + __hgt(a, b) + (u64)__low2float(__hmul2(p, __hadd2(q, q))) + (u64)__high2float(__hfma2(p, p, p)) +
           __half_as_ushort(__hneg(a)) + __hisnan(__ushort_as_half(0x7e00));
}
KERNEL(half_rounding) {
  // 2049 lies between 2048 and 2050.
  out[T] = (u64)__half2float(__float2half_rn(2049.0f)) % 100 + 100 * ((u64)__half2float(__float2half_ru(2049.0f)) % 100) +
           10000 * ((u64)__half2float(__float2half_rd(2049.0f)) % 100) + 1000000 * (__half_as_ushort(__float2half_rz(70000.0f)) == 0x7bff) +
           2000000 * (__half_as_ushort(__float2half(70000.0f)) == 0x7c00);
}
KERNEL(half_fma_rounds_once) {
  // (1+2^-10)^2 - 1 - 2^-9 = 2^-20 exactly; two roundings would give 0.
  const __half a = __float2half(1.0f + 0x1p-10f);
  out[T] = __half2float(__hfma(a, a, __float2half(-1.0f - 0x1p-9f))) == 0x1p-20f;
}
KERNEL(bf16_arithmetic) {
  const __nv_bfloat16 a = __float2bfloat16(3.0f), b = __float2bfloat16(0.5f);
  out[T] = (u64)__bfloat162float(a * b + a) * 10 + __bfloat16_as_ushort(__float2bfloat16(1.00390625f)) + __hlt(b, a) +
           (u64)__bfloat162float(__hmax(a, b));
}
KERNEL(fp8_round_trip) {
  const __nv_fp8_e4m3 x(1.0f + T % 7);
  const __nv_fp8_e5m2 y(3.0f);
  out[T] = (u64)float(x) + 100 * (u64)float(y) + 10000 * (__nv_cvt_float_to_fp8(1000.0f, __NV_SATFINITE, __NV_E4M3) == 0x7e) +
           20000 * (__nv_cvt_float_to_fp8(1000.0f, __NV_NOSAT, __NV_E4M3) == 0x7f) + 40000 * (__nv_cvt_float_to_fp8(1e6f, __NV_NOSAT, __NV_E5M2) == 0x7c);
}
// Tables of every code, compared with the codecs by the test.
extern "C" __global__ void decode_f16(float* out) { out[T] = __half2float(__ushort_as_half((unsigned short)T)); }
extern "C" __global__ void decode_bf16(float* out) { out[T] = __bfloat162float(__ushort_as_bfloat16((unsigned short)T)); }
extern "C" __global__ void decode_fp8(float* out, int format) {
  __nv_fp8_e4m3 a; a.__x = (unsigned char)T;
  __nv_fp8_e5m2 b; b.__x = (unsigned char)T;
  isomer::emulator::Float8<isomer::emulator::E4m3Fnuz> c; c.__x = (unsigned char)T;
  isomer::emulator::Float8<isomer::emulator::E5m2Fnuz> d; d.__x = (unsigned char)T;
  out[T] = format == 0 ? float(a) : format == 1 ? float(b) : format == 2 ? float(c) : float(d);
}
extern "C" __global__ void encode_f16(const float* in, unsigned short* out, int n) { if (T < n) out[T] = __half_as_ushort(__float2half(in[T])); }
extern "C" __global__ void encode_bf16(const float* in, unsigned short* out, int n) { if (T < n) out[T] = __bfloat16_as_ushort(__float2bfloat16(in[T])); }
extern "C" __global__ void encode_fp8(const float* in, unsigned char* out, int n, int format, int saturate) {
  if (T < n) out[T] = isomer::emulator::encode8_as(format, in[T], saturate != 0);
}
