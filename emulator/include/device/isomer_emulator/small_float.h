// Sixteen- and eight-bit floating types: encoding with one rounding from a double, decoding, and arithmetic
// that rounds once, as the hardware's instructions do.
#pragma once

#include <type_traits>

#include "math.h"

namespace isomer::emulator {

enum class Rounding { nearest_even, toward_zero, up, down, nearest_away };

ISOMER_EMULATOR_INLINE std::uint64_t double_bits(double x) {
  std::uint64_t b;
  __builtin_memcpy(&b, &x, 8);
  return b;
}

/// The magnitude of |x|, finite, in a format with `mantissa` bits and this exponent bias, rounded once. The
/// code may lie past the format's largest: the caller decides between infinity, saturation and NaN.
ISOMER_EMULATOR_OF_VALUES std::uint32_t encode_magnitude(double x, int mantissa, int bias, Rounding rounding) {
  const std::uint64_t bits = double_bits(x);
  const bool negative = bits >> 63;
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1023;
  if (exponent == -1023) {
    const bool tiny = (bits << 1) != 0;  // a double subnormal lies below every format here
    return tiny && (rounding == Rounding::up ? !negative : rounding == Rounding::down && negative) ? 1u : 0u;
  }
  const std::uint64_t significand = (bits & 0xfffffffffffffull) | 1ull << 52;
  const int smallest = 1 - bias;
  int shift = 52 - mantissa;
  if (exponent < smallest) shift += smallest - exponent;
  if (shift > 62) shift = 62;
  std::uint64_t kept = significand >> shift;
  const std::uint64_t lost = significand & ((1ull << shift) - 1), half = 1ull << (shift - 1);
  bool increment = false;
  switch (rounding) {
    case Rounding::nearest_even:
      increment = lost > half || (lost == half && (kept & 1));
      break;
    case Rounding::nearest_away:
      increment = lost >= half;
      break;
    case Rounding::toward_zero:
      break;
    case Rounding::up:
      increment = lost != 0 && !negative;
      break;
    case Rounding::down:
      increment = lost != 0 && negative;
      break;
  }
  kept += increment;
  if (exponent < smallest) return static_cast<std::uint32_t>(kept);
  return static_cast<std::uint32_t>((static_cast<std::uint64_t>(exponent - smallest) << mantissa) + kept);
}

/// The value of a finite magnitude code.
ISOMER_EMULATOR_OF_VALUES float decode_magnitude(std::uint32_t code, int mantissa, int bias) {
  const std::uint32_t exponent = code >> mantissa, fraction = code & ((1u << mantissa) - 1);
  if (exponent == 0) {
    return static_cast<float>(std::ldexp(static_cast<double>(fraction), 1 - bias - mantissa));
  }
  const std::uint64_t bits = static_cast<std::uint64_t>(static_cast<int>(exponent) - bias + 1023) << 52 |
                             static_cast<std::uint64_t>(fraction) << (52 - mantissa);
  double d;
  __builtin_memcpy(&d, &bits, 8);
  return static_cast<float>(d);
}

struct Float16Format {
  static constexpr int mantissa = 10, bias = 15;
  static constexpr std::uint32_t infinity = 0x7c00, nan = 0x7fff;
};
struct Bfloat16Format {
  static constexpr int mantissa = 7, bias = 127;
  static constexpr std::uint32_t infinity = 0x7f80, nan = 0x7fff;
};

template <class F>
ISOMER_EMULATOR_OF_VALUES std::uint16_t encode16(double x, Rounding rounding = Rounding::nearest_even) {
  if (x != x) return F::nan;
  const std::uint16_t sign = static_cast<std::uint16_t>(double_bits(x) >> 48 & 0x8000);
  const bool negative = sign != 0;
  if (std::isinf(x)) return sign | F::infinity;
  const std::uint32_t code = encode_magnitude(x, F::mantissa, F::bias, rounding);
  if (code < F::infinity) return static_cast<std::uint16_t>(sign | code);
  const bool stays_finite = rounding == Rounding::toward_zero || (rounding == Rounding::up && negative) ||
                            (rounding == Rounding::down && !negative);
  return static_cast<std::uint16_t>(sign | (stays_finite ? F::infinity - 1 : F::infinity));
}

template <class F>
ISOMER_EMULATOR_OF_VALUES float decode16(std::uint16_t bits) {
  if constexpr (F::mantissa == 7) {
    const std::uint32_t wide = static_cast<std::uint32_t>(bits) << 16;
    float f;
    __builtin_memcpy(&f, &wide, 4);
    return f;
  } else {
    const std::uint32_t magnitude = bits & 0x7fff;
    std::uint32_t wide;
    if (magnitude >= 0x7c00) {
      wide = 0x7f800000u | (magnitude & 0x3ff) << 13;
    } else if (magnitude >= 0x400) {
      wide = (magnitude << 13) + (112u << 23);
    } else {
      const float f = static_cast<float>(magnitude) * 0x1p-24f;
      __builtin_memcpy(&wide, &f, 4);
    }
    wide |= static_cast<std::uint32_t>(bits & 0x8000) << 16;
    float f;
    __builtin_memcpy(&f, &wide, 4);
    return f;
  }
}

/// a·b + c rounded to odd in double, so that a second rounding to a small format is the only one that counts.
ISOMER_EMULATOR_OF_VALUES double fused(double a, double b, double c) {
  const double product = a * b;  // exact: the factors have eleven bits at most
  const double sum = product + c;
  if (!std::isfinite(sum)) return sum;
  const double t = sum - product;
  const double lost = (product - (sum - t)) + (c - t);
  if (lost == 0 || (double_bits(sum) & 1)) return sum;
  return std::nextafter(sum, lost > 0 ? HUGE_VAL : -HUGE_VAL);
}

template <class F>
struct Float16 {
  std::uint16_t bits;
  Float16() = default;
  // What reads or writes the bits belongs to its caller, whom the watch sees or not.
  __attribute__((always_inline)) Float16(float x) : bits(encode16<F>(static_cast<double>(x))) {}
  __attribute__((always_inline)) Float16(double x) : bits(encode16<F>(x)) {}
#if defined(__FLT16_MAX__) && !defined(__clang__)
  Float16(_Float16 x) : bits(encode16<F>(static_cast<double>(x))) {}  // the compiler's own type, as HIP takes it
#endif
  template <class I, class = std::enable_if_t<std::is_integral_v<I>>>
  Float16(I x) : bits(encode16<F>(static_cast<double>(x))) {}
  /// Of the toolkits' raw structs, whose one member x holds the bits.
  template <class Raw,
            class = std::enable_if_t<std::is_same_v<decltype(Raw::x), unsigned short> && sizeof(Raw) == 2>,
            class = void>
  constexpr Float16(Raw raw) : bits(raw.x) {}
  template <class Raw, class = std::enable_if_t<std::is_aggregate_v<Raw> && sizeof(Raw) == 2>,
            class = std::enable_if_t<std::is_same_v<decltype(Raw::x), unsigned short>>>
  constexpr operator Raw() const {
    return {bits};
  }
  static Float16 from_bits(std::uint16_t b) {
    Float16 h;
    h.bits = b;
    return h;
  }
  __attribute__((always_inline)) operator float() const { return decode16<F>(bits); }
  explicit operator bool() const { return (bits & 0x7fff) != 0; }
  friend Float16 operator+(Float16 a, Float16 b) { return Float16(fused(float(a), 1.0, float(b))); }
  friend Float16 operator-(Float16 a, Float16 b) { return Float16(fused(float(a), 1.0, -float(b))); }
  friend Float16 operator*(Float16 a, Float16 b) { return Float16(static_cast<double>(float(a)) * float(b)); }
  friend Float16 operator/(Float16 a, Float16 b) { return Float16(static_cast<double>(float(a)) / float(b)); }
  Float16 operator-() const { return from_bits(bits ^ 0x8000); }
  Float16 operator+() const { return *this; }
  Float16& operator+=(Float16 b) { return *this = *this + b; }
  Float16& operator-=(Float16 b) { return *this = *this - b; }
  Float16& operator*=(Float16 b) { return *this = *this * b; }
  Float16& operator/=(Float16 b) { return *this = *this / b; }
  Float16& operator++() { return *this = *this + Float16(1.0f); }
  Float16& operator--() { return *this = *this - Float16(1.0f); }
  friend bool operator==(Float16 a, Float16 b) { return float(a) == float(b); }
  friend bool operator!=(Float16 a, Float16 b) { return float(a) != float(b); }
  friend bool operator<(Float16 a, Float16 b) { return float(a) < float(b); }
  friend bool operator>(Float16 a, Float16 b) { return float(a) > float(b); }
  friend bool operator<=(Float16 a, Float16 b) { return float(a) <= float(b); }
  friend bool operator>=(Float16 a, Float16 b) { return float(a) >= float(b); }
};

template <class F>
struct alignas(4) Float16Pair {
  Float16<F> x, y;
  Float16Pair() = default;
  Float16Pair(Float16<F> a, Float16<F> b) : x(a), y(b) {}
  friend Float16Pair operator+(Float16Pair a, Float16Pair b) { return {a.x + b.x, a.y + b.y}; }
  friend Float16Pair operator-(Float16Pair a, Float16Pair b) { return {a.x - b.x, a.y - b.y}; }
  friend Float16Pair operator*(Float16Pair a, Float16Pair b) { return {a.x * b.x, a.y * b.y}; }
  friend Float16Pair operator/(Float16Pair a, Float16Pair b) { return {a.x / b.x, a.y / b.y}; }
  Float16Pair operator-() const { return {-x, -y}; }
  Float16Pair operator+() const { return *this; }
  Float16Pair& operator++() { return *this = {x + Float16<F>(1.0f), y + Float16<F>(1.0f)}; }
  Float16Pair& operator--() { return *this = {x - Float16<F>(1.0f), y - Float16<F>(1.0f)}; }
  friend bool operator==(Float16Pair a, Float16Pair b) { return a.x == b.x && a.y == b.y; }
  friend bool operator!=(Float16Pair a, Float16Pair b) { return a.x != b.x && a.y != b.y; }
  friend bool operator<(Float16Pair a, Float16Pair b) { return a.x < b.x && a.y < b.y; }
  friend bool operator>(Float16Pair a, Float16Pair b) { return a.x > b.x && a.y > b.y; }
  friend bool operator<=(Float16Pair a, Float16Pair b) { return a.x <= b.x && a.y <= b.y; }
  friend bool operator>=(Float16Pair a, Float16Pair b) { return a.x >= b.x && a.y >= b.y; }
  Float16Pair& operator+=(Float16Pair b) { return *this = *this + b; }
  Float16Pair& operator-=(Float16Pair b) { return *this = *this - b; }
  Float16Pair& operator*=(Float16Pair b) { return *this = *this * b; }
  Float16Pair& operator/=(Float16Pair b) { return *this = *this / b; }
};

}  // namespace isomer::emulator

