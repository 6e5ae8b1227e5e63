// Operators that reduce rows, each right and with one fault.
#include <hip/hip_runtime.h>

#include "../../diagnose/candidates/dlpack.h"

#include <cstdint>

static float* f32(const DLTensor* tensor) { return static_cast<float*>(tensor->data); }

/// One warp of 32 threads for each row, tile after tile.
__global__ void tiles(const float* x, float* out, int width, bool rescales) {
  const float* row = x + blockIdx.x * width;
  float most = -INFINITY, sum = 0.0f;
  for (int begin = 0; begin < width; begin += 32) {
    const int c = begin + threadIdx.x;
    const float own = c < width ? row[c] : -INFINITY;
    float now = own;
    for (int step = 16; step > 0; step /= 2) now = fmaxf(now, __shfl_xor(now, step, 32));
    now = fmaxf(now, most);
    float part = expf(own - now);
    for (int step = 16; step > 0; step /= 2) part += __shfl_xor(part, step, 32);
    sum = (rescales ? sum * expf(most - now) : sum) + part;
    most = now;
  }
  for (int c = threadIdx.x; c < width; c += 32) out[blockIdx.x * width + c] = expf(row[c] - most) / sum;
}
extern "C" void tiled_softmax(const DLTensor* x, DLTensor* out) {
  tiles<<<x->shape[0], 32>>>(f32(x), f32(out), x->shape[1], true);
}
extern "C" void tiled_softmax_without_rescale(const DLTensor* x, DLTensor* out) {
  tiles<<<x->shape[0], 32>>>(f32(x), f32(out), x->shape[1], false);
}

/// A 127th of the largest magnitude, of every `step`th element from one on.
__global__ void extents(const float* x, float* scales, int count, int step, int apart, bool magnitude) {
  float most = 0.0f;
  for (int i = 0; i < count; ++i) {
    const float own = x[blockIdx.x * apart + i * step];
    most = fmaxf(most, magnitude ? fabsf(own) : own);
  }
  scales[blockIdx.x] = most / 127.0f;
}
static void extents_of(const DLTensor* x, DLTensor* scales, int count, bool magnitude) {
  extents<<<x->shape[0], 1>>>(f32(x), f32(scales), count, 1, x->shape[1], magnitude);
}
extern "C" void row_extents(const DLTensor* x, DLTensor* scales) { extents_of(x, scales, x->shape[1], true); }
extern "C" void row_extents_signed(const DLTensor* x, DLTensor* scales) {
  extents_of(x, scales, x->shape[1], false);
}
extern "C" void row_extents_of_blocks(const DLTensor* x, DLTensor* scales) {
  extents_of(x, scales, x->shape[1] / 4 * 4, true);
}
extern "C" void row_extents_of_columns(const DLTensor* x, DLTensor* scales) {
  extents<<<x->shape[0], 1>>>(f32(x), f32(scales), x->shape[0], x->shape[1], 1, true);
}

__global__ void logarithms(const float* x, float* out, int width, bool binary) {
  const float* row = x + blockIdx.x * width;
  float most = row[0], sum = 0.0f;
  for (int c = 1; c < width; ++c) most = fmaxf(most, row[c]);
  for (int c = 0; c < width; ++c) sum += expf(row[c] - most);
  const float less = most + (binary ? log2f(sum) : logf(sum));
  for (int c = 0; c < width; ++c) out[blockIdx.x * width + c] = row[c] - less;
}
extern "C" void log_softmax_rows(const DLTensor* x, DLTensor* out) {
  logarithms<<<x->shape[0], 1>>>(f32(x), f32(out), x->shape[1], false);
}
extern "C" void log_softmax_rows_binary(const DLTensor* x, DLTensor* out) {
  logarithms<<<x->shape[0], 1>>>(f32(x), f32(out), x->shape[1], true);
}

/// Each element of the ones up to it, as many as there are weights; or, `early`, of the ones before it.
__global__ void windows(const float* x, const float* weights, float* out, int width, int taps, int early) {
  const int at = threadIdx.x;
  if (at >= width) return;
  float sum = 0.0f;
  for (int k = 0; k < taps; ++k) {
    const int from = at - taps + 1 + k - early;
    if (from >= 0) sum += x[blockIdx.x * width + from] * weights[k];
  }
  out[blockIdx.x * width + at] = tanhf(sum);
}
extern "C" void window_sums(const DLTensor* x, const DLTensor* weights, DLTensor* out) {
  windows<<<x->shape[0], 64>>>(f32(x), f32(weights), f32(out), x->shape[1], weights->shape[0], 0);
}
extern "C" void window_sums_early(const DLTensor* x, const DLTensor* weights, DLTensor* out) {
  windows<<<x->shape[0], 64>>>(f32(x), f32(weights), f32(out), x->shape[1], weights->shape[0], 1);
}

