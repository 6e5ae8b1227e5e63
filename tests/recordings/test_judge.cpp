// The rules of the recordings reject what lies just outside them.
#include <gtest/gtest.h>

#include "core/codec.hpp"
#include "judge.hpp"
#include "ops/sin/sin.hpp"

#include <cmath>
#include <limits>

namespace isomer::recordings {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

struct Held {
  std::string rule;
  Rule what;
  DType dtype;
  double answer, bound, recorded;
  bool holds;
  double quotient = 0;
};

void PrintTo(const Held& held, std::ostream* os) {
  *os << held.rule << ": answer " << held.answer << ", recorded " << held.recorded;
}

double ulps(float value, int count) {
  for (int i = 0; i < count; ++i) value = std::nextafter(value, 2 * value);
  return static_cast<double>(value);
}

class EveryRule : public testing::TestWithParam<Held> {};

TEST_P(EveryRule, HoldsUpToItsLimit) {
  const Held& held = GetParam();
  std::uint64_t memory = 0;
  core::encode(held.dtype, held.recorded, &memory);
  const Output output{.name = "y",
                      .recorded = Tensor(&memory, held.dtype, {1}),
                      .before = {},
                      .rule = held.what,
                      .quotient = [&](const oracle::Expected&, std::size_t) { return held.quotient; }};
  const SinArgs args{.x = output.recorded, .y = output.recorded};
  const SinOptions options;
  oracle::Expected expected(ops::sin::bind(args, options));
  oracle::ExpectedTensor& y = expected["y"];
  y.dtype = held.dtype;
  y.set(0, held.answer, held.bound);
  y.lenient.assign(1, held.quotient != 0 ? 1 : 0);
  EXPECT_EQ(judge(output, held.what, expected).holds(), held.holds);
}

const Rule kExact{Rule::Kind::exact}, kTwoUlps{Rule::Kind::ulp, 2}, kStep{Rule::Kind::step, 4},
    kTwice{Rule::Kind::tolerance, 2}, kScaled{Rule::Kind::scaled, 0.5},
    kC{Rule::Kind::tolerance, 0x1p-12, true};

INSTANTIATE_TEST_SUITE_P(
    Of, EveryRule,
    testing::Values(Held{"exact", kExact, DType::f16, 1 + 0x1p-12, 0, 1, true},
                    Held{"exact", kExact, DType::f16, 1 + 0x1p-10, 0, 1, false},
                    Held{"exact", kExact, DType::f32, kNaN, 0, kNaN, true},
                    Held{"exact", kExact, DType::f32, kNaN, 0, 1, false},
                    Held{"exact", kExact, DType::f32, 1, 0, kNaN, false},
                    Held{"exact", kExact, DType::f32, -0.0, 0, 0.0, true},
                    Held{"exact", kExact, DType::f16, 1e6, 0, kInf, true},
                    Held{"exact", kExact, DType::f16, 1e6, 0, -kInf, false},
                    Held{"ulp", kTwoUlps, DType::f32, 1, 0, ulps(1, 2), true},
                    Held{"ulp", kTwoUlps, DType::f32, 1, 0, ulps(1, 3), false},
                    Held{"ulp across zero", kTwoUlps, DType::f32, -0x1p-149, 0, 0x1p-149, true},
                    Held{"ulp", kTwoUlps, DType::f32, kInf, 0, 3.4028234e38, false},
                    // Between the e4m3fn values 1 and 1.125.
                    Held{"step", kStep, DType::e4m3fn, 1, 0, 1.125, true, ulps(1.0625f, 4)},
                    Held{"step", kStep, DType::e4m3fn, 1, 0, 1.125, false, ulps(1.0625f, 5)},
                    Held{"two steps", kStep, DType::e4m3fn, 1, 0, 1.25, false, 1.125},
                    Held{"step", kStep, DType::e4m3fn, 1, 0, kNaN, false, 1.0625},
                    Held{"step", kStep, DType::i8, 5, 0, 6, true, 1},
                    Held{"step", kStep, DType::i8, 5, 0, 7, false, 1},
                    Held{"step far from an integer", kStep, DType::i8, 5, 0, 6, false, 0},
                    Held{"tolerance", kTwice, DType::f32, 1, 0.25, 1.5, true},
                    Held{"tolerance", kTwice, DType::f32, 1, 0.25, ulps(1.5f, 1), false},
                    Held{"tolerance", kTwice, DType::f32, 1, 0.25, kNaN, false},
                    Held{"tolerance", kTwice, DType::f32, 1, 0.25, kInf, false},
                    Held{"tolerance", kTwice, DType::f32, kNaN, 0, kNaN, true},
                    // c = 2^-12: u_out·|ref| is 2^-24, and Σ|a·b| is 1.
                    Held{"c", kC, DType::f32, 1, 0x1p-24 + 0x1p-20, 1 + 0x1p-12, true},
                    Held{"c", kC, DType::f32, 1, 0x1p-24 + 0x1p-20, 1 + 0x1p-12 + 0x1p-22, false},
                    Held{"scaled", kScaled, DType::f32, 4, 0, 6, true},
                    Held{"scaled", kScaled, DType::f32, 4, 0, 6.5, false},
                    Held{"scaled", kScaled, DType::f32, 0, 0, 0.5, true},
                    Held{"scaled", kScaled, DType::f32, -kInf, 0, -kInf, true},
                    Held{"scaled", kScaled, DType::f32, -kInf, 0, kInf, false}));

TEST(Judge, HoldsWhatTheOpLeavesAloneAgainstWhatWasThere) {
  float recorded = 7, before = 7;
  Output output{.name = "y",
                .recorded = Tensor(&recorded, DType::f32, {1}),
                .before = Tensor(&before, DType::f32, {1}),
                .rule = kTwice};
  const SinArgs args{.x = output.recorded, .y = output.recorded};
  const SinOptions options;
  const oracle::Expected untouched(ops::sin::bind(args, options));
  EXPECT_TRUE(judge(output, kTwice, untouched).holds());
  before = 8;
  EXPECT_FALSE(judge(output, kTwice, untouched).holds());
  output.before = {};
  EXPECT_FALSE(judge(output, kTwice, untouched).holds()) << "nothing was there, so something was written";
}

TEST(Judge, AllowsAnImplementationItsOwnBound) {
  float recorded = 1, answer = 1;
  const Output output{
      .name = "y", .recorded = Tensor(&recorded, DType::f32, {1}), .before = {}, .rule = kTwice};
  const SinArgs args{.x = output.recorded, .y = output.recorded};
  const SinOptions options;
  oracle::Expected expected(ops::sin::bind(args, options));
  expected["y"].set(0, 1.25, 0.3125);
  const Tensor ours(&answer, DType::f32, {1});
  EXPECT_TRUE(judge(output, kTwice, expected, ours).holds());
  recorded = 1.9375f;
  EXPECT_TRUE(judge(output, kTwice, expected, ours).holds());
  recorded = 1.96875f;
  EXPECT_FALSE(judge(output, kTwice, expected, ours).holds());
}

}  // namespace
}  // namespace isomer::recordings
