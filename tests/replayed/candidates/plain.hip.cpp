// Operators that are no op of Isomer's, each right and with one fault, by a number that says which.
#include <hip/hip_runtime.h>

#include "../../diagnose/candidates/dlpack.h"

#include <cstdint>
#include <stdexcept>

enum Fault {
  kNone,
  kUnscaled,
  kOverflows,
  kUnscaledOverflows,
  kBlockwise,
  kPairs,
  kSwapped,
  kIgnoresIds,
  kIgnoresBias,
  kScale128,
  kTiesAway,
  kNoEpsilon,
  kEpsilonOutside,
  kEpsilonOther,
  kUnbiased,
};

__global__ void softmax(const float* x, float* out, float scale, int columns, int fault) {
  const float* row = x + static_cast<int64_t>(blockIdx.x) * columns;
  if (fault == kUnscaled || fault == kUnscaledOverflows) scale = 1.0f;
  float most = -INFINITY, sum = 0.0f;
  for (int c = 0; c < columns; ++c) most = fmaxf(most, row[c] * scale);
  if (fault == kOverflows || fault == kUnscaledOverflows) most = 0.0f;
  for (int c = 0; c < columns; ++c) sum += expf(row[c] * scale - most);
  for (int c = threadIdx.x; c < columns; c += blockDim.x)
    out[static_cast<int64_t>(blockIdx.x) * columns + c] = expf(row[c] * scale - most) / sum;
}
#define SOFTMAX(name, fault)                                                             \
  extern "C" void name(const float* x, float* out, float scale, int rows, int columns) { \
    softmax<<<rows, 32>>>(x, out, scale, columns, fault);                                \
  }
SOFTMAX(scaled_softmax, kNone)
SOFTMAX(scaled_softmax_unscaled, kUnscaled)
SOFTMAX(scaled_softmax_overflows, kOverflows)
SOFTMAX(scaled_softmax_of_both, kUnscaledOverflows)
SOFTMAX(mild_softmax, kNone)
SOFTMAX(mild_softmax_overflows, kOverflows)

/// With the 10 bits of mantissa that TF32 has, where the fault is on.
__device__ float narrowed(float v, bool on) {
  return on ? __uint_as_float(__float_as_uint(v) & 0xffffe000u) : v;
}
__global__ void product(const float* a, const float* b, float* c, int m, int n, int k, bool tf32) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= m * n) return;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i) sum += narrowed(a[at / n * k + i], tf32) * narrowed(b[i * n + at % n], tf32);
  c[at] = sum;
}
static void multiply(const DLTensor* a, const DLTensor* b, DLTensor* c, bool tf32 = false) {
  const int m = a->shape[0], n = b->shape[1], k = a->shape[1];
  product<<<(m * n + 63) / 64, 64>>>(static_cast<const float*>(a->data), static_cast<const float*>(b->data),
                                     static_cast<float*>(c->data), m, n, k, tf32);
}
extern "C" void matmul(const DLTensor* a, const DLTensor* b, DLTensor* c) { multiply(a, b, c); }
extern "C" void matmul_in_tf32(const DLTensor* a, const DLTensor* b, DLTensor* c) { multiply(a, b, c, true); }
extern "C" void matmul_output_first(DLTensor* c, const DLTensor* a, const DLTensor* b) { multiply(a, b, c); }

/// Sums of a block of 64 columns; those before are added by nobody where the fault is on.
__global__ void sums(const float* x, float* out, int columns, int fault) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * columns;
  const int first = fault == kBlockwise ? blockIdx.y * 64 : 0;
  for (int c = blockIdx.y * 64; c < columns && c < static_cast<int>(blockIdx.y + 1) * 64; ++c) {
    float sum = 0.0f;
    for (int i = first; i <= c; ++i) sum += x[row + i];
    out[row + c] = sum;
  }
}
#define CUMSUM(name, fault)                                                 \
  extern "C" void name(const float* x, float* out, int rows, int columns) { \
    sums<<<dim3(rows, (columns + 63) / 64), 1>>>(x, out, columns, fault);   \
  }
CUMSUM(cumsum_rows, kNone)
CUMSUM(cumsum_rows_by_block, kBlockwise)

