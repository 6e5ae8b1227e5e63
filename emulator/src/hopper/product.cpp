#include "hopper/product.hpp"

#include <cmath>
#include <cstring>
#include <vector>

#include "hopper/tensor_map.hpp"

namespace isomer::emulator::hopper {
namespace {

float of_bits(std::uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

/// A float of so many exponent and mantissa bits; `finite`: all exponents are numbers, only the last code is
/// NaN.
float decoded(std::uint32_t code, int exponent_bits, int mantissa_bits, bool finite) {
  const std::uint32_t sign = code >> (exponent_bits + mantissa_bits) & 1;
  const int exponent = static_cast<int>(code >> mantissa_bits & ((1u << exponent_bits) - 1));
  const std::uint32_t mantissa = code & ((1u << mantissa_bits) - 1);
  const int bias = (1 << (exponent_bits - 1)) - 1, last = (1 << exponent_bits) - 1;
  double value = 0;
  if (exponent == last && !finite)
    value = mantissa ? std::nan("") : HUGE_VAL;
  else if (exponent == last && mantissa + 1 == (1u << mantissa_bits))
    value = std::nan("");
  else if (exponent == 0)
    value = std::ldexp(static_cast<double>(mantissa), 1 - bias - mantissa_bits);
  else
    value =
        std::ldexp(static_cast<double>(mantissa + (1u << mantissa_bits)), exponent - bias - mantissa_bits);
  return static_cast<float>(sign ? -value : value);
}

std::vector<float> table(int bits, int exponent_bits, int mantissa_bits, bool finite) {
  std::vector<float> all(std::size_t{1} << bits);
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = decoded(static_cast<std::uint32_t>(i), exponent_bits, mantissa_bits, finite);
  return all;
}

// Four rows of c stay in registers while b's rows pass; the compiler makes vectors of the inner loop.
[[gnu::always_inline]] inline void add_product_of(float* __restrict c, const float* __restrict a,
                                                  const float* __restrict b, int columns, int depth) {
  constexpr int kTile = 16, kTogether = 4;
  int column = 0;
  for (; column + kTile <= columns; column += kTile) {
    for (int row = 0; row < kRows; row += kTogether) {
      float sum[kTogether][kTile];
      for (int r = 0; r < kTogether; ++r)
        for (int j = 0; j < kTile; ++j) sum[r][j] = c[(row + r) * columns + column + j];
      for (int k = 0; k < depth; ++k) {
        const float* line = b + k * columns + column;
        for (int r = 0; r < kTogether; ++r) {
          const float x = a[(row + r) * depth + k];
          for (int j = 0; j < kTile; ++j) sum[r][j] += x * line[j];
        }
      }
      for (int r = 0; r < kTogether; ++r)
        for (int j = 0; j < kTile; ++j) c[(row + r) * columns + column + j] = sum[r][j];
    }
  }
  for (; column < columns; ++column) {
    for (int row = 0; row < kRows; ++row) {
      float sum = c[row * columns + column];
      for (int k = 0; k < depth; ++k) sum += a[row * depth + k] * b[k * columns + column];
      c[row * columns + column] = sum;
    }
  }
}

#if defined(__x86_64__)
// One rounding per multiplication and one per sum on every machine: no fused operations.
[[gnu::target("avx512f,avx512vl")]] void add_product_512(float* c, const float* a, const float* b,
                                                         int columns, int depth) {
  add_product_of(c, a, b, columns, depth);
}
[[gnu::target("avx2")]] void add_product_256(float* c, const float* a, const float* b, int columns,
                                             int depth) {
  add_product_of(c, a, b, columns, depth);
}
#endif

}  // namespace

MatrixDescriptor::MatrixDescriptor(std::uint64_t bits)
    : start(static_cast<std::uint32_t>(bits & 0x3fff) << 4),
      leading(static_cast<std::uint32_t>(bits >> 16 & 0x3fff) << 4),
      stride(static_cast<std::uint32_t>(bits >> 32 & 0x3fff) << 4),
      base_offset(static_cast<unsigned>(bits >> 49 & 7)) {
  constexpr unsigned kSwizzles[4] = {0, 128, 64, 32};
  swizzle = kSwizzles[bits >> 62];
}

std::uint32_t MatrixDescriptor::chunk(int line, int chunk) const {
  const auto l = static_cast<std::uint32_t>(line), c = static_cast<std::uint32_t>(chunk);
  const std::uint32_t group = start + l / 8 * stride;
  if (swizzle == 0) return group + l % 8 * 16 + c * leading;
  return swizzled(group + l % 8 * swizzle + c * 16, swizzle);
}

std::uint32_t MatrixDescriptor::chunk_transposed(int chunk, int k) const {
  const auto c = static_cast<std::uint32_t>(chunk), row = static_cast<std::uint32_t>(k);
  if (swizzle == 0) return start + c * stride + row / 8 * leading + row % 8 * 16;
  const std::uint32_t per_panel = swizzle / 16;
  return swizzled(start + c / per_panel * leading + row / 8 * stride + row % 8 * swizzle + c % per_panel * 16,
                  swizzle);
}

void widen(Element element, const std::byte* from, int count, float* to) {
  static const std::vector<float> f16 = table(16, 5, 10, false), e4m3 = table(8, 4, 3, true),
                                  e5m2 = table(8, 5, 2, false);
  if (bytes_of(element) == 1) {
    const std::vector<float>& codes = element == Element::e4m3 ? e4m3 : e5m2;
    for (int i = 0; i < count; ++i) to[i] = codes[static_cast<std::uint8_t>(from[i])];
    return;
  }
  for (int i = 0; i < count; ++i) {
    std::uint16_t code;
    std::memcpy(&code, from + 2 * i, 2);
    to[i] = element == Element::f16 ? f16[code] : of_bits(std::uint32_t{code} << 16);
  }
}

void add_product(float* c, const float* a, const float* b, int columns, int depth) {
#if defined(__x86_64__)
  static const int width = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") ? 512
                           : __builtin_cpu_supports("avx2")                                        ? 256
                                                                                                   : 0;
  if (width == 512) return add_product_512(c, a, b, columns, depth);
  if (width == 256) return add_product_256(c, a, b, columns, depth);
#endif
  add_product_of(c, a, b, columns, depth);
}

}  // namespace isomer::emulator::hopper
