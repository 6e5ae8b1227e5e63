// op: attention
// finds: intermediate-precision
#include <cuda_runtime.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <math_constants.h>
constexpr int BM = 16, BN = 16;
struct Params {
  const half *q, *k, *v; half* o; int Sq, Sk, Hq, Hkv, D; float scale; int causal;
};
template <int kWarp>
__device__ float wsum(float x) { for (int o = kWarp / 2; o; o >>= 1) x += __shfl_xor_sync(0xffffffffu, x, o, kWarp); return x; }
// a block of 4 warps, one query row a warp; K and V tiles of 16 keys in shared memory
__global__ void flash(const half* q, const half* k, const half* v, half* o, int Sq, int Sk, int Hq, int Hkv, int D, float scale, int causal) {
  extern __shared__ half tile[];
  half* kt = tile; half* vt = tile + BN * D;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const int row = blockIdx.x * 4 + warp, h = blockIdx.y, b = blockIdx.z, kv = h / (Hq / Hkv);
  float acc[8] = {0}, m = -CUDART_INF_F, l = 0.f, qr[8] = {0};
  if (row < Sq) for (int i = 0; i < 8; ++i) if (lane + 32 * i < D) qr[i] = __half2float(q[(((size_t)b * Sq + row) * Hq + h) * D + lane + 32 * i]);
  for (int j0 = 0; j0 < Sk; j0 += BN) {
    __syncthreads();
    for (int i = threadIdx.x; i < BN * D; i += blockDim.x) {
      const int j = j0 + i / D;
      const size_t at = (((size_t)b * Sk + j) * Hkv + kv) * D + i % D;
      kt[i] = j < Sk ? k[at] : __float2half(0.f);
      vt[i] = j < Sk ? v[at] : __float2half(0.f);
    }
    __syncthreads();
    if (row >= Sq) continue;
    for (int j = 0; j < BN && j0 + j < Sk; ++j) {
      if (causal && j0 + j > row + Sk - Sq) break;
      float s = 0.f;
      for (int i = 0; i < 8; ++i) if (lane + 32 * i < D) s += qr[i] * __half2float(kt[j * D + lane + 32 * i]);
      s = wsum<32>(s) * scale;
      const float mn = fmaxf(m, s), c = __expf(m - mn), p = __expf(s - mn);
      l = l * c + p; m = mn;
      for (int i = 0; i < 8; ++i) if (lane + 32 * i < D) acc[i] = acc[i] * c + __bfloat162float(__float2bfloat16(p)) * __half2float(vt[j * D + lane + 32 * i]);
    }
  }
  if (row < Sq) for (int i = 0; i < 8; ++i) if (lane + 32 * i < D) o[(((size_t)b * Sq + row) * Hq + h) * D + lane + 32 * i] = __float2half(l > 0 ? acc[i] / l : 0.f);
}
extern "C" void attention_fwd(const half* q, const half* k, const half* v, half* out, int batch, int seqlen_q, int seqlen_k, int nheads, int nheads_k, int headdim, float softmax_scale, int is_causal, cudaStream_t stream) {
  if (batch == 0 || seqlen_q == 0) return;
  flash<<<dim3((seqlen_q + 3) / 4, nheads, batch), 128, 2 * BN * headdim * sizeof(half), stream>>>(q, k, v, out, seqlen_q, seqlen_k, nheads, nheads_k, headdim, softmax_scale, is_causal);
}
