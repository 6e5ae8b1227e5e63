// op: quantize_copy_kv
// finds: nothing
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime.h>
#include <torch/extension.h>
template <typename scalar_t, typename scale_t, typename index_t>
__global__ void quant(const scalar_t* __restrict__ k, const index_t* __restrict__ dest,
                      int8_t* __restrict__ out, scale_t* __restrict__ scale, int64_t ks, int64_t kh,
                      int64_t kd, int64_t os, int64_t oh, int64_t od, int64_t ss, int64_t sh, int dim) {
  __shared__ float red[128];
  const int64_t s = blockIdx.x, h = blockIdx.y;
  float m = 0.f;
  for (int d = threadIdx.x; d < dim; d += blockDim.x)
    m = fmaxf(m, fabsf(static_cast<float>(k[s * ks + h * kh + d * kd])));
  red[threadIdx.x] = m;
  __syncthreads();
  for (int w = blockDim.x / 2; w; w /= 2) {
    if (threadIdx.x < w) red[threadIdx.x] = fmaxf(red[threadIdx.x], red[threadIdx.x + w]);
    __syncthreads();
  }
  const scale_t sc = static_cast<scale_t>(red[0] / 127.f);
  const int64_t t = static_cast<int64_t>(dest[s]);
  for (int d = threadIdx.x; d < dim; d += blockDim.x)
    out[t * os + h * oh + d * od] = static_cast<int8_t>(
        static_cast<int>(static_cast<float>(k[s * ks + h * kh + d * kd]) / static_cast<float>(sc)));
  if (threadIdx.x == 0) scale[t * ss + h * sh] = sc;
}
void destindex_copy_quantize_kv(const at::Tensor& K, const at::Tensor& DestLoc, at::Tensor& Out,
                                at::Tensor& Out_scale) {
  TORCH_CHECK(K.dim() == 3 && Out.dim() == 3, "K and Out must be 3-d, got ", K.dim(), " and ", Out.dim());
  TORCH_CHECK(DestLoc.scalar_type() == at::kInt || DestLoc.scalar_type() == at::kLong,
              "DestLoc must be int32 or int64");
  const c10::cuda::OptionalCUDAGuard guard(at::device_of(K));
  if (K.numel() == 0) return;
  const dim3 grid(K.size(0), K.size(1));
  const auto stream = at::cuda::getCurrentCUDAStream();
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, K.scalar_type(), "quant_k", [&] {
    using k_t = scalar_t;
    AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, Out_scale.scalar_type(), "quant_s", [&] {
      using s_t = scalar_t;
      AT_DISPATCH_INDEX_TYPES(DestLoc.scalar_type(), "quant_i", [&] {
        quant<k_t, s_t, index_t><<<grid, 128, 0, stream>>>(
            K.data_ptr<k_t>(), DestLoc.data_ptr<index_t>(), Out.data_ptr<int8_t>(), Out_scale.data_ptr<s_t>(),
            K.stride(0), K.stride(1), K.stride(2), Out.stride(0), Out.stride(1), Out.stride(2),
            Out_scale.stride(0), Out_scale.stride(1), K.size(2));
      });
    });
  });
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("destindex_copy_quantize_kv", &destindex_copy_quantize_kv, "quantize and scatter");
}
