// One decode step: each sequence's query over its own tokens, which lie anywhere in the cache.
#include <isomer/flash_decode.hpp>

#include <cstdint>
#include <cstdio>
#include <vector>

int main() {
  constexpr std::int64_t batch = 2, heads = 4, kv_heads = 2, dim = 8, slots = 16, longest = 6;
  const std::vector<float> q(batch * heads * dim, 1.0f), k(slots * kv_heads * dim, 0.0f);
  std::vector<float> v(slots * kv_heads * dim), out(batch * heads * dim);
  for (std::size_t i = 0; i < v.size(); ++i)
    v[i] = static_cast<float>(i / (kv_heads * dim));  // the slot's number
  const std::vector<std::int32_t> tokens = {4, 5, 6, 7, 8, 9, 15, 13, 0, 0, 0, 0}, requests = {0, 1},
                                  lengths = {6, 2};

  using isomer::DType, isomer::Tensor;
  const isomer::Queue queue = isomer::Queue::cpu();
  isomer::flash_decode(queue, {.q = Tensor(q.data(), DType::f32, {batch, heads, dim}),
                               .k = Tensor(k.data(), DType::f32, {slots, kv_heads, dim}),
                               .v = Tensor(v.data(), DType::f32, {slots, kv_heads, dim}),
                               .req_to_tokens = Tensor(tokens.data(), DType::i32, {batch, longest}),
                               .b_req_idx = Tensor(requests.data(), DType::i32, {batch}),
                               .b_seqlen = Tensor(lengths.data(), DType::i32, {batch}),
                               .out = Tensor(out.data(), DType::f32, {batch, heads, dim})});
  queue.synchronize();
  // All keys are equal, so each sequence gets the mean of its values: of slots 4 to 9, and of 15 and 13.
  std::printf("%.3f %.3f\n", out[0], out[heads * dim]);
}
