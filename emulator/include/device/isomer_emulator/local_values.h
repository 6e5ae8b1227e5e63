// What the rewriter puts round the variables that a device function declares for itself: an index outside of
// an array of its own, and a read of what nothing was written to. Only a watched module asks; the values that
// the questions need are mostly known to the compiler, which then leaves them out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

extern "C" {
/// `what`: 0 reads, 1 writes, 2 takes the address of.
void isomer_emulator_outside_array(const char* array, long long index, unsigned long long count, int what);
/// Of the object that lies from `object` to `end`: the element, which is none of the array, is elsewhere in
/// it.
void isomer_emulator_outside_member(const char* array, long long index, unsigned long long count, int what,
                                    const volatile void* object, const volatile void* end,
                                    const volatile void* element);
void isomer_emulator_unwritten(const char* variable, long long index);  ///< no array: index −1
/// Of an array of `rank` dimensions, the first of which may be any.
void isomer_emulator_unwritten_row(const char* variable, unsigned long long index,
                                   const unsigned long long* sizes, unsigned rank);
}

namespace isomer::emulator {

/// How many elements an index at this level may choose from: those of its own dimension at the first, those
/// of the whole array behind it, where an index may run on into the next row.
template <class Array, unsigned Level>
constexpr std::size_t elements() {
  if constexpr (Level == 0) {
    return std::extent_v<Array>;
  } else {
    using Row = std::remove_extent_t<Array>;
    return std::extent_v<Array> * elements<Row, Level - 1>();
  }
}

/// `Array` is what decltype says of the name: of a pointer or of shared memory it is no array.
template <class Array, unsigned Level, int What, class Index>
__attribute__((always_inline)) constexpr Index local_index(Index index, [[maybe_unused]] const char* name) {
#ifdef ISOMER_EMULATOR_WATCH
  if constexpr (std::rank_v < Array >> Level && std::is_integral_v<Index>) {
    constexpr std::size_t count = elements<Array, Level>();
    if constexpr (count > 0) {
      const auto at = static_cast<std::size_t>(static_cast<long long>(index));
      const bool inside = Level == 0 ? at < count + (What == 2) : at + count < 2 * count + 1;
      if (__builtin_expect(!inside, false))
        isomer_emulator_outside_array(name, static_cast<long long>(index), count, What);
    }
  }
#endif
  return index;
}

/// Of an array that is a member. One of a single element at a structure's end may stand for as many as were
/// allocated.
template <class Array, unsigned Level, int What, class Index>
__attribute__((always_inline)) constexpr Index member_index(Index index, [[maybe_unused]] const char* name) {
  if constexpr (std::extent_v < Array >> 1) local_index<Array, Level, What>(index, name);
  return index;
}

/// Of an array that is a member of what a pointer points to. Behind its end lie other members; where it is
/// the last of them, it may stand for as many elements as were allocated.
template <class Array, unsigned Level, int What, class Index, class Pointer, class Member>
__attribute__((always_inline)) inline Index pointed_index(Index index, [[maybe_unused]] const char* name,
                                                          [[maybe_unused]] const Pointer& pointer,
                                                          [[maybe_unused]] const Member& member) {
#ifdef ISOMER_EMULATOR_WATCH
  if constexpr (std::extent_v < Array >> 1 && std::rank_v < Array >> Level && std::is_integral_v<Index> &&
                std::is_pointer_v<Pointer>) {
    constexpr std::size_t count = elements<Array, Level>();
    const auto at = static_cast<std::size_t>(static_cast<long long>(index));
    const bool inside = Level == 0 ? at < count + (What == 2) : at + count < 2 * count + 1;
    if (__builtin_expect(!inside, false)) {
      const auto* first = reinterpret_cast<const volatile char*>(&member);
      const auto* end = reinterpret_cast<const volatile char*>(pointer + 1);
      const bool last = first + sizeof(Member) + alignof(std::remove_pointer_t<Pointer>) > end;
      if (!last || static_cast<long long>(index) < 0)
        isomer_emulator_outside_member(
            name, static_cast<long long>(index), count, What, pointer, end,
            first + static_cast<long long>(index) *
                        static_cast<long long>(sizeof(Member) / elements<Array, Level>()));
    }
  }
#endif
  return index;
}

class Written {
 public:
#ifdef ISOMER_EMULATOR_WATCH
  __attribute__((always_inline)) void now() const { written_ = true; }
  __attribute__((always_inline)) void needed(const char* name) const {
    if (__builtin_expect(!written_, false)) {
      isomer_emulator_unwritten(name, -1);
      written_ = true;
    }
  }

 private:
  mutable bool written_ = false;
#else
  void now() const {}
  void needed(const char*) const {}
#endif
};

/// Of an array, whose elements are counted through. The subscripts in front of the last one go through `row`.
template <class Array>
class WrittenElements {
  static constexpr unsigned kRank = std::rank_v<Array>;

 public:
#ifdef ISOMER_EMULATOR_WATCH
  template <unsigned Level, class Index>
  __attribute__((always_inline)) Index row(Index index) const {
    constexpr std::size_t count = elements<Array, Level>();
    const std::size_t begin =
        static_cast<std::size_t>(index) * (count > 0 ? elements<Array, kRank - 1>() / count : 0);
    row_ = Level == 0 ? begin : row_ + begin;
    return index;
  }
  template <class Index>
  __attribute__((always_inline)) Index writes(Index index) const {
    const std::size_t at = flat(index);
    words_[word(at)] |= bit(at);
    return index;
  }
  template <class Index>
  __attribute__((always_inline)) Index needs(Index index, const char* name) const {
    const std::size_t at = flat(index);
    if (__builtin_expect(!(words_[word(at)] & bit(at)), false)) {
      tell(at, name);
      words_[word(at)] |= bit(at);
    }
    return index;
  }

 private:
  static constexpr std::size_t kBits = 64, kWords = (elements<Array, kRank - 1>() + kBits - 1) / kBits;
  template <class Index>
  __attribute__((always_inline)) std::size_t flat(Index index) const {
    return kRank > 1 ? row_ + static_cast<std::size_t>(index) : static_cast<std::size_t>(index);
  }
  // An index outside of the array has been told.
  __attribute__((always_inline)) static constexpr std::size_t word(std::size_t at) {
    return kWords <= 1 ? 0 : at / kBits % kWords;
  }
  __attribute__((always_inline)) static constexpr std::uint64_t bit(std::size_t at) {
    return std::uint64_t{1} << (at % kBits);
  }
  static void tell(std::size_t at, const char* name) {
    if constexpr (kRank == 1) {
      isomer_emulator_unwritten(name, static_cast<long long>(at));
    } else {
      constexpr unsigned long long sizes[] = {std::extent_v<Array, 0>, std::extent_v<Array, 1>,
                                              std::extent_v<Array, 2>, std::extent_v<Array, 3>};
      isomer_emulator_unwritten_row(name, at, sizes, kRank);
    }
  }
  mutable std::size_t row_ = 0;
  mutable std::uint64_t words_[kWords > 0 ? kWords : 1] = {};
#else
  template <unsigned Level, class Index>
  Index row(Index index) const {
    return index;
  }
  template <class Index>
  Index writes(Index index) const {
    return index;
  }
  template <class Index>
  Index needs(Index index, const char*) const {
    return index;
  }
#endif
};

}  // namespace isomer::emulator
