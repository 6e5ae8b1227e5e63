// op: attention
// finds: layout-convention
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
#include <torch/extension.h>
#include <cmath>
// q [B, H, S, D]
__global__ void attn(const __half* q, const __half* k, const __half* v, __half* o, int H, int Hk, int Sq,
                     int Sk, int D, float scale, bool causal) {
  const int i = blockIdx.x, h = blockIdx.y, b = blockIdx.z;
  extern __shared__ float p[];
  const int g = h / (H / Hk);
  int n = causal ? i + Sk - Sq + 1 : Sk;
  n = n < 0 ? 0 : n > Sk ? Sk : n;
  const __half* qr = q + (((int64_t)b * H + h) * Sq + i) * D;
  for (int j = threadIdx.x; j < n; j += blockDim.x) {
    float s = 0;
    for (int d = 0; d < D; ++d)
      s += __half2float(qr[d]) * __half2float(k[(((int64_t)b * Hk + g) * Sk + j) * D + d]);
    p[j] = s * scale;
  }
  __syncthreads();
  float M = -INFINITY, L = 0;
  for (int j = 0; j < n; ++j) M = fmaxf(M, p[j]);
  for (int j = 0; j < n; ++j) L += expf(p[j] - M);
  for (int d = threadIdx.x; d < D; d += blockDim.x) {
    float a = 0;
    for (int j = 0; j < n; ++j)
      a += expf(p[j] - M) * __half2float(v[(((int64_t)b * Hk + g) * Sk + j) * D + d]);
    o[(((int64_t)b * H + h) * Sq + i) * D + d] = __float2half(n > 0 ? a / L : 0.f);
  }
}
torch::Tensor attention(torch::Tensor q, torch::Tensor k, torch::Tensor v, bool causal = false,
                        c10::optional<double> softmax_scale = c10::nullopt) {
  q = q.contiguous();
  k = k.contiguous();
  v = v.contiguous();
  const int B = q.size(0), H = q.size(1), Sq = q.size(2), D = q.size(3), Hk = k.size(1), Sk = k.size(2);
  auto o = torch::empty_like(q);
  const float scale = softmax_scale.has_value() ? (float)softmax_scale.value() : 1.0f / std::sqrt((float)D);
  if (B * Sq == 0) return o;
  attn<<<dim3(Sq, H, B), 64, Sk * sizeof(float)>>>((const __half*)q.data_ptr(), (const __half*)k.data_ptr(),
                                                   (const __half*)v.data_ptr(), (__half*)o.data_ptr(), H, Hk,
                                                   Sq, Sk, D, scale, causal);
  return o;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("attention", &attention, py::arg("q"), py::arg("k"), py::arg("v"), py::arg("causal") = false,
        py::arg("softmax_scale") = py::none());
}
