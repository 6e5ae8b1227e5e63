// Warp operations. The forms with a mask follow the CUDA programming guide (width a power of two; a lane
// outside of the segment reads its own value); the forms without one, HIP's own, mean the lanes that execute
// together.
#pragma once

#include "language.h"

#if defined(ISOMER_EMULATOR_HIP) || ISOMER_EMULATOR_LANES == 64
typedef unsigned long long isomer_emulator_lane_mask;
#else
typedef unsigned isomer_emulator_lane_mask;
#endif

namespace isomer::emulator {

inline constexpr std::uint64_t kAllLanes =
    ISOMER_EMULATOR_LANES == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << ISOMER_EMULATOR_LANES % 64) - 1;
inline constexpr std::uint64_t kTogether = 0;

/// A mask of the source, cut to the lanes that exist. One that names no lane at all is as one that names another
/// lane alone: it leaves its caller out.
ISOMER_EMULATOR_INLINE std::uint64_t named(std::uint64_t mask) {
  if ((mask & kAllLanes) == 0) return std::uint64_t{1} << (isomer_emulator_lane() ^ 1);
  return mask & kAllLanes;
}

template <class T>
ISOMER_EMULATOR_INLINE T shuffled(std::uint64_t mask, T value, unsigned source) {
  constexpr unsigned kPiece = 16;
  char bytes[sizeof(T)];
  __builtin_memcpy(bytes, &value, sizeof(T));
  for (unsigned at = 0; at < sizeof(T); at += kPiece) {
    isomer_emulator_shuffle(mask, bytes + at, sizeof(T) - at < kPiece ? sizeof(T) - at : kPiece, source);
  }
  __builtin_memcpy(&value, bytes, sizeof(T));
  return value;
}

ISOMER_EMULATOR_INLINE unsigned source_of(unsigned lane, int source, int width) {
  return (lane & ~(static_cast<unsigned>(width) - 1)) |
         (static_cast<unsigned>(source) & (static_cast<unsigned>(width) - 1));
}
ISOMER_EMULATOR_INLINE unsigned source_up(unsigned lane, unsigned delta, int width) {
  const unsigned segment = lane & ~(static_cast<unsigned>(width) - 1);
  return lane - segment >= delta ? lane - delta : lane;
}
ISOMER_EMULATOR_INLINE unsigned source_down(unsigned lane, unsigned delta, int width) {
  const unsigned end = (lane & ~(static_cast<unsigned>(width) - 1)) + static_cast<unsigned>(width);
#if defined(ISOMER_EMULATOR_WHOLE_SHUFFLES)
  // An experiment: each lane gets the whole of a reduction that is made by steps downwards.
  const unsigned source = lane ^ delta;
  return source < end ? source : lane;
#else
  return delta < end - lane ? lane + delta : lane;
#endif
}
ISOMER_EMULATOR_INLINE unsigned source_xor(unsigned lane, int mask, int width) {
  const unsigned end = (lane & ~(static_cast<unsigned>(width) - 1)) + static_cast<unsigned>(width);
  const unsigned source = lane ^ static_cast<unsigned>(mask);
  return source < end ? source : lane;
}

}  // namespace isomer::emulator

#define ISOMER_EMULATOR_SHUFFLE(NAME, ARGUMENT, SOURCE)                                                     \
  template <class T>                                                                                        \
  ISOMER_EMULATOR_INLINE T __##NAME##_sync(std::uint64_t mask, T value, ARGUMENT a, int width = warpSize) { \
    return isomer::emulator::shuffled(isomer::emulator::named(mask), value,                                 \
                                      isomer::emulator::SOURCE(isomer_emulator_lane(), a, width));          \
  }                                                                                                         \
  template <class T>                                                                                        \
  ISOMER_EMULATOR_INLINE T __##NAME(T value, ARGUMENT a, int width = warpSize) {                            \
    return isomer::emulator::shuffled(isomer::emulator::kTogether, value,                                   \
                                      isomer::emulator::SOURCE(isomer_emulator_lane(), a, width));          \
  }
ISOMER_EMULATOR_SHUFFLE(shfl, int, source_of)
ISOMER_EMULATOR_SHUFFLE(shfl_up, unsigned, source_up)
ISOMER_EMULATOR_SHUFFLE(shfl_down, unsigned, source_down)
ISOMER_EMULATOR_SHUFFLE(shfl_xor, int, source_xor)
#undef ISOMER_EMULATOR_SHUFFLE