__global__ void rotate(const float* q, const float* cosine, const float* sine, float* out, int width,
                       int fault) {
  const int half = width / 2;
  const int64_t row = static_cast<int64_t>(blockIdx.x) * width;
  for (int d = threadIdx.x; d < half; d += blockDim.x) {
    const int first = fault == kPairs ? 2 * d : d, second = fault == kPairs ? 2 * d + 1 : d + half;
    const float c = cosine[blockIdx.x * half + d], s = sine[blockIdx.x * half + d];
    out[row + first] = q[row + first] * c - q[row + second] * s;
    out[row + second] = q[row + second] * c + q[row + first] * s;
  }
}
#define ROTARY(name, fault)                                                                          \
  extern "C" void name(const float* q, const float* cosine, const float* sine, float* out, int rows, \
                       int width) {                                                                  \
    rotate<<<rows, 32>>>(q, cosine, sine, out, width, fault);                                        \
  }
ROTARY(rotary, kNone)
ROTARY(rotary_of_pairs, kPairs)

__global__ void gated(const float* x, float* out, int width, int fault) {
  const int64_t row = blockIdx.x;
  for (int d = threadIdx.x; d < width; d += blockDim.x) {
    const float gate = x[row * 2 * width + (fault == kSwapped ? width + d : d)];
    const float up = x[row * 2 * width + (fault == kSwapped ? d : width + d)];
    out[row * width + d] = gate / (1.0f + expf(-gate)) * up;
  }
}
static void gate(const DLTensor* x, DLTensor* out, int fault) {
  gated<<<x->shape[0], 32>>>(static_cast<const float*>(x->data), static_cast<float*>(out->data),
                             x->shape[1] / 2, fault);
}
extern "C" void silu_and_mul(DLTensor* out, const DLTensor* x) { gate(x, out, kNone); }
extern "C" void silu_and_mul_swapped(DLTensor* out, const DLTensor* x) { gate(x, out, kSwapped); }
extern "C" void silu_and_mul_input_first_swapped(const DLTensor* x, DLTensor* out) { gate(x, out, kSwapped); }

__global__ void rows(const int64_t* ids, const float* table, float* out, int width, int fault) {
  const int64_t from = fault == kIgnoresIds ? blockIdx.x : ids[blockIdx.x];
  for (int d = threadIdx.x; d < width; d += blockDim.x) out[blockIdx.x * width + d] = table[from * width + d];
}
#define GATHER(name, fault)                                                                    \
  extern "C" void name(const int64_t* ids, const float* table, float* out, int n, int width) { \
    rows<<<n, 32>>>(ids, table, out, width, fault);                                            \
  }
GATHER(embedding, kNone)
GATHER(embedding_ignores_ids, kIgnoresIds)

/// Duplicates among the slots are written by two blocks.
__global__ void scatter(const float* key, const int64_t* slots, float* cache, int width) {
  const int64_t to = slots[blockIdx.x];
  if (to < 0) return;
  for (int d = threadIdx.x; d < width; d += blockDim.x) cache[to * width + d] = key[blockIdx.x * width + d];
}
extern "C" void store_rows(const float* key, const int64_t* slots, float* cache, int n, int width) {
  scatter<<<n, 32>>>(key, slots, cache, width);
}

__global__ void added(const float* x, const float* bias, float* out, int n, int width, int fault) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < n) out[at] = x[at] * x[at] + (fault == kIgnoresBias ? 0.0f : bias[at % width]);
}
#define SQUARE_BIAS(name, fault)                                                             \
  extern "C" void name(const float* x, const float* bias, float* out, int rows, int width) { \
    added<<<(rows * width + 63) / 64, 64>>>(x, bias, out, rows * width, width, fault);       \
  }
SQUARE_BIAS(square_bias, kNone)
SQUARE_BIAS(square_bias_without, kIgnoresBias)

__global__ void quantized(const float* x, int8_t* q, float* scales, int width, int fault) {
  const float* row = x + blockIdx.x * width;
  float most = 1e-10f;
  for (int d = 0; d < width; ++d) most = fmaxf(most, fabsf(row[d]));
  const float scale = most / (fault == kScale128 ? 128.0f : 127.0f);
  if (threadIdx.x == 0) scales[blockIdx.x] = scale;
  for (int d = threadIdx.x; d < width; d += blockDim.x) {
    const float exact = row[d] / scale;
    q[blockIdx.x * width + d] = static_cast<int8_t>(fault == kTiesAway ? truncf(exact) : rintf(exact));
  }
}
#define QUANTIZE(name, fault)                                                           \
  extern "C" void name(const float* x, int8_t* q, float* scales, int rows, int width) { \
    quantized<<<rows, 32>>>(x, q, scales, width, fault);                                \
  }
