// op: quantize_copy_kv
// finds: clamp, rounding-mode
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <cstdint>
__global__ void group_kernel(const __half* K, const int* DestLoc, int8_t* Out, __half* Out_scale, int S,
                             int H, int G) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= S * H * G) return;
  int g = i % G, h = (i / G) % H, s = i / (G * H);
  const __half* x = K + (int64_t)i * 8;
  float m = 0;
  for (int j = 0; j < 8; ++j) m = fmaxf(m, fabsf(__half2float(x[j])));
  __half sc = __float2half(m / 127.f);
  int64_t r = ((int64_t)DestLoc[s] * H + h) * G + g;
  for (int j = 0; j < 8; ++j) {
    float q = roundf(__half2float(x[j]) / __half2float(sc));
    q = fminf(127.f, fmaxf(-127.f, q));
    Out[r * 8 + j] = (int8_t)q;
  }
  Out_scale[r] = sc;
}
extern "C" void ppl_quant_copy_kv(const __half* K, const int* DestLoc, int8_t* Out, __half* Out_scale, int S,
                                  int H, int D) {
  int G = D / 8, n = S * H * G;
  if (n == 0) return;
  group_kernel<<<(n + 255) / 256, 256>>>(K, DestLoc, Out, Out_scale, S, H, G);
}
