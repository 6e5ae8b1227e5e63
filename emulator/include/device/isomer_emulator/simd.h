// Arithmetic of the two halves or four bytes of a word, and what dynamic programming adds up and compares in
// one step.
#pragma once

#include "language.h"

namespace isomer::emulator {

/// The parts of a word: `i` numbers them from the lowest.
template <int Count>
struct Parts {
  static constexpr int kBits = 32 / Count;
  static constexpr int kHighest = (1 << (kBits - 1)) - 1, kLowest = -kHighest - 1, kAll = (1 << kBits) - 1;
  ISOMER_EMULATOR_INLINE int u(unsigned word, int i) { return static_cast<int>(word >> (kBits * i)) & kAll; }
  ISOMER_EMULATOR_INLINE int s(unsigned word, int i) {
    const int part = u(word, i);
    return part > kHighest ? part - kAll - 1 : part;
  }
  ISOMER_EMULATOR_INLINE int held(int value, int low, int high) {
    return value < low ? low : value > high ? high : value;
  }
  ISOMER_EMULATOR_INLINE int held_s(int value) { return held(value, kLowest, kHighest); }
  ISOMER_EMULATOR_INLINE int held_u(int value) { return held(value, 0, kAll); }
  ISOMER_EMULATOR_INLINE int size(int value) { return value < 0 ? -value : value; }
};
template <int Count, class Part>
ISOMER_EMULATOR_INLINE unsigned each_part(Part part) {
  unsigned word = 0;
  for (int i = 0; i < Count; ++i)
    word |= (static_cast<unsigned>(part(i)) & static_cast<unsigned>(Parts<Count>::kAll))
            << (Parts<Count>::kBits * i);
  return word;
}
template <int Count, class Part>
ISOMER_EMULATOR_INLINE unsigned sum_of_parts(Part part) {
  unsigned sum = 0;
  for (int i = 0; i < Count; ++i) sum += static_cast<unsigned>(part(i));
  return sum;
}

}  // namespace isomer::emulator

#define ISOMER_EMULATOR_OF_ONE(NAME, COUNT, VALUE)                           \
  ISOMER_EMULATOR_INLINE unsigned NAME##COUNT(unsigned a) {                  \
    using P = isomer::emulator::Parts<COUNT>;                                \
    return isomer::emulator::each_part<COUNT>([=](int i) { return VALUE; }); \
  }
#define ISOMER_EMULATOR_OF_TWO(NAME, COUNT, VALUE)                           \
  ISOMER_EMULATOR_INLINE unsigned NAME##COUNT(unsigned a, unsigned b) {      \
    using P = isomer::emulator::Parts<COUNT>;                                \
    return isomer::emulator::each_part<COUNT>([=](int i) { return VALUE; }); \
  }
