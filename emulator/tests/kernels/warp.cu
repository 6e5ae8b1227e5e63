// Warp operations with a mask, as CUDA sources write them. Every kernel leaves one number per thread.
#include <cuda_runtime.h>

typedef unsigned long long u64;
#define KERNEL(NAME) extern "C" __global__ void NAME(u64* out)
#define T (blockIdx.x * blockDim.x + threadIdx.x)
#define FULL (warpSize == 64 ? ~0ull : 0xffffffffull)

__device__ unsigned lane() { return threadIdx.x % warpSize; }

KERNEL(shfl_broadcast) { out[T] = __shfl_sync(FULL, (int)T, 5); }
KERNEL(shfl_wraps) { out[T] = __shfl_sync(FULL, (int)T, lane() + 3); }
template <int W>
__device__ void all_shuffles(u64* out) {
  const int v = (int)T;
  u64 r = __shfl_sync(FULL, v, 1, W);
  r = r * 131 + __shfl_up_sync(FULL, v, 1, W);
  r = r * 131 + __shfl_down_sync(FULL, v, 2, W);
  r = r * 131 + __shfl_xor_sync(FULL, v, 1, W);
  out[T] = r;
}
KERNEL(shuffles_width_2) { all_shuffles<2>(out); }
KERNEL(shuffles_width_4) { all_shuffles<4>(out); }
KERNEL(shuffles_width_8) { all_shuffles<8>(out); }
KERNEL(shuffles_width_16) { all_shuffles<16>(out); }
KERNEL(shuffles_width_32) { all_shuffles<32>(out); }
KERNEL(shuffles_width_warp) { all_shuffles<warpSize>(out); }
KERNEL(shfl_xor_past_segment) { out[T] = __shfl_xor_sync(FULL, (int)T, 12, 8); }
KERNEL(shfl_double) { out[T] = (u64)__shfl_sync(FULL, T * 0.5, 7) * 2; }
KERNEL(shfl_u64) { out[T] = __shfl_xor_sync(FULL, (u64)T << 40, 1) >> 40; }
struct Wide { int a[6]; };
KERNEL(shfl_struct) {
  Wide w;
  for (int i = 0; i < 6; ++i) w.a[i] = (int)T * 10 + i;
  w = __shfl_down_sync(FULL, w, 1);
  u64 s = 0;
  for (int i = 0; i < 6; ++i) s += w.a[i];
  out[T] = s;
}
KERNEL(butterfly_sum) {
  int v = lane() + 1;
  for (int o = warpSize / 2; o > 0; o /= 2) v += __shfl_xor_sync(FULL, v, o);
  out[T] = v;
}
KERNEL(inclusive_scan) {
  int v = 1;
  for (int o = 1; o < warpSize; o *= 2) {
    const int u = __shfl_up_sync(FULL, v, o);
    if (lane() >= o) v += u;
  }
  out[T] = v;
}
KERNEL(ballot_odd) { out[T] = __ballot_sync(FULL, T & 1); }
KERNEL(ballot_after_exit) {
  if (lane() >= 20) { out[T] = 0; return; }
  out[T] = __ballot_sync(0xfffff, 1);
}
KERNEL(any_all_uni) {
  out[T] = (__any_sync(FULL, lane() == 3) != 0) * 1 + (__any_sync(FULL, lane() == 999) != 0) * 2 +
           (__all_sync(FULL, lane() < 64) != 0) * 4 + (__all_sync(FULL, lane() != 3) != 0) * 8 + (__uni_sync(FULL, 0) != 0) * 16;
}
KERNEL(votes_in_halves) {
  const u64 mask = lane() < 16 ? 0xffffull : FULL & ~0xffffull;
  out[T] = __ballot_sync(mask, lane() % 3 == 0);
}
KERNEL(divergent_shuffles) {
  if (lane() % 2 == 0) {
    out[T] = __shfl_sync(FULL & 0x5555555555555555ull, (int)lane(), 4);
  } else {
    out[T] = __shfl_sync(FULL & 0xaaaaaaaaaaaaaaaaull, (int)lane(), 7);
  }
}
KERNEL(match_any) { out[T] = __match_any_sync(FULL, (int)(lane() / 4)); }
KERNEL(match_all) {
  int p = 7, q = 7;
  const u64 same = __match_all_sync(FULL, 42, &p), other = __match_all_sync(FULL, (u64)lane(), &q);
  out[T] = same * 4 + p * 2 + q + other;
}
KERNEL(reduce_sync) {
  out[T] = (u64)__reduce_add_sync(FULL, lane()) * 1000000 + __reduce_max_sync(FULL, (int)lane() - 5) * 1000 +
           (unsigned)(__reduce_min_sync(FULL, (int)lane() - 5) + 5) * 100 + __reduce_and_sync(FULL, lane() | 8u) + __reduce_or_sync(FULL, 1u) +
           __reduce_xor_sync(FULL, 3u);
}
KERNEL(activemask_full) { out[T] = __activemask(); }
KERNEL(syncwarp_order) {
  __shared__ int s[256];
  s[threadIdx.x] = T;
  __syncwarp();
  const int v = s[threadIdx.x ^ 1];
  __syncwarp();
  s[threadIdx.x] = v;
  __syncwarp();
  out[T] = s[threadIdx.x ^ 1];
}
KERNEL(partial_last_warp) { out[T] = __ballot_sync(FULL, 1); }
