// fp8_linear has the bits of act_quant and fp8_gemm in a row.
#include <isomer/fp8_gemm.hpp>
#include <isomer/fp8_linear.hpp>

#include "core/codec.hpp"
#include "emulated.hpp"
#include "oracle/values.hpp"
#include "vendor/vendor.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>

namespace isomer {
namespace {

constexpr std::int64_t kDepth = 640, kColumns = 72, kBlocks = kDepth / 128;

class Fp8Linear : public testing::TestWithParam<int> {
 protected:
  static void SetUpTestSuite() {
    setenv("ISOMER_CACHE", ISOMER_EMULATED_CACHE, 1);
    emulator::register_vendor();
  }
  Device device() const { return {DeviceType::emulated, GetParam()}; }
};

/// Rows of x in which blocks are ordinary, zeros, of scales that the short division does not take, or have a
/// NaN or an infinity.
std::vector<float> rows_of_x(std::int64_t rows) {
  oracle::Random random(3, "x");
  std::vector<float> x(static_cast<std::size_t>(rows * kDepth));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t block = i / 128;
    const float factor = block % 11 == 3 ? 0.0f : block % 11 == 5 ? 1e-30f : block % 11 == 7 ? 1e32f : 1.0f;
    x[i] = factor * static_cast<float>(random.normal());
  }
  if (rows > 4) {
    x[static_cast<std::size_t>(2 * kDepth + 77)] = NAN;
    x[static_cast<std::size_t>(4 * kDepth + 400)] = INFINITY;
  }
  return x;
}

TEST_P(Fp8Linear, HasTheBitsOfTheTwoCalls) {
  oracle::Random random(5, "b");
  std::vector<std::uint8_t> codes(static_cast<std::size_t>(kColumns * kDepth));
  for (std::uint8_t& code : codes)
    core::encode(DType::e4m3fn, random.normal(), &code, core::Overflow::saturate);
  std::vector<float> scales(kBlocks);
  for (float& scale : scales) scale = static_cast<float>(0.5 + random.uniform());
  const Buffer<std::uint8_t> b(device(), codes);
  const Buffer<float> b_s(device(), scales);
  for (const std::int64_t rows : {7, 70})
    for (const ScaleFormat format : {rows == 7 ? ScaleFormat::f32 : ScaleFormat::ue8m0}) {
      const auto count = static_cast<std::size_t>(rows);
      const Buffer<float> x(device(), rows_of_x(rows)), s(device(), std::vector<float>(count * kBlocks)),
          by_two(device(), std::vector<float>(count * kColumns)),
          c(device(), std::vector<float>(count * kColumns));
      const Buffer<std::uint8_t> y(device(), std::vector<std::uint8_t>(count * kDepth));
      const Fp8GemmArgs product{.a = y.tensor(DType::e4m3fn, {rows, kDepth}),
                                .a_s = s.tensor(DType::f32, {rows, kBlocks}),
                                .b = b.tensor(DType::e4m3fn, {kColumns, kDepth}),
                                .b_s = b_s.tensor(DType::f32, {1, kBlocks}),
                                .c = by_two.tensor(DType::f32, {rows, kColumns})};
      const Fp8LinearArgs args{.x = x.tensor(DType::f32, {rows, kDepth}),
                               .b = product.b,
                               .b_s = product.b_s,
                               .c = c.tensor(DType::f32, {rows, kColumns})};
      for (const char* name : {"sm90", "portable"}) {
        const bool hopper = GetParam() == 0;
        if (!hopper && std::string(name) != "portable") continue;
        const Queue queue = Queue::on(device(), {.implementation = std::string("emulated/") + name});
        act_quant(Queue::on(device()), {.x = args.x, .y = product.a, .s = product.a_s},
                  {.scale_format = format});
        fp8_gemm(queue, product);
        queue.synchronize();
        const Fp8LinearOptions options{.scale_format = format};
        fp8_linear(queue, args, options);
        queue.synchronize();
        const std::vector<float> expected = by_two.values(), got = c.values();
        int others = 0;
        for (std::size_t i = 0; i < got.size(); ++i)
          others += got[i] != expected[i] && !(std::isnan(got[i]) && std::isnan(expected[i]));
        EXPECT_EQ(others, 0) << name << ", " << rows << " rows";
      }
    }
}

TEST_P(Fp8Linear, IsTwoLaunchesAndTheProductHasTheCallersPromise) {
  const Queue queue = Queue::on(device());
  // Addresses that nothing is read from.
  const auto at = [&](std::uintptr_t address, DType type, std::initializer_list<std::int64_t> shape) {
    return Tensor(reinterpret_cast<void*>(address << 24), type, shape, device());
  };
  const auto product = [&](std::int64_t rows, std::int64_t b_ready) {
    const Fp8LinearArgs args{.x = at(1, DType::bf16, {rows, 256}),
                             .b = at(2, DType::e4m3fn, {64, 256}),
                             .b_s = at(3, DType::f32, {1, 2}),
                             .c = at(4, DType::bf16, {rows, 64})};
    const auto description = explain(queue, args, {.b_ready = b_ready}).description;
    EXPECT_EQ(description.launches.size(), 2u);
    for (const auto& [name, value] : description.variant)
      if (name == "product_b_ready") return value;
    return std::string("none");
  };
  for (const std::int64_t rows : {1, 1000})
    for (const std::int64_t b_ready : {0, 1})
      EXPECT_EQ(product(rows, b_ready), GetParam() != 0 ? "none" : std::to_string(b_ready)) << rows;
}

INSTANTIATE_TEST_SUITE_P(Lanes, Fp8Linear, testing::Values(0, 1),
                         [](const auto& of) { return of.param == 0 ? "32" : "64"; });

}  // namespace
}  // namespace isomer
