// FP8 quantisation by blocks of 128 elements of a row, with one f32 scale each.
#include <isomer/act_quant.hpp>

#include <cstdint>
#include <cstdio>
#include <vector>

int main() {
  constexpr std::int64_t rows = 2, columns = 256, blocks = columns / 128;
  std::vector<float> x(rows * columns), scales(rows * blocks);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i) / 16.0f;
  std::vector<std::uint8_t> quantised(x.size());  // e4m3fn

  const isomer::Queue queue = isomer::Queue::cpu();
  isomer::act_quant(queue, {.x = isomer::Tensor(x.data(), isomer::DType::f32, {rows, columns}),
                            .y = isomer::Tensor(quantised.data(), isomer::DType::e4m3fn, {rows, columns}),
                            .s = isomer::Tensor(scales.data(), isomer::DType::f32, {rows, blocks})});
  queue.synchronize();
  // The largest element of a block becomes 448, e4m3fn's largest number: the pattern 0x7e.
  for (std::int64_t block = 0; block < rows * blocks; ++block)
    std::printf("block %d: scale %.8f, last element 0x%02x\n", static_cast<int>(block), scales[block],
                quantised[block * 128 + 127]);
}
