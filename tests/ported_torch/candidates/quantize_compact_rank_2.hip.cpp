// op: quantize_copy_kv
// finds: assumes-contiguous, rank-refused
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
#include <torch/extension.h>
#define CHECK_CONTIGUOUS(x) TORCH_CHECK(x.is_contiguous(), #x " must be contiguous")
template <typename scalar_t>
__global__ void kern(const scalar_t* K, const int* dest, int8_t* out, scalar_t* scale, int H, int D) {
  const int s = blockIdx.x, h = blockIdx.y;
  const scalar_t* x = K + ((int64_t)s * H + h) * D;
  float m = 0.f;
  for (int d = 0; d < D; ++d) {
    float a = fabsf(static_cast<float>(x[d]));
    m = a > m ? a : m;
  }
  scalar_t sc = static_cast<scalar_t>(m / 127.0f);
  const int64_t r = (int64_t)dest[s] * H + h;
  for (int d = threadIdx.x; d < D; d += blockDim.x)
    out[r * D + d] = static_cast<int8_t>(static_cast<float>(x[d]) / static_cast<float>(sc));
  if (threadIdx.x == 0) scale[r] = sc;
}
void destindex_copy_quantize_kv(at::Tensor K, at::Tensor DestLoc, at::Tensor Out, at::Tensor Out_scale) {
  CHECK_CONTIGUOUS(K);
  CHECK_CONTIGUOUS(DestLoc);
  CHECK_CONTIGUOUS(Out);
  CHECK_CONTIGUOUS(Out_scale);
  TORCH_CHECK(Out_scale.dim() == 2, "Out_scale must be 2D [rows, heads]");
  const int S = K.size(0), H = K.size(1), D = K.size(2);
  if (S == 0) return;
  AT_DISPATCH_FLOATING_TYPES_AND2(
      at::ScalarType::Half, at::ScalarType::BFloat16, K.scalar_type(), "quantize", [&] {
        kern<scalar_t><<<dim3(S, H), 64>>>(K.data_ptr<scalar_t>(), DestLoc.data_ptr<int>(),
                                           Out.data_ptr<int8_t>(), Out_scale.data_ptr<scalar_t>(), H, D);
      });
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("destindex_copy_quantize_kv", &destindex_copy_quantize_kv); }