QUANTIZE(token_quant, kNone)
QUANTIZE(token_quant_128, kScale128)
QUANTIZE(token_quant_truncates, kTiesAway)

__global__ void normed(const float* x, float* out, float eps, int width, int fault) {
  const float* row = x + blockIdx.x * width;
  float sum = 0.0f;
  for (int d = 0; d < width; ++d) sum += row[d] * row[d];
  float by = rsqrtf(sum / (fault == kUnbiased ? width - 1 : width) + (fault == kNoEpsilon      ? 0.0f
                                                                      : fault == kEpsilonOther ? 3e-7f
                                                                                               : eps));
  if (fault == kEpsilonOutside) by = 1.0f / (sqrtf(sum / width) + eps);
  for (int d = threadIdx.x; d < width; d += blockDim.x) out[blockIdx.x * width + d] = row[d] * by;
}
#define NORM(name, fault)                                                            \
  extern "C" void name(const float* x, float* out, float eps, int rows, int width) { \
    normed<<<rows, 32>>>(x, out, eps, width, fault);                                 \
  }
NORM(row_norm, kNone)
NORM(row_norm_without_epsilon, kNoEpsilon)
NORM(row_norm_epsilon_outside, kEpsilonOutside)
NORM(row_norm_of_one_less, kUnbiased)
NORM(row_norm_epsilon_of_another_size, kEpsilonOther)

/// With an epsilon that nobody passes.
__global__ void centred(const float* x, const float* weight, const float* bias, float* out, int width,
                        int fault) {
  const float* row = x + blockIdx.x * width;
  float sum = 0.0f, squares = 0.0f;
  for (int d = 0; d < width; ++d) sum += row[d];
  const float mean = sum / width;
  for (int d = 0; d < width; ++d) squares += (row[d] - mean) * (row[d] - mean);
  const float variance = squares / (fault == kUnbiased ? width - 1 : width);
  const float by = fault == kEpsilonOutside ? 1.0f / (sqrtf(variance) + 1e-6f) : rsqrtf(variance + 1e-6f);
  for (int d = threadIdx.x; d < width; d += blockDim.x)
    out[blockIdx.x * width + d] = (row[d] - mean) * by * weight[d] + bias[d];
}
#define LAYER_NORM(name, fault)                                                                      \
  extern "C" void name(const float* x, const float* weight, const float* bias, float* out, int rows, \
                       int width) {                                                                  \
    centred<<<rows, 32>>>(x, weight, bias, out, width, fault);                                       \
  }
LAYER_NORM(layer_norm, kNone)
LAYER_NORM(layer_norm_epsilon_outside, kEpsilonOutside)
LAYER_NORM(layer_norm_unbiased, kUnbiased)

/// Each block adds its part of the row.
__global__ void added_up(const float* x, float* sums, int width) {
  float part = 0.0f;
  for (int d = blockIdx.y * 16; d < width && d < static_cast<int>(blockIdx.y + 1) * 16; ++d)
    part += x[blockIdx.x * width + d];
  atomicAdd(sums + blockIdx.x, part);
}
static void add_up(const float* x, float* sums, int rows, int width) {
  added_up<<<dim3(rows, (width + 15) / 16), 1>>>(x, sums, width);
}
extern "C" void row_sums(const float* x, float* sums, int rows, int width) {
  hipMemset(sums, 0, rows * sizeof(float));
  add_up(x, sums, rows, width);
}
extern "C" void row_sums_onto_what_is_there(const float* x, float* sums, int rows, int width) {
  add_up(x, sums, rows, width);
}

