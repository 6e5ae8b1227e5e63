// The device's mathematics: global functions that <cmath> lacks, conversions with their rounding in the name,
// bit operations, and the fast intrinsics. Those compute their accurate forms; compiled with
// ISOMER_EMULATOR_DEVICE_MATH they compute what the hardware does (products and quotients of rounded base-2
// functions), so that a result which leans on their accuracy shows it.
#pragma once

#include <limits>

#include "language.h"

#define ISOMER_EMULATOR_MINMAX(T)                                  \
  ISOMER_EMULATOR_INLINE T min(T a, T b) { return b < a ? b : a; } \
  ISOMER_EMULATOR_INLINE T max(T a, T b) { return a < b ? b : a; }
ISOMER_EMULATOR_MINMAX(int)
ISOMER_EMULATOR_MINMAX(unsigned)
ISOMER_EMULATOR_MINMAX(long)
ISOMER_EMULATOR_MINMAX(unsigned long)
ISOMER_EMULATOR_MINMAX(long long)
ISOMER_EMULATOR_MINMAX(unsigned long long)
#undef ISOMER_EMULATOR_MINMAX
#define ISOMER_EMULATOR_MIXED(A, B, T)                                                         \
  ISOMER_EMULATOR_INLINE T min(A a, B b) { return min(static_cast<T>(a), static_cast<T>(b)); } \
  ISOMER_EMULATOR_INLINE T max(A a, B b) { return max(static_cast<T>(a), static_cast<T>(b)); } \
  ISOMER_EMULATOR_INLINE T min(B a, A b) { return min(static_cast<T>(a), static_cast<T>(b)); } \
  ISOMER_EMULATOR_INLINE T max(B a, A b) { return max(static_cast<T>(a), static_cast<T>(b)); }
ISOMER_EMULATOR_INLINE unsigned umin(unsigned a, unsigned b) { return b < a ? b : a; }
ISOMER_EMULATOR_INLINE unsigned umax(unsigned a, unsigned b) { return a < b ? b : a; }
ISOMER_EMULATOR_INLINE long long llmin(long long a, long long b) { return b < a ? b : a; }
ISOMER_EMULATOR_INLINE long long llmax(long long a, long long b) { return a < b ? b : a; }
ISOMER_EMULATOR_INLINE unsigned long long ullmin(unsigned long long a, unsigned long long b) {
  return b < a ? b : a;
}
ISOMER_EMULATOR_INLINE unsigned long long ullmax(unsigned long long a, unsigned long long b) {
  return a < b ? b : a;
}
ISOMER_EMULATOR_INLINE float min(float a, float b) { return fminf(a, b); }
ISOMER_EMULATOR_INLINE float max(float a, float b) { return fmaxf(a, b); }
ISOMER_EMULATOR_INLINE double min(double a, double b) { return fmin(a, b); }
ISOMER_EMULATOR_INLINE double max(double a, double b) { return fmax(a, b); }
ISOMER_EMULATOR_MIXED(int, unsigned, unsigned)
ISOMER_EMULATOR_MIXED(int, long, long)
ISOMER_EMULATOR_MIXED(int, long long, long long)
ISOMER_EMULATOR_MIXED(int, unsigned long, unsigned long)
ISOMER_EMULATOR_MIXED(int, unsigned long long, unsigned long long)
ISOMER_EMULATOR_MIXED(unsigned, unsigned long, unsigned long)
ISOMER_EMULATOR_MIXED(unsigned, unsigned long long, unsigned long long)
ISOMER_EMULATOR_MIXED(unsigned, long long, long long)
ISOMER_EMULATOR_MIXED(long, unsigned long, unsigned long)
ISOMER_EMULATOR_MIXED(float, double, double)
ISOMER_EMULATOR_MIXED(float, int, float)
ISOMER_EMULATOR_MIXED(double, int, double)
#undef ISOMER_EMULATOR_MIXED

#define ISOMER_EMULATOR_FUNCTION ISOMER_EMULATOR_INLINE

