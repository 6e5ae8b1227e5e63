#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <ATen/hip/HIPContext.h>
#include <hip/hip_runtime.h>
#include <torch/extension.h>

#include <cmath>
#include <cstdint>

namespace {

struct Strides {
  int64_t row, head, dim;
};

Strides strides_of(const at::Tensor& t) { return {t.stride(0), t.stride(1), t.dim() > 2 ? t.stride(2) : 0}; }

// A block owns one head of one token.
template <typename Element, typename Scale, typename Index>
__global__ void quantize_kernel(const Element* K, const Index* DestLoc, int64_t dest_stride, int8_t* Out,
                                Scale* Out_scale, Strides k, Strides out, Strides scales, int64_t rows,
                                int d_model) {
  const int64_t token = blockIdx.x, head = blockIdx.y;
  const int64_t row = DestLoc[token * dest_stride];
  if (row < 0 || row >= rows) return;
  const Element* source = K + token * k.row + head * k.head;
  int8_t* target = Out + row * out.row + head * out.head;

  __shared__ float largest[64];
  float mine = 0.0f;
  for (int d = threadIdx.x; d < d_model; d += blockDim.x) {
    const float x = fabsf(static_cast<float>(source[d * k.dim]));
    mine = isnan(x) || isnan(mine) ? NAN : fmaxf(mine, x);
  }
  largest[threadIdx.x] = mine;
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) {
      const float a = largest[threadIdx.x], b = largest[threadIdx.x + half];
      largest[threadIdx.x] = isnan(a) || isnan(b) ? NAN : fmaxf(a, b);
    }
  }
  __syncthreads();

  // The scale that is stored is the scale that divides.
  const Scale stored = static_cast<Scale>(largest[0] / 127.0f);
  const float scale = static_cast<float>(stored);
  for (int d = threadIdx.x; d < d_model; d += blockDim.x) {
    const float q = static_cast<float>(source[d * k.dim]) / scale;
    target[d * out.dim] = isnan(q) ? 0 : static_cast<int8_t>(truncf(fminf(fmaxf(q, -128.0f), 127.0f)));
  }
  if (threadIdx.x == 0) Out_scale[row * scales.row + head * scales.head] = stored;
}

template <typename Element, typename Scale, typename Index>
void launch(const at::Tensor& K, const at::Tensor& DestLoc, at::Tensor& Out, at::Tensor& Out_scale) {
  const dim3 grid(K.size(0), K.size(1));
  hipLaunchKernelGGL((quantize_kernel<Element, Scale, Index>), grid, dim3(64), 0,
                     at::hip::getCurrentHIPStream(), K.data_ptr<Element>(), DestLoc.data_ptr<Index>(),
                     DestLoc.stride(0), Out.data_ptr<int8_t>(), Out_scale.data_ptr<Scale>(), strides_of(K),
                     strides_of(Out), strides_of(Out_scale), Out.size(0), static_cast<int>(K.size(2)));
}

}  // namespace

void destindex_copy_quantize_kv(at::Tensor K, at::Tensor DestLoc, at::Tensor Out, at::Tensor Out_scale) {
  TORCH_CHECK(K.dim() == 3, "K must be [tokens, heads, head_dim], got rank ", K.dim());
  TORCH_CHECK(Out_scale.dim() == 2 || Out_scale.dim() == 3, "Out_scale must have rank 2 or 3");
  TORCH_CHECK(Out.scalar_type() == at::kChar, "Out must be int8");
  if (K.size(0) == 0 || K.size(1) == 0) return;
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, K.scalar_type(), "K", [&] {
    using Element = scalar_t;
    AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, Out_scale.scalar_type(), "Out_scale", [&] {
      using Scale = scalar_t;
      AT_DISPATCH_INDEX_TYPES(DestLoc.scalar_type(), "DestLoc",
                              [&] { launch<Element, Scale, index_t>(K, DestLoc, Out, Out_scale); });
    });
  });
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("destindex_copy_quantize_kv", &destindex_copy_quantize_kv, "Quantises keys into an int8 cache");
}
