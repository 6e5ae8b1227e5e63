// Ports of which a part of the answer is wrong: a term, a function of two inputs, what other blocks, lanes or
// warps have, or one of several results.
#include <cuda_runtime.h>

__device__ float share(float x) { return 1.0f / (1.0f + expf(-x)); }

/// The slope of x sigmoid(x) y, with what stands before its second term.
__global__ void slopes(const float* x, const float* y, const float* d, float* out, int n, float sign) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float s = share(x[i]);
  out[i] = s * (1.0f + sign * x[i] * (1.0f - s)) * y[i] * d[i];
}
#define SLOPES(name, sign)                                                                               \
  extern "C" void name(const float* x, const float* y, const float* d, float* out, int rows, int columns) { \
    slopes<<<(rows * columns + 63) / 64, 64>>>(x, y, d, out, rows * columns, sign);                       \
  }
SLOPES(gated_slope, 1)
SLOPES(gated_slope_turned, -1)
SLOPES(gated_slope_without_its_second_term, 0)

/// x sigmoid(x) times the second half of each row, or another function of the first half.
__global__ void gates(const float* x, float* out, int rows, int columns, bool plain) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * columns) return;
  const float* row = x + i / columns * 2 * columns + i % columns;
  out[i] = (plain ? 1.0f : row[0]) * share(row[0]) * row[columns];
}
extern "C" void gated(const float* x, float* out, int rows, int columns) {
  gates<<<(rows * columns + 63) / 64, 64>>>(x, out, rows, columns, false);
}
extern "C" void gated_by_the_share_alone(const float* x, float* out, int rows, int columns) {
  gates<<<(rows * columns + 63) / 64, 64>>>(x, out, rows, columns, true);
}

/// Shares of a row of which a block has 128 elements, divided by the sum of all or of the block's own.
__global__ void shares_of_sum(const float* x, float* y, int n, bool own) {
  __shared__ float sum;
  const int begin = own ? blockIdx.x * 128 : 0, end = own ? min(n, begin + 128) : n;
  if (threadIdx.x == 0) {
    sum = 0;
    for (int i = begin; i < end; ++i) sum += expf(x[i]);
  }
  __syncthreads();
  const int at = blockIdx.x * 128 + threadIdx.x;
  if (at < n) y[at] = expf(x[at]) / sum;
}
extern "C" void shares(const float* x, float* y, int n) { shares_of_sum<<<(n + 127) / 128, 128>>>(x, y, n, false); }
extern "C" void shares_of_own_block(const float* x, float* y, int n) {
  shares_of_sum<<<(n + 127) / 128, 128>>>(x, y, n, true);
}

