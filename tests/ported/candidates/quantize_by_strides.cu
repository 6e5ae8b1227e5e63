// op: quantize_copy_kv
// finds: nothing
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <cstdint>
template <int BLOCK>
__global__ void fwd_kernel(const __half* K, const int* Dest_loc, int8_t* Out, __half* Out_scale,
                           int64_t stride_k_bs, int64_t stride_k_h, int64_t stride_k_d, int64_t stride_o_bs,
                           int64_t stride_o_h, int64_t stride_o_d, int64_t stride_os_bs, int64_t stride_os_h,
                           int head_num, int head_dim) {
  const int s = blockIdx.x;
  const int64_t dest = Dest_loc[s];
  for (int h = threadIdx.y; h < head_num; h += blockDim.y) {
    float amax = 0.0f;
    for (int d = threadIdx.x; d < head_dim; d += 32)
      amax = fmaxf(amax, fabsf(__half2float(K[s * stride_k_bs + h * stride_k_h + d * stride_k_d])));
#pragma unroll
    for (int o = 16; o > 0; o /= 2) amax = fmaxf(amax, __shfl_xor_sync(0xffffffffu, amax, o));
    const __half sc = __float2half_rn(__fdiv_rn(amax, 127.0f));
    for (int d = threadIdx.x; d < head_dim; d += 32) {
      float q = __half2float(K[s * stride_k_bs + h * stride_k_h + d * stride_k_d]) / __half2float(sc);
      Out[dest * stride_o_bs + h * stride_o_h + d * stride_o_d] = static_cast<int8_t>(static_cast<int>(q));
    }
    if (threadIdx.x == 0) Out_scale[dest * stride_os_bs + h * stride_os_h] = sc;
  }
}
void destindex_copy_quantize_kv(const __half* K, const int* DestLoc, int8_t* Out, __half* Out_scale,
                                int seq_len, int head_num, int head_dim, int64_t stride_k_bs,
                                int64_t stride_k_h, int64_t stride_k_d, int64_t stride_o_bs,
                                int64_t stride_o_h, int64_t stride_o_d, int64_t stride_os_bs,
                                int64_t stride_os_h, cudaStream_t stream) {
  if (seq_len <= 0) return;
  fwd_kernel<4><<<seq_len, dim3(32, 4), 0, stream>>>(K, DestLoc, Out, Out_scale, stride_k_bs, stride_k_h,
                                                     stride_k_d, stride_o_bs, stride_o_h, stride_o_d,
                                                     stride_os_bs, stride_os_h, head_num, head_dim);
}
