// attention, act_quant and merge_attention with one fault each.
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include <cmath>

enum Fault { kNone, kTopLeft, kModulo, kNoScale, kNoMaximum, kEmptyNaN, kHeadsFirst, kNoRescale };

// A thread for each query of each head of each batch entry.
__global__ void attend(const float* q, const float* k, const float* v, float* out, int batch, int sq, int sk,
                       int hq, int hkv, int dim, bool causal, float scale, int fault) {
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= batch * sq * hq) return;
  const int head = index % hq, i = index / hq % sq, b = index / hq / sq;
  const int kv = fault == kModulo ? head % hkv : head / (hq / hkv);
  const bool first = fault == kHeadsFirst;
  const float* query = q + (first ? ((b * hq + head) * sq + i) : ((b * sq + i) * hq + head)) * dim;
  float* answer = out + (first ? ((b * hq + head) * sq + i) : ((b * sq + i) * hq + head)) * dim;
  const int visible = causal ? (fault == kTopLeft ? i + 1 : i + 1 + sk - sq) : sk;
  const int keys = visible < sk ? visible : sk;
  const float factor = fault == kNoScale ? 1.0f : scale;
  float largest = -INFINITY, total = 0.0f;
  const auto logit = [&](int j) {
    const float* key = k + (first ? ((b * hkv + kv) * sk + j) : ((b * sk + j) * hkv + kv)) * dim;
    float dot = 0.0f;
    for (int d = 0; d < dim; ++d) dot += query[d] * key[d];
    return dot * factor;
  };
  for (int j = 0; j < keys && fault != kNoRescale; ++j) largest = fmaxf(largest, logit(j));
  if (fault == kNoMaximum) largest = 0.0f;
  for (int d = 0; d < dim; ++d) answer[d] = 0.0f;
  for (int j = 0; j < keys; ++j) {
    const float* value = v + (first ? ((b * hkv + kv) * sk + j) : ((b * sk + j) * hkv + kv)) * dim;
    if (fault == kNoRescale && logit(j) > largest) {
      total *= expf(largest - logit(j));
      largest = logit(j);
    }
    const float weight = expf(logit(j) - largest);
    total += weight;
    for (int d = 0; d < dim; ++d) answer[d] += weight * value[d];
  }
  if (keys <= 0 && fault != kEmptyNaN) return;
  for (int d = 0; d < dim; ++d) answer[d] /= total;
}

#define CANDIDATE(NAME, FAULT)                                                                              \
  extern "C" void NAME(const float* q, const float* k, const float* v, float* out, int batch, int seqlen_q, \
                       int seqlen_k, int heads, int kv_heads, int head_dim, bool causal, float scale) {     \
    const int count = batch * seqlen_q * heads;                                                             \
    if (count > 0)                                                                                          \
      attend<<<(count + 63) / 64, 64>>>(q, k, v, out, batch, seqlen_q, seqlen_k, heads, kv_heads, head_dim, \
                                        causal, scale, FAULT);                                              \
  }
CANDIDATE(attention_right, kNone)
CANDIDATE(attention_top_left, kTopLeft)
CANDIDATE(attention_modulo, kModulo)
CANDIDATE(attention_unscaled, kNoScale)
CANDIDATE(attention_overflows, kNoMaximum)
CANDIDATE(attention_of_nothing, kEmptyNaN)
CANDIDATE(attention_heads_first, kHeadsFirst)
CANDIDATE(attention_not_rescaled, kNoRescale)

__global__ void quantize_blocks(const float* x, __nv_fp8_e4m3* y, float* s, int size, float floor,
                                float most) {
  const int64_t first = static_cast<int64_t>(blockIdx.x) * size;
  float largest = floor;
  for (int i = 0; i < size; ++i) {
    const float a = fabsf(x[first + i]);
    if (!(a <= largest)) largest = a;
  }
  const float scale = largest / most;
  for (int i = threadIdx.x; i < size; i += blockDim.x)
    y[first + i] = static_cast<__nv_fp8_e4m3>(x[first + i] / scale);
  if (threadIdx.x == 0) s[blockIdx.x] = scale;
}
#define ACT_QUANT(NAME, FLOOR, MOST)                                                           \
  extern "C" void NAME(const float* x, __nv_fp8_e4m3* y, float* s, int64_t rows, int64_t cols, \
                       int block_size) {                                                       \
    const int64_t blocks = rows * (cols / block_size);                                         \
    if (blocks > 0) quantize_blocks<<<blocks, 32>>>(x, y, s, block_size, FLOOR, MOST);         \
  }
ACT_QUANT(act_quant_right, 1e-4f, 448.0f)
ACT_QUANT(act_quant_low_floor, 1e-10f, 448.0f)
ACT_QUANT(act_quant_fnuz, 1e-4f, 240.0f)
extern "C" void act_quant_block_in_memory(const float* x, __nv_fp8_e4m3* y, float* s, int64_t rows, int64_t cols,
                                          const int* block_size) {
  int block = 0;
  cudaMemcpy(&block, block_size, sizeof block, cudaMemcpyDeviceToHost);
  act_quant_right(x, y, s, rows, cols, block);
}

__global__ void merge(const float* out_a, const float* lse_a, const float* out_b, const float* lse_b,
                      float* out, float* lse, int dim, bool base_2) {
  const int row = blockIdx.x;
  const float a = lse_a[row], b = lse_b[row], largest = fmaxf(a, b);
  const bool nothing = isinf(largest) && largest < 0;
  const auto weight = [&](float x) {
    return nothing || (isinf(x) && x < 0) ? 0.0f : base_2 ? exp2f(x - largest) : expf(x - largest);
  };
  const float wa = weight(a), wb = weight(b);
  for (int d = threadIdx.x; d < dim; d += blockDim.x) {
    float sum = 0.0f;
    if (wa != 0) sum += wa * out_a[row * dim + d];
    if (wb != 0) sum += wb * out_b[row * dim + d];
    out[row * dim + d] = nothing ? 0.0f : sum / (wa + wb);
  }
  if (threadIdx.x == 0) lse[row] = nothing ? largest : largest + logf(wa + wb);
}
#define MERGE(NAME, BASE_2)                                                                            \
  extern "C" void NAME(const float* out_a, const float* lse_a, const float* out_b, const float* lse_b, \
                       float* out, float* lse, int64_t rows, int head_dim) {                           \
    if (rows > 0) merge<<<rows, 32>>>(out_a, lse_a, out_b, lse_b, out, lse, head_dim, BASE_2);         \
  }
MERGE(merge_right, false)
MERGE(merge_base_2, true)
