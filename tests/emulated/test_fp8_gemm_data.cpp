// grouped_fp8_gemm on GPUs looks at ids and counts where they are used: what lies outside of its range is
// padding, or clamped, and nothing is read or written out of bounds.
#include <isomer/fp8_gemm.hpp>

#include <gtest/gtest.h>

#include "emulated.hpp"
#include "vendor/vendor.hpp"

#include <cstdint>
#include <limits>

namespace isomer {
namespace {

constexpr std::int64_t kN = 5, kK = 16;
constexpr float kUntouched = -7;

class EmulatedFp8Gemm : public testing::TestWithParam<int> {
 protected:
  static void SetUpTestSuite() {
    setenv("ISOMER_CACHE", ISOMER_EMULATED_CACHE, 1);
    emulator::register_vendor();
  }
  Device device() const { return {DeviceType::emulated, GetParam()}; }

  /// Rows of ones with the weights of `experts` experts, the g-th all g + 1 under scale 1: an element of
  /// expert g is K·(g+1).
  struct Weights {
    Weights(Device device, std::int64_t experts)
        : b(device, codes(experts)),
          b_s(device, std::vector<float>(static_cast<std::size_t>(experts), 1.0f)) {}
    static std::vector<std::uint8_t> codes(std::int64_t experts) {
      constexpr std::uint8_t kNumbers[] = {0x38, 0x40, 0x44};  // 1, 2, 3
      std::vector<std::uint8_t> values;
      for (std::int64_t g = 0; g < experts; ++g)
        values.insert(values.end(), kN * kK, kNumbers[static_cast<std::size_t>(g)]);
      return values;
    }
    Buffer<std::uint8_t> b;
    Buffer<float> b_s;
  };
};

TEST_P(EmulatedFp8Gemm, AnIdThatIsNoExpertIsPadding) {
  const std::int64_t experts = 2, rows = 3 * 128;
  std::vector<std::int32_t> ids(rows, -1);
  ids[0] = ids[1] = 0;
  ids[1] = 2;    // one too many
  ids[128] = 1;  // as it should be
  ids[129] = std::numeric_limits<std::int32_t>::min();
  ids[256] = std::numeric_limits<std::int32_t>::max();  // and so is its whole segment
  ids[257] = 1;
  const Weights weights(device(), experts);
  const Buffer<std::uint8_t> a(device(), std::vector<std::uint8_t>(rows * kK, 0x38));
  const Buffer<float> a_s(device(), std::vector<float>(rows, 1.0f));
  const Buffer<float> c(device(), std::vector<float>(rows * kN, kUntouched));
  const Buffer<std::int32_t> expert_ids(device(), ids);
  const Queue queue = Queue::on(device());
  grouped_fp8_gemm(queue, {.a = a.tensor(DType::e4m3fn, {rows, kK}),
                           .a_s = a_s.tensor(DType::f32, {rows, 1}),
                           .b = weights.b.tensor(DType::e4m3fn, {experts, kN, kK}),
                           .b_s = weights.b_s.tensor(DType::f32, {experts, 1, 1}),
                           .c = c.tensor(DType::f32, {rows, kN}),
                           .expert_ids = expert_ids.tensor(DType::i32, {rows})});
  queue.synchronize();
  const std::vector<float> result = c.values();
  for (std::int64_t row = 0; row < rows; ++row) {
    const float expected = row == 0 ? 1.0f * kK : row == 128 ? 2.0f * kK : 0.0f;
    for (std::int64_t n = 0; n < kN; ++n)
      ASSERT_EQ(result[static_cast<std::size_t>(row * kN + n)], expected) << row << ' ' << n;
  }
}

TEST_P(EmulatedFp8Gemm, ACountOutsideOfItsRangeIsClamped) {
  // Few rows for an expert and many take different kernels.
  for (const std::int64_t rows : {3, 20}) {
    const std::int64_t experts = 3;
    const Weights weights(device(), experts);
    const Buffer<std::uint8_t> a(
        device(), std::vector<std::uint8_t>(static_cast<std::size_t>(experts * rows * kK), 0x38));
    const Buffer<float> a_s(device(), std::vector<float>(static_cast<std::size_t>(experts * rows), 1.0f));
    const Buffer<float> c(device(),
                          std::vector<float>(static_cast<std::size_t>(experts * rows * kN), kUntouched));
    const Buffer<std::int32_t> counts(device(), {std::numeric_limits<std::int32_t>::max(), -5, 2});
    const Queue queue = Queue::on(device());
    grouped_fp8_gemm(queue, {.a = a.tensor(DType::e4m3fn, {experts, rows, kK}),
                             .a_s = a_s.tensor(DType::f32, {experts, rows, 1}),
                             .b = weights.b.tensor(DType::e4m3fn, {experts, kN, kK}),
                             .b_s = weights.b_s.tensor(DType::f32, {experts, 1, 1}),
                             .c = c.tensor(DType::f32, {experts, rows, kN}),
                             .row_counts = counts.tensor(DType::i32, {experts})});
    queue.synchronize();
    const std::vector<float> result = c.values();
    for (std::int64_t g = 0; g < experts; ++g)
      for (std::int64_t row = 0; row < rows; ++row) {
        const bool counted = g == 0 || (g == 2 && row < 2);
        const float expected = counted ? static_cast<float>(kK * (g + 1)) : kUntouched;
        for (std::int64_t n = 0; n < kN; ++n)
          ASSERT_EQ(result[static_cast<std::size_t>((g * rows + row) * kN + n)], expected)
              << rows << ' ' << g << ' ' << row << ' ' << n;
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Lanes, EmulatedFp8Gemm, testing::Values(0, 1),
                         [](const auto& of) { return of.param == 0 ? "32" : "64"; });

}  // namespace
}  // namespace isomer