#define ISOMER_EMULATOR_16 \
  template <class F>       \
  ISOMER_EMULATOR_INLINE
#define ISOMER_EMULATOR_H isomer::emulator::Float16<F>
#define ISOMER_EMULATOR_H2 isomer::emulator::Float16Pair<F>

#define ISOMER_EMULATOR_BINARY(NAME, EXPRESSION)                                                   \
  ISOMER_EMULATOR_16 ISOMER_EMULATOR_H __h##NAME(ISOMER_EMULATOR_H a, ISOMER_EMULATOR_H b) {       \
    return EXPRESSION;                                                                             \
  }                                                                                                \
  ISOMER_EMULATOR_16 ISOMER_EMULATOR_H2 __h##NAME##2(ISOMER_EMULATOR_H2 a, ISOMER_EMULATOR_H2 b) { \
    return {__h##NAME(a.x, b.x), __h##NAME(a.y, b.y)};                                             \
  }
ISOMER_EMULATOR_BINARY(add, a + b)
ISOMER_EMULATOR_BINARY(sub, a - b)
ISOMER_EMULATOR_BINARY(mul, a* b)
ISOMER_EMULATOR_BINARY(div, a / b)
ISOMER_EMULATOR_BINARY(add_rn, a + b)
ISOMER_EMULATOR_BINARY(sub_rn, a - b)
ISOMER_EMULATOR_BINARY(mul_rn, a* b)
ISOMER_EMULATOR_BINARY(max, float(a) != float(a) ? b : float(b) != float(b) ? a : a < b ? b : a)
ISOMER_EMULATOR_BINARY(min, float(a) != float(a) ? b : float(b) != float(b) ? a : b < a ? b : a)
ISOMER_EMULATOR_BINARY(max_nan, float(a) != float(a) ? a : float(b) != float(b) ? b : a < b ? b : a)
ISOMER_EMULATOR_BINARY(min_nan, float(a) != float(a) ? a : float(b) != float(b) ? b : b < a ? b : a)
#undef ISOMER_EMULATOR_BINARY
#define ISOMER_EMULATOR_SATURATING(NAME, OP)                                                       \
  ISOMER_EMULATOR_16 ISOMER_EMULATOR_H __h##NAME##_sat(ISOMER_EMULATOR_H a, ISOMER_EMULATOR_H b) { \
    const float r = float(a OP b);                                                                 \
    return ISOMER_EMULATOR_H(r > 0.0f ? (r < 1.0f ? r : 1.0f) : 0.0f);                             \
  }