/// The sum of each row by the lanes of a warp, whose last step may be left out.
__global__ void sums_by_lanes(const float* x, float* y, int columns, int last) {
  float sum = 0;
  for (int c = threadIdx.x; c < columns; c += 32) sum += x[blockIdx.x * columns + c];
  for (int offset = 16; offset >= last; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
extern "C" void row_sums(const float* x, float* y, int rows, int columns) {
  sums_by_lanes<<<rows, 32>>>(x, y, columns, 1);
}
extern "C" void row_sums_of_even_lanes(const float* x, float* y, int rows, int columns) {
  sums_by_lanes<<<rows, 32>>>(x, y, columns, 2);
}

/// Rows divided by their root mean square, whose sum is put together from some of the warps' parts.
__global__ void rows_by_warps(const float* x, float* y, int columns, int warps) {
  __shared__ float parts[8];
  const float* row = x + blockIdx.x * columns;
  float sum = 0;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += row[c] * row[c];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = 0;
  for (int w = 0; w < min(warps, (int)blockDim.x / 32); ++w) sum += parts[w];
  for (int c = threadIdx.x; c < columns; c += blockDim.x)
    y[blockIdx.x * columns + c] = tanhf(row[c] * rsqrtf(sum / columns));
}
extern "C" void bent_rows(const float* x, float* y, int rows, int columns) {
  rows_by_warps<<<rows, 256>>>(x, y, columns, 8);
}
extern "C" void bent_rows_of_three_warps(const float* x, float* y, int rows, int columns) {
  rows_by_warps<<<rows, 256>>>(x, y, columns, 3);
}

/// Whole numbers of each row and their scale, by the largest magnitude or the largest element.
__global__ void whole_numbers(const float* x, signed char* q, float* scale, int columns, bool signs) {
  float most = 0;
  const float* row = x + blockIdx.x * columns;
  for (int c = 0; c < columns; ++c) most = fmaxf(most, signs ? row[c] : fabsf(row[c]));
  const float by = most / 127.0f;
  scale[blockIdx.x] = by;
  for (int c = 0; c < columns; ++c) q[blockIdx.x * columns + c] = (signed char)(int)(row[c] / by);
}
extern "C" void quantized(const float* x, signed char* q, float* scale, int rows, int columns) {
  whole_numbers<<<rows, 1>>>(x, q, scale, columns, false);
}
extern "C" void quantized_by_the_largest(const float* x, signed char* q, float* scale, int rows, int columns) {
  whole_numbers<<<rows, 1>>>(x, q, scale, columns, true);
}

/// A function of each element, and what is made of it.
__global__ void bent_and_summed(const float* x, float* y, float* z, int n, bool other) {
  float sum = 0;
  for (int i = 0; i < n; ++i) {
    y[i] = other ? tanhf(x[i]) : share(x[i]);
    sum = sinf(0.5f * sum + y[i]);
    z[i] = sum;
  }
}
extern "C" void bent(const float* x, float* y, float* z, int n) { bent_and_summed<<<1, 1>>>(x, y, z, n, false); }
extern "C" void bent_otherwise(const float* x, float* y, float* z, int n) {
  bent_and_summed<<<1, 1>>>(x, y, z, n, true);
}

/// What is added where a mask of zeros and ones says so, or where it does not.
__global__ void added_where(float* sum, const float* x, const int* mask, int n, bool turned) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && ((mask[i] & 1) != 0) != turned) sum[i] += x[i];
}
extern "C" void added(float* sum, const float* x, const int* mask, int n) {
  added_where<<<(n + 63) / 64, 64>>>(sum, x, mask, n, false);
}
extern "C" void added_elsewhere(float* sum, const float* x, const int* mask, int n) {
  added_where<<<(n + 63) / 64, 64>>>(sum, x, mask, n, true);
}

/// Running sums of each row, which may begin anew behind each `part` elements.
__global__ void running(const float* x, float* y, int columns, int part) {
  float sum = 0;
  for (int c = 0; c < columns; ++c) {
    if (c % part == 0) sum = 0;
    sum += x[blockIdx.x * columns + c];
    y[blockIdx.x * columns + c] = sum;
  }
}
extern "C" void running_sums(const float* x, float* y, int rows, int columns) {
  running<<<rows, 1>>>(x, y, columns, 1 << 30);
}
extern "C" void running_sums_in_parts(const float* x, float* y, int rows, int columns) {
  running<<<rows, 1>>>(x, y, columns, 8);
}
__global__ void running_before(const float* x, float* y, int columns) {
  float sum = 0;
  for (int c = 0; c < columns; ++c) {
    y[blockIdx.x * columns + c] = sum;
    sum += x[blockIdx.x * columns + c];
  }
}
extern "C" void running_sums_without_own(const float* x, float* y, int rows, int columns) {
  running_before<<<rows, 1>>>(x, y, columns);
}

/// Pairs of a row's halves turned in place, the second by the first as it was, or as it is by then.
__global__ void turn(float* x, const float* cosine, const float* sine, int half, bool late) {
  float* row = x + blockIdx.x * 2 * half;
  const int c = threadIdx.x;
  const float a = row[c], b = row[half + c];
  row[c] = a * cosine[c] - b * sine[c];
  row[half + c] = b * cosine[c] + (late ? row[c] : a) * sine[c];
}
extern "C" void turned(float* x, const float* cosine, const float* sine, int rows, int half) {
  turn<<<rows, half>>>(x, cosine, sine, half, false);
}
extern "C" void turned_by_the_result(float* x, const float* cosine, const float* sine, int rows, int half) {
  turn<<<rows, half>>>(x, cosine, sine, half, true);
}

/// x ln(x / y), or with logarithms of base 2.
__global__ void divergence_of(const float* x, const float* y, float* out, int n, bool base_2) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] * (base_2 ? log2f(x[i] / y[i]) : logf(x[i] / y[i]));
}
extern "C" void divergence(const float* x, const float* y, float* out, int n) {
  divergence_of<<<(n + 63) / 64, 64>>>(x, y, out, n, false);
}
extern "C" void divergence_to_base_2(const float* x, const float* y, float* out, int n) {
  divergence_of<<<(n + 63) / 64, 64>>>(x, y, out, n, true);
}

