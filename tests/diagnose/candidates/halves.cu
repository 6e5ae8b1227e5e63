// Sums of half of the lanes, numbers of 16 bits, scales the other way round, sizes of which nothing is said: each
// right and with one fault.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>
#include <math.h>

/// A warp for each element of a product, its lanes along K; `step` is where its reduction begins, and K is summed
/// to a multiple of `whole`.
__global__ void by_warps(const __nv_fp8_e4m3* a, const float* a_s, const __nv_fp8_e4m3* b, const float* b_s,
                         __nv_bfloat16* c, int n, int k, int step, int whole) {
  const int m = blockIdx.y, j = blockIdx.x, blocks = (k + 127) / 128;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < k / whole * whole; i += 32)
    sum += float(a[(long)m * k + i]) * float(b[(long)j * k + i]) * a_s[m * blocks + i / 128] *
           b_s[j / 128 * blocks + i / 128];
  for (; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
  if (threadIdx.x == 0) c[(long)m * n + j] = __float2bfloat16(sum);
}
#define BY_WARPS(name, step, whole)                                                                              \
  extern "C" void name(const __nv_fp8_e4m3* a, const float* a_s, const __nv_fp8_e4m3* b, const float* b_s,       \
                       __nv_bfloat16* c, int m, int n, int k) {                                                  \
    if (m > 0 && n > 0) by_warps<<<dim3(n, m), 32>>>(a, a_s, b, b_s, c, n, k, step, whole);                      \
  }
BY_WARPS(multiply_by_warps, 16, 1)
BY_WARPS(multiply_by_half_warps, 8, 1)
BY_WARPS(multiply_whole_steps, 16, 32)

/// A thread for each element; `Index` is the type in which rows are counted out.
template <class Index>
__global__ void spread(const __nv_fp8_e4m3* x, const float* s, half* y, int rows, int columns) {
  const long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (long)rows * columns) return;
  const int row = i / columns, column = i % columns;
  y[(Index)(row * columns) + column] =
      __float2half(float(x[i]) * s[row / 128 * ((columns + 127) / 128) + column / 128]);
}
#define SPREAD(name, Index)                                                                                      \
  extern "C" void name(const __nv_fp8_e4m3* x, const float* s, half* y, int rows, int cols) {                    \
    const long n = (long)rows * cols;                                                                            \
    if (n > 0) spread<Index><<<(n + 255) / 256, 256>>>(x, s, y, rows, cols);                                     \
  }
SPREAD(spread_by_index, long)
SPREAD(spread_by_short_index, unsigned short)

/// Parts of a decode for heads of 64 and 128 alone, of which nothing says so; a lane for each two elements or
/// four. `unit` is what the maximum is counted in, `beyond` goes on to the part's end behind the sequence's.
template <int dim>
__global__ void stage(const half* q, const half* k, const half* v, const int* table, const int* requests,
                      const int* lengths, float* mid, float* lse, int heads, int kv_heads, int width, int parts,
                      int size, float scale, float unit, bool beyond) {
  const int b = blockIdx.x, h = blockIdx.y, part = blockIdx.z, lane = threadIdx.x, g = h / (heads / kv_heads);
  const int begin = part * size, end = beyond ? begin + size : min(lengths[b], begin + size);
  if (begin >= lengths[b]) return;
  float row[dim / 32], value[dim / 32], most = -INFINITY, sum = 0.0f;
  for (int x = 0; x < dim / 32; ++x) {
    row[x] = __half2float(q[((long)b * heads + h) * dim + 32 * x + lane]) * scale;
    value[x] = 0.0f;
  }
  for (int t = begin; t < end; ++t) {
    const long at = ((long)table[(long)requests[b] * width + t] * kv_heads + g) * dim;
    float score = 0.0f;
    for (int x = 0; x < dim / 32; ++x) score += row[x] * __half2float(k[at + 32 * x + lane]);
    for (int step = 16; step > 0; step /= 2) score += __shfl_xor_sync(0xffffffffu, score, step);
    const float next = fmaxf(most, score), old = expf(most - next), p = expf(score - next);
    sum = sum * old + p;
    for (int x = 0; x < dim / 32; ++x) value[x] = value[x] * old + p * __half2float(v[at + 32 * x + lane]);
    most = next;
  }
  const long to = ((long)b * heads + h) * parts + part;
  for (int x = 0; x < dim / 32; ++x) mid[to * dim + 32 * x + lane] = value[x] / sum;
  if (lane == 0) lse[to] = most * unit + logf(sum);
}
#define STAGE(name, unit, beyond)                                                                                \
  extern "C" void name(const half* q, const half* k, const half* v, const int* req_to_tokens,                    \
                       const int* b_req_idx, const int* b_seqlen, float* mid_o, float* mid_o_logexpsum,          \
                       int batch, int num_heads, int num_kv_heads, int head_dim, int max_seq_len,                \
                       int num_blocks, int block_seq, float scale) {                                             \
    const dim3 grid(batch, num_heads, num_blocks);                                                               \
    const auto kernel = head_dim == 64 ? stage<64> : stage<128>;                                                 \
    if (batch > 0 && (head_dim == 64 || head_dim == 128))                                                        \
      kernel<<<grid, 32>>>(q, k, v, req_to_tokens, b_req_idx, b_seqlen, mid_o, mid_o_logexpsum, num_heads,       \
                           num_kv_heads, max_seq_len, num_blocks, block_seq, scale, unit, beyond);               \
  }
