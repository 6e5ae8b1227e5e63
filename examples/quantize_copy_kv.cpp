// New keys quantised to int8 and scattered into the rows of a cache.
#include <isomer/quantize_copy_kv.hpp>

#include <cstdint>
#include <cstdio>
#include <vector>

int main() {
  constexpr std::int64_t tokens = 3, slots = 6, heads = 1, dim = 4;
  const std::vector<float> k = {1, 2, 3, -4, 10, 20, 30, 40, 0, 0, 0, 0};
  const std::vector<std::int32_t> dest = {5, 0, 2};
  std::vector<std::int8_t> cache(slots * heads * dim, 99);
  std::vector<float> scales(slots * heads, 99.0f);

  using isomer::DType, isomer::Tensor;
  const isomer::Queue queue = isomer::Queue::cpu();
  isomer::quantize_copy_kv(queue, {.k = Tensor(k.data(), DType::f32, {tokens, heads, dim}),
                                   .dest = Tensor(dest.data(), DType::i32, {tokens}),
                                   .out = Tensor(cache.data(), DType::i8, {slots, heads, dim}),
                                   .out_scale = Tensor(scales.data(), DType::f32, {slots, heads})});
  queue.synchronize();
  for (std::int64_t slot = 0; slot < slots; ++slot)
    std::printf("slot %d: %d %d %d %d, scale %.6f\n", static_cast<int>(slot), cache[slot * dim],
                cache[slot * dim + 1], cache[slot * dim + 2], cache[slot * dim + 3], scales[slot]);
}
