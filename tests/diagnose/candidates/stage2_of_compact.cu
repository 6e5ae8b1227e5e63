// The second stage of a decode that takes `mid_out` for compact, whatever its strides are; and one that takes
// powers of 2 besides.
#include "dlpack.h"

#include <cuda_runtime.h>

#include <cmath>

template <bool kOfTwo>
__device__ float power(float x) {
  return kOfTwo ? exp2f(x) : expf(x);
}

template <bool kOfTwo>
__global__ void merged(const float* mid, const float* lse, const int* lens, float* out, int blocks,
                       int64_t lb, int64_t lh, int64_t ls, int64_t ob, int64_t oh, int64_t od, int length) {
  const int b = blockIdx.x, h = blockIdx.y, d = threadIdx.x, width = blockDim.x;
  const int n = (lens[b] + length - 1) / length;
  float most = -INFINITY, sum = 0.0f, mean = 0.0f;
  for (int j = 0; j < n; ++j) {
    const float one = lse[b * lb + h * lh + j * ls];
    const float value = mid[((b * static_cast<int>(gridDim.y) + h) * blocks + j) * width + d];
    const float larger = fmaxf(most, one), before = power<kOfTwo>(most - larger),
                now = power<kOfTwo>(one - larger);
    mean = mean * before + now * value;
    sum = sum * before + now;
    most = larger;
  }
  out[b * ob + h * oh + d * od] = mean / sum;
}

template <bool kOfTwo>
static void merge(const DLTensor* mid_out, const DLTensor* mid_out_logexpsum, const DLTensor* B_Seqlen,
                  DLTensor* Out, int64_t block_seq) {
  const DLTensor& lse = *mid_out_logexpsum;
  const dim3 rows(mid_out->shape[0], mid_out->shape[1]);
  if (rows.x * rows.y == 0) return;
  merged<kOfTwo><<<rows, mid_out->shape[3]>>>(
      data_of<const float>(mid_out), data_of<const float>(&lse), data_of<const int>(B_Seqlen),
      data_of<float>(Out), mid_out->shape[2], lse.strides[0], lse.strides[1], lse.strides[2], Out->strides[0],
      Out->strides[1], Out->strides[2], static_cast<int>(block_seq));
}

#define STAGE2(NAME, OF_TWO)                                                                                 \
  extern "C" void NAME(const DLTensor* mid_out, const DLTensor* mid_out_logexpsum, const DLTensor* B_Seqlen, \
                       DLTensor* Out, int64_t block_seq) {                                                   \
    merge<OF_TWO>(mid_out, mid_out_logexpsum, B_Seqlen, Out, block_seq);                                     \
  }
STAGE2(flash_decode_stage2, false)
STAGE2(flash_decode_stage2_of_two, true)
