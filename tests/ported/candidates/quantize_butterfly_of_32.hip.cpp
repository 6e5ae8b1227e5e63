// op: quantize_copy_kv
// finds: warp-size, assumes-contiguous
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
#include <cstdint>
// 4 rows per block, one warp a row
__global__ void destindex_copy_quantize_kv(const __half* K, const int* DestLoc, int8_t* Out, __half* Out_scale,
                                           int stride_kb, int stride_kh, int stride_ob, int stride_oh, int stride_sb,
                                           int stride_sh, int H, int D) {
  int warp = threadIdx.x / warpSize;
  int lane = threadIdx.x % warpSize;
  int warps = blockDim.x / warpSize;
  long s = blockIdx.x;
  long t = DestLoc[s];
  for (int h = warp; h < H; h += warps) {
    const __half* x = K + s * stride_kb + h * stride_kh;
    float m = 0.f;
    for (int d = lane; d < D; d += warpSize) m = fmaxf(m, fabsf(__half2float(x[d])));
    // butterfly over the warp
    m = fmaxf(m, __shfl_xor(m, 16));
    m = fmaxf(m, __shfl_xor(m, 8));
    m = fmaxf(m, __shfl_xor(m, 4));
    m = fmaxf(m, __shfl_xor(m, 2));
    m = fmaxf(m, __shfl_xor(m, 1));
    __half sc = __float2half(m / 127.f);
    float f = __half2float(sc);
    for (int d = lane; d < D; d += warpSize) {
      float q = f != 0.f ? __half2float(x[d]) / f : 0.f;
      Out[t * stride_ob + h * stride_oh + d] = (int8_t)fminf(127.f, fmaxf(-128.f, q));
    }
    if (lane == 0) Out_scale[t * stride_sb + h * stride_sh] = sc;
  }
}

void launch(const __half* K, const int* DestLoc, int8_t* Out, __half* Out_scale, int stride_kb, int stride_kh,
            int stride_ob, int stride_oh, int stride_sb, int stride_sh, int S, int H, int D) {
  if (S == 0) return;
  hipLaunchKernelGGL(destindex_copy_quantize_kv, dim3(S), dim3(256), 0, 0, K, DestLoc, Out, Out_scale, stride_kb,
                     stride_kh, stride_ob, stride_oh, stride_sb, stride_sh, H, D);
}
