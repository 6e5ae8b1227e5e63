// op: sin
// finds: nothing
__global__ void sin_kernel(float* in_ptr0, float* out_ptr, int n_elements) {
  int tid = blockIdx.x * blockDim.x + threadIdx.x;
  if (tid < n_elements) out_ptr[tid] = sinf(in_ptr0[tid]);
}
