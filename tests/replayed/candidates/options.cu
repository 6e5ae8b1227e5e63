// Entries that take words and dtypes as numbers, and say which in several ways.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// reduction: 0 = rows, 1 = largest, 2 = total
__global__ void reduce(const float* x, float* out, int n, int reduction) {
  const int row = blockIdx.x;
  float sum = 0, most = x[row * n];
  for (int i = 0; i < n; ++i) {
    sum += x[row * n + i];
    most = fmaxf(most, x[row * n + i]);
  }
  out[row] = reduction == 1 ? most : reduction == 2 ? sum : x[row * n];
}

extern "C" void by_comment(const float* x, float* out, int rows, int n, int reduction) {
  reduce<<<rows, 1>>>(x, out, n, reduction);
}

enum Kind { KIND_TOTAL = 4, KIND_LARGEST, KIND_ROWS };

extern "C" void by_enumeration(const float* x, float* out, int rows, int n, int kind) {
  reduce<<<rows, 1>>>(x, out, n, kind == KIND_TOTAL ? 2 : kind == KIND_LARGEST ? 1 : 0);
}

extern "C" void by_comparison(const float* x, float* out, int rows, int n, int how) {
  if (how == 3) {  // largest
    reduce<<<rows, 1>>>(x, out, n, 1);
  } else if (how == 1) {  // total
    reduce<<<rows, 1>>>(x, out, n, 2);
  } else {
    reduce<<<rows, 1>>>(x, out, n, 0);
  }
}

// The same as by_comment, and the largest is that of magnitudes.
__global__ void reduce_magnitudes(const float* x, float* out, int n, int reduction) {
  const int row = blockIdx.x;
  float sum = 0, most = 0;
  for (int i = 0; i < n; ++i) {
    sum += x[row * n + i];
    most = fmaxf(most, fabsf(x[row * n + i]));
  }
  out[row] = reduction == 1 ? most : reduction == 2 ? sum : x[row * n];
}

extern "C" void with_magnitudes(const float* x, float* out, int rows, int n, int reduction) {
  reduce_magnitudes<<<rows, 1>>>(x, out, n, reduction);
}

template <typename T>
__global__ void twice(const T* x, T* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] + x[i];
}

extern "C" void twice_of_dtype(const void* x, void* out, int n, int dtype) {
  if (dtype == 2)
    twice<__half><<<(n + 63) / 64, 64>>>(static_cast<const __half*>(x), static_cast<__half*>(out), n);
  else
    twice<float><<<(n + 63) / 64, 64>>>(static_cast<const float*>(x), static_cast<float*>(out), n);
}

extern "C" void twice_by_flag(const void* x, void* out, int n, bool is_half) {
  if (is_half)
    twice<__half><<<(n + 63) / 64, 64>>>(static_cast<const __half*>(x), static_cast<__half*>(out), n);
  else
    twice<float><<<(n + 63) / 64, 64>>>(static_cast<const float*>(x), static_cast<float*>(out), n);
}

// All of it is read as f32.
extern "C" void twice_of_floats(const void* x, void* out, int n, int dtype) {
  (void)dtype;
  twice<float><<<(n + 63) / 64, 64>>>(static_cast<const float*>(x), static_cast<float*>(out), n);
}

// Values that are bounded where a limit is given, as a flag says.
__global__ void bound_kernel(const float* x, float* out, int n, float limit, bool has_limit) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = has_limit ? fminf(x[i], limit) : x[i];
}

extern "C" void bounded_by_flag(const float* x, float* out, int n, float limit, bool has_limit) {
  bound_kernel<<<(n + 63) / 64, 64>>>(x, out, n, limit, has_limit);
}
