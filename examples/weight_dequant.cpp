// FP8 weights back to f32: one scale for each block of 128 rows and columns, blocks cut off at the edges.
#include <isomer/weight_dequant.hpp>

#include <cstdint>
#include <cstdio>
#include <vector>

int main() {
  constexpr std::int64_t rows = 130, columns = 140;
  const std::vector<std::uint8_t> x(rows * columns, 0x38);  // 1.0 in e4m3fn
  const std::vector<float> scales = {1.0f, 2.0f, 3.0f, 4.0f};
  std::vector<float> y(rows * columns);

  const isomer::Queue queue = isomer::Queue::cpu();
  isomer::weight_dequant(queue, {.x = isomer::Tensor(x.data(), isomer::DType::e4m3fn, {rows, columns}),
                                 .s = isomer::Tensor(scales.data(), isomer::DType::f32, {2, 2}),
                                 .y = isomer::Tensor(y.data(), isomer::DType::f32, {rows, columns})});
  queue.synchronize();
  std::printf("%g %g\n%g %g\n", y[0], y[columns - 1], y[(rows - 1) * columns], y[rows * columns - 1]);
}
