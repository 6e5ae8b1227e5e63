// CUB's collectives of a block that move items between its threads: exchanges and differences of neighbours.
#pragma once

#include "cub_block.h"

namespace cub {

template <class T, int X, int Items, bool = false, int Y = 1, int Z = 1, int Arch = 0>
class BlockExchange {
  static constexpr unsigned kThreads = X * Y * Z;

 public:
  struct TempStorage {
    detail::Room<T, kThreads * Items> items;
  };
  ISOMER_CUB explicit BlockExchange(TempStorage& storage) : storage_(storage) {}

  template <class Out>
  ISOMER_CUB void StripedToBlocked(const T (&in)[Items], Out (&out)[Items]) {
    put(in, striped);
    take(out, blocked);
  }
  template <class Out>
  ISOMER_CUB void BlockedToStriped(const T (&in)[Items], Out (&out)[Items]) {
    put(in, blocked);
    take(out, striped);
  }
  ISOMER_CUB void StripedToBlocked(T (&items)[Items]) { StripedToBlocked(items, items); }
  ISOMER_CUB void BlockedToStriped(T (&items)[Items]) { BlockedToStriped(items, items); }
  template <class Out, class Rank>
  ISOMER_CUB void ScatterToBlocked(const T (&in)[Items], Out (&out)[Items], Rank (&ranks)[Items]) {
    for (int i = 0; i < Items; ++i) storage_.items[static_cast<unsigned>(ranks[i])] = in[i];
    __syncthreads();
    take(out, blocked);
  }
  template <class Out, class Rank>
  ISOMER_CUB void ScatterToStriped(const T (&in)[Items], Out (&out)[Items], Rank (&ranks)[Items]) {
    for (int i = 0; i < Items; ++i) storage_.items[static_cast<unsigned>(ranks[i])] = in[i];
    __syncthreads();
    take(out, striped);
  }
  template <class Rank>
  ISOMER_CUB void ScatterToBlocked(T (&items)[Items], Rank (&ranks)[Items]) {
    ScatterToBlocked(items, items, ranks);
  }
  template <class Rank>
  ISOMER_CUB void ScatterToStriped(T (&items)[Items], Rank (&ranks)[Items]) {
    ScatterToStriped(items, items, ranks);
  }

 private:
  using Place = unsigned (*)(unsigned thread, unsigned item);
  static unsigned blocked(unsigned thread, unsigned item) { return thread * Items + item; }
  static unsigned striped(unsigned thread, unsigned item) { return item * kThreads + thread; }
  ISOMER_CUB void put(const T (&in)[Items], Place place) {
    for (unsigned i = 0; i < Items; ++i) storage_.items[place(detail::linear_thread(), i)] = in[i];
    __syncthreads();
  }
  template <class Out>
  ISOMER_CUB void take(Out (&out)[Items], Place place) {
    for (unsigned i = 0; i < Items; ++i) out[i] = storage_.items[place(detail::linear_thread(), i)];
  }
  TempStorage& storage_;
};

template <class T, int X, int Y = 1, int Z = 1, int Arch = 0>
class BlockAdjacentDifference {
  static constexpr unsigned kThreads = X * Y * Z;

 public:
  struct TempStorage {
    detail::Room<T, kThreads> edges;  ///< each thread's first or last item
  };
  ISOMER_CUB explicit BlockAdjacentDifference(TempStorage& storage) : storage_(storage) {}

  template <int Items, class Out, class Op>
  ISOMER_CUB void SubtractLeft(T (&in)[Items], Out (&out)[Items], Op op) {
    left(in, out, op, nullptr);
  }
  template <int Items, class Out, class Op>
  ISOMER_CUB void SubtractLeft(T (&in)[Items], Out (&out)[Items], Op op, T before_the_block) {
    left(in, out, op, &before_the_block);
  }
  template <int Items, class Out, class Op>
  ISOMER_CUB void SubtractRight(T (&in)[Items], Out (&out)[Items], Op op) {
    right(in, out, op, nullptr);
  }
  template <int Items, class Out, class Op>
  ISOMER_CUB void SubtractRight(T (&in)[Items], Out (&out)[Items], Op op, T behind_the_block) {
    right(in, out, op, &behind_the_block);
  }

 private:
  template <int Items, class Out, class Op>
  ISOMER_CUB void left(T (&in)[Items], Out (&out)[Items], Op op, T* before) {
    const unsigned thread = detail::linear_thread();
    storage_.edges[thread] = in[Items - 1];
    __syncthreads();
    for (int i = Items - 1; i > 0; --i) out[i] = op(in[i], in[i - 1]);
    if (thread > 0) {
      out[0] = op(in[0], storage_.edges[thread - 1]);
    } else {
      out[0] = before != nullptr ? op(in[0], *before) : in[0];
    }
  }
  template <int Items, class Out, class Op>
  ISOMER_CUB void right(T (&in)[Items], Out (&out)[Items], Op op, T* behind) {
    const unsigned thread = detail::linear_thread();
    storage_.edges[thread] = in[0];
    __syncthreads();
    for (int i = 0; i < Items - 1; ++i) out[i] = op(in[i], in[i + 1]);
    if (thread + 1 < kThreads) {
      out[Items - 1] = op(in[Items - 1], storage_.edges[thread + 1]);
    } else {
      out[Items - 1] = behind != nullptr ? op(in[Items - 1], *behind) : in[Items - 1];
    }
  }
  TempStorage& storage_;
};

}  // namespace cub