#define ISOMER_EMULATOR_COMPARED(NAME, COUNT, WHETHER)                 \
  ISOMER_EMULATOR_OF_TWO(__vcmp##NAME, COUNT, (WHETHER) ? P::kAll : 0) \
  ISOMER_EMULATOR_OF_TWO(__vset##NAME, COUNT, (WHETHER) ? 1 : 0)
#define ISOMER_EMULATOR_ALL_OF(COUNT)                                                                      \
  ISOMER_EMULATOR_OF_ONE(__vabs, COUNT, P::size(P::s(a, i)))                                               \
  ISOMER_EMULATOR_OF_ONE(__vabsss, COUNT, P::held_s(P::size(P::s(a, i))))                                  \
  ISOMER_EMULATOR_OF_ONE(__vneg, COUNT, -P::s(a, i))                                                       \
  ISOMER_EMULATOR_OF_ONE(__vnegss, COUNT, P::held_s(-P::s(a, i)))                                          \
  ISOMER_EMULATOR_OF_TWO(__vadd, COUNT, P::u(a, i) + P::u(b, i))                                           \
  ISOMER_EMULATOR_OF_TWO(__vaddss, COUNT, P::held_s(P::s(a, i) + P::s(b, i)))                              \
  ISOMER_EMULATOR_OF_TWO(__vaddus, COUNT, P::held_u(P::u(a, i) + P::u(b, i)))                              \
  ISOMER_EMULATOR_OF_TWO(__vsub, COUNT, P::u(a, i) - P::u(b, i))                                           \
  ISOMER_EMULATOR_OF_TWO(__vsubss, COUNT, P::held_s(P::s(a, i) - P::s(b, i)))                              \
  ISOMER_EMULATOR_OF_TWO(__vsubus, COUNT, P::held_u(P::u(a, i) - P::u(b, i)))                              \
  ISOMER_EMULATOR_OF_TWO(__vabsdiffs, COUNT, P::size(P::s(a, i) - P::s(b, i)))                             \
  ISOMER_EMULATOR_OF_TWO(__vabsdiffu, COUNT, P::size(P::u(a, i) - P::u(b, i)))                             \
  ISOMER_EMULATOR_OF_TWO(__vavgs, COUNT,                                                                   \
                         (P::s(a, i) + P::s(b, i) + (P::s(a, i) + P::s(b, i) >= 0 ? 1 : 0)) >> 1)          \
  ISOMER_EMULATOR_OF_TWO(__vavgu, COUNT, (P::u(a, i) + P::u(b, i) + 1) >> 1)                               \
  ISOMER_EMULATOR_OF_TWO(__vhaddu, COUNT, (P::u(a, i) + P::u(b, i)) >> 1)                                  \
  ISOMER_EMULATOR_OF_TWO(__vmaxs, COUNT, P::s(a, i) > P::s(b, i) ? P::s(a, i) : P::s(b, i))                \
  ISOMER_EMULATOR_OF_TWO(__vmaxu, COUNT, P::u(a, i) > P::u(b, i) ? P::u(a, i) : P::u(b, i))                \
  ISOMER_EMULATOR_OF_TWO(__vmins, COUNT, P::s(a, i) < P::s(b, i) ? P::s(a, i) : P::s(b, i))                \
  ISOMER_EMULATOR_OF_TWO(__vminu, COUNT, P::u(a, i) < P::u(b, i) ? P::u(a, i) : P::u(b, i))                \
  ISOMER_EMULATOR_COMPARED(eq, COUNT, P::u(a, i) == P::u(b, i))                                            \
  ISOMER_EMULATOR_COMPARED(ne, COUNT, P::u(a, i) != P::u(b, i))                                            \
  ISOMER_EMULATOR_COMPARED(ges, COUNT, P::s(a, i) >= P::s(b, i))                                           \
  ISOMER_EMULATOR_COMPARED(geu, COUNT, P::u(a, i) >= P::u(b, i))                                           \
  ISOMER_EMULATOR_COMPARED(gts, COUNT, P::s(a, i) > P::s(b, i))                                            \
  ISOMER_EMULATOR_COMPARED(gtu, COUNT, P::u(a, i) > P::u(b, i))                                            \
  ISOMER_EMULATOR_COMPARED(les, COUNT, P::s(a, i) <= P::s(b, i))                                           \
  ISOMER_EMULATOR_COMPARED(leu, COUNT, P::u(a, i) <= P::u(b, i))                                           \
  ISOMER_EMULATOR_COMPARED(lts, COUNT, P::s(a, i) < P::s(b, i))                                            \
  ISOMER_EMULATOR_COMPARED(ltu, COUNT, P::u(a, i) < P::u(b, i))                                            \
  ISOMER_EMULATOR_INLINE unsigned __vsads##COUNT(unsigned a, unsigned b) {                                 \
    using P = isomer::emulator::Parts<COUNT>;                                                              \
    return isomer::emulator::sum_of_parts<COUNT>([=](int i) { return P::size(P::s(a, i) - P::s(b, i)); }); \
  }                                                                                                        \
  ISOMER_EMULATOR_INLINE unsigned __vsadu##COUNT(unsigned a, unsigned b) {                                 \
    using P = isomer::emulator::Parts<COUNT>;                                                              \
    return isomer::emulator::sum_of_parts<COUNT>([=](int i) { return P::size(P::u(a, i) - P::u(b, i)); }); \
  }
ISOMER_EMULATOR_ALL_OF(2)
ISOMER_EMULATOR_ALL_OF(4)
#undef ISOMER_EMULATOR_ALL_OF
#undef ISOMER_EMULATOR_COMPARED
#undef ISOMER_EMULATOR_OF_TWO
#undef ISOMER_EMULATOR_OF_ONE

// Of whole words.
#define ISOMER_EMULATOR_OF_WORDS(T, SUFFIX)                                                               \
  ISOMER_EMULATOR_INLINE T __viaddmax_##SUFFIX(T a, T b, T c) { return a + b > c ? a + b : c; }           \
  ISOMER_EMULATOR_INLINE T __viaddmin_##SUFFIX(T a, T b, T c) { return a + b < c ? a + b : c; }           \
  ISOMER_EMULATOR_INLINE T __vimax3_##SUFFIX(T a, T b, T c) {                                             \
    return __viaddmax_##SUFFIX(a > b ? a : b, 0, c);                                                      \
  }                                                                                                       \
  ISOMER_EMULATOR_INLINE T __vimin3_##SUFFIX(T a, T b, T c) {                                             \
    return __viaddmin_##SUFFIX(a < b ? a : b, 0, c);                                                      \
  }                                                                                                       \
  ISOMER_EMULATOR_INLINE T __vibmax_##SUFFIX(T a, T b, bool* first) { return (*first = a >= b) ? a : b; } \
  ISOMER_EMULATOR_INLINE T __vibmin_##SUFFIX(T a, T b, bool* first) { return (*first = a <= b) ? a : b; }
