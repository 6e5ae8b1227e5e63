// op: quantize_copy_kv
// finds: nothing
// destindex_copy_quantize_kv of lightllm's ppl_quant_copy_kv: groups of eight channels
#include <torch/extension.h>
#include <ATen/hip/HIPContext.h>
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
static constexpr int GROUP = 8;
template <typename T>
__global__ void group_quant(const T* k, const int* loc, int8_t* out, T* scale, int64_t k_s, int64_t k_h, int64_t o_s,
                            int64_t o_h, int64_t s_s, int64_t s_h, int groups) {
  const int64_t s = blockIdx.x, h = blockIdx.y, dst = loc[s];
  for (int g = threadIdx.x; g < groups; g += blockDim.x) {
    float x[GROUP];
    float m = 0;
#pragma unroll
    for (int i = 0; i < GROUP; ++i) {
      x[i] = static_cast<float>(k[s * k_s + h * k_h + g * GROUP + i]);
      m = fmaxf(m, fabsf(x[i]));
    }
    const T sc = static_cast<T>(m / 127.f);
    const float f = static_cast<float>(sc);
#pragma unroll
    for (int i = 0; i < GROUP; ++i) {
      const float q = x[i] / f;
      out[dst * o_s + h * o_h + g * GROUP + i] = f > 0 ? static_cast<int8_t>(fminf(fmaxf(q, -128.f), 127.f)) : 0;
    }
    scale[dst * s_s + h * s_h + g] = sc;
  }
}
void destindex_copy_quantize_kv(at::Tensor K, at::Tensor DestLoc, at::Tensor Out, at::Tensor Out_scale) {
  const auto S = K.size(0), H = K.size(1), D = K.size(2);
  TORCH_CHECK(D % GROUP == 0, "head_dim must be divisible by 8");
  TORCH_CHECK_EQ(Out_scale.size(2), D / GROUP);
  if (S == 0 || H == 0 || D == 0) return;
  TORCH_CHECK(Out_scale.scalar_type() == K.scalar_type());
  AT_DISPATCH_FLOATING_TYPES_AND2(at::ScalarType::Half, at::ScalarType::BFloat16, K.scalar_type(), "g", ([&] {
    group_quant<scalar_t><<<dim3(S, H), dim3(32), 0, at::hip::getCurrentHIPStream()>>>(
      K.data_ptr<scalar_t>(), DestLoc.data_ptr<int>(), Out.data_ptr<int8_t>(), Out_scale.data_ptr<scalar_t>(),
      K.stride(0), K.stride(1), Out.stride(0), Out.stride(1), Out_scale.stride(0), Out_scale.stride(1), D / GROUP);
  }));
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("destindex_copy_quantize_kv", &destindex_copy_quantize_kv); }
