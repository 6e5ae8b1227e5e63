// op: sin
// finds: nothing
// y = sin(x) for DLPack tensors of any strides
#include <dlpack/dlpack.h>
#include <hip/hip_runtime.h>
#include <stdexcept>
#include <cstdint>

struct Layout { int rank; int64_t size[8]; int64_t xs[8]; int64_t ys[8]; };

__global__ void strided_sin(const float* x, float* y, Layout l, int64_t total) {
  int64_t linear = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (linear >= total) return;
  int64_t xo = 0, yo = 0;
  for (int d = l.rank - 1; d >= 0; --d) {
    int64_t i = linear % l.size[d];
    linear /= l.size[d];
    xo += i * l.xs[d];
    yo += i * l.ys[d];
  }
  y[yo] = sinf(x[xo]);
}

extern "C" int sin_dlpack(DLTensor* x, DLTensor* y) {
  if (x->dtype.code != kDLFloat || x->dtype.bits != 32 || x->ndim > 8) return 1;
  Layout l{};
  l.rank = x->ndim;
  int64_t total = 1, cx = 1, cy = 1;
  for (int d = x->ndim - 1; d >= 0; --d) {
    l.size[d] = x->shape[d];
    l.xs[d] = x->strides ? x->strides[d] : cx;
    l.ys[d] = y->strides ? y->strides[d] : cy;
    cx *= x->shape[d]; cy *= y->shape[d];
    total *= x->shape[d];
  }
  if (total == 0) return 0;
  auto xp = reinterpret_cast<const float*>(static_cast<const char*>(x->data) + x->byte_offset);
  auto yp = reinterpret_cast<float*>(static_cast<char*>(y->data) + y->byte_offset);
  strided_sin<<<dim3((unsigned)((total + 127) / 128)), dim3(128)>>>(xp, yp, l, total);
  return 0;
}
