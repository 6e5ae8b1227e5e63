// What the rewriter puts between a cast to an integer and its operand: a floating value that the integer
// cannot hold becomes the nearest one that it can. A NaN becomes 0, or on NVIDIA's devices the highest bit
// where one of the two has 64 bits (PTX ISA, cvt).
#pragma once

#include <limits>
#include <type_traits>

#include "abi.h"

namespace isomer::emulator {

template <class I>
class Saturating {
 public:
  template <class X>
  __attribute__((always_inline)) constexpr explicit Saturating(const X& x) : value_(of(x)) {}
  __attribute__((always_inline)) constexpr explicit operator I() const { return value_; }

 private:
  using Integer = std::remove_cv_t<I>;

  template <class X>
  __attribute__((always_inline)) static constexpr Integer of(const X& x) {
    if constexpr (std::is_same_v<X, float> || std::is_same_v<X, double>) {
      // Both powers of two: exact. Above the lowest by less than one still fits, as the fraction is cut.
      constexpr X past =
          X(2) * X(std::make_unsigned_t<Integer>(1) << (std::numeric_limits<Integer>::digits - 1));
      constexpr X low = std::is_signed_v<Integer> ? -past : X(0);
      const bool fits = std::is_same_v<X, double> && sizeof(Integer) == 4 ? x > low - 1 && x < past
                        : std::is_signed_v<Integer>                       ? x >= low && x < past
                                                                          : x > X(-1) && x < past;
      if (__builtin_expect(fits || __builtin_is_constant_evaluated(), true)) return static_cast<Integer>(x);
      return nearest(x);
    } else {
      return (Integer)x;
    }
  }
  template <class X>
  __attribute__((always_inline)) static Integer nearest(X x) {
#ifdef ISOMER_EMULATOR_WATCH
    isomer_emulator_saturates(x, sizeof(X) == 4 ? "'float'" : "'double'", name());
#endif
    if (x != x) {
#ifndef ISOMER_EMULATOR_HIP
      if (sizeof(X) == 8 || sizeof(Integer) == 8)
        return static_cast<Integer>(std::make_unsigned_t<Integer>(1) << (8 * sizeof(Integer) - 1));
#endif
      return 0;
    }
    return x < 0 ? std::numeric_limits<Integer>::min() : std::numeric_limits<Integer>::max();
  }
  static constexpr const char* name() {
    return sizeof(Integer) == 4 ? (std::is_signed_v<Integer> ? "'int'" : "'unsigned int'")
                                : (std::is_signed_v<Integer> ? "'long int'" : "'long unsigned int'");
  }

  Integer value_;
};

}  // namespace isomer::emulator
