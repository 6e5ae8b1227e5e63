// The arithmetic of the GPU kernels that must be exact, against plain division.
#include <gtest/gtest.h>

#include "device_words.hpp"
#include "gpu/device/divisor.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace isomer::device {
namespace {

float with_mantissa(std::uint32_t mantissa) { return std::bit_cast<float>(0x3F800000u | mantissa); }

int side(float value, float of) { return (value > of) - (value < of); }

/// Numerators for which quotient.of() lies on another side of some number of 8 significant bits than the
/// correctly rounded quotient does. Only numerators next to divisor × number can: the estimate is at most 2
/// ulp off.
int wrong_sides(float divisor) {
  const Quotient quotient(divisor);
  int wrong = 0;
  for (int digits = 128; digits < 256; ++digits) {
    const float number = static_cast<float>(digits) / 128.0f;
    const auto near = std::bit_cast<std::uint32_t>(number * divisor);
    for (std::uint32_t bits = near - 4; bits <= near + 4; ++bits) {
      const auto x = std::bit_cast<float>(bits);
      wrong += side(quotient.of(x), number) != side(x / divisor, number);
    }
  }
  return wrong;
}

TEST(Quotient, LiesOnTheSideOfTheRoundedQuotientForDivisorsNextToShortOnes) {
  // x − divisor · (number ± half an ulp) is least where the divisor is next to a number of few bits.
  for (std::uint32_t middle = 0; middle <= 1u << 23; middle += 1u << 16)
    for (std::uint32_t mantissa = middle < 64 ? 0 : middle - 64; mantissa <= middle + 64; ++mantissa)
      if (mantissa < 1u << 23) {
        ASSERT_EQ(wrong_sides(with_mantissa(mantissa)), 0) << mantissa;
      }
}

TEST(Quotient, LiesOnTheSideOfTheRoundedQuotientForDivisorsAllOver) {
  for (std::uint32_t mantissa = 5; mantissa < 1u << 23; mantissa += 1021)
    ASSERT_EQ(wrong_sides(with_mantissa(mantissa)), 0) << mantissa;
}

// Minutes: the second tier's Quotient.EveryDivisor.
TEST(Quotient, DISABLED_LiesOnTheSideOfTheRoundedQuotientForEveryDivisor) {
  for (std::uint32_t mantissa = 0; mantissa < 1u << 23; ++mantissa)
    ASSERT_EQ(wrong_sides(with_mantissa(mantissa)), 0) << mantissa;
}

TEST(Quotient, AtTheBoundsOfItsRangeLiesOnTheSideOfTheRoundedQuotient) {
  for (const float scale : {0x1p-80f, 0x1p-40f, 0x1p40f, 0x1p99f})
    for (std::uint32_t mantissa = 1; mantissa < 1u << 23; mantissa += 65521) {
      const float divisor = with_mantissa(mantissa) * scale;
      ASSERT_TRUE(Quotient::suits(divisor));
      const Quotient quotient(divisor);
      for (const float number : {0x1p-10f, 0.0537109375f, 1.0f, 93.0f, 127.0f, 232.0f})
        for (int step = -3; step <= 3; ++step) {
          const float x = std::bit_cast<float>(std::bit_cast<std::uint32_t>(number * divisor) +
                                               static_cast<std::uint32_t>(step));
          ASSERT_EQ(side(quotient.of(x), number), side(x / divisor, number)) << divisor << " " << x;
          ASSERT_EQ(quotient.of(-x), -quotient.of(x));
        }
    }
}

TEST(Quotient, KeepsTheSignOfZeroAndGivesNanForZeroAndNan) {
  for (const float divisor : {0.3f, 1.0f, 7.0f}) {
    EXPECT_FALSE(std::signbit(Quotient(divisor).of(0.0f)));
    EXPECT_TRUE(std::signbit(Quotient(divisor).of(-0.0f)));
  }
  EXPECT_TRUE(std::isnan(Quotient(0.0f).of(0.0f)));
  EXPECT_TRUE(std::isnan(Quotient(std::nanf("")).of(1.0f)));
  EXPECT_FALSE(Quotient::suits(0.0f));
  EXPECT_FALSE(Quotient::suits(std::nanf("")));
  EXPECT_FALSE(Quotient::suits(INFINITY));
}

TEST(Quotient, BesideACorrectedReciprocalDividesBy448WithoutError) {
  constexpr float kReciprocal = 1.0f / 448.0f;
  for (std::uint32_t mantissa = 0; mantissa < 1u << 23; ++mantissa) {
    const float amax = with_mantissa(mantissa);
    ASSERT_EQ(Quotient::correct(amax, amax * kReciprocal, 448.0f, kReciprocal), amax / 448.0f) << amax;
  }
}

TEST(Quotient, BesideACorrectedReciprocalDividesBy127WithoutError) {
  constexpr float kReciprocal = 1.0f / 127.0f;
  for (std::uint32_t mantissa = 0; mantissa < 1u << 23; ++mantissa) {
    const float amax = with_mantissa(mantissa);
    ASSERT_EQ(Quotient::correct(amax, amax * kReciprocal, 127.0f, kReciprocal), amax / 127.0f) << amax;
  }
}

TEST(Divisor, DividesEveryKindOfIndex) {
  std::mt19937_64 random(5);
  std::vector<std::int64_t> divisors = {1,
                                        2,
                                        3,
                                        5,
                                        7,
                                        10,
                                        641,
                                        65535,
                                        65536,
                                        65537,
                                        0x7FFFFFFE,
                                        0x7FFFFFFF,
                                        std::int64_t{1} << 31,
                                        std::int64_t{1} << 40};
  for (int i = 0; i < 2000; ++i)
    divisors.push_back(1 + static_cast<std::int64_t>(random() >> (33 + random() % 31)));
  for (const std::int64_t value : divisors) {
    const Divisor divisor = divisor_of(value);
    std::vector<std::int64_t> indices = {0,
                                         1,
                                         value - 1,
                                         value,
                                         value + 1,
                                         0x7FFFFFFF,
                                         std::int64_t{1} << 31,
                                         (std::int64_t{1} << 62) + 12345};
    for (int i = 0; i < 100; ++i) {
      const auto below = static_cast<std::int64_t>(random() >> 33);
      indices.push_back(below);
      indices.push_back(below / value * value);
      indices.push_back(std::max<std::int64_t>(below / value * value - 1, 0));
    }
    for (const std::int64_t index : indices) {
      ASSERT_EQ(quotient_of(static_cast<i64>(index), divisor), index / value) << index << " / " << value;
      if (index < std::int64_t{1} << 31 && value < std::int64_t{1} << 31) {
        ASSERT_EQ(quotient_of(static_cast<u32>(index), divisor), index / value) << index << " / " << value;
      }
    }
  }
}

}  // namespace
}  // namespace isomer::device
