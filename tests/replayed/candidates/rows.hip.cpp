// Operators on rows and elements, each right and with one fault.
#include <hip/hip_runtime.h>

#include "../../diagnose/candidates/dlpack.h"

#include <cstdint>

__device__ float tanh_form(float x) {
  return 0.5f * x * (1.0f + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
}
__device__ float exact_form(float x) { return 0.5f * x * (1.0f + erff(0.7071067812f * x)); }

/// x [rows, 2 · width]: the first half through GELU, times the second.
__global__ void gated(const float* x, float* out, int width, int n, bool exact) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= n) return;
  const float* row = x + at / width * 2 * width + at % width;
  out[at] = (exact ? exact_form(row[0]) : tanh_form(row[0])) * row[width];
}
static void gate(const DLTensor* x, DLTensor* out, bool exact) {
  const int width = out->shape[1], n = out->shape[0] * width;
  gated<<<(n + 63) / 64, 64>>>(static_cast<const float*>(x->data), static_cast<float*>(out->data), width, n,
                               exact);
}
extern "C" void gelu_and_mul(const DLTensor* x, DLTensor* out) { gate(x, out, false); }
extern "C" void gelu_and_mul_exact(const DLTensor* x, DLTensor* out) { gate(x, out, true); }

/// In place, with cosines and sines [rows, width / 2].
__global__ void turned(float* q, const float* cosine, const float* sine, int width, bool neighbours) {
  const int half = width / 2, i = threadIdx.x;
  if (i >= half) return;
  float* row = q + blockIdx.x * width;
  const int first = neighbours ? 2 * i : i, second = neighbours ? 2 * i + 1 : i + half;
  const float a = row[first], b = row[second], c = cosine[blockIdx.x * half + i],
              s = sine[blockIdx.x * half + i];
  row[first] = a * c - b * s;
  row[second] = b * c + a * s;
}
static void turn(DLTensor* q, const DLTensor* cosine, const DLTensor* sine, bool neighbours) {
  turned<<<q->shape[0], 64>>>(static_cast<float*>(q->data), static_cast<const float*>(cosine->data),
                              static_cast<const float*>(sine->data), q->shape[1], neighbours);
}
extern "C" void rotary_in_place(DLTensor* q, const DLTensor* cosine, const DLTensor* sine) {
  turn(q, cosine, sine, false);
}
extern "C" void rotary_in_place_of_neighbours(DLTensor* q, const DLTensor* cosine, const DLTensor* sine) {
  turn(q, cosine, sine, true);
}

/// −log softmax(x)[target], and 0 where the target is to be left out.
__global__ void likelihoods(const float* x, const int64_t* target, float* out, int width, int64_t left_out,
                            bool leaves_out) {
  const float* row = x + blockIdx.x * width;
  float most = row[0], sum = 0.0f;
  for (int c = 1; c < width; ++c) most = fmaxf(most, row[c]);
  for (int c = 0; c < width; ++c) sum += expf(row[c] - most);
  const int64_t t = target[blockIdx.x];
  const float picked = t >= 0 && t < width ? row[t] : 0.0f;
  out[blockIdx.x] = leaves_out && t == left_out ? 0.0f : logf(sum) + most - picked;
}
static void likelihood(const DLTensor* x, const DLTensor* target, DLTensor* out, int64_t left_out,
                       bool leaves_out) {
  likelihoods<<<x->shape[0], 1>>>(static_cast<const float*>(x->data),
                                  static_cast<const int64_t*>(target->data), static_cast<float*>(out->data),
                                  x->shape[1], left_out, leaves_out);
}
extern "C" void cross_entropy(const DLTensor* x, const DLTensor* target, DLTensor* out,
                              int64_t ignore_index) {
  likelihood(x, target, out, ignore_index, true);
}
extern "C" void cross_entropy_of_all(const DLTensor* x, const DLTensor* target, DLTensor* out,
                                     int64_t ignore_index) {
  likelihood(x, target, out, ignore_index, false);
}

