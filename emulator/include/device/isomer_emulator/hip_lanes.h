// AMD's operations between lanes, by the compiler's own names: data-parallel primitives, swizzles and
// permutations. Included by hip_builtins.h.
#pragma once

namespace isomer::emulator::lanes {

constexpr int kNone = -1;  ///< no lane: the row or the wave ends there

/// From which lane `lane` reads under a control word of DPP.
ISOMER_EMULATOR_INLINE int dpp_source(int control, int lane) {
  const int row = lane & ~15, in_row = lane & 15, last = ISOMER_EMULATOR_LANES - 1;
  const auto within_row = [row](int place) { return place < 0 || place > 15 ? kNone : row + place; };
  if (control < 0x100) return (lane & ~3) + (control >> 2 * (lane & 3) & 3);
  const int by = control & 15;
  switch (control & ~15) {
    case 0x100:
      return within_row(in_row + by);
    case 0x110:
      return within_row(in_row - by);
    case 0x120:
      return row + ((in_row - by) & 15);
    case 0x150:
      return row + by;
    case 0x160:
      return row + (in_row ^ by);
    default:
      break;
  }
  switch (control) {
    case 0x130:
      return lane == last ? kNone : lane + 1;
    case 0x134:
      return (lane + 1) & last;
    case 0x138:
      return lane == 0 ? kNone : lane - 1;
    case 0x13c:
      return (lane - 1) & last;
    case 0x140:
      return row + 15 - in_row;
    case 0x141:
      return (lane & ~7) + 7 - (lane & 7);
    case 0x142:
      return row == 0 ? kNone : row - 1;
    case 0x143:
      return lane < 32 ? kNone : 31;
    default:
      isomer_emulator_trap("passes a control word of DPP that is none");
      return kNone;
  }
}

/// What the lane `source` has, or `otherwise` where that lane is none or does not take part.
template <class T>
ISOMER_EMULATOR_INLINE T from_lane(T value, int source, T otherwise) {
  const std::uint64_t members = isomer_emulator_vote(kTogether, 1).members;
  const bool there = source != kNone && (members >> source & 1) != 0;
  const T got = shuffled(kTogether, value, there ? static_cast<unsigned>(source) : isomer_emulator_lane());
  return there ? got : otherwise;
}

template <class T>
ISOMER_EMULATOR_INLINE T dpp(T before, T value, int control, int rows, int banks, bool zero) {
  const int lane = static_cast<int>(isomer_emulator_lane());
  const T got = from_lane(value, dpp_source(control, lane), zero ? T{} : before);
  return (rows >> (lane >> 4 & 3) & 1) != 0 && (banks >> (lane >> 2 & 3) & 1) != 0 ? got : before;
}
template <class T>
ISOMER_EMULATOR_INLINE T dpp8(T value, unsigned selectors) {
  const int lane = static_cast<int>(isomer_emulator_lane());
  return from_lane(value, (lane & ~7) + static_cast<int>(selectors >> 3 * (lane & 7) & 7), T{});
}

ISOMER_EMULATOR_INLINE int swizzle(int value, int pattern) {
  const int lane = static_cast<int>(isomer_emulator_lane());
  const int source =
      (pattern & 0x8000) != 0
          ? (lane & ~3) + (pattern >> 2 * (lane & 3) & 3)
          : (lane & ~31) + (((lane & pattern & 31) | (pattern >> 5 & 31)) ^ (pattern >> 10 & 31));
  return from_lane(value, source, 0);
}

/// Each lane sends; where several send to one lane, the last of them has written.
ISOMER_EMULATOR_INLINE int permute(int address, int value) {
  const std::uint64_t members = isomer_emulator_vote(kTogether, 1).members;
  const unsigned target = static_cast<unsigned>(address) >> 2 & (ISOMER_EMULATOR_LANES - 1);
  int got = 0;
  for (unsigned lane = 0; lane < ISOMER_EMULATOR_LANES; ++lane) {
    if ((members >> lane & 1) == 0) continue;
    const unsigned to = shuffled(kTogether, target, lane);
    const int sent = shuffled(kTogether, value, lane);
    if (to == isomer_emulator_lane()) got = sent;
  }
  return got;
}

/// Within a row of sixteen lanes, or with `flip` from the other row of the pair: four bits say from where.
template <class T>
ISOMER_EMULATOR_INLINE T permute_row(T before, T value, unsigned low, unsigned high, bool zero, int flip) {
  const int lane = static_cast<int>(isomer_emulator_lane());
  const unsigned from = ((lane & 8) != 0 ? high : low) >> 4 * (lane & 7) & 15;
  return from_lane(value, ((lane ^ flip) & ~15) + static_cast<int>(from), zero ? T{} : before);
}

}  // namespace isomer::emulator::lanes

#define __builtin_amdgcn_update_dpp(BEFORE, VALUE, CONTROL, ROWS, BANKS, ZERO) \
  isomer::emulator::lanes::dpp<std::decay_t<decltype(VALUE)>>(BEFORE, VALUE, CONTROL, ROWS, BANKS, ZERO)
#define __builtin_amdgcn_mov_dpp(VALUE, CONTROL, ROWS, BANKS, ZERO) \
  __builtin_amdgcn_update_dpp(VALUE, VALUE, CONTROL, ROWS, BANKS, ZERO)
#define __builtin_amdgcn_mov_dpp8(VALUE, SELECTORS) isomer::emulator::lanes::dpp8(VALUE, SELECTORS)
#define __builtin_amdgcn_ds_swizzle(VALUE, PATTERN) isomer::emulator::lanes::swizzle(VALUE, PATTERN)
#define __builtin_amdgcn_ds_permute(ADDRESS, VALUE) isomer::emulator::lanes::permute(ADDRESS, VALUE)
#define __builtin_amdgcn_permlane16(BEFORE, VALUE, LOW, HIGH, FETCH, ZERO) \
  isomer::emulator::lanes::permute_row(BEFORE, VALUE, LOW, HIGH, ZERO, 0)
#define __builtin_amdgcn_permlanex16(BEFORE, VALUE, LOW, HIGH, FETCH, ZERO) \
  isomer::emulator::lanes::permute_row(BEFORE, VALUE, LOW, HIGH, ZERO, 16)
#define __builtin_amdgcn_permlane64(VALUE) \
  isomer::emulator::lanes::from_lane(VALUE, static_cast<int>(isomer_emulator_lane() ^ 32u), VALUE)
#define __builtin_amdgcn_writelane(VALUE, LANE, BEFORE) \
  (isomer_emulator_lane() == static_cast<unsigned>(LANE) ? (VALUE) : (BEFORE))
#define __builtin_amdgcn_ballot_w32(PREDICATE) static_cast<unsigned>(__ballot(PREDICATE))
#define __hip_ds_swizzle(VALUE, PATTERN) isomer::emulator::lanes::swizzle(static_cast<int>(VALUE), PATTERN)
#define __hip_move_dpp(VALUE, CONTROL, ROWS, BANKS, ZERO) \
  __builtin_amdgcn_mov_dpp(VALUE, CONTROL, ROWS, BANKS, ZERO)
