// Causal attention with grouped heads, and the softmax denominator beside it.
#include <isomer/attention.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

int main() {
  constexpr std::int64_t batch = 1, length = 4, heads = 4, kv_heads = 2, dim = 8;
  const std::vector<float> q(batch * length * heads * dim, 0.5f), k(batch * length * kv_heads * dim, 0.0f);
  std::vector<float> v(k.size()), out(q.size()), lse(batch * heads * length);
  for (std::size_t i = 0; i < v.size(); ++i)
    v[i] = static_cast<float>(i / (kv_heads * dim));  // the key's position

  using isomer::DType, isomer::Tensor;
  const isomer::Queue queue = isomer::Queue::cpu();
  isomer::attention(queue,
                    {.q = Tensor(q.data(), DType::f32, {batch, length, heads, dim}),
                     .k = Tensor(k.data(), DType::f32, {batch, length, kv_heads, dim}),
                     .v = Tensor(v.data(), DType::f32, {batch, length, kv_heads, dim}),
                     .out = Tensor(out.data(), DType::f32, {batch, length, heads, dim}),
                     .lse = Tensor(lse.data(), DType::f32, {batch, heads, length})},
                    {.causal = true});
  queue.synchronize();
  // Query i weighs keys 0 to i alike: their mean is i/2, and the denominator is i + 1.
  for (std::int64_t i = 0; i < length; ++i)
    std::printf("query %d: out %.3f, denominator %.3f\n", static_cast<int>(i), out[i * heads * dim],
                std::exp(lse[i]));
}
