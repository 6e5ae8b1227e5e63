// Complex numbers as the toolkits have them: pairs, and functions on pairs, by CUDA's names and by HIP's.
#pragma once

#include "cmath.h"
#include "language.h"

#define ISOMER_EMULATOR_COMPLEX(TYPE, PAIR, REAL, MAKE, NAME, F, ROOT)                                      \
  typedef PAIR TYPE;                                                                                        \
  ISOMER_EMULATOR_INLINE TYPE MAKE(REAL x, REAL y) { return {x, y}; }                                       \
  ISOMER_EMULATOR_INLINE REAL NAME##Creal##F(TYPE z) { return z.x; }                                        \
  ISOMER_EMULATOR_INLINE REAL NAME##Cimag##F(TYPE z) { return z.y; }                                        \
  ISOMER_EMULATOR_INLINE TYPE NAME##Conj##F(TYPE z) { return {z.x, -z.y}; }                                 \
  ISOMER_EMULATOR_INLINE TYPE NAME##Cadd##F(TYPE a, TYPE b) { return {a.x + b.x, a.y + b.y}; }              \
  ISOMER_EMULATOR_INLINE TYPE NAME##Csub##F(TYPE a, TYPE b) { return {a.x - b.x, a.y - b.y}; }              \
  ISOMER_EMULATOR_INLINE TYPE NAME##Cmul##F(TYPE a, TYPE b) {                                               \
    return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};                                                  \
  }                                                                                                         \
  ISOMER_EMULATOR_INLINE TYPE NAME##Cdiv##F(TYPE a, TYPE b) {                                               \
    const REAL scale = 1 / (ROOT(b.x) + ROOT(b.y)), ax = a.x * scale, ay = a.y * scale, bx = b.x * scale,   \
               by = b.y * scale, over = 1 / (bx * bx + by * by);                                            \
    return {(ax * bx + ay * by) * over, (ay * bx - ax * by) * over};                                        \
  }                                                                                                         \
  ISOMER_EMULATOR_INLINE REAL NAME##Cabs##F(TYPE z) { return std::hypot(z.x, z.y); }                        \
  ISOMER_EMULATOR_INLINE TYPE NAME##Cfma##F(TYPE a, TYPE b, TYPE c) {                                       \
    return {a.x * b.x + (-a.y * b.y + c.x), a.x * b.y + (a.y * b.x + c.y)};                                 \
  }

#if defined(ISOMER_EMULATOR_HIP)
ISOMER_EMULATOR_COMPLEX(hipFloatComplex, float2, float, make_hipFloatComplex, hip, f, std::fabs)
ISOMER_EMULATOR_COMPLEX(hipDoubleComplex, double2, double, make_hipDoubleComplex, hip, , std::fabs)
typedef hipFloatComplex hipComplex;
ISOMER_EMULATOR_INLINE hipComplex make_hipComplex(float x, float y) { return {x, y}; }
#else
ISOMER_EMULATOR_COMPLEX(cuFloatComplex, float2, float, make_cuFloatComplex, cu, f, std::fabs)
ISOMER_EMULATOR_COMPLEX(cuDoubleComplex, double2, double, make_cuDoubleComplex, cu, , std::fabs)
typedef cuFloatComplex cuComplex;
ISOMER_EMULATOR_INLINE cuComplex make_cuComplex(float x, float y) { return {x, y}; }
#endif
#undef ISOMER_EMULATOR_COMPLEX
