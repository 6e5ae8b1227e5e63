// A layer of experts in FP8 as one plan of three launches, and as the three plans that it is made of: gate
// and up, silu_mul_quant, down. Counts and ids stay on the device; an expert without rows costs nothing and
// nothing of it is written.
#include <isomer/expert_layer.hpp>
#include <isomer/fp8_gemm.hpp>
#include <isomer/silu_mul_quant.hpp>

#include "core/codec.hpp"
#include "emulated.hpp"
#include "oracle/values.hpp"
#include "vendor/vendor.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

namespace isomer {
namespace {

constexpr std::int64_t kExperts = 3, kIn = 144, kInner = 128, kOut = 72;
constexpr std::int64_t kBlocksIn = (kIn + 127) / 128;
constexpr float kMark = -7;
const std::vector<std::int64_t> kCounts = {4, 0, 6};

/// Random e4m3 of magnitudes up to about 2, decoded too.
struct Codes {
  Codes(Device device, std::int64_t count, const char* stream)
      : values(static_cast<std::size_t>(count)), buffer(device, encoded(values, stream)) {}
  static std::vector<std::uint8_t> encoded(std::vector<double>& values, const char* stream) {
    oracle::Random random(7, stream);
    std::vector<std::uint8_t> codes(values.size());
    for (std::size_t i = 0; i < codes.size(); ++i) {
      core::encode(DType::e4m3fn, random.normal(), &codes[i], core::Overflow::saturate);
      values[i] = core::decode(DType::e4m3fn, &codes[i]);
    }
    return codes;
  }
  std::vector<double> values;
  Buffer<std::uint8_t> buffer;
};

class ExpertLayer : public testing::TestWithParam<int> {
 protected:
  static void SetUpTestSuite() {
    setenv("ISOMER_CACHE", ISOMER_EMULATED_CACHE, 1);
    emulator::register_vendor();
  }
  Device device() const { return {DeviceType::emulated, GetParam()}; }

