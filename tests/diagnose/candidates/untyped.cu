// Memory of any type, of which no name and no code says what it holds: floats of two bytes, indices of eight, a weight
// beside its quantised one; each right, and with one fault. And what callers of a launch choose.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>
#include <math.h>

/// One query of each entry; caches of [entries, heads, rows, dim].
__global__ void of_rows(const __nv_bfloat16* q, const __nv_bfloat16* keys, const __nv_bfloat16* values,
                        __nv_bfloat16* out, int kv_heads, int length, int rows, int dim, float scale, bool in_turn) {
  extern __shared__ float scores[];
  const int heads = gridDim.x, h = blockIdx.x, g = in_turn ? h % kv_heads : h / (heads / kv_heads);
  const long query = ((long)blockIdx.y * heads + h) * dim, first = ((long)blockIdx.y * kv_heads + g) * rows * dim;
  for (int t = threadIdx.x; t < length; t += blockDim.x) {
    float score = 0.0f;
    for (int d = 0; d < dim; ++d)
      score += __bfloat162float(q[query + d]) * __bfloat162float(keys[first + (long)t * dim + d]);
    scores[t] = score * scale;
  }
  __syncthreads();
  float most = -INFINITY, all = 0.0f;
  for (int t = 0; t < length; ++t) most = fmaxf(most, scores[t]);
  for (int t = 0; t < length; ++t) all += expf(scores[t] - most);
  for (int d = threadIdx.x; d < dim; d += blockDim.x) {
    float value = 0.0f;
    for (int t = 0; t < length; ++t)
      value += expf(scores[t] - most) * __bfloat162float(values[first + (long)t * dim + d]);
    out[query + d] = __float2bfloat16(value / all);
  }
}
#define OF_ROWS(name, in_turn)                                                                                   \
  extern "C" void name(const void* q, const void* k_cache, const void* v_cache, void* out, int batch,            \
                       int num_q_heads, int num_kv_heads, int kv_len, int max_kv_len, int head_dim,              \
                       float scale) {                                                                            \
    if (batch > 0)                                                                                               \
      of_rows<<<dim3(num_q_heads, batch), 64, kv_len * sizeof(float)>>>(                                         \
          (const __nv_bfloat16*)q, (const __nv_bfloat16*)k_cache, (const __nv_bfloat16*)v_cache,                 \
          (__nv_bfloat16*)out, num_kv_heads, kv_len, max_kv_len, head_dim, scale, in_turn);                      \
  }
OF_ROWS(decode_untyped, false)
OF_ROWS(decode_untyped_in_turn, true)

/// A block for each head of a token; rows are written where indices of eight bytes say.
__global__ void to_slots(const __half* k, const long long* slots, signed char* out, __half* scales, int dim,
                         bool rounded) {
  const long row = (long)blockIdx.x * gridDim.y + blockIdx.y, to = slots[blockIdx.x] * gridDim.y + blockIdx.y;
  float most = 0.0f;
  for (int d = threadIdx.x; d < dim; d += 32) most = fmaxf(most, fabsf(__half2float(k[row * dim + d])));
  for (int step = 16; step > 0; step /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, step));
  const __half scale = __float2half(most / 127.0f);
  for (int d = threadIdx.x; d < dim; d += 32) {
    const float value = __half2float(k[row * dim + d]) / __half2float(scale);
    out[to * dim + d] = (signed char)(rounded ? rintf(value) : value);
  }
  if (threadIdx.x == 0) scales[to] = scale;
}
#define TO_SLOTS(name, rounded)                                                                                  \
  extern "C" void name(void* K, void* DestLoc, void* Out, void* OutScale, int seq_len, int head_num,             \
                       int head_dim) {                                                                           \
    if (seq_len > 0)                                                                                             \
      to_slots<<<dim3(seq_len, head_num), 32>>>((const __half*)K, (const long long*)DestLoc, (signed char*)Out,  \
                                                (__half*)OutScale, head_dim, rounded);                           \
  }
TO_SLOTS(keep_by_wide_slots, false)
TO_SLOTS(keep_by_wide_slots_rounded, true)

/// The weight that a quantised one is spread into is called as the op calls what it is given.
__global__ void spread(const unsigned char* from, const float* scales, __half* to, int columns, int size, int across) {
  const int column = blockIdx.x * 32 + threadIdx.x;
  if (column >= columns) return;
  const long at = (long)blockIdx.y * columns + column;
  __nv_fp8_e4m3 code;
  code.__x = from[at];
  to[at] = __float2half(float(code) * scales[(long)(blockIdx.y / size) * across + column / size]);
}
#define SPREAD(name, across)                                                                                     \
  extern "C" void name(const unsigned char* qweight, const float* scale_inv, __half* weight, int out_features,   \
                       int in_features, int block) {                                                             \
    if (out_features > 0 && in_features > 0)                                                                     \
      spread<<<dim3((in_features + 31) / 32, out_features), 32>>>(qweight, scale_inv, weight, in_features,       \
                                                                  block, across);                                \
  }
SPREAD(spread_into_weight, (in_features + block - 1) / block)
SPREAD(spread_into_weight_by_whole_blocks, in_features / block)

/// As many blocks, of as many threads, as whoever calls it says; `last`: elements that none of them comes to.
__global__ void by_steps(const float* x, float* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = sinf(x[i]);
}
#define BY_STEPS(name, last)                                                                                     \
  extern "C" void name(const float* x, float* out, int n, int num_blocks, int threads) {                         \
    if (n > 0) by_steps<<<num_blocks, threads>>>(x, out, n - last);                                              \
  }
BY_STEPS(wave_of_given_blocks, 0)
BY_STEPS(wave_of_given_blocks_but_the_last, n % 4)

/// Two warps take the two halves of a block of 128. Each writes what it found over what it read before its shuffles;
/// `one`: over the first elements of the block, which the
/// other one reads.
__global__ void over_what_was_read(const float* x, __nv_fp8_e4m3* y, float* s, bool one) {
  __shared__ float found[128];
  const long first = blockIdx.x * 128L;
  const int thread = threadIdx.x, begin = thread / 32 * 64;
  for (int i = thread; i < 128; i += 64) found[i] = fabsf(x[first + i]);
  __syncthreads();
  float most = fmaxf(found[begin + thread % 32], found[begin + 32 + thread % 32]);
  for (int step = 16; step > 0; step /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, step));
  if (thread % 32 == 0) found[one ? 1 - thread / 32 : begin] = most;
  __syncthreads();
  const float scale = fmaxf(fmaxf(found[0], found[one ? 1 : 64]), 1e-4f) / 448.0f;
  for (int i = thread; i < 128; i += 64) y[first + i] = __nv_fp8_e4m3(x[first + i] / scale);
  if (thread == 0) s[blockIdx.x] = scale;
}
#define OVER_WHAT_WAS_READ(name, one)                                                                            \
  extern "C" void name(const float* x, __nv_fp8_e4m3* y, float* s, long numel, int block_size) {                 \
    if (numel > 0 && block_size == 128) over_what_was_read<<<numel / 128, 64>>>(x, y, s, one);                   \
  }
OVER_WHAT_WAS_READ(shrink_over_its_own_reads, false)
OVER_WHAT_WAS_READ(shrink_over_others_reads, true)