ISOMER_EMULATOR_FUNCTION float rsqrtf(float x) {
  return static_cast<float>(1.0 / std::sqrt(static_cast<double>(x)));
}
ISOMER_EMULATOR_FUNCTION double rsqrt(double x) { return 1.0 / std::sqrt(x); }
ISOMER_EMULATOR_FUNCTION float rcbrtf(float x) {
  return static_cast<float>(1.0 / std::cbrt(static_cast<double>(x)));
}
ISOMER_EMULATOR_FUNCTION double rcbrt(double x) { return 1.0 / std::cbrt(x); }
ISOMER_EMULATOR_FUNCTION float fdividef(float a, float b) { return a / b; }
ISOMER_EMULATOR_FUNCTION float saturatef(float x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; }
ISOMER_EMULATOR_FUNCTION float __saturatef(float x) { return saturatef(x); }
namespace isomer::emulator {
// Exact where the result is 0, ±1/2 or ±1: the argument is reduced before pi comes in.
ISOMER_EMULATOR_FUNCTION double sine_of_turns(double half_turns) {
  double r = std::remainder(half_turns, 2.0);
  if (std::fabs(r) > 0.5) r = std::copysign(1.0, r) - r;
  return std::sin(3.14159265358979323846 * r);
}
ISOMER_EMULATOR_FUNCTION double cosine_of_turns(double half_turns) {
  return sine_of_turns(0.5 - std::fabs(std::remainder(half_turns, 2.0)));
}
}  // namespace isomer::emulator
ISOMER_EMULATOR_FUNCTION float sinpif(float x) {
  return static_cast<float>(isomer::emulator::sine_of_turns(x));
}
ISOMER_EMULATOR_FUNCTION float cospif(float x) {
  return static_cast<float>(isomer::emulator::cosine_of_turns(x));
}
ISOMER_EMULATOR_FUNCTION void sincospif(float x, float* s, float* c) { *s = sinpif(x), *c = cospif(x); }
ISOMER_EMULATOR_FUNCTION float normcdff(float x) {
  return static_cast<float>(0.5 * std::erfc(-static_cast<double>(x) * 0.70710678118654752440));
}
ISOMER_EMULATOR_FUNCTION double normcdf(double x) { return 0.5 * std::erfc(-x * 0.70710678118654752440); }
ISOMER_EMULATOR_FUNCTION float erfcxf(float x) {
  return static_cast<float>(std::exp(static_cast<double>(x) * x) * std::erfc(static_cast<double>(x)));
}
ISOMER_EMULATOR_FUNCTION float rhypotf(float x, float y) {
  return static_cast<float>(1.0 / std::hypot(static_cast<double>(x), static_cast<double>(y)));
}
ISOMER_EMULATOR_FUNCTION float norm3df(float a, float b, float c) {
  return static_cast<float>(
      std::sqrt(static_cast<double>(a) * a + static_cast<double>(b) * b + static_cast<double>(c) * c));
}
ISOMER_EMULATOR_FUNCTION float rnorm3df(float a, float b, float c) {
  return static_cast<float>(
      1.0 / std::sqrt(static_cast<double>(a) * a + static_cast<double>(b) * b + static_cast<double>(c) * c));
}
#if !defined(_GNU_SOURCE)
ISOMER_EMULATOR_FUNCTION float exp10f(float x) {
  return static_cast<float>(std::pow(10.0, static_cast<double>(x)));
}
ISOMER_EMULATOR_FUNCTION double exp10(double x) { return std::pow(10.0, x); }
#endif
// <cmath> takes the macros of these away; device code finds them in the global namespace.
using std::isfinite;
using std::isinf;
using std::isnan;
using std::signbit;

