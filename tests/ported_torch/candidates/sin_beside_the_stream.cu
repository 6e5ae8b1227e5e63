// op: sin
// finds: nothing
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/extension.h>

__global__ void k(const float* x, float* y, int64_t n) {
  int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i < n) y[i] = sinf(x[i]);
}

// On a stream of the pool, which waits for the current one, and the current one for it.
torch::Tensor call_kernel(torch::Tensor x) {
  auto xc = x.contiguous();
  auto y = torch::empty(x.sizes(), x.options());
  int64_t n = xc.numel();
  if (n == 0) return y;
  auto current = at::cuda::getCurrentCUDAStream();
  auto side = at::cuda::getStreamFromPool();
  at::cuda::CUDAEvent ready, done;
  ready.record(current);
  ready.block(side);
  {
    at::cuda::CUDAStreamGuard guard(side);
    k<<<(n + 255) / 256, 256, 0, at::cuda::getCurrentCUDAStream()>>>(xc.data_ptr<float>(), y.data_ptr<float>(), n);
    done.record(side);
  }
  done.block(current);
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("call_kernel", &call_kernel); }
