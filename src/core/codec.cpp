#include "core/codec.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace isomer::core {
namespace {

/// A small binary float: sign, `exponent` bits with `bias`, `mantissa` bits.
struct Format {
  int exponent, mantissa, bias;
  enum class Special {
    ieee,  ///< all-ones exponent: inf, NaN
    fn,    ///< no inf; all ones is NaN
    fnuz,  ///< no inf, no −0; the pattern of −0 is NaN
  } special;
};

constexpr Format kF16{5, 10, 15, Format::Special::ieee};
constexpr Format kBF16{8, 7, 127, Format::Special::ieee};
constexpr Format kE4M3FN{4, 3, 7, Format::Special::fn};
constexpr Format kE5M2{5, 2, 15, Format::Special::ieee};
constexpr Format kE4M3FNUZ{4, 3, 8, Format::Special::fnuz};
constexpr Format kE5M2FNUZ{5, 2, 16, Format::Special::fnuz};

constexpr std::uint32_t sign_bit(Format f) { return 1u << (f.exponent + f.mantissa); }

/// The largest finite pattern without its sign.
constexpr std::uint32_t max_pattern(Format f) {
  const std::uint32_t all = sign_bit(f) - 1;
  switch (f.special) {
    case Format::Special::ieee:
      return all - (1u << f.mantissa);
    case Format::Special::fn:
      return all - 1;
    default:
      return all;
  }
}

constexpr std::uint32_t nan_pattern(Format f) {
  switch (f.special) {
    case Format::Special::ieee:
      return max_pattern(f) + 1 + (1u << (f.mantissa - 1));
    case Format::Special::fn:
      return sign_bit(f) - 1;
    default:
      return sign_bit(f);
  }
}

/// For normal results. References decode and round element by element: the C library's ldexp is most of that.
double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

double unpack(Format f, std::uint32_t bits) {
  const bool negative = (bits & sign_bit(f)) != 0;
  const std::uint32_t magnitude = bits & (sign_bit(f) - 1);
  if (f.special == Format::Special::fnuz && bits == sign_bit(f))
    return std::numeric_limits<double>::quiet_NaN();
  if (f.special == Format::Special::fn && magnitude == sign_bit(f) - 1)
    return std::copysign(std::numeric_limits<double>::quiet_NaN(), negative ? -1.0 : 1.0);
  if (f.special == Format::Special::ieee && magnitude > max_pattern(f)) {
    if (magnitude == max_pattern(f) + 1)
      return negative ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
    return std::numeric_limits<double>::quiet_NaN();
  }
  const int exponent = static_cast<int>(magnitude >> f.mantissa);
  const std::uint32_t fraction = magnitude & ((1u << f.mantissa) - 1);
  const double value = exponent == 0 ? static_cast<double>(fraction) * power_of_two(1 - f.bias - f.mantissa)
                                     : (1 + static_cast<double>(fraction) * power_of_two(-f.mantissa)) *
                                           power_of_two(exponent - f.bias);
  return negative ? -value : value;
}

std::uint32_t pack(Format f, double value, Overflow overflow) {
  if (std::isnan(value))
    return nan_pattern(f) | (f.special != Format::Special::fnuz && std::signbit(value) ? sign_bit(f) : 0);
  const std::uint32_t sign = std::signbit(value) ? sign_bit(f) : 0;
  const double magnitude = std::fabs(value);
  std::uint32_t pattern = 0;
  if (std::isinf(magnitude)) {
    pattern = max_pattern(f) + 1;
  } else if (magnitude > 0) {
    // The quantum of the value's binade; below the normals all values share one.
    const auto binade = static_cast<int>(std::bit_cast<std::uint64_t>(magnitude) >> 52) - 1023;
    const int exponent = std::max(binade, 1 - f.bias);
    // Less than 2^52 by far: the sum rounds to a whole number, ties to even.
    const double steps = magnitude * power_of_two(f.mantissa - exponent) + 0x1p52 - 0x1p52;
    const int field = exponent + f.bias - 1;
    // A normal has its leading bit in `steps`, which carries into the exponent field; rounding up to the next
    // binade too.
    if (field > 1 << f.exponent) {
      pattern = max_pattern(f) + 1;
    } else {
      const auto wide = (static_cast<std::uint64_t>(field) << f.mantissa) + static_cast<std::uint64_t>(steps);
      pattern = wide > max_pattern(f) ? max_pattern(f) + 1 : static_cast<std::uint32_t>(wide);
    }
  }
  if (pattern > max_pattern(f)) {
    if (overflow == Overflow::saturate) return max_pattern(f) | sign;
    return f.special == Format::Special::ieee
               ? pattern | sign
               : nan_pattern(f) | (f.special == Format::Special::fn ? sign : 0);
  }
  if (pattern == 0 && f.special == Format::Special::fnuz) return 0;
  return pattern | sign;
}

/// decode(encode(value)) of a type with infinities: the inner loops of references round every step. The sum
/// with 1.5·2^52 times the step of the value's binade has no room for what lies below that step.
double round_ieee(Format f, double value) {
  const auto binade = static_cast<int>(std::bit_cast<std::uint64_t>(value) >> 52 & 0x7ff);
  const int most = (1 << f.exponent) - 2 - f.bias + 1023;
  if (binade <= most) {
    const int exponent = std::max(binade, 1 - f.bias + 1023) + 52 - f.mantissa;
    const auto large =
        std::bit_cast<double>(static_cast<std::uint64_t>(exponent) << 52 | std::uint64_t{1} << 51);
    const double rounded = (value + large) - large;
    if (rounded != 0 && std::fabs(rounded) < power_of_two(most - 1023 + 1)) return rounded;
  }
  return unpack(f, pack(f, value, Overflow::ieee));
}

/// The values of all patterns of a type of one byte.
std::array<double, 256> values_of(Format f) {
  std::array<double, 256> values;
  for (std::uint32_t bits = 0; bits < values.size(); ++bits) values[bits] = unpack(f, bits);
  return values;
}
template <const Format& kFormat>
double value_of(std::uint8_t bits) {
  static const std::array<double, 256> values = values_of(kFormat);
  return values[bits];
}

const Format* small_format(DType type) {
  switch (type) {
    case DType::f16:
      return &kF16;
    case DType::bf16:
      return &kBF16;
    case DType::e4m3fn:
      return &kE4M3FN;
    case DType::e5m2:
      return &kE5M2;
    case DType::e4m3fnuz:
      return &kE4M3FNUZ;
    case DType::e5m2fnuz:
      return &kE5M2FNUZ;
    default:
      return nullptr;
  }
}

template <class T>
T load(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
void store(void* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

template <class Integer>
Integer to_integer(double value) {
  if (std::isnan(value)) return 0;
  constexpr auto low = static_cast<double>(std::numeric_limits<Integer>::min());
  constexpr auto high = static_cast<double>(std::numeric_limits<Integer>::max());
  const double whole = std::trunc(value);
  if (whole <= low) return std::numeric_limits<Integer>::min();
  if (whole >= high) return std::numeric_limits<Integer>::max();
  return static_cast<Integer>(whole);
}

}  // namespace

double decode(DType type, const void* element) {
  switch (type) {
    case DType::f64:
      return load<double>(element);
    case DType::f32:
      return static_cast<double>(load<float>(element));
    case DType::i8:
      return load<std::int8_t>(element);
    case DType::i32:
      return load<std::int32_t>(element);
    case DType::i64:
      return static_cast<double>(load<std::int64_t>(element));
    case DType::u8:
      return load<std::uint8_t>(element);
    case DType::i16:
      return load<std::int16_t>(element);
    case DType::f16:
      return static_cast<double>(f16_to_f32(load<std::uint16_t>(element)));
    case DType::bf16:
      return static_cast<double>(bf16_to_f32(load<std::uint16_t>(element)));
    case DType::e4m3fn:
      return value_of<kE4M3FN>(load<std::uint8_t>(element));
    case DType::e5m2:
      return value_of<kE5M2>(load<std::uint8_t>(element));
    case DType::e4m3fnuz:
      return value_of<kE4M3FNUZ>(load<std::uint8_t>(element));
    case DType::e5m2fnuz:
      return value_of<kE5M2FNUZ>(load<std::uint8_t>(element));
    default:
      return 0;
  }
}

void encode(DType type, double value, void* element, Overflow overflow) {
  switch (type) {
    case DType::none:
      return;
    case DType::f64:
      return store(element, value);
    case DType::f32: {
      float narrow = static_cast<float>(value);
      if (overflow == Overflow::saturate && std::isinf(narrow))
        narrow = std::copysign(std::numeric_limits<float>::max(), narrow);
      return store(element, narrow);
    }
    case DType::i8:
      return store(element, to_integer<std::int8_t>(value));
    case DType::i32:
      return store(element, to_integer<std::int32_t>(value));
    case DType::i64:
      return store(element, to_integer<std::int64_t>(value));
    case DType::u8:
      return store(element, to_integer<std::uint8_t>(value));
    case DType::i16:
      return store(element, to_integer<std::int16_t>(value));
    case DType::f16:
      return store(element, static_cast<std::uint16_t>(pack(kF16, value, overflow)));
    case DType::bf16:
      return store(element, static_cast<std::uint16_t>(pack(kBF16, value, overflow)));
    default:
      return store(element, static_cast<std::uint8_t>(pack(*small_format(type), value, overflow)));
  }
}

double round_to(DType type, double value, Overflow overflow) {
  if (overflow == Overflow::ieee) {
    if (type == DType::f64) return value;
    if (type == DType::f32) return static_cast<double>(static_cast<float>(value));
    if (type == DType::f16) return round_ieee(kF16, value);
    if (type == DType::bf16) return round_ieee(kBF16, value);
  }
  std::uint64_t element = 0;
  encode(type, value, &element, overflow);
  return decode(type, &element);
}

double max_finite(DType type) {
  switch (type) {
    case DType::f64:
      return std::numeric_limits<double>::max();
    case DType::f32:
      return static_cast<double>(std::numeric_limits<float>::max());
    case DType::i8:
      return 127;
    case DType::u8:
      return 255;
    case DType::i16:
      return 32767;
    case DType::i32:
      return 2147483647.0;
    case DType::i64:
      return 9223372036854775807.0;
    case DType::none:
      return 0;
    default:
      return unpack(*small_format(type), max_pattern(*small_format(type)));
  }
}

double unit_roundoff(DType type) {
  switch (type) {
    case DType::f64:
      return 0x1p-53;
    case DType::f32:
      return 0x1p-24;
    default:
      if (const Format* f = small_format(type)) return std::ldexp(1.0, -f->mantissa - 1);
      return 0;
  }
}

float f16_to_f32(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
  const std::uint32_t magnitude = bits & 0x7FFFu;
  std::uint32_t wide = 0;
  if (magnitude >= 0x7C00u) {
    wide = 0x7F800000u | (magnitude & 0x3FFu) << 13;
  } else {
    // Shifting puts the exponent 112 too low; the product also normalises subnormals.
    const std::uint32_t shifted = magnitude << 13;
    float value;
    std::memcpy(&value, &shifted, sizeof value);
    value *= 0x1p112f;
    std::memcpy(&wide, &value, sizeof wide);
  }
  wide |= sign;
  float result;
  std::memcpy(&result, &wide, sizeof result);
  return result;
}

std::uint16_t f32_to_f16(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return static_cast<std::uint16_t>(sign | 0x7E00u);
  if (magnitude >= 0x47800000u) return static_cast<std::uint16_t>(sign | 0x7C00u);  // 65536 and beyond
  if (magnitude <
      0x38800000u) {  // below 2^-14: adding 2^-14·2^10·… leaves the multiple of 2^-24 in the low bits
    float m;
    std::memcpy(&m, &magnitude, sizeof m);
    m += 0.5f;
    std::uint32_t sum;
    std::memcpy(&sum, &m, sizeof sum);
    return static_cast<std::uint16_t>(sign | (sum - 0x3F000000u));
  }
  const std::uint32_t rounded = magnitude + 0xFFFu + (magnitude >> 13 & 1u) - (112u << 23);
  return static_cast<std::uint16_t>(sign | rounded >> 13);
}

std::uint16_t f32_to_bf16(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return static_cast<std::uint16_t>((bits >> 16 & 0x8000u) | 0x7FC0u);
  return static_cast<std::uint16_t>((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
}

float e4m3fn_to_f32(std::uint8_t bits) { return static_cast<float>(value_of<kE4M3FN>(bits)); }

std::uint8_t f32_to_e4m3fn(float value) {
  return static_cast<std::uint8_t>(pack(kE4M3FN, static_cast<double>(value), Overflow::saturate));
}

}  // namespace isomer::core
