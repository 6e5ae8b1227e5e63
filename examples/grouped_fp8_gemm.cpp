// A mixture of experts: each expert's tokens times its own weights; the row counts may live on the device.
#include <isomer/fp8_gemm.hpp>

#include <cstdint>
#include <cstdio>
#include <vector>

int main() {
  constexpr std::int64_t experts = 3, most_rows = 4, n = 128, k = 128;
  const std::vector<std::uint8_t> a(experts * most_rows * k, 0x38);  // 1.0 in e4m3fn
  const std::vector<std::uint8_t> b(experts * n * k, 0x38);
  const std::vector<float> a_scales(experts * most_rows, 1.0f), b_scales = {1.0f, 2.0f, 3.0f};
  const std::vector<std::int32_t> counts = {4, 0, 2};
  std::vector<float> c(experts * most_rows * n, -1.0f);

  using isomer::DType, isomer::Tensor;
  const isomer::Queue queue = isomer::Queue::cpu();
  isomer::grouped_fp8_gemm(queue, {.a = Tensor(a.data(), DType::e4m3fn, {experts, most_rows, k}),
                                   .a_s = Tensor(a_scales.data(), DType::f32, {experts, most_rows, 1}),
                                   .b = Tensor(b.data(), DType::e4m3fn, {experts, n, k}),
                                   .b_s = Tensor(b_scales.data(), DType::f32, {experts, 1, 1}),
                                   .c = Tensor(c.data(), DType::f32, {experts, most_rows, n}),
                                   .row_counts = Tensor(counts.data(), DType::i32, {experts})});
  queue.synchronize();
  // Rows past an expert's count stay as they were.
  for (std::int64_t expert = 0; expert < experts; ++expert)
    for (std::int64_t row = 0; row < most_rows; ++row)
      std::printf("%g%c", c[(expert * most_rows + row) * n], row + 1 < most_rows ? ' ' : '\n');
}