// Bits.
ISOMER_EMULATOR_FUNCTION int __float_as_int(float x) {
  int v;
  __builtin_memcpy(&v, &x, 4);
  return v;
}
ISOMER_EMULATOR_FUNCTION unsigned __float_as_uint(float x) {
  unsigned v;
  __builtin_memcpy(&v, &x, 4);
  return v;
}
ISOMER_EMULATOR_FUNCTION float __int_as_float(int x) {
  float v;
  __builtin_memcpy(&v, &x, 4);
  return v;
}
ISOMER_EMULATOR_FUNCTION float __uint_as_float(unsigned x) {
  float v;
  __builtin_memcpy(&v, &x, 4);
  return v;
}
ISOMER_EMULATOR_FUNCTION long long __double_as_longlong(double x) {
  long long v;
  __builtin_memcpy(&v, &x, 8);
  return v;
}
ISOMER_EMULATOR_FUNCTION double __longlong_as_double(long long x) {
  double v;
  __builtin_memcpy(&v, &x, 8);
  return v;
}
ISOMER_EMULATOR_FUNCTION int __double2hiint(double x) {
  return static_cast<int>(__double_as_longlong(x) >> 32);
}
ISOMER_EMULATOR_FUNCTION int __double2loint(double x) { return static_cast<int>(__double_as_longlong(x)); }
ISOMER_EMULATOR_FUNCTION double __hiloint2double(int hi, int lo) {
  return __longlong_as_double((static_cast<long long>(hi) << 32) | static_cast<unsigned>(lo));
}
ISOMER_EMULATOR_FUNCTION int __popc(unsigned x) { return __builtin_popcount(x); }
ISOMER_EMULATOR_FUNCTION int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
ISOMER_EMULATOR_FUNCTION int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
ISOMER_EMULATOR_FUNCTION int __clzll(long long x) {
  return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x));
}
ISOMER_EMULATOR_FUNCTION int __ffs(int x) { return __builtin_ffs(x); }
ISOMER_EMULATOR_FUNCTION int __ffsll(long long x) { return __builtin_ffsll(x); }
ISOMER_EMULATOR_FUNCTION unsigned __brev(unsigned x) {
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(x);
}
ISOMER_EMULATOR_FUNCTION unsigned long long __brevll(unsigned long long x) {
  return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 |
         __brev(static_cast<unsigned>(x >> 32));
}
ISOMER_EMULATOR_FUNCTION unsigned __fns(unsigned mask, unsigned base, int offset) {
  if (offset == 0) return (mask >> base) & 1 ? base : 0xffffffffu;
  const int step = offset > 0 ? 1 : -1;
  int left = offset > 0 ? offset : -offset;
  for (int i = static_cast<int>(base); i >= 0 && i < 32; i += step) {
    if (((mask >> i) & 1) && --left == 0) return static_cast<unsigned>(i);
  }
  return 0xffffffffu;
}
ISOMER_EMULATOR_FUNCTION unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const unsigned long long both = static_cast<unsigned long long>(y) << 32 | x;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned pick = selector >> (4 * i) & 0xf;
    unsigned byte = static_cast<unsigned>(both >> (8 * (pick & 7))) & 0xff;
    if (pick & 8) byte = byte & 0x80 ? 0xff : 0;
    result |= byte << (8 * i);
  }
  return result;
}
ISOMER_EMULATOR_FUNCTION unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned n) {
  n &= 31;
  return n ? hi << n | lo >> (32 - n) : hi;
}
ISOMER_EMULATOR_FUNCTION unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned n) {
  n &= 31;
  return n ? lo >> n | hi << (32 - n) : lo;
}
ISOMER_EMULATOR_FUNCTION unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned n) {
  return n >= 32 ? lo : __funnelshift_l(lo, hi, n);
}
ISOMER_EMULATOR_FUNCTION unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned n) {
  return n >= 32 ? hi : __funnelshift_r(lo, hi, n);
}

// Integers.
ISOMER_EMULATOR_FUNCTION int __mul24(int a, int b) {
  return static_cast<int>(static_cast<unsigned>(a << 8 >> 8) * static_cast<unsigned>(b << 8 >> 8));
}
ISOMER_EMULATOR_FUNCTION unsigned __umul24(unsigned a, unsigned b) {
  return (a & 0xffffffu) * (b & 0xffffffu);
}
ISOMER_EMULATOR_FUNCTION int __mulhi(int a, int b) {
  return static_cast<int>(static_cast<long long>(a) * b >> 32);
}
ISOMER_EMULATOR_FUNCTION unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
}
ISOMER_EMULATOR_FUNCTION long long __mul64hi(long long a, long long b) {
  return static_cast<long long>(static_cast<__int128>(a) * b >> 64);
}
ISOMER_EMULATOR_FUNCTION unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
ISOMER_EMULATOR_FUNCTION unsigned __sad(int a, int b, unsigned c) {
  return c + static_cast<unsigned>(a > b ? static_cast<long long>(a) - b : static_cast<long long>(b) - a);
}
ISOMER_EMULATOR_FUNCTION unsigned __usad(unsigned a, unsigned b, unsigned c) {
  return c + (a > b ? a - b : b - a);
}
ISOMER_EMULATOR_FUNCTION int __hadd(int a, int b) {
  return static_cast<int>((static_cast<long long>(a) + b) >> 1);
}
ISOMER_EMULATOR_FUNCTION int __rhadd(int a, int b) {
  return static_cast<int>((static_cast<long long>(a) + b + 1) >> 1);
}
ISOMER_EMULATOR_FUNCTION int __dp4a(int a, int b, int c) {
  for (int i = 0; i < 4; ++i)
    c += static_cast<signed char>(a >> (8 * i)) * static_cast<signed char>(b >> (8 * i));
  return c;
}
ISOMER_EMULATOR_FUNCTION unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  for (int i = 0; i < 4; ++i) c += (a >> (8 * i) & 0xff) * (b >> (8 * i) & 0xff);
  return c;
}

