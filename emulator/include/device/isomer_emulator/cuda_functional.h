// cuda::maximum and cuda::minimum, which newer CUB is given to combine with in place of its own.
#pragma once

#include "language.h"

namespace cuda {

#define ISOMER_CUDA_OPERATOR(NAME, EXPRESSION)                                               \
  template <class T = void>                                                                  \
  struct NAME {                                                                              \
    __attribute__((always_inline)) constexpr T operator()(const T& a, const T& b) const {    \
      return EXPRESSION;                                                                     \
    }                                                                                        \
  };                                                                                         \
  template <>                                                                                \
  struct NAME<void> {                                                                        \
    template <class A, class B>                                                              \
    __attribute__((always_inline)) constexpr auto operator()(const A& a, const B& b) const { \
      return EXPRESSION;                                                                     \
    }                                                                                        \
  };
ISOMER_CUDA_OPERATOR(maximum, a < b ? b : a)
ISOMER_CUDA_OPERATOR(minimum, b < a ? b : a)
#undef ISOMER_CUDA_OPERATOR

}  // namespace cuda
