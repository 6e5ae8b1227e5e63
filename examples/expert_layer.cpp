// A layer of experts in FP8 as three plans on one queue: gate and up, SwiGLU quantised, down. A plan is made
// once and runs many times; nothing goes back to the host between the three.
#include <isomer/fp8_gemm.hpp>
#include <isomer/silu_mul_quant.hpp>

#include <cstdint>
#include <cstdio>
#include <vector>

int main() {
  constexpr std::int64_t experts = 2, most_rows = 3, in = 128, inner = 128, out = 64;
  constexpr std::uint8_t one = 0x38;  // 1.0 in e4m3fn
  const std::vector<std::uint8_t> tokens(experts * most_rows * in, one);
  const std::vector<float> token_scales(experts * most_rows, 1.0f / 64);
  const std::vector<std::uint8_t> up(experts * 2 * inner * in, one), down(experts * out * inner, one);
  const std::vector<float> up_scales(experts * 2, 1.0f), down_scales = {1.0f, 0.5f};
  const std::vector<std::int32_t> counts = {2, 1};  // tokens of each expert; they may live on the device
  std::vector<std::uint16_t> gate_and_up(experts * most_rows * 2 * inner);
  std::vector<std::uint8_t> hidden(experts * most_rows * inner);
  std::vector<float> hidden_scales(experts * most_rows), result(experts * most_rows * out, -1.0f);

  using isomer::DType, isomer::Tensor;
  const Tensor row_counts(counts.data(), DType::i32, {experts});
  const isomer::GroupedFp8GemmArgs first{
      .a = Tensor(tokens.data(), DType::e4m3fn, {experts, most_rows, in}),
      .a_s = Tensor(token_scales.data(), DType::f32, {experts, most_rows, 1}),
      .b = Tensor(up.data(), DType::e4m3fn, {experts, 2 * inner, in}),
      .b_s = Tensor(up_scales.data(), DType::f32, {experts, 2, 1}),
      .c = Tensor(gate_and_up.data(), DType::bf16, {experts, most_rows, 2 * inner}),
      .row_counts = row_counts};
  const isomer::SiluMulQuantArgs between{
      .x = first.c,
      .y = Tensor(hidden.data(), DType::e4m3fn, {experts, most_rows, inner}),
      .s = Tensor(hidden_scales.data(), DType::f32, {experts, most_rows, 1}),
      .row_counts = row_counts};
  const isomer::GroupedFp8GemmArgs last{.a = between.y,
                                        .a_s = between.s,
                                        .b = Tensor(down.data(), DType::e4m3fn, {experts, out, inner}),
                                        .b_s = Tensor(down_scales.data(), DType::f32, {experts, 1, 1}),
                                        .c = Tensor(result.data(), DType::f32, {experts, most_rows, out}),
                                        .row_counts = row_counts};
  const isomer::Queue queue = isomer::Queue::cpu();
  const isomer::Plan first_plan = isomer::plan(queue, first);
  const isomer::Plan between_plan = isomer::plan(queue, between);
  const isomer::Plan last_plan = isomer::plan(queue, last);
  first_plan.run(first);
  between_plan.run(between);
  last_plan.run(last);
  queue.synchronize();
  // silu(2) · 2 = 3.52 in each of 128 columns. Rows past an expert's count stay as they were.
  for (std::int64_t expert = 0; expert < experts; ++expert)
    for (std::int64_t row = 0; row < most_rows; ++row)
      std::printf("%.1f%c", static_cast<double>(result[(expert * most_rows + row) * out]),
                  row + 1 < most_rows ? ' ' : '\n');
}