ISOMER_EMULATOR_INLINE isomer_emulator_lane_mask __ballot_sync(std::uint64_t mask, int p) {
  return static_cast<isomer_emulator_lane_mask>(
      isomer_emulator_vote(isomer::emulator::named(mask), p).ballot);
}
ISOMER_EMULATOR_INLINE int __any_sync(std::uint64_t mask, int p) {
  return isomer_emulator_vote(isomer::emulator::named(mask), p).ballot != 0;
}
ISOMER_EMULATOR_INLINE int __all_sync(std::uint64_t mask, int p) {
  const auto v = isomer_emulator_vote(isomer::emulator::named(mask), p);
  return v.ballot == v.members;
}
ISOMER_EMULATOR_INLINE int __uni_sync(std::uint64_t mask, int p) {
  const auto v = isomer_emulator_vote(isomer::emulator::named(mask), p);
  return v.ballot == v.members || v.ballot == 0;
}
ISOMER_EMULATOR_INLINE isomer_emulator_lane_mask __ballot(int p) {
  return static_cast<isomer_emulator_lane_mask>(isomer_emulator_vote(isomer::emulator::kTogether, p).ballot);
}
ISOMER_EMULATOR_INLINE int __any(int p) {
  return isomer_emulator_vote(isomer::emulator::kTogether, p).ballot != 0;
}
ISOMER_EMULATOR_INLINE int __all(int p) {
  const auto v = isomer_emulator_vote(isomer::emulator::kTogether, p);
  return v.ballot == v.members;
}
ISOMER_EMULATOR_INLINE isomer_emulator_lane_mask __activemask() {
  return static_cast<isomer_emulator_lane_mask>(isomer_emulator_vote(isomer::emulator::kTogether, 1).members);
}

ISOMER_EMULATOR_INLINE void __syncwarp(std::uint64_t mask = isomer::emulator::kAllLanes) {
  isomer_emulator_warp_barrier(isomer::emulator::named(mask));
}

template <class T>
ISOMER_EMULATOR_INLINE isomer_emulator_lane_mask __match_any_sync(std::uint64_t mask, T value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "match compares values of four or eight bytes");
  std::uint64_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(T));
  return static_cast<isomer_emulator_lane_mask>(
      isomer_emulator_match(isomer::emulator::named(mask), bits).ballot);
}
template <class T>
ISOMER_EMULATOR_INLINE isomer_emulator_lane_mask __match_all_sync(std::uint64_t mask, T value,
                                                                  int* predicate) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "match compares values of four or eight bytes");
  std::uint64_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(T));
  const auto v = isomer_emulator_match(isomer::emulator::named(mask), bits);
  *predicate = v.ballot == v.members;
  return *predicate ? static_cast<isomer_emulator_lane_mask>(v.members) : 0;
}

namespace isomer::emulator {
enum ReduceOp : int { kAdd, kMinSigned, kMaxSigned, kMinUnsigned, kMaxUnsigned, kAnd, kOr, kXor };
}
#define ISOMER_EMULATOR_REDUCE(NAME, TYPE, OP)                                                           \
  ISOMER_EMULATOR_INLINE TYPE __reduce_##NAME##_sync(std::uint64_t mask, TYPE value) {                   \
    return static_cast<TYPE>(isomer_emulator_reduce(isomer::emulator::named(mask), isomer::emulator::OP, \
                                                    static_cast<std::uint64_t>(value)));                 \
  }
ISOMER_EMULATOR_REDUCE(add, unsigned, kAdd)
ISOMER_EMULATOR_REDUCE(add, int, kAdd)
ISOMER_EMULATOR_REDUCE(min, unsigned, kMinUnsigned)
ISOMER_EMULATOR_REDUCE(min, int, kMinSigned)
ISOMER_EMULATOR_REDUCE(max, unsigned, kMaxUnsigned)
ISOMER_EMULATOR_REDUCE(max, int, kMaxSigned)
ISOMER_EMULATOR_REDUCE(and, unsigned, kAnd)
ISOMER_EMULATOR_REDUCE(or, unsigned, kOr)
ISOMER_EMULATOR_REDUCE(xor, unsigned, kXor)
#undef ISOMER_EMULATOR_REDUCE
