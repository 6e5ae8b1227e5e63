// The tables of cuRAND's quasirandom generators, which a program copies to the device. The first dimension is van der
// Corput's sequence. The others' vectors are drawn, not those of Joe and Kuo: each is a sequence that meets every interval
// of 1/2ⁿ once in 2ⁿ numbers, as theirs, and gives other numbers.
#pragma once

#include <vector>

// Included by random_host.h.

namespace isomer::emulator {

constexpr unsigned kDimensions = 20000;

inline unsigned long long drawn(unsigned long long& state) {
  unsigned long long x = state += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

/// A vector has the bit of its place, whatever above it and nothing below.
template <class Word>
const std::vector<Word>& direction_vectors() {
  static const std::vector<Word> all = [] {
    constexpr unsigned kBits = 8 * sizeof(Word);
    std::vector<Word> made;
    made.reserve(std::size_t{kDimensions} * kBits);
    unsigned long long state = kBits;
    for (unsigned dimension = 0; dimension < kDimensions; ++dimension)
      for (unsigned bit = 0; bit < kBits; ++bit) {
        const Word place = Word{1} << (kBits - 1 - bit);
        const Word above = static_cast<Word>(~(place | (place - 1)));
        made.push_back(place | (dimension == 0 ? Word{0} : static_cast<Word>(drawn(state)) & above));
      }
    return made;
  }();
  return all;
}
template <class Word>
std::vector<Word>& scramble_constants() {
  static std::vector<Word> all = [] {
    std::vector<Word> made;
    unsigned long long state = sizeof(Word);
    for (unsigned dimension = 0; dimension < kDimensions; ++dimension)
      made.push_back(static_cast<Word>(drawn(state)));
    return made;
  }();
  return all;
}
template <class Word, class Vectors>
curandStatus_t give_directions(Vectors** vectors, bool known) {
  if (!known) return CURAND_STATUS_OUT_OF_RANGE;
  *vectors = reinterpret_cast<Vectors*>(const_cast<Word*>(direction_vectors<Word>().data()));
  return CURAND_STATUS_SUCCESS;
}

}  // namespace isomer::emulator

static inline curandStatus_t curandGetDirectionVectors32(curandDirectionVectors32_t** vectors,
                                                         curandDirectionVectorSet_t set) {
  return isomer::emulator::give_directions<unsigned>(vectors, set == CURAND_DIRECTION_VECTORS_32_JOEKUO6 ||
                                                                  set == CURAND_SCRAMBLED_DIRECTION_VECTORS_32_JOEKUO6);
}
static inline curandStatus_t curandGetDirectionVectors64(curandDirectionVectors64_t** vectors,
                                                         curandDirectionVectorSet_t set) {
  return isomer::emulator::give_directions<unsigned long long>(
      vectors,
      set == CURAND_DIRECTION_VECTORS_64_JOEKUO6 || set == CURAND_SCRAMBLED_DIRECTION_VECTORS_64_JOEKUO6);
}
static inline curandStatus_t curandGetScrambleConstants32(unsigned** constants) {
  *constants = isomer::emulator::scramble_constants<unsigned>().data();
  return CURAND_STATUS_SUCCESS;
}
static inline curandStatus_t curandGetScrambleConstants64(unsigned long long** constants) {
  *constants = isomer::emulator::scramble_constants<unsigned long long>().data();
  return CURAND_STATUS_SUCCESS;
}
