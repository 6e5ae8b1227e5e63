// op: quantize_copy_kv
// finds: nothing
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
#include <cstdint>
// The kernel is chosen at run time: a pointer, and a table of pointers, in the host's memory.
template <int kHeads>
__global__ void by_heads(const __half* K, const int* DestLoc, int8_t* Out, __half* Out_scale, int64_t k0,
                         int64_t k1, int64_t k2, int64_t o0, int64_t o1, int64_t o2, int64_t s0, int64_t s1,
                         int H, int D) {
  const int64_t row = DestLoc[blockIdx.x];
  for (int h = threadIdx.x; h < H; h += kHeads) {
    const __half* x = K + blockIdx.x * k0 + h * k1;
    float amax = 0;
    for (int d = 0; d < D; ++d) amax = fmaxf(amax, fabsf(__half2float(x[d * k2])));
    const __half scale = __float2half(amax / 127.0f);
    for (int d = 0; d < D; ++d)
      Out[row * o0 + h * o1 + d * o2] = (int8_t)(int)(__half2float(x[d * k2]) / __half2float(scale));
    Out_scale[row * s0 + h * s1] = scale;
  }
}
typedef void (*Kernel)(const __half*, const int*, int8_t*, __half*, int64_t, int64_t, int64_t, int64_t,
                       int64_t, int64_t, int64_t, int64_t, int, int);
extern "C" void destindex_copy_quantize_kv(const __half* K, const int* DestLoc, int8_t* Out,
                                           __half* Out_scale, int64_t k0, int64_t k1, int64_t k2, int64_t o0,
                                           int64_t o1, int64_t o2, int64_t s0, int64_t s1, int S, int H,
                                           int D) {
  if (S == 0 || H == 0) return;
  const Kernel table[] = {&by_heads<32>, &by_heads<64>};
  const Kernel chosen = H > 32 ? table[1] : table[0];
  if (S % 2 == 0)
    hipLaunchKernelGGL(chosen, dim3(S), dim3(H > 32 ? 64 : 32), 0, 0, K, DestLoc, Out, Out_scale, k0, k1, k2,
                       o0, o1, o2, s0, s1, H, D);
  else
    table[0]<<<S, 32>>>(K, DestLoc, Out, Out_scale, k0, k1, k2, o0, o1, o2, s0, s1, H, D);
}
