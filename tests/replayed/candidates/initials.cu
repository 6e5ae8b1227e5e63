// Numbers that the label and the test call by a letter, and sums that many threads add to.
#include <cuda_runtime.h>

// The weights come before the values, both with `mixtures` rows.
__global__ void mixed_kernel(const float* x, float* y, int mixtures, int steps) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= steps) return;
  const float* own = x + blockIdx.y * 2 * mixtures * steps + t;
  float sum = 0.f;
  for (int m = 0; m < mixtures; ++m) sum += own[m * steps] * own[(mixtures + m) * steps];
  y[blockIdx.y * steps + t] = sum;
}

extern "C" void mixed(const float* x, float* y, int batch, int mixtures, int steps) {
  mixed_kernel<<<dim3((steps + 31) / 32, batch), 32>>>(x, y, mixtures, steps);
}

// The last of the weights is left out.
__global__ void mixed_short_kernel(const float* x, float* y, int mixtures, int steps) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= steps) return;
  const float* own = x + blockIdx.y * 2 * mixtures * steps + t;
  float sum = 0.f;
  for (int m = 0; m < mixtures - 1; ++m) sum += own[m * steps] * own[(mixtures + m) * steps];
  y[blockIdx.y * steps + t] = sum;
}

extern "C" void mixed_short(const float* x, float* y, int batch, int mixtures, int steps) {
  mixed_short_kernel<<<dim3((steps + 31) / 32, batch), 32>>>(x, y, mixtures, steps);
}

__global__ void counted_kernel(const int* ids, int* counts, int n, int bins) {
  __shared__ int own[32];
  const int i = threadIdx.x;
  if (i < 32) own[i] = 0;
  __syncthreads();
  for (int k = i; k < n; k += blockDim.x) atomicAdd(&own[ids[k]], 1);
  __syncthreads();
  if (i < bins) counts[i] = own[i];
}

extern "C" void counted(const int* ids, int* counts, int n, int bins) {
  counted_kernel<<<1, 64>>>(ids, counts, n, bins);
}

__global__ void counted_plain_kernel(const int* ids, int* counts, int n, int bins) {
  __shared__ int own[32];
  const int i = threadIdx.x;
  if (i < 32) own[i] = 0;
  __syncthreads();
  for (int k = i; k < n; k += blockDim.x) own[ids[k]] += 1;
  __syncthreads();
  if (i < bins) counts[i] = own[i];
}

extern "C" void counted_plain(const int* ids, int* counts, int n, int bins) {
  counted_plain_kernel<<<1, 64>>>(ids, counts, n, bins);
}

// A tree whose steps do not wait for each other.
__global__ void tree_kernel(const int* ids, int* counts, int n, int bins) {
  __shared__ int own[64];
  const int i = threadIdx.x;
  for (int b = 0; b < bins; ++b) {
    int sum = 0;
    for (int k = i; k < n; k += blockDim.x) sum += ids[k] == b;
    own[i] = sum;
    __syncthreads();
    for (int step = 32; step > 0; step /= 2)
      if (i < step) own[i] += own[i + step];
    __syncthreads();
    if (i == 0) counts[b] = own[0];
    __syncthreads();
  }
}

extern "C" void counted_tree(const int* ids, int* counts, int n, int bins) {
  tree_kernel<<<1, 64>>>(ids, counts, n, bins);
}
