// Attention of strangers whose faults show for large scores, for several tiles, for one size beside another or
// for fewer queries than keys, and what is beside it in their files; each has a twin that is right.
#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// q, k, v and o are [batch, heads, length, d].
struct Sizes {
  int heads, kv_heads, sq, sk, d;
};
enum Way { kRight, kFirstKeys, kInTurn };

template <Way way>
__global__ void attend(const float* q, const float* k, const float* v, float* o, Sizes n, float scale, int causal) {
  const int i = blockIdx.x, h = blockIdx.y, b = blockIdx.z, c = threadIdx.x;
  const int g = way == kInTurn ? h % n.kv_heads : h / (n.heads / n.kv_heads);
  const float* row = q + (((long)b * n.heads + h) * n.sq + i) * n.d;
  const long keys = ((long)b * n.kv_heads + g) * n.sk * n.d;
  float m = -INFINITY, l = 0, a = 0;
  for (int j = 0; j < n.sk; ++j) {
    if (causal && j > (way == kFirstKeys ? i : i + n.sk - n.sq)) continue;
    float s = 0;
    for (int e = 0; e < n.d; ++e) s += row[e] * k[keys + (long)j * n.d + e];
    s *= scale;
    const float top = fmaxf(m, s), r = expf(m - top), p = expf(s - top);
    l = l * r + p;
    a = a * r + p * v[keys + (long)j * n.d + c];
    m = top;
  }
  o[(((long)b * n.heads + h) * n.sq + i) * n.d + c] = l > 0 ? a / l : 0;
}

extern "C" void attend_from_first_key(const float* q, const float* k, const float* v, float* o, int batch_size,
                                      int num_heads, int seq_len_q, int seq_len_k, int head_dim_k, float scale, int causal) {
  attend<kFirstKeys><<<dim3(seq_len_q, num_heads, batch_size), head_dim_k>>>(q, k, v, o, Sizes{num_heads, num_heads, seq_len_q, seq_len_k, head_dim_k}, scale, causal);
}
extern "C" void attend_up_to_last_key(const float* q, const float* k, const float* v, float* o, int batch_size, int nhead,
                                      int nkvhead, int seq_len, int total_len, int head_dim, float scale, int causal) {
  attend<kRight><<<dim3(seq_len, nhead, batch_size), head_dim>>>(q, k, v, o, Sizes{nhead, nkvhead, seq_len, total_len, head_dim}, scale, causal);
}
// Dimensions that the host does not take: what is wrong in those that it takes is the fault.
static void only(int head_dim) {
  if (head_dim == 32 || head_dim == 64) return;
  fprintf(stderr, "unsupported head_dim=%d (supported: 32, 64)\n", head_dim);
  abort();
}
extern "C" void attend_given_up_in_turn(const float* q, const float* k, const float* v, float* o, int batch, int heads,
                                        int kv_heads, int seq_q, int seq_k, int head_dim) {
  only(head_dim);
  attend<kInTurn><<<dim3(seq_q, heads, batch), head_dim>>>(q, k, v, o, Sizes{heads, kv_heads, seq_q, seq_k, head_dim}, 1 / sqrtf(head_dim), 0);
}
extern "C" void attend_given_up(const float* q, const float* k, const float* v, float* o, int batch, int heads,
                                int kv_heads, int seq_q, int seq_k, int head_dim) {
  only(head_dim);
  attend<kRight><<<dim3(seq_q, heads, batch), head_dim>>>(q, k, v, o, Sizes{heads, kv_heads, seq_q, seq_k, head_dim}, 1 / sqrtf(head_dim), 0);
}

// One block for a head and a query, q and k [N, heads · d]: rows of scores lie `pitch` apart.
__global__ void weigh(const float* q, const float* k, float* s, int n, int width, int heads, int pitch) {
  const int j = threadIdx.x, i = blockIdx.x, h = blockIdx.y, d = width / heads;
  float x = 0;
  for (int c = 0; c < d; ++c) x += q[i * width + h * d + c] * k[j * width + h * d + c];
  s[(h * n + i) * pitch + j] = x / sqrtf(d);
}
template <bool kMaximum>
__global__ void blend(const float* s, const float* v, float* o, int n, int width, int heads, int pitch) {
  const int c = threadIdx.x, i = blockIdx.x, h = blockIdx.y, d = width / heads;
  const float* row = s + (h * n + i) * pitch;
  float m = kMaximum ? -INFINITY : 0, l = 0, a = 0;
  for (int j = 0; kMaximum && j < n; ++j) m = fmaxf(m, row[j]);
  for (int j = 0; j < n; ++j) {
    const float p = expf(row[j] - m);
    l += p;
    a += p * v[j * width + h * d + c];
  }
  o[i * width + h * d + c] = a / l;
}
template <bool kMaximum>
static void two_steps(const float* q, const float* k, const float* v, float* o, int n, int width, int heads, int read) {
  float* s;
  const int room = n > width ? n : width;
  cudaMalloc(&s, sizeof(float) * heads * n * room);
  cudaMemset(s, 0, sizeof(float) * heads * n * room);
  weigh<<<dim3(n, heads), n>>>(q, k, s, n, width, heads, n);
  blend<kMaximum><<<dim3(n, heads), width / heads>>>(s, v, o, n, width, heads, read);
  cudaFree(s);
}
extern "C" void attend_rows_of_dimension(const float* q, const float* k, const float* v, float* o, int N, int d_model, int h) {
  two_steps<true>(q, k, v, o, N, d_model, h, d_model / h);
}
extern "C" void attend_rows_of_keys(const float* q, const float* k, const float* v, float* o, int N, int d_model, int h) {
  two_steps<true>(q, k, v, o, N, d_model, h, N);
}