__global__ void turned(const float* from, float* to, int m, int n, int64_t down, int64_t across) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < m * n) to[at % n * m + at / n] = from[at / n * down + at % n * across];
}
static void turn(const DLTensor* src, DLTensor* dst, bool compact) {
  const int m = src->shape[0], n = src->shape[1];
  const char* data = static_cast<const char*>(src->data) + src->byte_offset;
  const bool flat = compact || src->strides == nullptr;
  turned<<<(m * n + 63) / 64, 64>>>(reinterpret_cast<const float*>(data), static_cast<float*>(dst->data), m,
                                    n, flat ? n : src->strides[0], flat ? 1 : src->strides[1]);
}
extern "C" void transpose_copy(const DLTensor* src, DLTensor* dst) { turn(src, dst, false); }
extern "C" void transpose_copy_of_compact(const DLTensor* src, DLTensor* dst) { turn(src, dst, true); }

extern "C" void transpose_copy_by_arrays(const float* src, const int64_t* src_shape,
                                         const int64_t* src_strides, float* dst) {
  const int m = src_shape[0], n = src_shape[1];
  turned<<<(m * n + 63) / 64, 64>>>(src, dst, m, n, src_strides[0], src_strides[1]);
}
extern "C" void transpose_copy_by_half_an_array(const float* src, const int64_t* src_shape,
                                                const int64_t* src_strides, float* dst) {
  const int m = src_shape[0], n = src_shape[1];
  turned<<<(m * n + 63) / 64, 64>>>(src, dst, m, n, src_strides[0], 1);
}

__global__ void scaled(const float* x, float* out, float alpha, int n) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < n) out[at] = alpha * x[at];
}
static void scale(const DLTensor* x, DLTensor* out, double alpha) {
  const int n = x->shape[0];
  scaled<<<(n + 63) / 64, 64>>>(static_cast<const float*>(x->data), static_cast<float*>(out->data), alpha, n);
}
extern "C" void scale_by(const DLTensor* x, DLTensor* out, double alpha) { scale(x, out, alpha); }
extern "C" void scale_by_factor(const DLTensor* x, DLTensor* out, double factor) { scale(x, out, factor); }

__global__ void kept(const float* x, const bool* mask, float* out, int n) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < n) out[at] = mask[at] ? x[at] : 0.0f;
}
extern "C" void masked(const float* x, const bool* mask, float* out, int n) {
  kept<<<(n + 63) / 64, 64>>>(x, mask, out, n);
}

/// x += y, and the sum into `sum` too; `sum` is forgotten.
__global__ void summed(float* x, const float* y, float* sum, int n) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= n) return;
  x[at] += y[at];
  if (sum != nullptr) sum[at] = x[at];
}
extern "C" void add_both(float* x, const float* y, float* sum, int n) {
  summed<<<(n + 63) / 64, 64>>>(x, y, sum, n);
}
extern "C" void add_one(float* x, const float* y, float* sum, int n) {
  (void)sum;
  summed<<<(n + 63) / 64, 64>>>(x, y, nullptr, n);
}

__global__ void repeated(const float* x, float* out, int heads, int times, int width, bool in_turn) {
  const int head = blockIdx.x, from = in_turn ? head % heads : head / times;
  for (int d = threadIdx.x; d < width; d += blockDim.x) out[head * width + d] = x[from * width + d];
}
static void repeat(const DLTensor* x, DLTensor* out, bool in_turn) {
  const int heads = x->shape[0], all = out->shape[0];
  repeated<<<all, 32>>>(static_cast<const float*>(x->data), static_cast<float*>(out->data), heads,
                        all / heads, x->shape[1], in_turn);
}
extern "C" void repeat_heads(const DLTensor* x, DLTensor* out) { repeat(x, out, false); }
extern "C" void repeat_heads_in_turn(const DLTensor* x, DLTensor* out) { repeat(x, out, true); }

__global__ void clamped(const float* x, float* out, float low, float high, int n) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < n) out[at] = fminf(fmaxf(x[at], low), high);
}
static void clamp(const DLTensor* x, DLTensor* out, double low, double high) {
  const int n = x->shape[0];
  clamped<<<(n + 63) / 64, 64>>>(static_cast<const float*>(x->data), static_cast<float*>(out->data), low,
                                 high, n);
}
extern "C" void clamp_into(const DLTensor* x, double low, double high, DLTensor* out) {
  clamp(x, out, low, high);
}
extern "C" void clamp_into_high_first(const DLTensor* x, double high, double low, DLTensor* out) {
  clamp(x, out, low, high);
}

