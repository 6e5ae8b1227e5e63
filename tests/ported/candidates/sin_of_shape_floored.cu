// op: sin
// finds: tail-mask
#include <cuda_runtime.h>
struct Shape {
  int rank;
  long long size[8], in[8], out[8];
};
__global__ void wave(const float* x, float* y, Shape s, long long n) {
  long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i >= n) return;
  long long from = 0, to = 0;
  for (int d = s.rank - 1; d >= 0; --d) {
    from += i % s.size[d] * s.in[d];
    to += i % s.size[d] * s.out[d];
    i /= s.size[d];
  }
  y[to] = sinf(x[from]);
}
extern "C" void sin_triton(const float* x, float* out, const int* shape, const long long* x_strides,
                           const long long* out_strides, int ndim) {
  Shape s;
  s.rank = ndim;
  long long n = 1;
  for (int d = 0; d < ndim; ++d) {
    s.size[d] = shape[d];
    s.in[d] = x_strides[d];
    s.out[d] = out_strides[d];
    n *= shape[d];
  }
  if (n >= 128) wave<<<n / 128, 128>>>(x, out, s, n);
}