STAGE(decode_parts_of_few_dims, 1.0f, false)
STAGE(decode_parts_to_mixed_bases, 1.44269504f, false)
STAGE(decode_parts_beyond_the_end, 1.0f, true)

/// A block for each 128 of a row.
__global__ void gated(const __nv_bfloat16* x, __nv_fp8_e4m3* y, float* s, int width, bool times) {
  __shared__ float most[128];
  const int t = threadIdx.x, at = blockIdx.x * 128 + t;
  const __nv_bfloat16* row = x + (long)blockIdx.y * width * 2;
  const float gate = __bfloat162float(row[at]), h = gate / (1.0f + expf(-gate)) * __bfloat162float(row[width + at]);
  most[t] = fabsf(h);
  __syncthreads();
  for (int step = 64; step > 0; step /= 2) {
    if (t < step) most[t] = fmaxf(most[t], most[t + step]);
    __syncthreads();
  }
  const float scale = fmaxf(most[0], 1e-4f) / 448.0f;
  y[(long)blockIdx.y * width + at] = __nv_fp8_e4m3(times ? h * scale : h / scale);
  if (t == 0) s[blockIdx.y * gridDim.x + blockIdx.x] = scale;
}
#define GATED(name, times)                                                                                       \
  extern "C" void name(const __nv_bfloat16* input, __nv_fp8_e4m3* out, float* scales, int num_tokens,            \
                       int intermediate_size) {                                                                  \
    if (num_tokens > 0)                                                                                          \
      gated<<<dim3(intermediate_size / 128, num_tokens), 128>>>(input, out, scales, intermediate_size, times);   \
  }
GATED(gate_and_divide, false)
GATED(gate_and_multiply, true)

/// A thread for each head of a token.
__global__ void shrink(const half* k, const int* slots, signed char* cache, half* scales, int heads, int dim,
                       bool inverse, int further) {
  const long from = ((long)blockIdx.x * heads + threadIdx.x) * dim, row = (slots[blockIdx.x] + (long)further) * heads + threadIdx.x;
  float most = 0.0f;
  for (int d = 0; d < dim; ++d) most = fmaxf(most, fabsf(__half2float(k[from + d])));
  const half stored = __float2half(most / 127.0f);
  for (int d = 0; d < dim; ++d) {
    const float q = __half2float(k[from + d]) / __half2float(stored);
    cache[row * dim + d] = (signed char)(q == q ? fmaxf(fminf(q, 127.0f), -128.0f) : 0.0f);
  }
  scales[row] = inverse ? __float2half(127.0f / most) : stored;
}
#define SHRINK(name, inverse, further)                                                                           \
  extern "C" void name(const half* key, const int* slot_mapping, signed char* key_cache, half* key_scale,        \
                       int num_tokens, int num_heads, int head_dim) {                                            \
    if (num_tokens > 0)                                                                                          \
      shrink<<<num_tokens, num_heads>>>(key, slot_mapping, key_cache, key_scale, num_heads, head_dim, inverse, \
                                        further);                                                                \
  }
SHRINK(shrink_to_scales, false, 0)
SHRINK(shrink_to_inverse_scales, true, 0)
SHRINK(shrink_to_next_rows, false, 1)

/// A quantisation that keeps its scales to itself.
__global__ void alone(const float* x, __nv_fp8_e4m3* y) {
  __shared__ float most[128];
  const int t = threadIdx.x;
  const long at = (long)blockIdx.x * 128 + t;
  most[t] = fabsf(x[at]);
  __syncthreads();
  for (int step = 64; step > 0; step /= 2) {
    if (t < step) most[t] = fmaxf(most[t], most[t + step]);
    __syncthreads();
  }
  y[at] = __nv_fp8_e4m3(x[at] * 448.0f / fmaxf(most[0], 1e-4f));
}
extern "C" void shrink_rows_alone(const float* x, __nv_fp8_e4m3* y, int m, int k) {
  if (m > 0) alone<<<m * k / 128, 128>>>(x, y);
}