ISOMER_EMULATOR_SATURATING(add, +)
ISOMER_EMULATOR_SATURATING(sub, -)
ISOMER_EMULATOR_SATURATING(mul, *)
#undef ISOMER_EMULATOR_SATURATING
#define ISOMER_EMULATOR_SATURATING_PAIR(NAME)                                                          \
  ISOMER_EMULATOR_16 ISOMER_EMULATOR_H2 __h##NAME##2_sat(ISOMER_EMULATOR_H2 a, ISOMER_EMULATOR_H2 b) { \
    return {__h##NAME##_sat(a.x, b.x), __h##NAME##_sat(a.y, b.y)};                                     \
  }
ISOMER_EMULATOR_SATURATING_PAIR(add)
ISOMER_EMULATOR_SATURATING_PAIR(sub)
ISOMER_EMULATOR_SATURATING_PAIR(mul)
#undef ISOMER_EMULATOR_SATURATING_PAIR
ISOMER_EMULATOR_16 ISOMER_EMULATOR_H2 __h2div(ISOMER_EMULATOR_H2 a, ISOMER_EMULATOR_H2 b) { return a / b; }
ISOMER_EMULATOR_16 ISOMER_EMULATOR_H __hfma(ISOMER_EMULATOR_H a, ISOMER_EMULATOR_H b, ISOMER_EMULATOR_H c) {
  return ISOMER_EMULATOR_H(isomer::emulator::fused(float(a), float(b), float(c)));
}
ISOMER_EMULATOR_16 ISOMER_EMULATOR_H2 __hfma2(ISOMER_EMULATOR_H2 a, ISOMER_EMULATOR_H2 b,
                                              ISOMER_EMULATOR_H2 c) {
  return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
ISOMER_EMULATOR_16 ISOMER_EMULATOR_H __hfma_sat(ISOMER_EMULATOR_H a, ISOMER_EMULATOR_H b,
                                                ISOMER_EMULATOR_H c) {
  const float r = float(__hfma(a, b, c));
  return ISOMER_EMULATOR_H(r > 0.0f ? (r < 1.0f ? r : 1.0f) : 0.0f);
}
ISOMER_EMULATOR_16 ISOMER_EMULATOR_H2 __hfma2_sat(ISOMER_EMULATOR_H2 a, ISOMER_EMULATOR_H2 b,
                                                  ISOMER_EMULATOR_H2 c) {
  return {__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y)};
}
ISOMER_EMULATOR_16 ISOMER_EMULATOR_H __hneg(ISOMER_EMULATOR_H a) { return -a; }
ISOMER_EMULATOR_16 ISOMER_EMULATOR_H2 __hneg2(ISOMER_EMULATOR_H2 a) { return -a; }
ISOMER_EMULATOR_16 ISOMER_EMULATOR_H __habs(ISOMER_EMULATOR_H a) {
  return ISOMER_EMULATOR_H::from_bits(a.bits & 0x7fff);
}
ISOMER_EMULATOR_16 ISOMER_EMULATOR_H2 __habs2(ISOMER_EMULATOR_H2 a) { return {__habs(a.x), __habs(a.y)}; }
ISOMER_EMULATOR_16 bool __hisnan(ISOMER_EMULATOR_H a) { return float(a) != float(a); }
ISOMER_EMULATOR_16 int __hisinf(ISOMER_EMULATOR_H a) {
  return (a.bits & 0x7fff) == F::infinity ? (a.bits >> 15 ? -1 : 1) : 0;
}
#define ISOMER_EMULATOR_COMPARE(NAME, OP)                                                          \
  ISOMER_EMULATOR_16 bool __h##NAME(ISOMER_EMULATOR_H a, ISOMER_EMULATOR_H b) {                    \
    return float(a) OP float(b);                                                                   \
  }                                                                                                \
  ISOMER_EMULATOR_16 ISOMER_EMULATOR_H2 __h##NAME##2(ISOMER_EMULATOR_H2 a, ISOMER_EMULATOR_H2 b) { \
    return {ISOMER_EMULATOR_H(__h##NAME(a.x, b.x) ? 1.0f : 0.0f),                                  \
            ISOMER_EMULATOR_H(__h##NAME(a.y, b.y) ? 1.0f : 0.0f)};                                 \
  }                                                                                                \
  ISOMER_EMULATOR_16 bool __hb##NAME##2(ISOMER_EMULATOR_H2 a, ISOMER_EMULATOR_H2 b) {              \
    return __h##NAME(a.x, b.x) && __h##NAME(a.y, b.y);                                             \
  }
ISOMER_EMULATOR_COMPARE(eq, ==)
ISOMER_EMULATOR_COMPARE(ne, !=)
ISOMER_EMULATOR_COMPARE(lt, <)
ISOMER_EMULATOR_COMPARE(le, <=)
ISOMER_EMULATOR_COMPARE(gt, >)
ISOMER_EMULATOR_COMPARE(ge, >=)
#undef ISOMER_EMULATOR_COMPARE
#define ISOMER_EMULATOR_UNARY(NAME, EXPRESSION)                          \
  ISOMER_EMULATOR_16 ISOMER_EMULATOR_H h##NAME(ISOMER_EMULATOR_H a) {    \
    const double x = float(a);                                           \
    return ISOMER_EMULATOR_H(EXPRESSION);                                \
  }                                                                      \
  ISOMER_EMULATOR_16 ISOMER_EMULATOR_H2 h2##NAME(ISOMER_EMULATOR_H2 a) { \
    return {h##NAME(a.x), h##NAME(a.y)};                                 \
  }
