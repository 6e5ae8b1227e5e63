// HIP's own forms: warp operations without a mask, its names for indices, launches by macro, 64-bit ballots.
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
#include <hip/hip_fp8.h>
#include <hip/hip_runtime.h>

typedef unsigned long long u64;
#define KERNEL(NAME) extern "C" __global__ void NAME(u64* out)
#define T (hipBlockIdx_x * hipBlockDim_x + hipThreadIdx_x)

__device__ unsigned lane() { return __lane_id(); }

KERNEL(hip_shfl) { out[T] = __shfl((int)T, 3) + __shfl_xor((int)T, 1) * 1000 + __shfl_up((int)T, 1, 8) * 1000000ull; }
KERNEL(hip_ballot) { out[T] = __ballot(lane() % 2); }
KERNEL(hip_vectors_made) {
  const float2 pair(2.5f, int(T));
  const uchar4 all = uchar4(3);
  const double3 cut(1, 2, 3.5f);
  int4 none{};
  __shared__ float2 row[64];
  row[threadIdx.x] = pair + float2(1);
  out[T] = u64(row[threadIdx.x].x * 2 + row[threadIdx.x].y) + all.w * 1000 + u64(cut.z * 2) * 10000 + none.x;
}
KERNEL(hip_any_all) { out[T] = (__any(lane() == 3) != 0) + 2 * (__all(lane() < 3) != 0) + 4 * (__all(1) != 0); }
KERNEL(hip_diverged_branch) {
  u64 v = 0;
  if (lane() < 10) v = __ballot(1);
  v += __ballot(1) % 1000;
  out[T] = v;
}
KERNEL(hip_diverged_loop) {
  u64 seen = 0;
  for (unsigned i = 0; i <= lane() % 4; ++i) seen = seen * 100 + __popcll(__ballot(1));
  out[T] = seen * 1000 + __popcll(__ballot(1));
}
KERNEL(hip_wave_sum) {
  int v = lane();
  for (int o = warpSize / 2; o > 0; o >>= 1) v += __shfl_down(v, o);
  out[T] = __shfl(v, 0);
}
KERNEL(hip_read_first_lane) { out[T] = __builtin_amdgcn_readfirstlane((int)T + 1); }
KERNEL(hip_activemask_in_branch) {
  out[T] = 0;
  if (lane() >= 5 && lane() < 9) out[T] = __activemask();
}
KERNEL(hip_vector_operators) {
  float4 a = make_float4(1, 2, 3, 4), b = a * 2.0f + a;
  b += a;
  out[T] = (u64)(b.x + b.y + b.z + b.w);
}
HIP_DYNAMIC_SHARED(int, dynamic_words)
KERNEL(hip_dynamic_shared) {
  dynamic_words[hipThreadIdx_x] = T;
  __syncthreads();
  out[T] = dynamic_words[hipThreadIdx_x ^ 1];
}
KERNEL(hip_fp8_fnuz) {
  const __hip_fp8_e4m3_fnuz a(1.0f);
  out[T] = a.__x + 1000 * (__hip_cvt_float_to_fp8(1000.0f, __HIP_SATFINITE, __HIP_E4M3_FNUZ) == 0x7f) +
           2000 * (__hip_cvt_float_to_fp8(-0.0f, __HIP_SATFINITE, __HIP_E4M3_FNUZ) == 0) + 4000 * (__hip_cvt_float_to_fp8(1000.0f, __HIP_NOSAT, __HIP_E4M3_FNUZ) == 0x80);
}
KERNEL(hip_shfl_half) { out[T] = (u64)__half2float(__shfl_xor(__float2half((float)lane()), 1)); }
