// op: quantize_copy_kv
// finds: ignores-index
#include <ATen/ATen.h>
#include <ATen/hip/HIPContext.h>
#include <c10/hip/HIPStream.h>
#include <hip/hip_runtime.h>
#include <pybind11/pybind11.h>
#include <torch/extension.h>

struct Strides { int64_t a, b, c; };

template <typename T>
__global__ void k_quant(const T* __restrict__ K, const int* __restrict__ loc, int8_t* __restrict__ O,
                        T* __restrict__ S, Strides sk, Strides so, Strides ss, int D) {
  int token = blockIdx.x, head = blockIdx.y;
  auto src = K + token * sk.a + head * sk.b;
  float amax = 0.f;
  for (int d = 0; d < D; ++d) amax = fmaxf(amax, fabsf(static_cast<float>(src[d * sk.c])));
  T scale = static_cast<T>(amax / 127.f);
  int64_t row = loc[token];
  for (int d = threadIdx.x; d < D; d += blockDim.x) {
    float q = static_cast<float>(src[d * sk.c]) / static_cast<float>(scale);
    if (!(q == q)) q = 0.f;
    O[row * so.a + head * so.b + d * so.c] = static_cast<int8_t>(static_cast<int>(fmaxf(fminf(q, 127.f), -128.f)));
  }
  if (threadIdx.x == 0) S[token * ss.a + head * ss.b] = scale;
}

void destindex_copy_quantize_kv(at::Tensor K, at::Tensor DestLoc, at::Tensor Out, at::Tensor Out_scale) {
  TORCH_CHECK(K.is_cuda() && Out.is_cuda(), "expected GPU tensors");
  TORCH_CHECK(K.scalar_type() == Out_scale.scalar_type(), "K and Out_scale differ");
  int S = K.size(0), H = K.size(1), D = K.size(2);
  if (S == 0 || H == 0) return;
  auto stream = c10::hip::getCurrentHIPStream();
  AT_DISPATCH_SWITCH(K.scalar_type(), "quant",
    AT_DISPATCH_CASE(at::kHalf, [&] {
      hipLaunchKernelGGL((k_quant<scalar_t>), dim3(S, H), dim3(64), 0, stream.stream(), K.data_ptr<scalar_t>(),
                         DestLoc.data_ptr<int>(), Out.data_ptr<int8_t>(), Out_scale.data_ptr<scalar_t>(),
                         Strides{K.stride(0), K.stride(1), K.stride(2)},
                         Strides{Out.stride(0), Out.stride(1), Out.stride(2)},
                         Strides{Out_scale.stride(0), Out_scale.stride(1), 1}, D); })
    AT_DISPATCH_CASE(at::kBFloat16, [&] {
      hipLaunchKernelGGL((k_quant<scalar_t>), dim3(S, H), dim3(64), 0, stream.stream(), K.data_ptr<scalar_t>(),
                         DestLoc.data_ptr<int>(), Out.data_ptr<int8_t>(), Out_scale.data_ptr<scalar_t>(),
                         Strides{K.stride(0), K.stride(1), K.stride(2)},
                         Strides{Out.stride(0), Out.stride(1), Out.stride(2)},
                         Strides{Out_scale.stride(0), Out_scale.stride(1), 1}, D); })
    AT_DISPATCH_CASE(at::kFloat, [&] {
      hipLaunchKernelGGL((k_quant<scalar_t>), dim3(S, H), dim3(64), 0, stream.stream(), K.data_ptr<scalar_t>(),
                         DestLoc.data_ptr<int>(), Out.data_ptr<int8_t>(), Out_scale.data_ptr<scalar_t>(),
                         Strides{K.stride(0), K.stride(1), K.stride(2)},
                         Strides{Out.stride(0), Out.stride(1), Out.stride(2)},
                         Strides{Out_scale.stride(0), Out_scale.stride(1), 1}, D); }));
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("destindex_copy_quantize_kv", &destindex_copy_quantize_kv); }