ISOMER_EMULATOR_UNARY(exp, std::exp(x))
ISOMER_EMULATOR_UNARY(exp2, std::exp2(x))
ISOMER_EMULATOR_UNARY(exp10, std::pow(10.0, x))
ISOMER_EMULATOR_UNARY(log, std::log(x))
ISOMER_EMULATOR_UNARY(log2, std::log2(x))
ISOMER_EMULATOR_UNARY(log10, std::log10(x))
ISOMER_EMULATOR_UNARY(sqrt, std::sqrt(x))
ISOMER_EMULATOR_UNARY(rsqrt, 1.0 / std::sqrt(x))
ISOMER_EMULATOR_UNARY(rcp, 1.0 / x)
ISOMER_EMULATOR_UNARY(sin, std::sin(x))
ISOMER_EMULATOR_UNARY(cos, std::cos(x))
ISOMER_EMULATOR_UNARY(tanh, std::tanh(x))
ISOMER_EMULATOR_UNARY(tanh_approx, std::tanh(x))
ISOMER_EMULATOR_UNARY(floor, std::floor(x))
ISOMER_EMULATOR_UNARY(ceil, std::ceil(x))
ISOMER_EMULATOR_UNARY(trunc, std::trunc(x))
ISOMER_EMULATOR_UNARY(rint, std::nearbyint(x))
#undef ISOMER_EMULATOR_UNARY
// Device code writes isnan(h) and fabs-like calls on the small types too.
ISOMER_EMULATOR_16 bool isnan(ISOMER_EMULATOR_H a) { return __hisnan(a); }
ISOMER_EMULATOR_16 bool isinf(ISOMER_EMULATOR_H a) { return __hisinf(a) != 0; }