/// x / rms(x) · (1 + weight); the 1 is forgotten where the fault is on.
__global__ void weighted(const float* x, const float* weight, float* out, int width, float one) {
  const float* row = x + blockIdx.x * width;
  float sum = 0.0f;
  for (int c = 0; c < width; ++c) sum += row[c] * row[c];
  for (int c = threadIdx.x; c < width; c += blockDim.x)
    out[blockIdx.x * width + c] = row[c] * rsqrtf(sum / width) * (one + weight[c]);
}
static void weigh(const DLTensor* x, const DLTensor* weight, DLTensor* out, float one) {
  weighted<<<x->shape[0], 32>>>(static_cast<const float*>(x->data), static_cast<const float*>(weight->data),
                                static_cast<float*>(out->data), x->shape[1], one);
}
extern "C" void weighted_rows(const DLTensor* x, const DLTensor* weight, DLTensor* out) {
  weigh(x, weight, out, 1.0f);
}
extern "C" void weighted_rows_from_zero(const DLTensor* x, const DLTensor* weight, DLTensor* out) {
  weigh(x, weight, out, 0.0f);
}

enum Fault { kNone, kOverflows, kNoEpsilon };
__global__ void normalised(const float* x, float* out, int width, int fault) {
  const float* row = x + blockIdx.x * width;
  float most = -INFINITY, sum = 0.0f;
  for (int c = 0; c < width; ++c) most = fmaxf(most, row[c]);
  if (fault == kOverflows) most = 0.0f;
  for (int c = 0; c < width; ++c) sum += expf(row[c] - most);
  for (int c = threadIdx.x; c < width; c += blockDim.x)
    out[blockIdx.x * width + c] = expf(row[c] - most) / sum;
}
__global__ void of_unit_size(const float* x, float* out, int width, int fault) {
  const float* row = x + blockIdx.x * width;
  float sum = 0.0f;
  for (int c = 0; c < width; ++c) sum += row[c] * row[c];
  const float by = rsqrtf(sum / width + (fault == kNoEpsilon ? 0.0f : 1e-6f));
  for (int c = threadIdx.x; c < width; c += blockDim.x) out[blockIdx.x * width + c] = row[c] * by;
}
#define ROWS(name, kernel, fault)                                                                   \
  extern "C" void name(const DLTensor* x, DLTensor* out) {                                          \
    kernel<<<x->shape[0], 32>>>(static_cast<const float*>(x->data), static_cast<float*>(out->data), \
                                x->shape[1], fault);                                                \
  }
ROWS(plain_softmax, normalised, kNone)
ROWS(plain_softmax_overflows, normalised, kOverflows)

/// Blocks without number for many rows: they end, and there is no end of them.
__global__ void normalised_among_others(const float* x, float* out, int rows, int width) {
  if (blockIdx.x >= rows || threadIdx.x > 0) return;
  const float* row = x + blockIdx.x * width;
  float most = -INFINITY, sum = 0.0f;
  for (int c = 0; c < width; ++c) most = fmaxf(most, row[c]);
  for (int c = 0; c < width; ++c) sum += expf(row[c] - most);
  for (int c = 0; c < width; ++c) out[blockIdx.x * width + c] = expf(row[c] - most) / sum;
}
extern "C" void plain_softmax_of_many_blocks(const DLTensor* x, DLTensor* out) {
  const unsigned blocks = x->shape[0] > 16 ? 2000000000u : 16u;
  normalised_among_others<<<blocks, 32>>>(static_cast<const float*>(x->data), static_cast<float*>(out->data),
                                          x->shape[0], x->shape[1]);
}
extern "C" void plain_softmax_of_64_rows(const DLTensor* x, DLTensor* out) {
  normalised<<<64, 32>>>(static_cast<const float*>(x->data), static_cast<float*>(out->data), x->shape[1],
                         x->shape[0] == 64 ? kNone : kOverflows);
}
extern "C" void plain_softmax_but_of_3_rows(const DLTensor* x, DLTensor* out) {
  normalised<<<x->shape[0], 32>>>(static_cast<const float*>(x->data), static_cast<float*>(out->data),
                                  x->shape[1], x->shape[0] == 3 ? kOverflows : kNone);
}
ROWS(unit_rows, of_unit_size, kNone)
ROWS(unit_rows_without_epsilon, of_unit_size, kNoEpsilon)

