// Sizes that stand to each other as in every call of a test, rows of sequences between offsets, and arguments that
// a call does not depend on.
#include <cuda_runtime.h>

#include "../../diagnose/candidates/dlpack.h"

#include <cstdint>

// A row of values, twice as long as the query, times the query's sum. Who takes the one length knows the other.
__global__ void weighed(const float* q, const float* v, float* y, int dim) {
  float sum = 0.0f;
  for (int d = 0; d < dim; ++d) sum += q[blockIdx.x * dim + d];
  for (int d = threadIdx.x; d < 2 * dim; d += blockDim.x) y[blockIdx.x * 2 * dim + d] = sum * v[blockIdx.x * 2 * dim + d];
}
extern "C" void weigh_by_sum(const DLTensor* q, const DLTensor* v, DLTensor* y) {
  weighed<<<q->shape[0], 32>>>(static_cast<const float*>(q->data), static_cast<const float*>(v->data),
                               static_cast<float*>(y->data), q->shape[1]);
}

// Each row over the number of its sequence's rows. The twin counts one row too few.
__global__ void shared_out(const float* x, const int64_t* offsets, float* y, int dim, int less) {
  const int64_t first = offsets[blockIdx.x], last = offsets[blockIdx.x + 1];
  for (int64_t at = first * dim + threadIdx.x; at < last * dim; at += blockDim.x) y[at] = x[at] / (last - first - less);
}
extern "C" void share_out(const float* x, const int64_t* offsets, float* y, int B, int D) {
  if (B > 0) shared_out<<<B, 32>>>(x, offsets, y, D, 0);
}
extern "C" void share_out_less(const float* x, const int64_t* offsets, float* y, int B, int D) {
  if (B > 0) shared_out<<<B, 32>>>(x, offsets, y, D, 1);
}

// Wrong, and without weights, which are not always looked at.
__global__ void tripled(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 3 * x[i];
}
extern "C" void triple(const DLTensor* x, const DLTensor* w, DLTensor* y) {
  tripled<<<1, 64>>>(static_cast<const float*>(x->data), static_cast<float*>(y->data), x->shape[0]);
}

// What is chosen leaves out what was chosen before: the first of the largest but that. The twin leaves out nothing.
__global__ void chosen(const float* x, const int64_t* before, int64_t* y, int dim, bool all, int first) {
  int64_t best = -1;
  for (int d = first; d < dim; ++d)
    if ((all || d != before[blockIdx.x]) && (best < 0 || x[blockIdx.x * dim + d] > x[blockIdx.x * dim + best])) best = d;
  y[blockIdx.x] = best;
}
static void choose(const DLTensor* x, const DLTensor* before, DLTensor* y, bool all, int first) {
  chosen<<<x->shape[0], 1>>>(static_cast<const float*>(x->data), static_cast<const int64_t*>(before->data),
                             static_cast<int64_t*>(y->data), x->shape[1], all, first);
}
extern "C" void choose_another(const DLTensor* x, const DLTensor* before, DLTensor* y) { choose(x, before, y, false, 0); }
extern "C" void choose_any(const DLTensor* x, const DLTensor* before, DLTensor* y) { choose(x, before, y, true, 0); }
extern "C" void choose_another_later(const DLTensor* x, const DLTensor* before, DLTensor* y) {
  choose(x, before, y, false, 1);
}