__global__ void means(const float* x, const int64_t* counts, float* out, int columns, bool guarded) {
  const int64_t row = blockIdx.x;
  float sum = 0.0f;
  for (int64_t c = 0; c < counts[row]; ++c) sum += x[row * columns + c];
  out[row] = guarded && counts[row] == 0 ? 0.0f : sum / static_cast<float>(counts[row]);
}
#define MEANS(NAME, GUARDED)                                                                       \
  extern "C" void NAME(const float* x, const int64_t* counts, float* out, int rows, int columns) { \
    means<<<rows, 1>>>(x, counts, out, columns, GUARDED);                                          \
  }
MEANS(row_means, true)
MEANS(row_means_of_nothing, false)
/// Numbers of rows whose eight bytes are read as four.
template <class Index>
__global__ void chosen(const Index* ids, const float* table, float* out, int width) {
  for (int d = threadIdx.x; d < width; d += blockDim.x)
    out[blockIdx.x * width + d] = table[ids[blockIdx.x] * width + d];
}
template <class Index>
static void choose(const DLTensor* ids, const DLTensor* table, DLTensor* out) {
  chosen<<<out->shape[0], 32>>>(static_cast<const Index*>(ids->data), static_cast<const float*>(table->data),
                                static_cast<float*>(out->data), static_cast<int>(out->shape[1]));
}
extern "C" void embedding_of_longs(const DLTensor* ids, const DLTensor* table, DLTensor* out) {
  choose<int64_t>(ids, table, out);
}
extern "C" void embedding_of_ints(const DLTensor* ids, const DLTensor* table, DLTensor* out) {
  choose<int32_t>(ids, table, out);
}

/// dst = src by strides, or as if the rows of both lay one behind the other.
__global__ void moved(const float* src, float* dst, int columns, int64_t s0, int64_t s1, int64_t d0,
                      int64_t d1) {
  for (int c = threadIdx.x; c < columns; c += blockDim.x)
    dst[blockIdx.x * d0 + c * d1] = src[blockIdx.x * s0 + c * s1];
}
static void move(const DLTensor* src, DLTensor* dst, bool rows, bool columns) {
  const int n = src->shape[1];
  moved<<<src->shape[0], 32>>>(static_cast<const float*>(src->data), static_cast<float*>(dst->data), n,
                               rows ? src->strides[0] : n, columns ? src->strides[1] : 1, dst->strides[0],
                               dst->strides[1]);
}
extern "C" void copy_rows(const DLTensor* src, DLTensor* dst) { move(src, dst, true, true); }
extern "C" void copy_rows_of_compact(const DLTensor* src, DLTensor* dst) { move(src, dst, false, false); }
extern "C" void copy_rows_of_whole_rows(const DLTensor* src, DLTensor* dst) { move(src, dst, true, false); }
extern "C" void copy_rows_that_refuses(const DLTensor* src, DLTensor* dst) {
  if (src->strides[0] != src->shape[1] || src->strides[1] != 1)
    throw std::runtime_error("src is not contiguous");
  move(src, dst, true, true);
}

/// What lies on or below a diagonal; `beside` counts it from the next one.
__global__ void lower(const float* x, float* out, int rows, int columns, int64_t diagonal) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < rows * columns) out[at] = at % columns - at / columns <= diagonal ? x[at] : 0.0f;
}
static void cut(const DLTensor* x, DLTensor* out, int64_t diagonal) {
  const int rows = x->shape[0], columns = x->shape[1];
  lower<<<(rows * columns + 63) / 64, 64>>>(static_cast<const float*>(x->data),
                                            static_cast<float*>(out->data), rows, columns, diagonal);
}
extern "C" void lower_triangle(const DLTensor* x, DLTensor* out, int64_t diagonal) { cut(x, out, diagonal); }
extern "C" void lower_triangle_beside(const DLTensor* x, DLTensor* out, int64_t diagonal) {
  cut(x, out, diagonal - 1);
}

