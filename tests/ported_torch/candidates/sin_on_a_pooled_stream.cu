// op: sin
// finds: wrong-stream
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/extension.h>

__global__ void k(const float* x, float* y, int64_t n) {
  int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i < n) y[i] = sinf(x[i]);
}

torch::Tensor call_kernel(torch::Tensor x) {
  TORCH_CHECK(x.is_cuda(), "x must be on the GPU");
  auto xc = x.contiguous();
  auto y = torch::empty(x.sizes(), x.options());
  int64_t n = xc.numel();
  if (n == 0) return y;
  auto stream = at::cuda::getStreamFromPool(false);
  k<<<(n + 255) / 256, 256, 0, stream.stream()>>>(xc.data_ptr<float>(), y.data_ptr<float>(), n);
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("call_kernel", &call_kernel); }
