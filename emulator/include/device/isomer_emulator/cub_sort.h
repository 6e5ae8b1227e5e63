// CUB's radix sort of a block, through shared memory as there: four bits at a time from the lowest on, each
// pass a count of digits, a scan and an exchange, so that equal keys keep their order.
#pragma once

#include "cub_exchange.h"

namespace cub {
namespace detail {

template <unsigned Bytes>
struct BitsOf;
template <>
struct BitsOf<1> {
  using type = std::uint8_t;
};
template <>
struct BitsOf<2> {
  using type = std::uint16_t;
};
template <>
struct BitsOf<4> {
  using type = std::uint32_t;
};
template <>
struct BitsOf<8> {
  using type = std::uint64_t;
};

/// Bits that are in order as unsigned numbers where the keys are.
template <class Key>
ISOMER_CUB typename BitsOf<sizeof(Key)>::type ordered_bits(const Key& key) {
  using Bits = typename BitsOf<sizeof(Key)>::type;
  constexpr Bits kHigh = Bits(Bits(1) << (8 * sizeof(Key) - 1));
  Bits bits;
  __builtin_memcpy(&bits, &key, sizeof key);
  if constexpr (std::is_integral_v<Key>) return std::is_signed_v<Key> ? Bits(bits ^ kHigh) : bits;
  return (bits & kHigh) != 0 ? Bits(~bits) : Bits(bits | kHigh);
}

}  // namespace detail

/// `SharedBytes` says how wide banks are on a device.
template <class Key, int X, int Items, class Value = NullType, int RadixBits = 4, bool = true,
          BlockScanAlgorithm = BLOCK_SCAN_WARP_SCANS, int SharedBytes = 1, int Y = 1, int Z = 1, int Arch = 0>
class BlockRadixSort {
  static constexpr unsigned kThreads = X * Y * Z, kDigits = 16;

 public:
  struct TempStorage {
    unsigned before[kDigits][kThreads];  ///< of a digit, in the threads in front
    unsigned all[kDigits];
    detail::Room<Key, kThreads * Items> keys;
    detail::Room<Value, kThreads * Items> values;
  };
  ISOMER_CUB explicit BlockRadixSort(TempStorage& storage) : storage_(storage) {}

  ISOMER_CUB void Sort(Key (&keys)[Items], int begin = 0, int end = 8 * sizeof(Key)) {
    sort(keys, none_, begin, end, false, false);
  }
  ISOMER_CUB void Sort(Key (&keys)[Items], Value (&values)[Items], int begin = 0, int end = 8 * sizeof(Key)) {
    sort(keys, values, begin, end, false, false);
  }
  ISOMER_CUB void SortDescending(Key (&keys)[Items], int begin = 0, int end = 8 * sizeof(Key)) {
    sort(keys, none_, begin, end, true, false);
  }
  ISOMER_CUB void SortDescending(Key (&keys)[Items], Value (&values)[Items], int begin = 0,
                                 int end = 8 * sizeof(Key)) {
    sort(keys, values, begin, end, true, false);
  }
  ISOMER_CUB void SortBlockedToStriped(Key (&keys)[Items], int begin = 0, int end = 8 * sizeof(Key)) {
    sort(keys, none_, begin, end, false, true);
  }
  ISOMER_CUB void SortBlockedToStriped(Key (&keys)[Items], Value (&values)[Items], int begin = 0,
                                       int end = 8 * sizeof(Key)) {
    sort(keys, values, begin, end, false, true);
  }
  ISOMER_CUB void SortDescendingBlockedToStriped(Key (&keys)[Items], int begin = 0,
                                                 int end = 8 * sizeof(Key)) {
    sort(keys, none_, begin, end, true, true);
  }
  ISOMER_CUB void SortDescendingBlockedToStriped(Key (&keys)[Items], Value (&values)[Items], int begin = 0,
                                                 int end = 8 * sizeof(Key)) {
    sort(keys, values, begin, end, true, true);
  }

 private:
  struct None {};
  template <class Values>
  ISOMER_CUB void sort(Key (&keys)[Items], Values& values, int begin, int end, bool descending,
                       bool striped) {
    for (int bit = begin; bit < end; bit += 4) {
      unsigned ranks[Items];
      rank(keys, ranks, bit, end - bit < 4 ? end - bit : 4, descending);
      const bool last = bit + 4 >= end;
      for (int i = 0; i < Items; ++i) storage_.keys[ranks[i]] = keys[i];
      if constexpr (!std::is_same_v<Values, None>)
        for (int i = 0; i < Items; ++i) storage_.values[ranks[i]] = values[i];
      __syncthreads();
      for (unsigned i = 0; i < Items; ++i) {
        const unsigned at =
            last && striped ? i * kThreads + detail::linear_thread() : detail::linear_thread() * Items + i;
        keys[i] = storage_.keys[at];
        if constexpr (!std::is_same_v<Values, None>) values[i] = storage_.values[at];
      }
      if (!last) __syncthreads();
    }
  }
  ISOMER_CUB void rank(const Key (&keys)[Items], unsigned (&ranks)[Items], int bit, int bits,
                       bool descending) {
    const unsigned thread = detail::linear_thread();
    unsigned digits[Items];
    for (unsigned d = 0; d < kDigits; ++d) storage_.before[d][thread] = 0;
    for (int i = 0; i < Items; ++i) {
      digits[i] = static_cast<unsigned>(detail::ordered_bits(keys[i]) >> bit) & ((1u << bits) - 1);
      if (descending) digits[i] = ((1u << bits) - 1) - digits[i];
      ranks[i] = storage_.before[digits[i]][thread]++;
    }
    __syncthreads();
    for (unsigned d = thread; d < kDigits; d += kThreads) {
      unsigned sum = 0;
      for (unsigned t = 0; t < kThreads; ++t) {
        const unsigned its = storage_.before[d][t];
        storage_.before[d][t] = sum;
        sum += its;
      }
      storage_.all[d] = sum;
    }
    __syncthreads();
    unsigned first[kDigits], sum = 0;
    for (unsigned d = 0; d < kDigits; ++d) {
      first[d] = sum;
      sum += storage_.all[d];
    }
    for (int i = 0; i < Items; ++i) ranks[i] += first[digits[i]] + storage_.before[digits[i]][thread];
  }

  TempStorage& storage_;
  None none_;
};

}  // namespace cub
