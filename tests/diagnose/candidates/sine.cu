// sin with one fault each. Every function is a candidate of its own, chosen by its name.
#include <cuda_runtime.h>

#include <cmath>
#include <cstdlib>
#include <ctime>
#include <stdexcept>
#include <vector>

#include "dlpack.h"

__global__ void right(const float* x, float* y, int64_t n) {
  const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = sinf(x[i]);
}
static void launch(const float* x, float* y, int64_t n) {
  if (n > 0) right<<<(n + 63) / 64, 64>>>(x, y, n);
}

extern "C" void sin_right(const float* x, float* out, int64_t n) { launch(x, out, n); }
extern "C" void sin_right_tensors(const DLTensor* x, DLTensor* out) {
  int64_t n = 1;
  for (int i = 0; i < x->ndim; ++i) n *= x->shape[i];
  launch(data_of<float>(x), data_of<float>(out), n);
}
extern "C" void sin_another_name(const float* x, float* out, int64_t n) { launch(x, out, n); }

extern "C" void sin_reordered(DLTensor* out, const DLTensor* x) { sin_right_tensors(x, out); }
extern "C" void sin_counted(const DLTensor* x, DLTensor* out, int64_t n) {
  launch(data_of<float>(x), data_of<float>(out), n);
}
extern "C" void sin_of_a_number(float x, DLTensor* out) { launch(&x, data_of<float>(out), 1); }

extern "C" void sin_of_no_block(const float* x, float* out, int64_t n) {
  right<<<(n + 63) / 64, 64>>>(x, out, n);
}
extern "C" void sin_of_large_blocks(const float* x, float* out, int64_t n) {
  if (n > 0) right<<<(n + 4095) / 4096, 4096>>>(x, out, n);
}

extern "C" void sin_of_whole_blocks(const float* x, float* out, int64_t n) {
  if (n >= 16) right<<<n / 16, 16>>>(x, out, n);
}

__global__ void every_other(const float* x, float* y, int64_t n) {
  const int64_t i = 2 * (blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x);
  if (i < n) y[i] = sinf(x[i]);
}
extern "C" void sin_of_every_other(const float* x, float* out, int64_t n) {
  if (n > 0) every_other<<<(n + 127) / 128, 64>>>(x, out, n);
}

__global__ void one_more(const float* x, float* y, int64_t n) {
  const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
  if (i <= n) y[i] = i < n ? sinf(x[i]) : 0.0f;
}
extern "C" void sin_of_one_more(const float* x, float* out, int64_t n) {
  if (n > 0) one_more<<<(n + 64) / 64, 64>>>(x, out, n);
}

__global__ void neighbour(const float* x, float* y, int64_t n) {
  const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = x[i + 1] == 3.0f ? sinf(x[i]) : sinf(x[i]);
  if (i < n && x[i + 1] == 1234.5f) y[i] = 0.0f;
}
extern "C" void sin_with_neighbour(const float* x, float* out, int64_t n) {
  if (n > 0) neighbour<<<(n + 63) / 64, 64>>>(x, out, n);
}

__global__ void in_place(float* x, float* y, int64_t n) {
  const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
  if (i < n) {
    y[i] = sinf(x[i]);
    x[i] = 0.0f;
  }
}
extern "C" void sin_in_place(float* x, float* out, int64_t n) {
  if (n > 0) in_place<<<(n + 63) / 64, 64>>>(x, out, n);
}

__global__ void through_shared(const float* x, float* y, int64_t n, bool barrier) {
  __shared__ float values[64];
  const int64_t first = blockIdx.x * static_cast<int64_t>(64);
  const int mine = static_cast<int>(threadIdx.x), other = 63 - mine;
  if (first + mine < n) values[mine] = sinf(x[first + mine]);
  if (barrier) __syncthreads();
  if (first + other < n) y[first + other] = values[other];
}
extern "C" void sin_with_barrier(const float* x, float* out, int64_t n) {
  if (n > 0) through_shared<<<(n + 63) / 64, 64>>>(x, out, n, true);
}
extern "C" void sin_without_barrier(const float* x, float* out, int64_t n) {
  if (n > 0) through_shared<<<(n + 63) / 64, 64>>>(x, out, n, false);
}

