// The rarer functions of the device's mathematics: norms, inverse error functions, multiples of pi. Doubles
// carry the float forms, which so round once more than they lose.
#pragma once

#include "math.h"

namespace isomer::emulator {

static inline double inverse_erfc(double y);

static inline double inverse_erf(double y) {
  if (std::fabs(y) > 0.5) return y > 0 ? inverse_erfc(1 - y) : -inverse_erfc(1 + y);
  double x = y * 0.88622692545275801;
  for (int i = 0; i < 6; ++i) {
    const double error = std::erf(x) - y;
    x -= error / (1.12837916709551257 * std::exp(-x * x) + x * error);
  }
  return x;
}
/// x with erfc(x) = y, for y in [0, 2]: a rational beginning, refined by Halley's steps on whichever of erf
/// and erfc does not cancel.
static inline double inverse_erfc(double y) {
  if (!(y >= 0 && y <= 2)) return __builtin_nan("");
  if (y > 0.5 && y < 1.5) return inverse_erf(1 - y);  // exact there, and 0 at 1
  if (y == 0) return __builtin_inf();
  if (y == 2) return -__builtin_inf();
  const bool upper = y > 1;
  const double tail = upper ? 2 - y : y;
  const double t = std::sqrt(-2 * std::log(tail / 2));
  double x = -0.70711 * ((2.30753 + t * 0.27061) / (1 + t * (0.99229 + t * 0.04481)) - t);
  for (int i = 0; i < 4; ++i) {
    const double error = std::erfc(x) - tail;
    x += error / (1.12837916709551257 * std::exp(-x * x) - x * error);
  }
  return upper ? -x : x;
}
template <class F>
ISOMER_EMULATOR_INLINE double norm_of(int n, const F* p) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += static_cast<double>(p[i]) * p[i];
  return std::sqrt(sum);
}

}  // namespace isomer::emulator

#define ISOMER_EMULATOR_BOTH(NAME, PARAMETERS_D, PARAMETERS_F, EXPRESSION) \
  ISOMER_EMULATOR_INLINE double NAME PARAMETERS_D { return EXPRESSION; }   \
  ISOMER_EMULATOR_INLINE float NAME##f PARAMETERS_F { return static_cast<float>(EXPRESSION); }
#define ISOMER_EMULATOR_ONE(NAME, EXPRESSION) ISOMER_EMULATOR_BOTH(NAME, (double x), (float x), EXPRESSION)

ISOMER_EMULATOR_ONE(erfinv, isomer::emulator::inverse_erf(x))
ISOMER_EMULATOR_ONE(erfcinv, isomer::emulator::inverse_erfc(x))
ISOMER_EMULATOR_ONE(normcdfinv, -1.41421356237309505 * isomer::emulator::inverse_erfc(2.0 * x))
ISOMER_EMULATOR_BOTH(norm4d, (double a, double b, double c, double d), (float a, float b, float c, float d),
                     std::sqrt(1.0 * a * a + 1.0 * b * b + 1.0 * c * c + 1.0 * d * d))
ISOMER_EMULATOR_BOTH(rnorm4d, (double a, double b, double c, double d), (float a, float b, float c, float d),
                     1.0 / std::sqrt(1.0 * a * a + 1.0 * b * b + 1.0 * c * c + 1.0 * d * d))
ISOMER_EMULATOR_BOTH(norm, (int n, const double* p), (int n, const float* p), isomer::emulator::norm_of(n, p))
ISOMER_EMULATOR_BOTH(rnorm, (int n, const double* p), (int n, const float* p),
                     1.0 / isomer::emulator::norm_of(n, p))
#undef ISOMER_EMULATOR_ONE
#undef ISOMER_EMULATOR_BOTH

ISOMER_EMULATOR_INLINE double norm3d(double a, double b, double c) {
  return std::sqrt(a * a + b * b + c * c);
}
ISOMER_EMULATOR_INLINE double rnorm3d(double a, double b, double c) { return 1.0 / norm3d(a, b, c); }
ISOMER_EMULATOR_INLINE double rhypot(double a, double b) { return 1.0 / std::hypot(a, b); }
ISOMER_EMULATOR_INLINE double erfcx(double x) {
  // Beyond 26 erfc is subnormal: there the first terms of its continued fraction are exact enough.
  if (x > 25) return 0.564189583547756287 / (x + 0.5 / (x + 1 / (x + 1.5 / x)));
  return std::exp(x * x) * std::erfc(x);
}
ISOMER_EMULATOR_INLINE double fdivide(double a, double b) { return a / b; }
ISOMER_EMULATOR_INLINE double sinpi(double x) { return isomer::emulator::sine_of_turns(x); }
ISOMER_EMULATOR_INLINE double cospi(double x) { return isomer::emulator::cosine_of_turns(x); }
ISOMER_EMULATOR_INLINE void sincospi(double x, double* s, double* c) { *s = sinpi(x), *c = cospi(x); }
