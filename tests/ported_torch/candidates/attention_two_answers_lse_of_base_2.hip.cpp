// op: attention
// finds: convention
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime.h>
#include <torch/extension.h>
#include <cmath>
#include <tuple>
// Neither a scale nor an argument for lse, and CUDA's headers under HIP's file name.
struct At {
  int64_t b, s, h, d;
};
template <class T>
__global__ void rows(const T* q, const T* k, const T* v, T* o, float* lse, At qs, At ks, At vs, At os, int Sk,
                     int D, int Dv, int group, bool causal) {
  extern __shared__ float p[];
  const int i = blockIdx.x, h = blockIdx.y, b = blockIdx.z, g = h / group, Sq = gridDim.x;
  const int n = causal ? max(0, min(Sk, i + Sk - Sq + 1)) : Sk;
  const T* query = q + b * qs.b + i * qs.s + h * qs.h;
  for (int j = threadIdx.x; j < n; j += blockDim.x) {
    const T* key = k + b * ks.b + j * ks.s + g * ks.h;
    float dot = 0.f;
    for (int d = 0; d < D; ++d) dot += float(query[d * qs.d]) * float(key[d * ks.d]);
    p[j] = dot * rsqrtf(float(D)) * 1.44269504f;
  }
  __syncthreads();
  float m = -INFINITY, sum = 0.f;
  for (int j = 0; j < n; ++j) m = fmaxf(m, p[j]);
  for (int j = 0; j < n; ++j) sum += exp2f(p[j] - m);
  for (int d = threadIdx.x; d < Dv; d += blockDim.x) {
    float acc = 0.f;
    for (int j = 0; j < n; ++j) acc += exp2f(p[j] - m) * float(v[b * vs.b + j * vs.s + g * vs.h + d * vs.d]);
    o[b * os.b + i * os.s + h * os.h + d * os.d] = T(n > 0 ? acc / sum : 0.f);
  }
  if (threadIdx.x == 0) lse[(int64_t(b) * gridDim.y + h) * Sq + i] = n > 0 ? m + log2f(sum) : -INFINITY;
}
static At at_(const torch::Tensor& t) { return {t.stride(0), t.stride(1), t.stride(2), t.stride(3)}; }
std::tuple<torch::Tensor, torch::Tensor> attention(torch::Tensor q, torch::Tensor k, torch::Tensor v,
                                                   bool causal) {
  const int B = q.size(0), Sq = q.size(1), H = q.size(2), Sk = k.size(1);
  torch::Tensor o = torch::empty({B, Sq, H, v.size(3)}, q.options());
  torch::Tensor lse = torch::empty({B, H, Sq}, q.options().dtype(torch::kFloat));
  if (lse.numel() == 0) return {o, lse};
  cudaStream_t stream = c10::cuda::getCurrentCUDAStream();
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, q.scalar_type(), "attention", [&] {
    rows<scalar_t><<<dim3(Sq, H, B), 64, (Sk + 1) * sizeof(float), stream>>>(
        q.data_ptr<scalar_t>(), k.data_ptr<scalar_t>(), v.data_ptr<scalar_t>(), o.data_ptr<scalar_t>(),
        lse.data_ptr<float>(), at_(q), at_(k), at_(v), at_(o), Sk, q.size(3), v.size(3), H / k.size(2),
        causal);
  });
  return {o, lse};
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("attention", &attention, py::arg("q"), py::arg("k"), py::arg("v"), py::arg("causal") = false);
}