extern "C" void attend_small_scores(const float* q, const float* k, const float* v, float* o, int N, int d_model, int h) {
  two_steps<false>(q, k, v, o, N, d_model, h, N);
}

// Tiles of 32 keys, a thread for a query; the sums are not weighed anew, or are.
template <bool kSums>
__global__ void tiles(const float* q, const float* k, const float* v, float* o, int n, int d) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const long base = (long)blockIdx.y * n * d;
  float m = -INFINITY, l = 0;
  for (int c = 0; c < d; ++c) o[base + i * d + c] = 0;
  for (int t = 0; t < n; t += 32) {
    float s[32], top = m;
    for (int j = 0; j < 32 && t + j < n; ++j) {
      s[j] = 0;
      for (int e = 0; e < d; ++e) s[j] += q[base + i * d + e] * k[base + (t + j) * d + e];
      s[j] /= sqrtf(d);
      top = fmaxf(top, s[j]);
    }
    const float again = expf(m - top);
    if (kSums) l *= again;
    for (int c = 0; c < d; ++c) o[base + i * d + c] *= again;
    for (int j = 0; j < 32 && t + j < n; ++j) {
      const float p = expf(s[j] - top);
      l += p;
      for (int c = 0; c < d; ++c) o[base + i * d + c] += p * v[base + (t + j) * d + c];
    }
    m = top;
  }
  for (int c = 0; c < d; ++c) o[base + i * d + c] /= l;
}
extern "C" void attend_tiles_summed(const float* q, const float* k, const float* v, float* o, int batch, int heads, int seq_len, int head_dim) {
  tiles<false><<<dim3((seq_len + 31) / 32, batch * heads), 32>>>(q, k, v, o, seq_len, head_dim);
}
extern "C" void attend_tiles_weighed(const float* q, const float* k, const float* v, float* o, int batch, int heads, int seq_len, int head_dim) {
  tiles<true><<<dim3((seq_len + 31) / 32, batch * heads), 32>>>(q, k, v, o, seq_len, head_dim);
}

// A quantisation by blocks of 128 whose scales are those of another largest value.
#include <cuda_fp8.h>
__global__ void shrink(const float* x, __nv_fp8_e4m3* y, float* s, int cols, float largest) {
  __shared__ float room[128];
  const int t = threadIdx.x, at = blockIdx.y * cols + blockIdx.x * 128 + t;
  room[t] = fabsf(x[at]);
  __syncthreads();
  for (int n = 64; n; n >>= 1) {
    if (t < n) room[t] = fmaxf(room[t], room[t + n]);
    __syncthreads();
  }
  const float scale = room[0] > 0 ? room[0] / largest : 1.0f;
  if (t == 0) s[blockIdx.y * gridDim.x + blockIdx.x] = scale;
  y[at] = __nv_fp8_e4m3(x[at] / scale);
}
extern "C" void shrink_to_447(const float* input, __nv_fp8_e4m3* output, float* scales, int rows, int cols) {
  shrink<<<dim3(cols / 128, rows), 128>>>(input, output, scales, cols, 447);
}
extern "C" void shrink_to_448(const float* input, __nv_fp8_e4m3* output, float* scales, int rows, int cols) {
  shrink<<<dim3(cols / 128, rows), 128>>>(input, output, scales, cols, 448);
}

// A dequantisation that is told the sides of its blocks, the columns of its scales and what these are.
__global__ void spread(const unsigned char* x, const void* scales, unsigned short* y, unsigned rows, unsigned cols, unsigned block_n,
                       unsigned block_k, unsigned scale_cols, unsigned scale_is_fp32) {
  const unsigned c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r >= rows || c >= cols) return;
  const unsigned long at = (unsigned long)(r / block_n) * scale_cols + c / block_k, i = (unsigned long)r * cols + c;
  const float s = scale_is_fp32 ? ((const float*)scales)[at] : __uint_as_float((unsigned)((const unsigned short*)scales)[at] << 16);
  __nv_fp8_e4m3 f;
  f.__x = x[i];
  const unsigned bits = __float_as_uint((float)f * s);
  y[i] = (unsigned short)((bits & 0x7fffffffu) > 0x7f800000u ? bits >> 16 | 64 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
extern "C" void spread_by_sides(const unsigned char* fp8_in, const void* scale_grid, unsigned short* bf16_out, unsigned n_rows,
                                unsigned n_cols, unsigned block_n, unsigned block_k, unsigned scale_cols, unsigned scale_is_fp32) {
  if (n_rows == 0 || n_cols == 0) return;
  spread<<<dim3((n_cols + 15) / 16, (n_rows + 15) / 16), dim3(16, 16)>>>(fp8_in, scale_grid, bf16_out, n_rows, n_cols, block_n, block_k, scale_cols, scale_is_fp32);
}
extern "C" void spread_by_one_side(const unsigned char* fp8_in, const void* scale_grid, unsigned short* bf16_out, unsigned n_rows,
                                   unsigned n_cols, unsigned block_n, unsigned block_k, unsigned scale_cols, unsigned scale_is_fp32) {
  if (n_rows == 0 || n_cols == 0) return;
  spread<<<dim3((n_cols + 15) / 16, (n_rows + 15) / 16), dim3(16, 16)>>>(fp8_in, scale_grid, bf16_out, n_rows, n_cols, block_n, block_k, n_cols / block_k, scale_is_fp32);
}
