/* What the device's language adds to C: sizes, vectors, and words that mean nothing on the host. */
#ifndef ISOMER_EMULATOR_LANGUAGE_C_H
#define ISOMER_EMULATOR_LANGUAGE_C_H

#include <stddef.h>

#define __host__
#define __device__
#define __forceinline__ inline
#define CUDARTAPI
#define CUDART_CB

typedef struct dim3 {
  unsigned x, y, z;
} dim3;

#define ISOMER_EMULATOR_ALIGNED(BYTES) __attribute__((aligned(BYTES)))
#define ISOMER_EMULATOR_VECTOR(T, NAME, A1, A2, A4)                                                        \
  typedef struct NAME##1 {                                                                                 \
    T x;                                                                                                   \
  } NAME##1;                                                                                               \
  typedef struct ISOMER_EMULATOR_ALIGNED(A2) NAME##2 {                                                     \
    T x, y;                                                                                                \
  } NAME##2;                                                                                               \
  typedef struct NAME##3 {                                                                                 \
    T x, y, z;                                                                                             \
  } NAME##3;                                                                                               \
  typedef struct ISOMER_EMULATOR_ALIGNED(A4) NAME##4 {                                                     \
    T x, y, z, w;                                                                                          \
  } NAME##4;                                                                                               \
  static inline NAME##1 make_##NAME##1(T x) { return (NAME##1){x}; }                                       \
  static inline NAME##2 make_##NAME##2(T x, T y) { return (NAME##2){x, y}; }                               \
  static inline NAME##3 make_##NAME##3(T x, T y, T z) { return (NAME##3){x, y, z}; }                       \
  static inline NAME##4 make_##NAME##4(T x, T y, T z, T w) { return (NAME##4){x, y, z, w}; }

#include "../../device/isomer_emulator/vector_names.inc"
#undef ISOMER_EMULATOR_VECTOR

#endif