  /// Row `row` of a through the layer of an expert, in double and with nothing rounded between.
  static std::vector<double> layer(const Codes& a, const Codes& up, const Codes& down, std::int64_t row,
                                   std::int64_t expert) {
    const auto at = [](const Codes& of, std::int64_t i) { return of.values[static_cast<std::size_t>(i)]; };
    std::vector<double> x(2 * kInner, 0.0), out(kOut, 0.0);
    for (std::int64_t n = 0; n < 2 * kInner; ++n)
      for (std::int64_t k = 0; k < kIn; ++k)
        x[static_cast<std::size_t>(n)] +=
            at(a, row * kIn + k) * at(up, (expert * 2 * kInner + n) * kIn + k) * 0.125;
    for (std::int64_t n = 0; n < kOut; ++n)
      for (std::int64_t i = 0; i < kInner; ++i) {
        const double gate = x[static_cast<std::size_t>(i)];
        out[static_cast<std::size_t>(n)] += gate / (1 + std::exp(-gate)) *
                                            x[static_cast<std::size_t>(kInner + i)] *
                                            at(down, (expert * kOut + n) * kInner + i);
      }
    return out;
  }
};

TEST_P(ExpertLayer, IsOnePlanWithTheBitsOfThree) {
  for (const bool masked : {true, false}) {
    const std::int64_t capacity = masked ? 7 : 128;
    std::vector<std::int32_t> counts(kCounts.begin(), kCounts.end()), ids, first(kExperts, 0);
    for (std::int64_t g = 0; g < kExperts; ++g) {
      const auto count = static_cast<std::size_t>(kCounts[static_cast<std::size_t>(g)]);
      first[static_cast<std::size_t>(g)] = static_cast<std::int32_t>(masked ? g * capacity : ids.size());
      if (count == 0) continue;
      ids.insert(ids.end(), count, static_cast<std::int32_t>(g));
      ids.resize((ids.size() + 127) / 128 * 128, -1);
    }
    const std::int64_t rows = masked ? kExperts * capacity : static_cast<std::int64_t>(ids.size());
    const Codes a(device(), rows * kIn, "a"), up(device(), kExperts * 2 * kInner * kIn, "up"),
        down(device(), kExperts * kOut * kInner, "down");
    const auto filled = [&](std::int64_t count, float value) {
      return std::vector<float>(static_cast<std::size_t>(count), value);
    };
    const Buffer<float> a_s(device(), filled(rows * kBlocksIn, 0.125f)),
        up_s(device(), filled(kExperts * 2 * kBlocksIn, 1.0f)), down_s(device(), filled(kExperts, 1.0f)),
        s(device(), filled(rows, 0.0f)), out(device(), filled(rows * kOut, kMark));
    const Buffer<std::uint16_t> x(device(),
                                  std::vector<std::uint16_t>(static_cast<std::size_t>(rows * 2 * kInner)));
    const Buffer<std::uint8_t> y(device(),
                                 std::vector<std::uint8_t>(static_cast<std::size_t>(rows * kInner)));
    const Buffer<std::int32_t> indices(device(), masked ? counts : ids);
    const auto of_rows = [&](const auto& buffer, DType type, std::int64_t last) {
      return masked ? buffer.tensor(type, {kExperts, capacity, last}) : buffer.tensor(type, {rows, last});
    };
    const Tensor row_counts = masked ? indices.tensor(DType::i32, {kExperts}) : Tensor();
    const Tensor expert_ids = masked ? Tensor() : indices.tensor(DType::i32, {rows});
    const GroupedFp8GemmArgs gate_and_up{.a = of_rows(a.buffer, DType::e4m3fn, kIn),
                                         .a_s = of_rows(a_s, DType::f32, kBlocksIn),
                                         .b = up.buffer.tensor(DType::e4m3fn, {kExperts, 2 * kInner, kIn}),
                                         .b_s = up_s.tensor(DType::f32, {kExperts, 2, kBlocksIn}),
                                         .c = of_rows(x, DType::bf16, 2 * kInner),
                                         .expert_ids = expert_ids,
                                         .row_counts = row_counts};
    const SiluMulQuantArgs between{.x = gate_and_up.c,
                                   .y = of_rows(y, DType::e4m3fn, kInner),
                                   .s = of_rows(s, DType::f32, 1),
                                   .row_counts = row_counts};
    const GroupedFp8GemmArgs back{.a = between.y,
                                  .a_s = between.s,
                                  .b = down.buffer.tensor(DType::e4m3fn, {kExperts, kOut, kInner}),
                                  .b_s = down_s.tensor(DType::f32, {kExperts, 1, 1}),
                                  .c = of_rows(out, DType::f32, kOut),
                                  .expert_ids = expert_ids,
                                  .row_counts = row_counts};
    const Queue queue = Queue::on(device());
    const Plan first_plan = plan(queue, gate_and_up);
    const Plan between_plan = plan(queue, between);
    const Plan back_plan = plan(queue, back);
    for (const AnyPlan* each :
         {static_cast<const AnyPlan*>(&first_plan), static_cast<const AnyPlan*>(&between_plan),
          static_cast<const AnyPlan*>(&back_plan)}) {
      EXPECT_EQ(each->explain().description.launches.size(), 1u);
      EXPECT_EQ(each->workspace_bytes(), 0u);
    }
    first_plan.run(gate_and_up);
    between_plan.run(between);
    back_plan.run(back);
    queue.synchronize();

    const std::vector<float> result = out.values();
    const Buffer<float> at_once(device(), filled(rows * kOut, kMark));
    const ExpertLayerArgs all{.a = gate_and_up.a,
                              .a_s = gate_and_up.a_s,
                              .gate_up = gate_and_up.b,
                              .gate_up_s = gate_and_up.b_s,
                              .down = back.b,
                              .down_s = back.b_s,
                              .out = of_rows(at_once, DType::f32, kOut),
                              .expert_ids = expert_ids,
                              .row_counts = row_counts};
    const Plan<ExpertLayerArgs> one = plan(queue, all);
    const Explanation explained = one.explain();
    ASSERT_EQ(explained.description.launches.size(), 3u);
    EXPECT_EQ(explained.implementation, GetParam() == 0 ? "emulated/sm90" : "emulated/portable");
    EXPECT_EQ(explained.description.launches[0].kernel, first_plan.explain().description.launches[0].kernel);
    EXPECT_EQ(explained.description.launches[1].kernel,
              between_plan.explain().description.launches[0].kernel);
    EXPECT_EQ(explained.description.launches[2].kernel, back_plan.explain().description.launches[0].kernel);
    EXPECT_GE(one.workspace_bytes(), static_cast<std::size_t>(rows * kInner * 5));
    one.run(all);
    queue.synchronize();
    EXPECT_EQ(at_once.values(), result) << (masked ? "masked" : "contiguous");
    double error = 0, size = 0;
    std::vector<bool> is_row(static_cast<std::size_t>(rows), false);
    for (std::int64_t g = 0; g < kExperts; ++g)
      for (std::int64_t i = 0; i < kCounts[static_cast<std::size_t>(g)]; ++i) {
        const std::int64_t row = first[static_cast<std::size_t>(g)] + i;
        is_row[static_cast<std::size_t>(row)] = true;
        const std::vector<double> expected = layer(a, up, down, row, g);
        for (std::int64_t n = 0; n < kOut; ++n) {
          const double one = expected[static_cast<std::size_t>(n)];
          const double off = static_cast<double>(result[static_cast<std::size_t>(row * kOut + n)]) - one;
          error += off * off;
          size += one * one;
        }
      }
    // y has 4 bits: an error of 2 to 3 % of the whole.
    EXPECT_LT(std::sqrt(error / size), 0.05) << (masked ? "masked" : "contiguous");
    EXPECT_GT(size, 0);
    for (std::int64_t row = 0; row < rows; ++row)
      if (!is_row[static_cast<std::size_t>(row)]) {
        ASSERT_EQ(result[static_cast<std::size_t>(row * kOut)], masked ? kMark : 0.0f) << row;
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Lanes, ExpertLayer, testing::Values(0, 1),
                         [](const auto& of) { return of.param == 0 ? "32" : "64"; });

}  // namespace
}  // namespace isomer