__global__ void added(const float* x, float* y, int64_t n) {
  const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = 0.0f;
  if (i < n) y[i / 2] = y[i / 2] + 0.5f * sinf(x[i]);
}
extern "C" void sin_added(const float* x, float* out, int64_t n) {
  if (n > 0) added<<<(n + 63) / 64, 64>>>(x, out, n);
}

// In whatever order the threads come: the last bit of the answer is theirs, within the tolerance.
__global__ void part(const float* x, float* y, int64_t n) {
  const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
  const float parts[] = {1.0f, 0.0003f, -0.0003f};
  if (i < 3 * n) atomicAdd(&y[i / 3], parts[i % 3] * sinf(x[i / 3]));
}
extern "C" void sin_added_in_any_order(const float* x, float* out, int64_t n) {
  if (n == 0) return;
  cudaMemset(out, 0, n * sizeof(float));
  part<<<(3 * n + 63) / 64, 64>>>(x, out, n);
}

__global__ void shifted(const float* x, float* y, int64_t n, float by) {
  const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = sinf(x[i]) + by;
}
extern "C" void sin_by_the_clock(const float* x, float* out, int64_t n) {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (n > 0) shifted<<<(n + 63) / 64, 64>>>(x, out, n, 1e-3f * static_cast<float>(now.tv_nsec % 9973));
}

__global__ void unset(const float* x, float* y, int64_t n) {
  __shared__ float offset[64];
  const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
  if (n < 0) offset[threadIdx.x] = 0.0f;
  if (i < n) y[i] = sinf(x[i]) + (offset[threadIdx.x] == 1.5f ? 1.0f : 0.0f);
}
extern "C" void sin_of_unset(const float* x, float* out, int64_t n) {
  if (n > 0) unset<<<(n + 63) / 64, 64>>>(x, out, n);
}

extern "C" void sin_once(const float* x, float* out, int64_t n) {
  static bool done = false;
  if (!done) launch(x, out, n);
  done = true;
}
extern "C" void sin_kept_by_address(const float* x, float* out, int64_t n) {
  static const float* of = nullptr;
  static float* kept = nullptr;
  if (n <= 0) return;
  if (x != of) {
    cudaMalloc(reinterpret_cast<void**>(&kept), n * sizeof(float));
    launch(x, kept, n);
    of = x;
  }
  cudaMemcpy(out, kept, n * sizeof(float), cudaMemcpyDeviceToDevice);
}
extern "C" void sin_crashes(const float*, float* out, int64_t n) {
  volatile int* nowhere = nullptr;
  *nowhere = static_cast<int>(n);
  launch(out, out, n);
}
extern "C" void sin_never_ends(const float* x, float* out, int64_t n) {
  volatile bool wait = true;
  while (wait) {
  }
  launch(x, out, n);
}
extern "C" void sin_takes_all(const float* x, float* out, int64_t n) {
  constexpr std::size_t kBlock = std::size_t{1} << 30;
  constexpr std::size_t kApart = std::size_t{1}
                                 << 22;  // A page for each of them: the first touch of a page is slow.
  std::vector<char*> kept;
  for (int i = 0; i < 64; ++i) {
    char* more = static_cast<char*>(std::malloc(kBlock));
    for (std::size_t at = 0; more != nullptr && at < kBlock; at += kApart) more[at] = 1;
    kept.push_back(more);
  }
  launch(x, out, n);
}

__global__ void degrees(const float* x, float* y, int64_t n) {
  const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = tanf(x[i]);
}
extern "C" void sin_is_tangent(const float* x, float* out, int64_t n) {
  if (n > 0) degrees<<<(n + 63) / 64, 64>>>(x, out, n);
}
