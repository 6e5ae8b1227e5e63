// A layer of experts in FP8 as one plan of three launches: gate and up, SwiGLU quantised, down. The plan is
// made once and runs many times; nothing goes back to the host between the three.
#include <isomer/expert_layer.hpp>

#include <cstdint>
#include <cstdio>
#include <vector>

int main() {
  constexpr std::int64_t experts = 2, most_rows = 3, in = 128, inner = 128, out = 64;
  constexpr std::uint8_t one = 0x38;  // 1.0 in e4m3fn
  const std::vector<std::uint8_t> tokens(experts * most_rows * in, one);
  const std::vector<float> token_scales(experts * most_rows, 1.0f / 64);
  const std::vector<std::uint8_t> gate_up(experts * 2 * inner * in, one), down(experts * out * inner, one);
  const std::vector<float> gate_up_scales(experts * 2, 1.0f), down_scales = {1.0f, 0.5f};
  const std::vector<std::int32_t> counts = {2, 1};  // tokens of each expert; they may live on the device
  std::vector<float> result(experts * most_rows * out, -1.0f);

  using isomer::DType, isomer::Tensor;
  const isomer::ExpertLayerArgs args{
      .a = Tensor(tokens.data(), DType::e4m3fn, {experts, most_rows, in}),
      .a_s = Tensor(token_scales.data(), DType::f32, {experts, most_rows, 1}),
      .gate_up = Tensor(gate_up.data(), DType::e4m3fn, {experts, 2 * inner, in}),
      .gate_up_s = Tensor(gate_up_scales.data(), DType::f32, {experts, 2, 1}),
      .down = Tensor(down.data(), DType::e4m3fn, {experts, out, inner}),
      .down_s = Tensor(down_scales.data(), DType::f32, {experts, 1, 1}),
      .out = Tensor(result.data(), DType::f32, {experts, most_rows, out}),
      .row_counts = Tensor(counts.data(), DType::i32, {experts})};
  const isomer::Queue queue = isomer::Queue::cpu();
  const isomer::Plan layer = isomer::plan(queue, args);
  layer.run(args);
  queue.synchronize();
  // silu(2) · 2 = 3.52 in each of 128 columns. Rows past an expert's count stay as they were.
  for (std::int64_t expert = 0; expert < experts; ++expert)
    for (std::int64_t row = 0; row < most_rows; ++row)
      std::printf("%.1f%c", static_cast<double>(result[(expert * most_rows + row) * out]),
                  row + 1 < most_rows ? ' ' : '\n');
}
