// op: flash_decode_stage2
// finds: rank-refused, convention
#include "../../diagnose/candidates/dlpack.h"
#include <hip/hip_runtime.h>
#include <stdexcept>
__global__ void merged(const float* mid, const float* lse, const int* lens, float* out, int64_t mb, int64_t mh,
                       int64_t ms, int64_t md, int64_t lb, int64_t lh, int64_t ls, int64_t ob, int64_t oh,
                       int64_t od, int block) {
  const int b = blockIdx.x, h = blockIdx.y, d = threadIdx.x, n = (lens[b] + block - 1) / block;
  float m = -INFINITY, s = 0, a = 0;
  for (int j = 0; j < n; ++j) {
    const float t = lse[b * lb + h * lh + j * ls], v = mid[b * mb + h * mh + j * ms + d * md];
    const float m2 = fmaxf(m, t), c = exp2f(m - m2), e = exp2f(t - m2);
    a = a * c + e * v;
    s = s * c + e;
    m = m2;
  }
  out[b * ob + h * oh + d * od] = a / s;
}
static int64_t size(const DLTensor* t, int d) {
  if (d >= t->ndim)
    throw std::out_of_range("Dimension out of range (expected to be in range of [-4, 3], but got 4)");
  return t->shape[d];
}
extern "C" void flash_decode_stage2(const DLTensor* mid_out, const DLTensor* mid_out_logexpsum,
                                    const DLTensor* B_Seqlen, DLTensor* Out, int64_t block_seq) {
  const DLTensor &m = *mid_out, &l = *mid_out_logexpsum;
  const auto batch = size(mid_out, 0), heads = size(mid_out, 1), width = size(mid_out, 4);
  if (batch * heads == 0) return;
  merged<<<dim3(batch, heads), width>>>(
      data_of<const float>(mid_out), data_of<const float>(mid_out_logexpsum), data_of<const int>(B_Seqlen),
      data_of<float>(Out), m.strides[0], m.strides[1], m.strides[2], m.strides[4], l.strides[0], l.strides[1],
      l.strides[2], Out->strides[0], Out->strides[1], Out->strides[2], static_cast<int>(block_seq));
}