/// Rows by their norm, with a number inside the root, or another one beside it.
__global__ void normed(const float* x, float* y, int columns, float inside, float beside) {
  float sum = 0;
  for (int c = 0; c < columns; ++c) sum += x[blockIdx.x * columns + c] * x[blockIdx.x * columns + c];
  const float by = sqrtf(sum / columns + inside) + beside;
  for (int c = 0; c < columns; ++c) y[blockIdx.x * columns + c] = x[blockIdx.x * columns + c] / by;
}
extern "C" void normed_rows(const float* x, float* y, int rows, int columns) {
  normed<<<rows, 1>>>(x, y, columns, 1e-5f, 0);
}
extern "C" void normed_rows_beside_the_root(const float* x, float* y, int rows, int columns) {
  normed<<<rows, 1>>>(x, y, columns, 0, 2e-3f);
}

/// Neighbours of a row turned in place. The twin adds where the original subtracts.
__global__ void turn_pairs(float* x, const float* cosine, const float* sine, int half, float sign) {
  float* row = x + blockIdx.x * 2 * half;
  const int c = threadIdx.x;
  const float a = row[2 * c], b = row[2 * c + 1];
  row[2 * c] = a * cosine[c] - sign * b * sine[c];
  row[2 * c + 1] = b * cosine[c] + a * sine[c];
}
extern "C" void turned_pairs(float* x, const float* cosine, const float* sine, int rows, int half) {
  turn_pairs<<<rows, half>>>(x, cosine, sine, half, 1);
}
extern "C" void turned_pairs_with_the_other_sign(float* x, const float* cosine, const float* sine, int rows, int half) {
  turn_pairs<<<rows, half>>>(x, cosine, sine, half, -1);
}

/// Shares of a row under its maximum, a mask added behind that. The twin subtracts no maximum.
__global__ void shares_behind(const float* x, const float* mask, float* y, int columns, bool under) {
  x += blockIdx.x * columns, mask += blockIdx.x * columns, y += blockIdx.x * columns;
  float most = x[0], sum = 0;
  for (int c = 1; c < columns; ++c) most = fmaxf(most, x[c]);
  for (int c = 0; c < columns; ++c) sum += expf(x[c] - (under ? most : 0.0f) + mask[c]);
  for (int c = 0; c < columns; ++c) y[c] = expf(x[c] - (under ? most : 0.0f) + mask[c]) / sum;
}
extern "C" void masked_shares(const float* x, const float* mask, float* y, int rows, int columns) {
  shares_behind<<<rows, 1>>>(x, mask, y, columns, true);
}
extern "C" void masked_shares_without_maximum(const float* x, const float* mask, float* y, int rows, int columns) {
  shares_behind<<<rows, 1>>>(x, mask, y, columns, false);
}

/// A row of sixteen for each of four blocks of two caches, in the one of eight slots that is named. In the twin the
/// second has it in the next one.
__global__ void keep(const float* x, const int* slot, float* keys, float* values, int beside) {
  const int first = blockIdx.x * 8, at = slot[blockIdx.x];
  keys[(first + at) * 16 + threadIdx.x] = x[blockIdx.x * 16 + threadIdx.x];
  values[(first + (at + beside) % 8) * 16 + threadIdx.x] = x[blockIdx.x * 16 + threadIdx.x];
}
extern "C" void kept(const float* x, const int* slot, float* keys, float* values) {
  keep<<<4, 16>>>(x, slot, keys, values, 0);
}
extern "C" void kept_in_the_next(const float* x, const int* slot, float* keys, float* values) {
  keep<<<4, 16>>>(x, slot, keys, values, 1);
}

/// Every element doubled, or all but the last one.
__global__ void twice(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
extern "C" void doubled(const float* x, float* y, int n) { twice<<<(n + 63) / 64, 64>>>(x, y, n); }
extern "C" void doubled_but_the_last(const float* x, float* y, int n) { twice<<<(n + 63) / 64, 64>>>(x, y, n - 1); }

/// Doubled through room that the callers of the label do not pass.
__global__ void twice_through(const float* x, float* room, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) room[i] = 2 * x[i], y[i] = room[i];
}
extern "C" void doubled_through_room(const float* x, float* y, float* room, int n) {
  twice_through<<<(n + 63) / 64, 64>>>(x, room, y, n);
}
