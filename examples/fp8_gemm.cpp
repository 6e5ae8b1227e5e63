// Activations quantised on the fly, times FP8 weights with block scales: a linear layer.
#include <isomer/act_quant.hpp>
#include <isomer/fp8_gemm.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

int main() {
  constexpr std::int64_t m = 5, n = 256, k = 384;
  std::vector<float> x(m * k), a_scales(m * 3), b_scales(2 * 3), bias(n, 0.25f), c(m * n);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(0.1f * static_cast<float>(i));
  for (std::size_t i = 0; i < b_scales.size(); ++i) b_scales[i] = 0.5f + 0.25f * static_cast<float>(i);
  std::vector<std::uint8_t> a(m * k);
  const std::vector<std::uint8_t> b(n * k, 0x38);  // 1.0 in e4m3fn

  using isomer::DType, isomer::Tensor;
  const isomer::Queue queue = isomer::Queue::cpu();
  const Tensor quantised(a.data(), DType::e4m3fn, {m, k}), scales(a_scales.data(), DType::f32, {m, 3});
  isomer::act_quant(queue, {.x = Tensor(x.data(), DType::f32, {m, k}), .y = quantised, .s = scales});
  isomer::fp8_gemm(queue, {.a = quantised,
                           .a_s = scales,
                           .b = Tensor(b.data(), DType::e4m3fn, {n, k}),
                           .b_s = Tensor(b_scales.data(), DType::f32, {2, 3}),
                           .c = Tensor(c.data(), DType::f32, {m, n}),
                           .bias = Tensor(bias.data(), DType::f32, {n})});
  queue.synchronize();

  double worst = 0;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      double exact = bias[j];
      for (std::int64_t l = 0; l < k; ++l) exact += x[i * k + l] * b_scales[j / 128 * 3 + l / 128];
      worst = std::max(worst, std::fabs(exact - c[i * n + j]));
    }
  std::printf("within %s of the product in f32\n",
              worst < 1.0 ? "FP8's rounding" : "NOTHING LIKE FP8's rounding");
}