/// Means of the rows of v up to each, weighted by e^(dot + bend·dot²).
__global__ void mean_of_earlier(const float* q, const float* k, const float* v, float* out, int n, int width, float bend) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  for (int c = 0; c < width; ++c) {
    float sum = 0.0f, mean = 0.0f;
    for (int j = 0; j <= i; ++j) {
      float dot = 0.0f;
      for (int d = 0; d < width; ++d) dot += q[i * width + d] * k[j * width + d];
      const float weight = expf(dot + bend * dot * dot);
      sum += weight;
      mean += weight * v[j * width + c];
    }
    out[i * width + c] = mean / sum;
  }
}
static void weigh(const DLTensor* q, const DLTensor* k, const DLTensor* v, DLTensor* out, float bend) {
  const int n = q->shape[0], width = q->shape[1];
  mean_of_earlier<<<(n + 63) / 64, 64>>>(static_cast<const float*>(q->data), static_cast<const float*>(k->data),
                                         static_cast<const float*>(v->data), static_cast<float*>(out->data), n, width, bend);
}
extern "C" void causal_mean(const DLTensor* q, const DLTensor* k, const DLTensor* v, DLTensor* out) {
  weigh(q, k, v, out, 0.0f);
}
extern "C" void causal_mean_of_bent_dots(const DLTensor* q, const DLTensor* k, const DLTensor* v, DLTensor* out) {
  weigh(q, k, v, out, 0.3f);
}

/// Sums along each row, or along each column.
__global__ void running(const float* x, float* out, int lines, int length, int64_t line, int64_t step) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= lines) return;
  float sum = 0.0f;
  for (int i = 0; i < length; ++i) out[at * line + i * step] = sum += x[at * line + i * step];
}
static void run(const DLTensor* x, DLTensor* out, bool columns) {
  const int m = x->shape[0], n = x->shape[1];
  running<<<1, 64>>>(static_cast<const float*>(x->data), static_cast<float*>(out->data), columns ? n : m,
                     columns ? m : n, columns ? 1 : n, columns ? n : 1);
}
extern "C" void running_sums(const DLTensor* x, DLTensor* out) { run(x, out, false); }
extern "C" void running_sums_of_columns(const DLTensor* x, DLTensor* out) { run(x, out, true); }

/// The place of the largest of a row: of equal ones the first, or the last.
__global__ void largest(const float* x, int64_t* place, int width, bool last) {
  const float* row = x + blockIdx.x * width;
  int best = 0;
  for (int d = 1; d < width; ++d)
    if (row[d] > row[best] || (last && row[d] == row[best])) best = d;
  if (threadIdx.x == 0) place[blockIdx.x] = best;
}
static void find(const DLTensor* x, DLTensor* place, bool last) {
  largest<<<x->shape[0], 1>>>(static_cast<const float*>(x->data), static_cast<int64_t*>(place->data),
                              x->shape[1], last);
}
extern "C" void first_largest(const DLTensor* x, DLTensor* place) { find(x, place, false); }
extern "C" void last_largest(const DLTensor* x, DLTensor* place) { find(x, place, true); }

__global__ void dropped(const float* x, const bool* mask, float* out, int n) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < n) out[at] = mask[at] ? 0.0f : x[at];
}
extern "C" void masked_out(const DLTensor* x, const DLTensor* mask, DLTensor* out) {
  const int n = x->shape[0];
  dropped<<<(n + 63) / 64, 64>>>(static_cast<const float*>(x->data), static_cast<const bool*>(mask->data),
                                 static_cast<float*>(out->data), n);
}

/// As `multiply`, refused where the sizes do not fit.
extern "C" void matmul_in_turn(const DLTensor* b, DLTensor* c, const DLTensor* a) {
  if (a->shape[1] != b->shape[0]) throw std::runtime_error("inner dimensions do not match");
  multiply(a, b, c);
}

__global__ void dots(const float* q, const float* k, float* out, bool in_turn) {
  const int64_t row = blockIdx.x;
  const int h = threadIdx.x;
  const float* key = k + (row * 2 + (in_turn ? h % 2 : h / 3)) * 8;
  float sum = 0.0f;
  for (int d = 0; d < 8; ++d) sum += q[(row * 6 + h) * 8 + d] * key[d];
  out[row * 6 + h] = sum;
}
static void grouped(const DLTensor* q, const DLTensor* k, DLTensor* out, bool in_turn) {
  dots<<<q->shape[0], 6>>>(static_cast<const float*>(q->data), static_cast<const float*>(k->data),
                           static_cast<float*>(out->data), in_turn);
}
extern "C" void grouped_dot(const DLTensor* q, const DLTensor* k, DLTensor* out) { grouped(q, k, out, false); }
extern "C" void grouped_dot_in_turn(const DLTensor* q, const DLTensor* k, DLTensor* out) {
  grouped(q, k, out, true);
}
