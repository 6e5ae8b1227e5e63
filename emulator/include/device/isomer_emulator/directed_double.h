// Doubles rounded in one direction: the nearest result and the sign of what the exact one is more than it.
// `way`: 1 up, -1 down, 0 towards zero. Included by math.h.
#pragma once

namespace isomer::emulator {
ISOMER_EMULATOR_FUNCTION double directed_double(double nearest, double more, int way) {
  if (!std::isfinite(nearest)) return nearest;
  if (way == 0) way = nearest > 0 ? -1 : 1;
  if (way > 0) return more > 0 ? std::nextafter(nearest, HUGE_VAL) : nearest;
  return more < 0 ? std::nextafter(nearest, -HUGE_VAL) : nearest;
}
/// What a + b is more than its nearest double: exact.
ISOMER_EMULATOR_FUNCTION double more_than_sum(double a, double b, double sum) {
  const double t = sum - a;
  return (a - (sum - t)) + (b - t);
}
ISOMER_EMULATOR_FUNCTION double add_double(double a, double b, int way) {
  return directed_double(a + b, more_than_sum(a, b, a + b), way);
}
ISOMER_EMULATOR_FUNCTION double mul_double(double a, double b, int way) {
  return directed_double(a * b, std::fma(a, b, -(a * b)), way);
}
ISOMER_EMULATOR_FUNCTION double div_double(double a, double b, int way) {
  const double q = a / b, rest = std::fma(-q, b, a);
  return directed_double(q, b < 0 ? -rest : rest, way);
}
ISOMER_EMULATOR_FUNCTION double sqrt_double(double a, int way) {
  const double r = std::sqrt(a);
  return directed_double(r, std::fma(-r, r, a), way);
}
ISOMER_EMULATOR_FUNCTION double fma_double(double a, double b, double c, int way) {
  const double nearest = std::fma(a, b, c), product = a * b, sum = product + c;
  const double more = (sum - nearest) + (more_than_sum(product, c, sum) + std::fma(a, b, -product));
  return directed_double(nearest, more, way);
}
}  // namespace isomer::emulator

#define ISOMER_EMULATOR_ROUNDED(SUFFIX, WAY)                                     \
  ISOMER_EMULATOR_FUNCTION double __dadd_##SUFFIX(double a, double b) {          \
    return isomer::emulator::add_double(a, b, WAY);                              \
  }                                                                              \
  ISOMER_EMULATOR_FUNCTION double __dsub_##SUFFIX(double a, double b) {          \
    return isomer::emulator::add_double(a, -b, WAY);                             \
  }                                                                              \
  ISOMER_EMULATOR_FUNCTION double __dmul_##SUFFIX(double a, double b) {          \
    return isomer::emulator::mul_double(a, b, WAY);                              \
  }                                                                              \
  ISOMER_EMULATOR_FUNCTION double __ddiv_##SUFFIX(double a, double b) {          \
    return isomer::emulator::div_double(a, b, WAY);                              \
  }                                                                              \
  ISOMER_EMULATOR_FUNCTION double __drcp_##SUFFIX(double a) {                    \
    return isomer::emulator::div_double(1.0, a, WAY);                            \
  }                                                                              \
  ISOMER_EMULATOR_FUNCTION double __dsqrt_##SUFFIX(double a) {                   \
    return isomer::emulator::sqrt_double(a, WAY);                                \
  }                                                                              \
  ISOMER_EMULATOR_FUNCTION double __fma_##SUFFIX(double a, double b, double c) { \
    return isomer::emulator::fma_double(a, b, c, WAY);                           \
  }
ISOMER_EMULATOR_ROUNDED(rz, 0)
ISOMER_EMULATOR_ROUNDED(ru, 1)
ISOMER_EMULATOR_ROUNDED(rd, -1)
#undef ISOMER_EMULATOR_ROUNDED
ISOMER_EMULATOR_FUNCTION float __fmaf_rz(float a, float b, float c) {
  const double product = static_cast<double>(a) * b, sum = product + c;  // the product is exact
  return isomer::emulator::directed(
      sum, isomer::emulator::sign_of(isomer::emulator::more_than_sum(product, c, sum)), 0);
}
ISOMER_EMULATOR_FUNCTION float __fmaf_ru(float a, float b, float c) {
  const double product = static_cast<double>(a) * b, sum = product + c;
  return isomer::emulator::directed(
      sum, isomer::emulator::sign_of(isomer::emulator::more_than_sum(product, c, sum)), 1);
}
ISOMER_EMULATOR_FUNCTION float __fmaf_rd(float a, float b, float c) {
  const double product = static_cast<double>(a) * b, sum = product + c;
  return isomer::emulator::directed(
      sum, isomer::emulator::sign_of(isomer::emulator::more_than_sum(product, c, sum)), -1);
}
