#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdint>

// A block owns one head of one token.
__global__ void quantize_kernel(const __half* K, const int* DestLoc, int8_t* Out, __half* Out_scale,
                                int d_model, int64_t stride_k_bs, int64_t stride_k_h, int64_t stride_k_d,
                                int64_t stride_o_bs, int64_t stride_o_h, int64_t stride_o_d,
                                int64_t stride_os_bs, int64_t stride_os_h, int64_t out_rows) {
  const int64_t token = blockIdx.x, head = blockIdx.y;
  const int64_t row = DestLoc[token];
  if (row < 0 || row >= out_rows) return;
  const __half* source = K + token * stride_k_bs + head * stride_k_h;
  int8_t* target = Out + row * stride_o_bs + head * stride_o_h;

  __shared__ float largest[64];
  float mine = 0.0f;
  for (int d = threadIdx.x; d < d_model; d += blockDim.x) {
    const float x = fabsf(__half2float(source[d * stride_k_d]));
    mine = isnan(x) || isnan(mine) ? NAN : fmaxf(mine, x);
  }
  largest[threadIdx.x] = mine;
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) {
      const float a = largest[threadIdx.x], b = largest[threadIdx.x + half];
      largest[threadIdx.x] = isnan(a) || isnan(b) ? NAN : fmaxf(a, b);
    }
  }
  __syncthreads();

  const __half stored = __float2half(largest[0] / 127.0f);
  const float scale = __half2float(stored);
  for (int d = threadIdx.x; d < d_model; d += blockDim.x) {
    const float q = __half2float(source[d * stride_k_d]) / scale;
    target[d * stride_o_d] = isnan(q) ? 0 : static_cast<int8_t>(truncf(fminf(fmaxf(q, -128.0f), 127.0f)));
  }
  if (threadIdx.x == 0) Out_scale[row * stride_os_bs + head * stride_os_h] = stored;
}

extern "C" void destindex_copy_quantize_kv(const __half* K, const int* DestLoc, int8_t* Out,
                                           __half* Out_scale, int seq_len, int head_num, int d_model,
                                           int64_t stride_k_bs, int64_t stride_k_h, int64_t stride_k_d,
                                           int64_t stride_o_bs, int64_t stride_o_h, int64_t stride_o_d,
                                           int64_t stride_os_bs, int64_t stride_os_h, int64_t out_rows) {
  if (seq_len == 0 || head_num == 0) return;
  hipLaunchKernelGGL(quantize_kernel, dim3(seq_len, head_num), dim3(64), 0, 0, K, DestLoc, Out, Out_scale,
                     d_model, stride_k_bs, stride_k_h, stride_k_d, stride_o_bs, stride_o_h, stride_o_d,
                     stride_os_bs, stride_os_h, out_rows);
}
