// Right on its own machine, and in a language that no other has.
__device__ float fast_sin(float x) {
  float y;
  asm volatile("tcgen05.wait::ld.sync.aligned;");
  asm("sin.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__global__ void sin_triton(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fast_sin(x[i]);
}
