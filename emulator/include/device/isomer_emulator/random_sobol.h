// cuRAND's quasirandom states on the device: Sobol sequences of 32 and 64 bits, plain and scrambled, of whatever direction
// vectors the program gives. Each number is drawn of one point of the sequence.
#pragma once

// Included by random.h.

namespace isomer::emulator {

template <class Word>
struct Sobol {
  Word i, x, c;
  Word direction_vectors[8 * sizeof(Word)];
};

/// To the point of that index, in the order of Gray's code.
template <class Word>
ISOMER_EMULATOR_INLINE void sobol_go_to(Sobol<Word>& s, Word index) {
  s.i = index;
  s.x = s.c;
  const Word gray = index ^ (index >> 1);
  for (unsigned bit = 0; bit < 8 * sizeof(Word); ++bit)
    if ((gray >> bit & 1) != 0) s.x ^= s.direction_vectors[bit];
}
template <class Word>
ISOMER_EMULATOR_INLINE void sobol_begin(Sobol<Word>& s, const Word* vectors, Word scramble, Word offset) {
  for (unsigned bit = 0; bit < 8 * sizeof(Word); ++bit) s.direction_vectors[bit] = vectors[bit];
  s.c = scramble;
  sobol_go_to(s, offset);
}
template <class Word>
ISOMER_EMULATOR_INLINE Word sobol_next(Sobol<Word>& s) {
  const Word number = s.x, inverted = ~s.i;
  unsigned bit = 0;
  while (bit + 1 < 8 * sizeof(Word) && (inverted >> bit & 1) == 0) ++bit;
  s.x ^= s.direction_vectors[bit];
  ++s.i;
  return number;
}
/// In (0, 1].
ISOMER_EMULATOR_INLINE double unit_of(std::uint32_t x) { return (x + 1.0) * 0x1p-32; }
ISOMER_EMULATOR_INLINE double unit_of(unsigned long long x) {
  return static_cast<double>((x >> 11) + 1) * 0x1p-53;
}
/// Of a normal distribution: what lies below it has that probability, less than one.
ISOMER_EMULATOR_INLINE double normal_of(double unit) { return normcdfinv(unit < 1 ? unit : 1 - 0x1p-54); }

}  // namespace isomer::emulator

struct curandStateSobol32 : isomer::emulator::Sobol<unsigned> {};
struct curandStateScrambledSobol32 : isomer::emulator::Sobol<unsigned> {};
struct curandStateSobol64 : isomer::emulator::Sobol<unsigned long long> {};
struct curandStateScrambledSobol64 : isomer::emulator::Sobol<unsigned long long> {};
using curandStateSobol32_t = curandStateSobol32;
using curandStateScrambledSobol32_t = curandStateScrambledSobol32;
using curandStateSobol64_t = curandStateSobol64;
using curandStateScrambledSobol64_t = curandStateScrambledSobol64;

#define ISOMER_EMULATOR_SOBOL(STATE, WORD)                                                            \
  ISOMER_EMULATOR_INLINE WORD curand(STATE* s) { return isomer::emulator::sobol_next(*s); }           \
  ISOMER_EMULATOR_INLINE void skipahead(WORD n, STATE* s) {                                           \
    isomer::emulator::sobol_go_to(*s, static_cast<WORD>(s->i + n));                                   \
  }                                                                                                   \
  ISOMER_EMULATOR_INLINE double curand_uniform_double(STATE* s) {                                     \
    return isomer::emulator::unit_of(curand(s));                                                      \
  }                                                                                                   \
  ISOMER_EMULATOR_INLINE float curand_uniform(STATE* s) {                                             \
    return static_cast<float>(curand_uniform_double(s));                                              \
  }                                                                                                   \
  ISOMER_EMULATOR_INLINE double curand_normal_double(STATE* s) {                                      \
    return isomer::emulator::normal_of(curand_uniform_double(s));                                     \
  }                                                                                                   \
  ISOMER_EMULATOR_INLINE float curand_normal(STATE* s) {                                              \
    return static_cast<float>(curand_normal_double(s));                                               \
  }
#define ISOMER_EMULATOR_PLAIN_SOBOL(STATE, WORD)                                                      \
  ISOMER_EMULATOR_SOBOL(STATE, WORD)                                                                  \
  ISOMER_EMULATOR_INLINE void curand_init(const WORD* vectors, WORD offset, STATE* s) {               \
    isomer::emulator::sobol_begin(*s, vectors, static_cast<WORD>(0), offset);                          \
  }
#define ISOMER_EMULATOR_SCRAMBLED_SOBOL(STATE, WORD)                                                  \
  ISOMER_EMULATOR_SOBOL(STATE, WORD)                                                                  \
  ISOMER_EMULATOR_INLINE void curand_init(const WORD* vectors, WORD scramble, WORD offset, STATE* s) { \
    isomer::emulator::sobol_begin(*s, vectors, scramble, offset);                                     \
  }
ISOMER_EMULATOR_PLAIN_SOBOL(curandStateSobol32, unsigned)
ISOMER_EMULATOR_SCRAMBLED_SOBOL(curandStateScrambledSobol32, unsigned)
ISOMER_EMULATOR_PLAIN_SOBOL(curandStateSobol64, unsigned long long)
ISOMER_EMULATOR_SCRAMBLED_SOBOL(curandStateScrambledSobol64, unsigned long long)
#undef ISOMER_EMULATOR_PLAIN_SOBOL
#undef ISOMER_EMULATOR_SCRAMBLED_SOBOL
#undef ISOMER_EMULATOR_SOBOL
