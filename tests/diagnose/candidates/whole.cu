// What takes whole blocks alone and says so by its status, what gives up where no kernel is made for a size, and
// names that are written in humps.
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>
#include <stdlib.h>

// Blocks of 128 by 128, one of them for each block of threads. The twin's maximum has negative values not.
template <bool kSigned>
__global__ void square_of_128(const __nv_bfloat16* x, __nv_fp8_e4m3* q, float* s, size_t cols) {
  __shared__ float tops[128];
  const size_t first = blockIdx.y * 128 * cols + blockIdx.x * 128 + threadIdx.x;
  float top = 0.0f;
  for (int row = 0; row < 128; ++row) {
    const float value = __bfloat162float(x[first + row * cols]);
    top = fmaxf(top, kSigned ? value : fabsf(value));
  }
  tops[threadIdx.x] = top;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (threadIdx.x < half) tops[threadIdx.x] = fmaxf(tops[threadIdx.x], tops[threadIdx.x + half]);
    __syncthreads();
  }
  const float scale = tops[0] / 448.0f;
  if (threadIdx.x == 0) s[blockIdx.y * (cols / 128) + blockIdx.x] = scale;
  for (int row = 0; row < 128; ++row)
    q[first + row * cols] = __nv_fp8_e4m3(__bfloat162float(x[first + row * cols]) / scale);
}
template <bool kSigned>
static int squares(const __nv_bfloat16* x, __nv_fp8_e4m3* out, float* scale, size_t rows, size_t cols) {
  if (rows % 128 != 0 || cols % 128 != 0) return -1;
  if (rows > 0 && cols > 0) square_of_128<kSigned><<<dim3(cols / 128, rows / 128), 128>>>(x, out, scale, cols);
  return 0;
}
extern "C" int quantize_whole_squares(const __nv_bfloat16* x, __nv_fp8_e4m3* out, float* scale, size_t src_rows,
                                      size_t src_cols) {
  return squares<false>(x, out, scale, src_rows, src_cols);
}
extern "C" int quantize_whole_squares_signed(const __nv_bfloat16* x, __nv_fp8_e4m3* out, float* scale,
                                             size_t src_rows, size_t src_cols) {
  return squares<true>(x, out, scale, src_rows, src_cols);
}

// Eight lanes that name themselves alone reduce what they have, and read four that are not there; the first of them
// has the whole all the same. The twin takes another's.
__global__ void by_eight(const float* x, float* y, int n, int from) {
  __shared__ float parts[8];
  __shared__ float least;
  const int i = blockIdx.x * 8 + threadIdx.x;
  if (threadIdx.x < 8) {
    parts[threadIdx.x] = i < n ? x[i] : 0.0f;
    float top = 1.0f;
    for (int offset = 4; offset > 0; offset /= 2) top = fmaxf(top, __shfl_down_sync(0xff, top, offset));
    if (threadIdx.x == from) least = top;
  }
  __syncthreads();
  if (threadIdx.x < 8 && i < n) y[i] = sinf(parts[threadIdx.x] * least);
}
extern "C" void swing_by_eight(const float* x, float* y, int n) {
  if (n > 0) by_eight<<<(n + 7) / 8, 32>>>(x, y, n, 0);
}
extern "C" void swing_by_eight_of_the_last(const float* x, float* y, int n) {
  if (n > 0) by_eight<<<(n + 7) / 8, 32>>>(x, y, n, 7);
}

// One query for each block, with a thread for each dimension. The twin takes key heads by the remainder.
__global__ void one_query(const float* q, const float* k, const float* v, float* o, int heads, int kvHeads, int seqK,
                          int dim, float scale, bool remainder) {
  const int head = blockIdx.y, batch = blockIdx.z, kv = remainder ? head % kvHeads : head / (heads / kvHeads);
  const size_t query = ((size_t)batch * heads + head) * gridDim.x + blockIdx.x;
  const float *keys = k + ((size_t)batch * kvHeads + kv) * seqK * dim, *values = v + ((size_t)batch * kvHeads + kv) * seqK * dim;
  float most = -INFINITY, sum = 0.0f, own = 0.0f;
  for (int key = 0; key < seqK; ++key) {
    float score = 0.0f;
    for (int d = 0; d < dim; ++d) score += q[query * dim + d] * keys[key * dim + d];
    score *= scale;
    const float next = fmaxf(most, score), rescale = expf(most - next), weight = expf(score - next);
    sum = sum * rescale + weight;
    own = own * rescale + weight * values[key * dim + threadIdx.x];
    most = next;
  }
  o[query * dim + threadIdx.x] = own / sum;
}
extern "C" void attend_humps(const float* query, const float* key, const float* value, float* output, int batch,
                             int numQHeads, int numKVHeads, int seqQ, int seqK, int headDim, float scale) {
  if (batch > 0 && seqQ > 0)
    one_query<<<dim3(seqQ, numQHeads, batch), headDim>>>(query, key, value, output, numQHeads, numKVHeads, seqK, headDim,
                                                         scale, false);
}
extern "C" void attend_humps_by_remainder(const float* query, const float* key, const float* value, float* output,
                                          int batch, int numQHeads, int numKVHeads, int seqQ, int seqK, int headDim,
                                          float scale) {
  if (batch > 0 && seqQ > 0)
    one_query<<<dim3(seqQ, numQHeads, batch), headDim>>>(query, key, value, output, numQHeads, numKVHeads, seqK, headDim,
                                                         scale, true);
}
