// op: flash_decode_stage2
// finds: intermediate-precision
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
#include <math.h>
// Two passes; the weights are summed in f32, the values in the output's f16.
__global__ void merge(const float* mid, const float* lse, const int* lens, __half* out, int64_t mb,
                      int64_t mh, int64_t ms, int64_t md, int64_t lb, int64_t lh, int64_t ls, int64_t ob,
                      int64_t oh, int64_t od, int dim, int block_seq) {
  const int len = lens[blockIdx.x], parts = len > 0 ? (len + block_seq - 1) / block_seq : 0;
  const float* l = lse + blockIdx.x * lb + blockIdx.y * lh;
  const float* m = mid + blockIdx.x * mb + blockIdx.y * mh;
  float top = -INFINITY, sum = 0.f;
  for (int j = 0; j < parts; ++j) top = fmaxf(top, l[j * ls]);
  for (int j = 0; j < parts; ++j) sum += expf(l[j * ls] - top);
  for (int d = threadIdx.x; d < dim; d += blockDim.x) {
    __half acc = __float2half(0.f);
    for (int j = 0; j < parts; ++j)
      acc = __float2half(__half2float(acc) + expf(l[j * ls] - top) * m[j * ms + d * md]);
    out[blockIdx.x * ob + blockIdx.y * oh + d * od] = __float2half(__half2float(acc) / sum);
  }
}
extern "C" void flash_decode_stage2(const float* mid_out, const float* lse, const int* seqlen, __half* out,
                                    int64_t batch, int64_t heads, int64_t dim, int64_t mb, int64_t mh,
                                    int64_t ms, int64_t md, int64_t lb, int64_t lh, int64_t ls, int64_t ob,
                                    int64_t oh, int64_t od, int block_seq) {
  if (batch * heads == 0) return;
  merge<<<dim3(batch, heads), 64>>>(mid_out, lse, seqlen, out, mb, mh, ms, md, lb, lh, ls, ob, oh, od,
                                    (int)dim, block_seq);
}
