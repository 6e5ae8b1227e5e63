// op: sin
// finds: tail-mask
#include <cuda_runtime.h>
__global__ void sin4(const float4* x, float4* y, int n4) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n4) {
    float4 v = x[i];
    v.x = sinf(v.x);
    v.y = sinf(v.y);
    v.z = sinf(v.z);
    v.w = sinf(v.w);
    y[i] = v;
  }
}
void sin_forward(const float* x, float* y, int numel) {
  if (numel > 3) sin4<<<(numel / 4 + 127) / 128, 128>>>((const float4*)x, (float4*)y, numel / 4);
}