// Conversions with the rounding in the name. Out of range they saturate and a NaN gives zero, as cvt does.
namespace isomer::emulator {
template <class I, class F>
ISOMER_EMULATOR_FUNCTION I saturated(F rounded) {
  if (rounded != rounded) return 0;
  constexpr F low = static_cast<F>(std::numeric_limits<I>::min());
  const F high = std::ldexp(F(1), std::numeric_limits<I>::digits);
  if (rounded <= low) return std::numeric_limits<I>::min();
  if (rounded >= high) return std::numeric_limits<I>::max();
  return static_cast<I>(rounded);
}
ISOMER_EMULATOR_FUNCTION float next_up(float x) { return std::nextafterf(x, HUGE_VALF); }
ISOMER_EMULATOR_FUNCTION float next_down(float x) { return std::nextafterf(x, -HUGE_VALF); }
// An exact value given as a double plus the sign of what the double lost, rounded to float in one step.
ISOMER_EMULATOR_FUNCTION float directed(double exact, int lost, int way) {
  const float nearest = static_cast<float>(exact);
  if (!std::isfinite(exact)) return nearest;
  const double error = static_cast<double>(nearest) - exact;
  const int above = error > 0 ? 1 : error < 0 ? -1 : -lost;
  if (way == 0) way = exact > 0 ? -1 : 1;
  if (way > 0) return above < 0 ? next_up(nearest) : nearest;
  return above > 0 ? next_down(nearest) : nearest;
}
ISOMER_EMULATOR_FUNCTION int sign_of(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }
ISOMER_EMULATOR_FUNCTION float add_directed(float a, float b, int way) {
  const double x = a, y = b, s = x + y, t = s - x;
  return directed(s, sign_of((x - (s - t)) + (y - t)), way);
}
ISOMER_EMULATOR_FUNCTION float div_directed(float a, float b, int way) {
  const double q = static_cast<double>(a) / b;
  return directed(q, sign_of(std::fma(-q, static_cast<double>(b), static_cast<double>(a))) * (b < 0 ? -1 : 1),
                  way);
}
ISOMER_EMULATOR_FUNCTION float sqrt_directed(float a, int way) {
  const double r = std::sqrt(static_cast<double>(a));
  return directed(r, sign_of(std::fma(-r, r, static_cast<double>(a))), way);
}
}  // namespace isomer::emulator

#define ISOMER_EMULATOR_TO_INTEGER(NAME, I, F)                                                               \
  ISOMER_EMULATOR_FUNCTION I __##NAME##_rn(F x) {                                                            \
    return isomer::emulator::saturated<I, F>(std::nearbyint(x));                                             \
  }                                                                                                          \
  ISOMER_EMULATOR_FUNCTION I __##NAME##_rz(F x) { return isomer::emulator::saturated<I, F>(std::trunc(x)); } \
  ISOMER_EMULATOR_FUNCTION I __##NAME##_ru(F x) { return isomer::emulator::saturated<I, F>(std::ceil(x)); }  \
  ISOMER_EMULATOR_FUNCTION I __##NAME##_rd(F x) { return isomer::emulator::saturated<I, F>(std::floor(x)); }
ISOMER_EMULATOR_TO_INTEGER(float2int, int, float)
ISOMER_EMULATOR_TO_INTEGER(float2uint, unsigned, float)
ISOMER_EMULATOR_TO_INTEGER(float2ll, long long, float)
ISOMER_EMULATOR_TO_INTEGER(float2ull, unsigned long long, float)
ISOMER_EMULATOR_TO_INTEGER(double2int, int, double)
ISOMER_EMULATOR_TO_INTEGER(double2uint, unsigned, double)
ISOMER_EMULATOR_TO_INTEGER(double2ll, long long, double)
ISOMER_EMULATOR_TO_INTEGER(double2ull, unsigned long long, double)
#undef ISOMER_EMULATOR_TO_INTEGER