ISOMER_EMULATOR_OF_WORDS(int, s32)
ISOMER_EMULATOR_OF_WORDS(unsigned, u32)
#undef ISOMER_EMULATOR_OF_WORDS
ISOMER_EMULATOR_INLINE int __vimax_s32_relu(int a, int b) { return __vimax3_s32(a, b, 0); }
ISOMER_EMULATOR_INLINE int __vimin_s32_relu(int a, int b) { return __vimax3_s32(a < b ? a : b, 0, 0); }
ISOMER_EMULATOR_INLINE int __vimax3_s32_relu(int a, int b, int c) {
  return __vimax3_s32(__vimax3_s32(a, b, c), 0, 0);
}
ISOMER_EMULATOR_INLINE int __vimin3_s32_relu(int a, int b, int c) {
  return __vimax3_s32(__vimin3_s32(a, b, c), 0, 0);
}
ISOMER_EMULATOR_INLINE int __viaddmax_s32_relu(int a, int b, int c) {
  return __vimax3_s32(__viaddmax_s32(a, b, c), 0, 0);
}
ISOMER_EMULATOR_INLINE int __viaddmin_s32_relu(int a, int b, int c) {
  return __vimax3_s32(__viaddmin_s32(a, b, c), 0, 0);
}
// The same on both halves of a word.
#define ISOMER_EMULATOR_HALVES(SUFFIX, T)                                                                     \
  ISOMER_EMULATOR_INLINE unsigned __viaddmax_##SUFFIX(unsigned a, unsigned b, unsigned c) {                    \
    return isomer::emulator::halves<T>(a, b, c, [](T x, T y, T z) { return T(x + y) > z ? T(x + y) : z; });    \
  }                                                                                                            \
  ISOMER_EMULATOR_INLINE unsigned __viaddmin_##SUFFIX(unsigned a, unsigned b, unsigned c) {                    \
    return isomer::emulator::halves<T>(a, b, c, [](T x, T y, T z) { return T(x + y) < z ? T(x + y) : z; });    \
  }                                                                                                            \
  ISOMER_EMULATOR_INLINE unsigned __vimax3_##SUFFIX(unsigned a, unsigned b, unsigned c) {                      \
    return __viaddmax_##SUFFIX(__viaddmax_##SUFFIX(a, 0, b), 0, c);                                            \
  }                                                                                                            \
  ISOMER_EMULATOR_INLINE unsigned __vimin3_##SUFFIX(unsigned a, unsigned b, unsigned c) {                      \
    return __viaddmin_##SUFFIX(__viaddmin_##SUFFIX(a, 0, b), 0, c);                                            \
  }                                                                                                            \
  ISOMER_EMULATOR_INLINE unsigned __vibmax_##SUFFIX(unsigned a, unsigned b, bool* high, bool* low) {           \
    *high = T(a >> 16) >= T(b >> 16), *low = T(a) >= T(b);                                                     \
    return __viaddmax_##SUFFIX(a, 0, b);                                                                       \
  }                                                                                                            \
  ISOMER_EMULATOR_INLINE unsigned __vibmin_##SUFFIX(unsigned a, unsigned b, bool* high, bool* low) {           \
    *high = T(a >> 16) <= T(b >> 16), *low = T(a) <= T(b);                                                     \
    return __viaddmin_##SUFFIX(a, 0, b);                                                                       \
  }
namespace isomer::emulator {
template <class T, class F>
ISOMER_EMULATOR_INLINE unsigned halves(unsigned a, unsigned b, unsigned c, F f) {
  const unsigned high = static_cast<unsigned short>(f(T(a >> 16), T(b >> 16), T(c >> 16)));
  return high << 16 | static_cast<unsigned short>(f(T(a), T(b), T(c)));
}
}  // namespace isomer::emulator
ISOMER_EMULATOR_HALVES(s16x2, std::int16_t)
ISOMER_EMULATOR_HALVES(u16x2, std::uint16_t)
#undef ISOMER_EMULATOR_HALVES
ISOMER_EMULATOR_INLINE unsigned __viaddmax_s16x2_relu(unsigned a, unsigned b, unsigned c) {
  return __vimax3_s16x2(__viaddmax_s16x2(a, b, c), 0, 0);
}
ISOMER_EMULATOR_INLINE unsigned __viaddmin_s16x2_relu(unsigned a, unsigned b, unsigned c) {
  return __vimax3_s16x2(__viaddmin_s16x2(a, b, c), 0, 0);
}
ISOMER_EMULATOR_INLINE unsigned __vimax3_s16x2_relu(unsigned a, unsigned b, unsigned c) {
  return __vimax3_s16x2(__vimax3_s16x2(a, b, c), 0, 0);
}
ISOMER_EMULATOR_INLINE unsigned __vimin3_s16x2_relu(unsigned a, unsigned b, unsigned c) {
  return __vimax3_s16x2(__vimin3_s16x2(a, b, c), 0, 0);
}
ISOMER_EMULATOR_INLINE unsigned __vimax_s16x2_relu(unsigned a, unsigned b) { return __vimax3_s16x2(a, b, 0); }
ISOMER_EMULATOR_INLINE unsigned __vimin_s16x2_relu(unsigned a, unsigned b) {
  return __vimax3_s16x2(__viaddmin_s16x2(a, 0, b), 0, 0);
}
ISOMER_EMULATOR_INLINE unsigned __uhadd(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<unsigned long long>(a) + b) >> 1);
}
ISOMER_EMULATOR_INLINE unsigned __urhadd(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<unsigned long long>(a) + b + 1) >> 1);
}