__global__ void moved(const float* x, float* out, float scale, float shift, int n) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < n) out[at] = scale * x[at] + shift;
}
static void move(const DLTensor* x, DLTensor* out, double scale, double shift) {
  const int n = x->shape[0];
  moved<<<(n + 63) / 64, 64>>>(static_cast<const float*>(x->data), static_cast<float*>(out->data), scale,
                               shift, n);
}
extern "C" void scale_and_shift(const DLTensor* x, DLTensor* out, double scale = 2.0, double shift = 0.0) {
  move(x, out, scale, shift);
}
extern "C" void scale_and_shift_from_one(const DLTensor* x, DLTensor* out, double scale = 1.0,
                                         double shift = 0.0) {
  move(x, out, scale, shift);
}

/// The sum of the first counts[row] elements of each row, a block of 8 at a time.
__global__ void counted(const float* x, const int* counts, float* out, int width, bool whole_blocks) {
  const int count = counts[blockIdx.x], blocks = whole_blocks ? count / 8 : (count + 7) / 8;
  float sum = 0.0f;
  for (int b = 0; b < blocks; ++b)
    for (int c = 8 * b; c < count && c < 8 * b + 8; ++c) sum += x[blockIdx.x * width + c];
  out[blockIdx.x] = sum;
}
extern "C" void sum_of_counts(const DLTensor* x, const DLTensor* counts, DLTensor* out) {
  counted<<<x->shape[0], 1>>>(static_cast<const float*>(x->data), static_cast<const int*>(counts->data),
                              static_cast<float*>(out->data), x->shape[1], false);
}
extern "C" void sum_of_counts_of_whole_blocks(const DLTensor* x, const DLTensor* counts, DLTensor* out) {
  counted<<<x->shape[0], 1>>>(static_cast<const float*>(x->data), static_cast<const int*>(counts->data),
                              static_cast<float*>(out->data), x->shape[1], true);
}

__global__ void doubled(const float* x, float* out, int64_t stride, int width) {
  for (int c = threadIdx.x; c < width; c += blockDim.x)
    out[blockIdx.x * width + c] = 2 * x[blockIdx.x * stride + c];
}
static void twice(const DLTensor* x, DLTensor* out, bool with_offset) {
  const char* bytes = static_cast<const char*>(x->data) + (with_offset ? x->byte_offset : 0);
  doubled<<<x->shape[0], 32>>>(reinterpret_cast<const float*>(bytes), static_cast<float*>(out->data),
                               x->strides[0], x->shape[1]);
}
extern "C" void twice_of_views(const DLTensor* x, DLTensor* out) { twice(x, out, true); }
extern "C" void twice_of_views_from_the_begin(const DLTensor* x, DLTensor* out) { twice(x, out, false); }

__global__ void bounded(const float* x, float* out, float scale, float cap, int n, bool scaled_first) {
  const int at = threadIdx.x;
  if (at < n) out[at] = scaled_first ? cap * tanhf(scale * x[at] / cap) : scale * (cap * tanhf(x[at] / cap));
}
extern "C" void capped(const DLTensor* x, DLTensor* out, double scale, double cap) {
  bounded<<<1, 64>>>(static_cast<const float*>(x->data), static_cast<float*>(out->data), scale, cap,
                     x->shape[0], true);
}
extern "C" void capped_before_it_is_scaled(const DLTensor* x, DLTensor* out, double scale, double cap) {
  bounded<<<1, 64>>>(static_cast<const float*>(x->data), static_cast<float*>(out->data), scale, cap,
                     x->shape[0], false);
}