#define ISOMER_EMULATOR_FROM_INTEGER(NAME, I)                                               \
  ISOMER_EMULATOR_FUNCTION float __##NAME##2float_rn(I x) { return static_cast<float>(x); } \
  ISOMER_EMULATOR_FUNCTION float __##NAME##2float_rz(I x) {                                 \
    return isomer::emulator::directed(static_cast<double>(x), 0, 0);                        \
  }                                                                                         \
  ISOMER_EMULATOR_FUNCTION float __##NAME##2float_ru(I x) {                                 \
    return isomer::emulator::directed(static_cast<double>(x), 0, 1);                        \
  }                                                                                         \
  ISOMER_EMULATOR_FUNCTION float __##NAME##2float_rd(I x) {                                 \
    return isomer::emulator::directed(static_cast<double>(x), 0, -1);                       \
  }                                                                                         \
  ISOMER_EMULATOR_FUNCTION double __##NAME##2double_rn(I x) { return static_cast<double>(x); }
ISOMER_EMULATOR_FROM_INTEGER(int, int)
ISOMER_EMULATOR_FROM_INTEGER(uint, unsigned)
#undef ISOMER_EMULATOR_FROM_INTEGER
ISOMER_EMULATOR_FUNCTION float __double2float_rn(double x) { return static_cast<float>(x); }
ISOMER_EMULATOR_FUNCTION float __double2float_rz(double x) { return isomer::emulator::directed(x, 0, 0); }
ISOMER_EMULATOR_FUNCTION float __double2float_ru(double x) { return isomer::emulator::directed(x, 0, 1); }
ISOMER_EMULATOR_FUNCTION float __double2float_rd(double x) { return isomer::emulator::directed(x, 0, -1); }

#define ISOMER_EMULATOR_ROUNDED(SUFFIX, WAY)                               \
  ISOMER_EMULATOR_FUNCTION float __fadd_##SUFFIX(float a, float b) {       \
    return isomer::emulator::add_directed(a, b, WAY);                      \
  }                                                                        \
  ISOMER_EMULATOR_FUNCTION float __fsub_##SUFFIX(float a, float b) {       \
    return isomer::emulator::add_directed(a, -b, WAY);                     \
  }                                                                        \
  ISOMER_EMULATOR_FUNCTION float __fmul_##SUFFIX(float a, float b) {       \
    return isomer::emulator::directed(static_cast<double>(a) * b, 0, WAY); \
  }                                                                        \
  ISOMER_EMULATOR_FUNCTION float __fdiv_##SUFFIX(float a, float b) {       \
    return isomer::emulator::div_directed(a, b, WAY);                      \
  }                                                                        \
  ISOMER_EMULATOR_FUNCTION float __frcp_##SUFFIX(float a) {                \
    return isomer::emulator::div_directed(1.0f, a, WAY);                   \
  }                                                                        \
  ISOMER_EMULATOR_FUNCTION float __fsqrt_##SUFFIX(float a) { return isomer::emulator::sqrt_directed(a, WAY); }
ISOMER_EMULATOR_ROUNDED(rz, 0)
ISOMER_EMULATOR_ROUNDED(ru, 1)
ISOMER_EMULATOR_ROUNDED(rd, -1)
#undef ISOMER_EMULATOR_ROUNDED
#include "directed_double.h"
#include "from_long.h"
ISOMER_EMULATOR_FUNCTION float __fadd_rn(float a, float b) { return a + b; }
ISOMER_EMULATOR_FUNCTION float __fsub_rn(float a, float b) { return a - b; }
ISOMER_EMULATOR_FUNCTION float __fmul_rn(float a, float b) { return a * b; }
ISOMER_EMULATOR_FUNCTION float __fdiv_rn(float a, float b) { return a / b; }
ISOMER_EMULATOR_FUNCTION float __frcp_rn(float a) { return 1.0f / a; }
ISOMER_EMULATOR_FUNCTION float __fsqrt_rn(float a) { return std::sqrt(a); }
ISOMER_EMULATOR_FUNCTION float __frsqrt_rn(float a) { return rsqrtf(a); }
ISOMER_EMULATOR_FUNCTION float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
ISOMER_EMULATOR_FUNCTION float __fmaf_ieee_rn(float a, float b, float c) { return std::fma(a, b, c); }
ISOMER_EMULATOR_FUNCTION double __dadd_rn(double a, double b) { return a + b; }
ISOMER_EMULATOR_FUNCTION double __dsub_rn(double a, double b) { return a - b; }
ISOMER_EMULATOR_FUNCTION double __dmul_rn(double a, double b) { return a * b; }
ISOMER_EMULATOR_FUNCTION double __ddiv_rn(double a, double b) { return a / b; }
ISOMER_EMULATOR_FUNCTION double __drcp_rn(double a) { return 1.0 / a; }
ISOMER_EMULATOR_FUNCTION double __dsqrt_rn(double a) { return std::sqrt(a); }
ISOMER_EMULATOR_FUNCTION double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }

