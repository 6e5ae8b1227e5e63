// op: merge_attention
// finds: nothing
#include <hip/hip_runtime.h>
#include <torch/extension.h>
__global__ void merge(const float* a, const float* la, const float* b, const float* lb, float* o, float* l,
                      int D) {
  const int r = blockIdx.x;
  const float x = la[r], y = lb[r], m = fmaxf(x, y);
  const float wa = m == -INFINITY ? 0.f : expf(x - m), wb = m == -INFINITY ? 0.f : expf(y - m), s = wa + wb;
  for (int d = threadIdx.x; d < D; d += blockDim.x) {
    float v = 0.f;
    if (wa > 0) v += wa * a[(int64_t)r * D + d];
    if (wb > 0) v += wb * b[(int64_t)r * D + d];
    o[(int64_t)r * D + d] = s > 0 ? v / s : 0.f;
  }
  if (threadIdx.x == 0) l[r] = s > 0 ? m + logf(s) : -INFINITY;
}
std::vector<at::Tensor> merge_state(at::Tensor v_a, at::Tensor s_a, at::Tensor v_b, at::Tensor s_b) {
  v_a = v_a.contiguous();
  s_a = s_a.contiguous();
  v_b = v_b.contiguous();
  s_b = s_b.contiguous();
  TORCH_CHECK(v_a.scalar_type() == at::kFloat, "float only");
  auto v = at::empty_like(v_a), s = at::empty_like(s_a);
  const int rows = s_a.numel();
  if (rows)
    merge<<<rows, 64>>>(v_a.data_ptr<float>(), s_a.data_ptr<float>(), v_b.data_ptr<float>(),
                        s_b.data_ptr<float>(), v.data_ptr<float>(), s.data_ptr<float>(), v_a.size(-1));
  return {v, s};
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("merge_state", &merge_state, py::arg("v_a"), py::arg("s_a"), py::arg("v_b"), py::arg("s_b"));
}