__global__ void biased(const float* x, const float* bias, float* out, int width, bool by_row) {
  const int c = threadIdx.x, row = blockIdx.x;
  if (c < width) out[row * width + c] = tanhf(x[row * width + c] * 3.0f + bias[by_row ? row % width : c]);
}
extern "C" void biased_tanh(const DLTensor* x, const DLTensor* bias, DLTensor* out) {
  biased<<<x->shape[0], 64>>>(f32(x), f32(bias), f32(out), x->shape[1], false);
}
extern "C" void biased_tanh_by_row(const DLTensor* x, const DLTensor* bias, DLTensor* out) {
  biased<<<x->shape[0], 64>>>(f32(x), f32(bias), f32(out), x->shape[1], true);
}

__global__ void bent_sums(const float* x, float* out, int width, int begin, int end) {
  float sum = 0.0f;
  for (int c = begin; c < end; ++c) sum += tanhf(x[blockIdx.x * width + c]);
  out[blockIdx.x] = sum;
}
extern "C" void tanh_sums(const DLTensor* x, DLTensor* out) {
  bent_sums<<<x->shape[0], 1>>>(f32(x), f32(out), x->shape[1], 0, x->shape[1]);
}
extern "C" void tanh_sums_without_last(const DLTensor* x, DLTensor* out) {
  bent_sums<<<x->shape[0], 1>>>(f32(x), f32(out), x->shape[1], 0, x->shape[1] - 1);
}
extern "C" void tanh_sums_without_first(const DLTensor* x, DLTensor* out) {
  bent_sums<<<x->shape[0], 1>>>(f32(x), f32(out), x->shape[1], 1, x->shape[1]);
}

/// Queries and keys in place, with cosines and sines [rows, width / 2].
__global__ void both_turned(float* q, float* k, const float* cosine, const float* sine, int width,
                            bool neighbours) {
  const int half = width / 2, i = threadIdx.x;
  if (i >= half) return;
  const int first = neighbours ? 2 * i : i, second = neighbours ? 2 * i + 1 : i + half;
  const float c = cosine[blockIdx.x * half + i], s = sine[blockIdx.x * half + i];
  for (float* each : {q, k}) {
    float* row = each + blockIdx.x * width;
    const float a = row[first], b = row[second];
    row[first] = a * c - b * s;
    row[second] = b * c + a * s;
  }
}
static void turn(DLTensor* q, DLTensor* k, const DLTensor* cosine, const DLTensor* sine, bool neighbours) {
  both_turned<<<q->shape[0], 32>>>(f32(q), f32(k), f32(cosine), f32(sine), q->shape[1], neighbours);
}
extern "C" void rotary_of_both(DLTensor* q, DLTensor* k, const DLTensor* cosine, const DLTensor* sine) {
  turn(q, k, cosine, sine, false);
}
extern "C" void rotary_of_both_neighbours(DLTensor* q, DLTensor* k, const DLTensor* cosine,
                                          const DLTensor* sine) {
  turn(q, k, cosine, sine, true);
}

/// The mean of those whose target is not to be left out, or of them over all.
__global__ void means(const float* x, const int64_t* target, float* out, int n, int64_t left_out, bool all) {
  float sum = 0.0f;
  int count = 0;
  for (int i = 0; i < n; ++i)
    if (target[i] != left_out) {
      sum += x[i];
      ++count;
    }
  out[0] = sum / (all ? n : count);
}
extern "C" void mean_of_kept(const DLTensor* x, const DLTensor* target, DLTensor* out, int64_t left_out) {
  means<<<1, 1>>>(f32(x), static_cast<const int64_t*>(target->data), f32(out), x->shape[0], left_out, false);
}
extern "C" void mean_of_kept_over_all(const DLTensor* x, const DLTensor* target, DLTensor* out,
                                      int64_t left_out) {
  means<<<1, 1>>>(f32(x), static_cast<const int64_t*>(target->data), f32(out), x->shape[0], left_out, true);
}

/// A vector for each batch, times that batch's matrix or the first's.
__global__ void batches(const float* a, const float* b, float* out, int rows, int columns, int step) {
  float sum = 0.0f;
  for (int r = 0; r < rows; ++r)
    sum += a[blockIdx.x * rows + r] * b[(blockIdx.x * step * rows + r) * columns + threadIdx.x];
  out[blockIdx.x * columns + threadIdx.x] = tanhf(sum);
}
extern "C" void batched_products(const DLTensor* a, const DLTensor* b, DLTensor* out) {
  batches<<<a->shape[0], b->shape[2]>>>(f32(a), f32(b), f32(out), b->shape[1], b->shape[2], 1);
}
extern "C" void batched_products_of_first(const DLTensor* a, const DLTensor* b, DLTensor* out) {
  batches<<<a->shape[0], b->shape[2]>>>(f32(a), f32(b), f32(out), b->shape[1], b->shape[2], 0);
}

