// Ports of three Triton kernels as PyTorch extensions, in the manner of machine translations, and a program that
// calls them with real tensors. `argv[1]` chooses what to run; the exit status is the number of wrong results.
#include <ATen/ATen.h>
#include <ATen/TensorUtils.h>
#include <ATen/hip/HIPContext.h>
#include <c10/hip/HIPGuard.h>
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstring>

__global__ void sine_kernel(const float* x, float* y, size_t n) {
  const size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = sinf(x[i]);
}
at::Tensor sine(const at::Tensor& x) {
  TORCH_CHECK(x.is_cuda(), "x must be a CUDA tensor");
  const at::TensorArg x_arg{x, "x", 1}, again{x, "x again", 2};
  at::checkAllSameGPU("sine", {x_arg, again});
  at::checkSameGPU("sine", x_arg, again);
  TORCH_CHECK(x.device().type() == at::kCUDA, "x must live on the GPU");
  c10::hip::HIPGuard guard(x.device());
  int processors = 0;
  hipDeviceGetAttribute(&processors, hipDeviceAttributeMultiprocessorCount, x.get_device());
  TORCH_CHECK(processors > 0, "the device of x has processors");
  at::Tensor y = at::empty_like(x);
  const int blocks = (x.numel() + 255) / 256;
  hipStream_t stream = at::hip::getCurrentHIPStream();
  hipLaunchKernelGGL(sine_kernel, dim3(blocks), dim3(256), 0, stream, x.data_ptr<float>(), y.data_ptr<float>(), (size_t)x.numel());
  return y;
}

template <typename S>
__global__ void quantize_kernel(const S* k, const int* dest, signed char* out, S* scale, int heads, int dim) {
  __shared__ float absmax[256];
  const int s = blockIdx.x, h = blockIdx.y, t = dest[s];
  float m = 0;
  for (int d = threadIdx.x; d < dim; d += blockDim.x) m = fmaxf(m, fabsf(float(k[(s * heads + h) * dim + d])));
  absmax[threadIdx.x] = m;
  for (int o = blockDim.x / 2; o > 0; o /= 2) {
    __syncthreads();
    if (threadIdx.x < o) absmax[threadIdx.x] = fmaxf(absmax[threadIdx.x], absmax[threadIdx.x + o]);
  }
  __syncthreads();
  const S unit = S(absmax[0] / 127.0f);
  for (int d = threadIdx.x; d < dim; d += blockDim.x) {
    out[(t * heads + h) * dim + d] = (signed char)(int)(float(k[(s * heads + h) * dim + d]) / float(unit));
  }
  if (threadIdx.x == 0) scale[t * heads + h] = unit;
}
void quantize_copy_kv(at::Tensor k, at::Tensor dest, at::Tensor out, at::Tensor scale) {
  TORCH_CHECK(k.scalar_type() == at::kHalf && k.is_cuda() && out.is_cuda());
  quantize_kernel<__half><<<dim3(k.size(0), k.size(1)), 64, 0, at::hip::getCurrentHIPStream()>>>(
      reinterpret_cast<const __half*>(k.data_ptr<at::Half>()), dest.data_ptr<int>(), out.data_ptr<int8_t>(),
      reinterpret_cast<__half*>(scale.data_ptr<at::Half>()), k.size(1), k.size(2));
  C10_HIP_KERNEL_LAUNCH_CHECK();
}

__global__ void merge_kernel(const float* mid, const float* lse, const int* lengths, float* out, int heads, int blocks, int dim, int block_seq) {
  const int b = blockIdx.x, h = blockIdx.y, d = threadIdx.x;
  const int n = (lengths[b] + block_seq - 1) / block_seq;
  float m = -INFINITY, sum = 0, acc = 0;
  for (int j = 0; j < n; ++j) {
    const float t = lse[(b * heads + h) * blocks + j], next = fmaxf(m, t), c = expf(m - next), e = expf(t - next);
    acc = acc * c + e * mid[((b * heads + h) * blocks + j) * dim + d];
    sum = sum * c + e;
    m = next;
  }
  out[(b * heads + h) * dim + d] = acc / sum;
}
void flash_decode_merge(at::Tensor mid, at::Tensor lse, at::Tensor lengths, at::Tensor out, int block_seq) {
  merge_kernel<<<dim3(mid.size(0), mid.size(1)), mid.size(3), 0, at::hip::getCurrentHIPStream()>>>(
      mid.data_ptr<float>(), lse.data_ptr<float>(), lengths.data_ptr<int>(), out.data_ptr<float>(), mid.size(1), mid.size(2), mid.size(3), block_seq);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  int wrong = 0;
  if (!strcmp(what, "sine") || !strcmp(what, "empty")) {
    const at::Tensor x = !strcmp(what, "empty") ? at::empty({0}) : at::linspace(-10, 10, 1000);
    const at::Tensor y = sine(x);
    wrong += !at::allclose(y, at::sin(x));
  } else if (!strcmp(what, "quantize")) {
    const at::Tensor k = at::randn({7, 4, 96}).to(at::kHalf), dest = at::randperm(7).to(at::kInt);
    at::Tensor out = at::empty({7, 4, 96}, at::kChar), scale = at::empty({7, 4, 1}, at::kHalf);
    quantize_copy_kv(k, dest, out, scale);
    for (int s = 0; s < 7; ++s) {
      const int t = dest[s].item<int>();
      const at::Tensor unit = (std::get<0>(k[s].to(at::kFloat).abs().max(1, true)) / 127.0f).to(at::kHalf);
      wrong += !at::equal(scale[t], unit);
      wrong += !at::equal(out[t], (k[s].to(at::kFloat) / unit.to(at::kFloat)).trunc().to(at::kChar));
    }
  } else if (!strcmp(what, "merge")) {
    const at::Tensor mid = at::randn({2, 3, 4, 32}), lse = at::randn({2, 3, 4});
    at::Tensor lengths = at::full({2}, 60, at::kInt), out = at::empty({2, 3, 32});
    flash_decode_merge(mid, lse, lengths, out, 16);
    wrong += !at::allclose(out, (at::softmax(lse, 2).unsqueeze(3) * mid).sum(2), 1e-5, 1e-5);
  } else if (!strcmp(what, "merge-past-the-end")) {
    const at::Tensor mid = at::randn({2, 3, 3, 32}), lse = at::randn({2, 3, 3});
    at::Tensor lengths = at::full({2}, 64, at::kInt), out = at::empty({2, 3, 32});
    flash_decode_merge(mid, lse, lengths, out, 16);
  } else if (!strcmp(what, "reads-unwritten")) {
    at::Tensor x = at::empty({64}), y = at::empty({64});
    sine_kernel<<<1, 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), 64);
  }
  printf("%d wrong\n", wrong);
  return wrong;
}