// Fast intrinsics. The C library declares functions of these names, so they are macros over our own.
namespace isomer::emulator::fast {
#if defined(ISOMER_EMULATOR_DEVICE_MATH)
ISOMER_EMULATOR_FUNCTION float exp(float x) { return std::exp2(x * 1.44269504f); }
ISOMER_EMULATOR_FUNCTION float exp10(float x) { return std::exp2(x * 3.32192809f); }
ISOMER_EMULATOR_FUNCTION float log2(float x) { return std::log2(x); }
ISOMER_EMULATOR_FUNCTION float log(float x) { return std::log2(x) * 0.693147181f; }
ISOMER_EMULATOR_FUNCTION float log10(float x) { return std::log2(x) * 0.301029996f; }
ISOMER_EMULATOR_FUNCTION float pow(float x, float y) { return std::exp2(y * std::log2(x)); }
// The special function unit works on a fixed-point fraction: an absolute error near 2^-22 inside [-pi, pi].
ISOMER_EMULATOR_FUNCTION float sin(float x) {
  return std::nearbyint(std::sin(x) * 4194304.0f) * (1.0f / 4194304.0f);
}
ISOMER_EMULATOR_FUNCTION float cos(float x) {
  return std::nearbyint(std::cos(x) * 4194304.0f) * (1.0f / 4194304.0f);
}
ISOMER_EMULATOR_FUNCTION float divide(float a, float b) {
  if (std::fabs(b) > 0x1p126f && std::isfinite(b)) return a * 0.0f;
  return a * (1.0f / b);
}
#else
ISOMER_EMULATOR_FUNCTION float exp(float x) { return std::exp(x); }
ISOMER_EMULATOR_FUNCTION float exp10(float x) {
  return static_cast<float>(std::pow(10.0, static_cast<double>(x)));
}
ISOMER_EMULATOR_FUNCTION float log2(float x) { return std::log2(x); }
ISOMER_EMULATOR_FUNCTION float log(float x) { return std::log(x); }
ISOMER_EMULATOR_FUNCTION float log10(float x) { return std::log10(x); }
ISOMER_EMULATOR_FUNCTION float pow(float x, float y) { return std::pow(x, y); }
ISOMER_EMULATOR_FUNCTION float sin(float x) { return std::sin(x); }
ISOMER_EMULATOR_FUNCTION float cos(float x) { return std::cos(x); }
ISOMER_EMULATOR_FUNCTION float divide(float a, float b) { return a / b; }
#endif
ISOMER_EMULATOR_FUNCTION float tan(float x) { return divide(sin(x), cos(x)); }
ISOMER_EMULATOR_FUNCTION float tanh(float x) { return std::tanh(x); }
ISOMER_EMULATOR_FUNCTION void sincos(float x, float* s, float* c) { *s = sin(x), *c = cos(x); }
}  // namespace isomer::emulator::fast
#define __expf isomer::emulator::fast::exp
#define __exp10f isomer::emulator::fast::exp10
#define __logf isomer::emulator::fast::log
#define __log2f isomer::emulator::fast::log2
#define __log10f isomer::emulator::fast::log10
#define __powf isomer::emulator::fast::pow
#define __sinf isomer::emulator::fast::sin
#define __cosf isomer::emulator::fast::cos
#define __tanf isomer::emulator::fast::tan
#define __tanhf isomer::emulator::fast::tanh
#define __sincosf isomer::emulator::fast::sincos
#define __fdividef isomer::emulator::fast::divide
