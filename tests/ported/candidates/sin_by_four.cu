// op: sin
// finds: nothing
#include <cuda_runtime.h>
__global__ void sin4(const float* x, float* y, int n) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
  if (i + 3 < n) {
    float4 v = *reinterpret_cast<const float4*>(x + i);
    v.x = sinf(v.x);
    v.y = sinf(v.y);
    v.z = sinf(v.z);
    v.w = sinf(v.w);
    *reinterpret_cast<float4*>(y + i) = v;
  } else {
    for (; i < n; ++i) y[i] = sinf(x[i]);
  }
}
void sin_forward(const float* x, float* y, int numel) {
  if (numel > 0) sin4<<<((numel + 3) / 4 + 127) / 128, 128>>>(x, y, numel);
}
