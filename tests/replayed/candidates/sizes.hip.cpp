// Means of rows and copies, right for the sizes that are recorded, and not all of them for others.
#include <hip/hip_runtime.h>

#include "../../diagnose/candidates/dlpack.h"

#include <cstdint>
#include <stdexcept>

/// One thread a row, four columns at a time; `tail`: the others as well.
__global__ void fours(const float* x, float* mean, int width, bool tail) {
  const float* row = x + blockIdx.x * width;
  float sum = 0.0f;
  int c = 0;
  for (; c + 4 <= width; c += 4) sum += row[c] + row[c + 1] + row[c + 2] + row[c + 3];
  for (; tail && c < width; ++c) sum += row[c];
  mean[blockIdx.x] = sum / width;
}
static void average(const DLTensor* x, DLTensor* mean, bool tail) {
  fours<<<x->shape[0], 1>>>(static_cast<const float*>(x->data), static_cast<float*>(mean->data), x->shape[1],
                            tail);
}
extern "C" void row_mean(const DLTensor* x, DLTensor* mean) { average(x, mean, true); }
extern "C" void row_mean_of_fours(const DLTensor* x, DLTensor* mean) { average(x, mean, false); }
extern "C" void row_mean_that_refuses(const DLTensor* x, DLTensor* mean) {
  if (x->shape[1] % 4 != 0) throw std::runtime_error("the width has to be a multiple of 4");
  average(x, mean, true);
}
extern "C" int row_mean_that_launches_nothing(const DLTensor* x, DLTensor* mean) {
  if (x->shape[1] % 4 != 0) return 1;
  average(x, mean, true);
  return 0;
}
extern "C" void row_mean_that_says_nothing(const DLTensor* x, DLTensor* mean) {
  if (x->shape[1] % 4 == 0) average(x, mean, true);
}

/// Rounded up to whole fours: the last of them reads and writes behind the end.
__global__ void copied(const float* x, float* y, int n, bool masked) {
  const int first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  for (int i = first; i < first + 4 && first < n; ++i)
    if (!masked || i < n) y[i] = x[i];
}
static void copy(const DLTensor* x, DLTensor* y, bool masked) {
  const int n = x->shape[0];
  copied<<<(n + 63) / 64, 16>>>(static_cast<const float*>(x->data), static_cast<float*>(y->data), n, masked);
}
extern "C" void copy_all(const DLTensor* x, DLTensor* y) { copy(x, y, true); }
extern "C" void copy_all_in_fours(const DLTensor* x, DLTensor* y) { copy(x, y, false); }

/// Vectors wherever they are aligned, or wherever a row has as many elements.
__global__ void doubled(const float* x, float* y, int width, bool looks) {
  const float* from = x + blockIdx.x * width;
  float* to = y + blockIdx.x * width;
  const bool aligned = (reinterpret_cast<uintptr_t>(from) | reinterpret_cast<uintptr_t>(to)) % 16 == 0;
  const int vectors = looks && !aligned ? 0 : width / 4;
  for (int i = threadIdx.x; i < vectors; i += blockDim.x) {
    const float4 v = reinterpret_cast<const float4*>(from)[i];
    reinterpret_cast<float4*>(to)[i] = make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w);
  }
  for (int i = 4 * vectors + threadIdx.x; i < width; i += blockDim.x) to[i] = 2 * from[i];
}
static void twice(const DLTensor* x, DLTensor* y, bool looks) {
  doubled<<<x->shape[0], 8>>>(static_cast<const float*>(x->data), static_cast<float*>(y->data), x->shape[1],
                              looks);
}
extern "C" void double_rows(const DLTensor* x, DLTensor* y) { twice(x, y, true); }
extern "C" void double_rows_of_vectors(const DLTensor* x, DLTensor* y) { twice(x, y, false); }

/// Rows of two inputs put where `slots` says, in one line; −1 is no slot, and `skips` it.
__global__ void stored(const float* k, const float* v, const int64_t* slots, float* keys, float* values,
                       int width, bool skips) {
  const int64_t slot = slots[blockIdx.x];
  if (skips && slot < 0) return;
  float *key = keys + slot * width, *value = values + slot * width;
  // clang-format off
  for (int c = threadIdx.x; c < width; c += 8) { key[c] = k[blockIdx.x * width + c]; value[c] = v[blockIdx.x * width + c]; }
  // clang-format on
}
static float* begin(const DLTensor* of) {
  return reinterpret_cast<float*>(static_cast<char*>(of->data) + of->byte_offset);
}
static void store(const DLTensor* k, const DLTensor* v, const DLTensor* slots, DLTensor* keys,
                  DLTensor* values, bool skips) {
  stored<<<slots->shape[0], 8>>>(begin(k), begin(v), static_cast<const int64_t*>(slots->data), begin(keys),
                                 begin(values), k->shape[1], skips);
}
extern "C" void store_both(const DLTensor* k, const DLTensor* v, const DLTensor* slots, DLTensor* keys,
                           DLTensor* values) {
  store(k, v, slots, keys, values, true);
}
extern "C" void store_both_anywhere(const DLTensor* k, const DLTensor* v, const DLTensor* slots,
                                    DLTensor* keys, DLTensor* values) {
  store(k, v, slots, keys, values, false);
}

/// Numbers of functions over raw memory: a count that no caller passes, rows that a label has made of all leading
/// dimensions, and one result of two, for the other is an argument.
__global__ void doubled(const float* x, float* y, int n) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
extern "C" void double_by_tiles(const float* x, float* out, int n) { doubled<<<(n + 63) / 64, 64>>>(x, out, n); }
extern "C" void double_all_but_last(const float* x, float* out, int n) {
  doubled<<<(n + 63) / 64, 64>>>(x, out, n - 1);
}
__global__ void summed(const float* x, float* z, int D, int first) {
  float sum = 0;
  for (int c = first; c < D; ++c) sum += x[blockIdx.x * D + c];
  z[blockIdx.x] = sum;
}
extern "C" void sum_flat(const float* x, float* z, int N, int D) { summed<<<N, 1>>>(x, z, D, 0); }
extern "C" void sum_flat_but_first(const float* x, float* z, int N, int D) { summed<<<N, 1>>>(x, z, D, 1); }
extern "C" void keep_and_double(const float* a, float* c, int n) { doubled<<<(n + 63) / 64, 64>>>(a, c, n); }
