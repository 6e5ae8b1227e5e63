#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <ATen/hip/HIPContext.h>
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
#include <torch/extension.h>

#include <cmath>

namespace {

struct Strides {
  int64_t batch, row, head;
};

Strides strides_of(const at::Tensor& t) { return {t.stride(0), t.stride(1), t.stride(2)}; }

// One thread for each query of each head: the keys are passed over twice, for the maximum and for the sum.
template <typename Element>
__global__ void attention_kernel(const Element* q, const Element* k, const Element* v, Element* out,
                                 Strides q_at, Strides k_at, Strides v_at, Strides out_at, int queries,
                                 int keys, int heads, int kv_heads, int head_dim, bool causal, float scale) {
  const int query = blockIdx.x * blockDim.x + threadIdx.x;
  const int head = blockIdx.y, batch = blockIdx.z;
  if (query >= queries) return;
  const int kv_head = head / (heads / kv_heads);
  int visible = keys;
  if (causal) visible = query + keys - queries + 1;
  visible = visible < 0 ? 0 : visible > keys ? keys : visible;
  const Element* query_at = q + batch * q_at.batch + query * q_at.row + head * q_at.head;
  const Element* keys_at = k + batch * k_at.batch + kv_head * k_at.head;
  const Element* values_at = v + batch * v_at.batch + kv_head * v_at.head;
  Element* result = out + batch * out_at.batch + query * out_at.row + head * out_at.head;

  auto logit = [&](int key) {
    float sum = 0.0f;
    for (int d = 0; d < head_dim; ++d)
      sum += static_cast<float>(query_at[d]) * static_cast<float>(keys_at[key * k_at.row + d]);
    return sum * scale;
  };
  float largest = -INFINITY, total = 0.0f;
  for (int key = 0; key < visible; ++key) largest = fmaxf(largest, logit(key));
  for (int key = 0; key < visible; ++key) total += expf(logit(key) - largest);
  for (int d = 0; d < head_dim; ++d) {
    float sum = 0.0f;
    for (int key = 0; key < visible; ++key)
      sum += expf(logit(key) - largest) * static_cast<float>(values_at[key * v_at.row + d]);
    result[d] = static_cast<Element>(visible == 0 ? 0.0f : sum / total);
  }
}

}  // namespace

at::Tensor attention(at::Tensor q, at::Tensor k, at::Tensor v, bool causal, double scale) {
  TORCH_CHECK(q.dim() == 4 && k.dim() == 4 && v.dim() == 4,
              "q, k and v must be [batch, rows, heads, head_dim]");
  TORCH_CHECK(q.size(2) % k.size(2) == 0, "the kv heads must divide the heads");
  TORCH_CHECK(q.stride(3) == 1 && k.stride(3) == 1 && v.stride(3) == 1, "head_dim must be contiguous");
  at::Tensor out = at::empty(q.sizes(), q.options());
  if (out.numel() == 0) return out;
  const int queries = q.size(1);
  const dim3 grid((queries + 31) / 32, q.size(2), q.size(0));
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, q.scalar_type(), "q", [&] {
    hipLaunchKernelGGL(attention_kernel<scalar_t>, grid, dim3(32), 0, at::hip::getCurrentHIPStream(),
                       q.data_ptr<scalar_t>(), k.data_ptr<scalar_t>(), v.data_ptr<scalar_t>(),
                       out.data_ptr<scalar_t>(), strides_of(q), strides_of(k), strides_of(v), strides_of(out),
                       queries, static_cast<int>(k.size(1)), static_cast<int>(q.size(2)),
                       static_cast<int>(k.size(2)), static_cast<int>(q.size(3)), causal,
                       static_cast<float>(scale));
  });
  return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("attention", &attention, "Attention"); }
