#pragma once

#include <hwy/highway.h>

#include "cpu/target.hpp"

// The names that Highway gives to the namespaces of its targets, in the order of cpu::Target.
#if HWY_TARGETS & HWY_EMU128
#define ISOMER_TARGET_SCALAR(function) &N_EMU128::function
#elif HWY_TARGETS & HWY_SCALAR
#define ISOMER_TARGET_SCALAR(function) &N_SCALAR::function
#else
#define ISOMER_TARGET_SCALAR(function) nullptr
#endif
#if HWY_TARGETS & HWY_NEON
#define ISOMER_TARGET_NEON(function) &N_NEON::function
#else
#define ISOMER_TARGET_NEON(function) nullptr
#endif
#if HWY_TARGETS & HWY_AVX2
#define ISOMER_TARGET_AVX2(function) &N_AVX2::function
#else
#define ISOMER_TARGET_AVX2(function) nullptr
#endif
#if HWY_TARGETS & HWY_AVX3
#define ISOMER_TARGET_AVX512(function) &N_AVX3::function
#else
#define ISOMER_TARGET_AVX512(function) nullptr
#endif

/// In the HWY_ONCE part of a file that went through foreach_target: the table of N_AVX2::function and its
/// siblings.
#define ISOMER_PER_TARGET(function)                                                               \
  ::isomer::cpu::PerTarget<decltype(&HWY_STATIC_DISPATCH(function))> {                            \
    {                                                                                             \
      ISOMER_TARGET_SCALAR(function), ISOMER_TARGET_NEON(function), ISOMER_TARGET_AVX2(function), \
          ISOMER_TARGET_AVX512(function)                                                          \
    }                                                                                             \
  }
