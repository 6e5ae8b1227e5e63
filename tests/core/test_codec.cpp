#include "core/codec.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace isomer::core {
namespace {

/// decode(encode(value)) by the general conversions, which `round_to` has shorter ways past.
double by_pattern(DType type, double value) {
  std::uint64_t element = 0;
  encode(type, value, &element);
  return decode(type, &element);
}

void expect_rounded(DType type, double value) {
  const double quick = round_to(type, value), slow = by_pattern(type, value);
  if (std::isnan(slow))
    EXPECT_TRUE(std::isnan(quick)) << name_of(type) << " " << value;
  else
    EXPECT_EQ(std::bit_cast<std::uint64_t>(quick), std::bit_cast<std::uint64_t>(slow))
        << name_of(type) << " " << value;
}

TEST(Codec, RoundsAsThePatternsDoRoundEveryValueAndEveryMiddle) {
  for (const DType type : {DType::f16, DType::bf16})
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
      const auto pattern = static_cast<std::uint16_t>(bits);
      const double value = decode(type, &pattern);
      const auto next_pattern = static_cast<std::uint16_t>(bits + 1);
      const double middle = (value + decode(type, &next_pattern)) / 2;
      for (const double each : {value, middle, std::nextafter(middle, 0), std::nextafter(middle, HUGE_VAL),
                                std::nextafter(middle, -HUGE_VAL)})
        expect_rounded(type, each);
    }
}

TEST(Codec, RoundsWhatNoPatternIsNear) {
  using Limits = std::numeric_limits<double>;
  for (const DType type : {DType::f64, DType::f32, DType::f16, DType::bf16})
    for (const double value :
         {0.0, Limits::denorm_min(), Limits::min(), 1e-300, 1e300, Limits::max(), 65519.999999, 65520.0,
          0x1p128, 0x1.fffffep127, 0x1.ffffffp127, Limits::infinity(), Limits::quiet_NaN()}) {
      expect_rounded(type, value);
      expect_rounded(type, -value);
    }
}

TEST(Codec, APatternOfEveryTypeIsItsOwnValue) {
  for (const DType type :
       {DType::e4m3fn, DType::e5m2, DType::e4m3fnuz, DType::e5m2fnuz, DType::f16, DType::bf16})
    for (std::uint32_t bits = 0; bits < 1u << (8 * size_of(type)); ++bits) {
      std::uint32_t again = 0;
      const double value = decode(type, &bits);
      encode(type, value, &again);
      if (std::isnan(value))
        EXPECT_TRUE(std::isnan(decode(type, &again)));
      else
        EXPECT_EQ(again, bits) << name_of(type);
    }
}

}  // namespace
}  // namespace isomer::core