/// A function of each element; `how` says which.
enum How { kCosine, kSine, kDegrees, kRamp, kLeak, kMagnitude, kBent };
__global__ void elements(const float* x, float* out, int n, How how) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i >= n) return;
  const float v = x[i];
  out[i] = how == kCosine      ? cosf(v)
           : how == kSine      ? sinf(v)
           : how == kDegrees   ? cosf(v * 0.017453293f)
           : how == kRamp      ? fmaxf(v, 0.0f)
           : how == kLeak      ? (v > 0.0f ? v : 0.02f * v)
           : how == kMagnitude ? fabsf(v)
                               : v * v * v + 0.3f * v;
}
#define OF_ELEMENTS(name, how)                                                         \
  extern "C" void name(const DLTensor* x, DLTensor* out) {                             \
    const int n = x->shape[0];                                                         \
    if (n > 0) elements<<<(n + 63) / 64, 64>>>(f32(x), f32(out), n, how);              \
  }
OF_ELEMENTS(cosines, kCosine)
OF_ELEMENTS(cosines_as_sines, kSine)
OF_ELEMENTS(cosines_of_degrees, kDegrees)
OF_ELEMENTS(ramps, kRamp)
OF_ELEMENTS(ramps_that_leak, kLeak)
OF_ELEMENTS(ramps_of_magnitudes, kMagnitude)
OF_ELEMENTS(ramps_of_cubes, kBent)

/// Rows over their spread, with weights for each of two heads; less their mean or not.
__global__ void centred_rows(const float* x, const float* w, float* out, int width, bool centred) {
  const float* row = x + blockIdx.x * width;
  float mean = 0.0f, squares = 0.0f;
  for (int c = 0; c < width; ++c) mean += row[c] / width;
  if (!centred) mean = 0.0f;
  for (int c = 0; c < width; ++c) squares += (row[c] - mean) * (row[c] - mean) / width;
  for (int c = threadIdx.x; c < width; c += 32)
    out[blockIdx.x * width + c] = (row[c] - mean) / sqrtf(squares + 1e-5f) * w[blockIdx.x % 2 * width + c];
}
extern "C" void centred(const DLTensor* x, const DLTensor* w, DLTensor* out) {
  centred_rows<<<x->shape[0] * 2, 32>>>(f32(x), f32(w), f32(out), x->shape[2], true);
}
extern "C" void centred_without_mean(const DLTensor* x, const DLTensor* w, DLTensor* out) {
  centred_rows<<<x->shape[0] * 2, 32>>>(f32(x), f32(w), f32(out), x->shape[2], false);
}

/// Powers and logarithms of 2 throughout.
__global__ void in_bits(const float* x, float* out, int width) {
  const float* row = x + blockIdx.x * width;
  float sum = 0.0f;
  for (int c = 0; c < width; ++c) sum += exp2f(row[c]);
  for (int c = threadIdx.x; c < width; c += 32) out[blockIdx.x * width + c] = row[c] - log2f(sum);
}
extern "C" void log_softmax_rows_in_bits(const DLTensor* x, DLTensor* out) {
  in_bits<<<x->shape[0], 32>>>(f32(x), f32(out), x->shape[1]);
}

/// Rows over the root of the mean of their squares, magnitudes or values.
enum Of { kSquares, kMagnitudes, kValues };
__global__ void over_root(const float* x, const float* w, float* out, int width, Of of) {
  const float* row = x + blockIdx.x * width;
  float sum = 0.0f;
  for (int c = 0; c < width; ++c)
    sum += of == kSquares ? row[c] * row[c] : of == kMagnitudes ? fabsf(row[c]) : row[c];
  for (int c = threadIdx.x; c < width; c += 32)
    out[blockIdx.x * width + c] = row[c] * rsqrtf(sum / width + 1e-6f) * w[c];
}
#define OF_ROOTS(name, of)                                                             \
  extern "C" void name(const DLTensor* x, const DLTensor* w, DLTensor* out) {          \
    over_root<<<x->shape[0], 32>>>(f32(x), f32(w), f32(out), x->shape[1], of);         \
  }
OF_ROOTS(rms_rows, kSquares)
OF_ROOTS(rms_rows_of_magnitudes, kMagnitudes)
OF_ROOTS(rms_rows_of_values, kValues)
