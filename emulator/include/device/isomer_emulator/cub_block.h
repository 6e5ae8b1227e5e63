// CUB's collectives of a block: reductions and scans in CUB's order of operations, through shared memory as
// there, so that storage used again without a barrier is a race here too. Only thread 0 of a reduction has
// its result.
#pragma once

#include "cub_warp.h"

namespace cub {

enum BlockReduceAlgorithm {
  BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
  BLOCK_REDUCE_RAKING,
  BLOCK_REDUCE_WARP_REDUCTIONS,
};
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };

namespace detail {

/// Raw room for values, whatever constructors they have.
template <class T, unsigned Count>
struct Room {
  alignas(T) unsigned char bytes[sizeof(T) * Count];
  T& operator[](unsigned i) { return reinterpret_cast<T*>(bytes)[i]; }
};

/// Shared memory that a collective has where the caller gives it none: one for each type.
template <class Storage>
ISOMER_CUB Storage& own_storage(const char* name) {
  static isomer::emulator::SharedSite site{name, __FILE__, __LINE__, sizeof(Storage), alignof(Storage), 0};
  return isomer::emulator::shared_variable<Storage>(site);
}

template <class T, int Items, class Op>
ISOMER_CUB T folded(T (&items)[Items], Op op) {
  T total = items[0];
  for (int i = 1; i < Items; ++i) total = op(total, items[i]);
  return total;
}

}  // namespace detail

template <class T, int X, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int Y = 1, int Z = 1,
          int Arch = 0>
class BlockReduce {
  static constexpr unsigned kThreads = X * Y * Z, kLanes = ISOMER_EMULATOR_LANES,
                            kWarps = (kThreads + kLanes - 1) / kLanes;

 public:
  struct TempStorage {
    detail::Room<T, kWarps> of_warp;
  };
  ISOMER_CUB explicit BlockReduce(TempStorage& storage) : storage_(storage) {}
  ISOMER_CUB BlockReduce() : BlockReduce(detail::own_storage<TempStorage>("BlockReduce's own storage")) {}

  template <class Op>
  ISOMER_CUB T Reduce(T value, Op op, int valid) {
    const unsigned linear = detail::linear_thread(), warp = linear / kLanes,
                   count = static_cast<unsigned>(valid) < kThreads ? static_cast<unsigned>(valid) : kThreads;
    const unsigned begin = warp * kLanes, mine = begin >= count ? 0 : count - begin;
    value = detail::warp_reduce<kLanes>(value, op, mine < kLanes ? mine : kLanes);
    if (linear % kLanes == 0) storage_.of_warp[warp] = value;
    __syncthreads();
    if (linear == 0)
      for (unsigned w = 1; w * kLanes < count; ++w) value = op(value, storage_.of_warp[w]);
    return value;
  }
  template <class Op>
  ISOMER_CUB T Reduce(T value, Op op) {
    return Reduce(value, op, static_cast<int>(kThreads));
  }
  template <int Items, class Op>
  ISOMER_CUB T Reduce(T (&items)[Items], Op op) {
    return Reduce(detail::folded(items, op), op);
  }
  ISOMER_CUB T Sum(T value) { return Reduce(value, cub::Sum()); }
  ISOMER_CUB T Sum(T value, int valid) { return Reduce(value, cub::Sum(), valid); }
  template <int Items>
  ISOMER_CUB T Sum(T (&items)[Items]) {
    return Reduce(items, cub::Sum());
  }

 private:
  TempStorage& storage_;
};

template <class T, int X, BlockScanAlgorithm = BLOCK_SCAN_RAKING, int Y = 1, int Z = 1, int Arch = 0>
class BlockScan {
  static constexpr unsigned kThreads = X * Y * Z, kLanes = ISOMER_EMULATOR_LANES,
                            kWarps = (kThreads + kLanes - 1) / kLanes;

 public:
  struct TempStorage {
    detail::Room<T, kWarps> of_warp;
    detail::Room<T, 1> prefix;
  };
  ISOMER_CUB explicit BlockScan(TempStorage& storage) : storage_(storage) {}

  template <class Op>
  ISOMER_CUB void InclusiveScan(T value, T& out, Op op, T& aggregate) {
    T before = value;
    out = scanned(value, op, before, aggregate);
  }
  template <class Op>
  ISOMER_CUB void InclusiveScan(T value, T& out, Op op) {
    T aggregate = value;
    InclusiveScan(value, out, op, aggregate);
  }
  /// `prefix(aggregate)`, called by the first warp, gives what lies before the block.
  template <class Op, class Prefix>
  ISOMER_CUB void InclusiveScan(T value, T& out, Op op, Prefix& prefix) {
    T before = value, aggregate = value;
    const T all = scanned(value, op, before, aggregate);
    out = op(prefix_of(prefix, aggregate), all);
  }
  template <class Op>
  ISOMER_CUB void ExclusiveScan(T value, T& out, T initial, Op op, T& aggregate) {
    T before = value;
    scanned(value, op, before, aggregate);
    out = detail::linear_thread() == 0 ? initial : op(initial, before);
  }
  template <class Op>
  ISOMER_CUB void ExclusiveScan(T value, T& out, T initial, Op op) {
    T aggregate = value;
    ExclusiveScan(value, out, initial, op, aggregate);
  }
  template <class Op, class Prefix>
  ISOMER_CUB void ExclusiveScan(T value, T& out, Op op, Prefix& prefix) {
    T before = value, aggregate = value;
    scanned(value, op, before, aggregate);
    const T first = prefix_of(prefix, aggregate);
    out = detail::linear_thread() == 0 ? first : op(first, before);
  }
  template <int Items, class Op>
  ISOMER_CUB void InclusiveScan(T (&items)[Items], T (&out)[Items], Op op, T& aggregate) {
    T before = items[0];
    scanned(detail::folded(items, op), op, before, aggregate);
    through(items, out, op, before, detail::linear_thread() > 0);
  }
  template <int Items, class Op>
  ISOMER_CUB void InclusiveScan(T (&items)[Items], T (&out)[Items], Op op) {
    T aggregate = items[0];
    InclusiveScan(items, out, op, aggregate);
  }
  template <int Items, class Op, class Prefix>
  ISOMER_CUB void InclusiveScan(T (&items)[Items], T (&out)[Items], Op op, Prefix& prefix) {
    T before = items[0], aggregate = items[0];
    scanned(detail::folded(items, op), op, before, aggregate);
    const T first = prefix_of(prefix, aggregate);
    through(items, out, op, detail::linear_thread() == 0 ? first : op(first, before), true);
  }
  template <int Items, class Op>
  ISOMER_CUB void ExclusiveScan(T (&items)[Items], T (&out)[Items], T initial, Op op, T& aggregate) {
    T before = initial;
    ExclusiveScan(detail::folded(items, op), before, initial, op, aggregate);
    up_to(items, out, op, before);
  }
  template <int Items, class Op>
  ISOMER_CUB void ExclusiveScan(T (&items)[Items], T (&out)[Items], T initial, Op op) {
    T aggregate = initial;
    ExclusiveScan(items, out, initial, op, aggregate);
  }
  template <int Items, class Op, class Prefix>
  ISOMER_CUB void ExclusiveScan(T (&items)[Items], T (&out)[Items], Op op, Prefix& prefix) {
    T before = items[0];
    ExclusiveScan(detail::folded(items, op), before, op, prefix);
    up_to(items, out, op, before);
  }

  template <class... Rest>
  ISOMER_CUB void InclusiveSum(T value, T& out, Rest&... rest) {
    InclusiveScan(value, out, cub::Sum(), rest...);
  }
  template <int Items, class... Rest>
  ISOMER_CUB void InclusiveSum(T (&items)[Items], T (&out)[Items], Rest&... rest) {
    InclusiveScan(items, out, cub::Sum(), rest...);
  }
  ISOMER_CUB void ExclusiveSum(T value, T& out) { ExclusiveScan(value, out, T(), cub::Sum()); }
  ISOMER_CUB void ExclusiveSum(T value, T& out, T& aggregate) {
    ExclusiveScan(value, out, T(), cub::Sum(), aggregate);
  }
  template <class Prefix>
  ISOMER_CUB void ExclusiveSum(T value, T& out, Prefix& prefix) {
    ExclusiveScan(value, out, cub::Sum(), prefix);
  }
  template <int Items>
  ISOMER_CUB void ExclusiveSum(T (&items)[Items], T (&out)[Items]) {
    ExclusiveScan(items, out, T(), cub::Sum());
  }
  template <int Items>
  ISOMER_CUB void ExclusiveSum(T (&items)[Items], T (&out)[Items], T& aggregate) {
    ExclusiveScan(items, out, T(), cub::Sum(), aggregate);
  }
  template <int Items, class Prefix>
  ISOMER_CUB void ExclusiveSum(T (&items)[Items], T (&out)[Items], Prefix& prefix) {
    ExclusiveScan(items, out, cub::Sum(), prefix);
  }

 private:
  template <class Op>
  ISOMER_CUB T scanned(T value, Op op, T& before, T& aggregate) {
    const unsigned linear = detail::linear_thread(), warp = linear / kLanes, rank = linear % kLanes;
    T last = detail::warp_scan<kLanes>(value, op);
    before = detail::lane_before<kLanes>(last);
    if (rank == kLanes - 1 || linear == kThreads - 1) storage_.of_warp[warp] = last;
    __syncthreads();
    T all = storage_.of_warp[0];
    for (unsigned w = 1; w < kWarps; ++w) {
      if (w == warp) {
        before = rank == 0 ? all : op(all, before);
        last = op(all, last);
      }
      all = op(all, storage_.of_warp[w]);
    }
    aggregate = all;
    return last;
  }
  template <class Prefix>
  ISOMER_CUB T prefix_of(Prefix& prefix, T aggregate) {
    if (detail::linear_thread() / kLanes == 0) {
      const T first = prefix(aggregate);
      if (detail::linear_thread() == 0) storage_.prefix[0] = first;
    }
    __syncthreads();
    return storage_.prefix[0];
  }

  template <int Items, class Op>
  ISOMER_CUB static void through(T (&items)[Items], T (&out)[Items], Op op, T before, bool has_before) {
    T running = has_before ? op(before, items[0]) : items[0];
    out[0] = running;
    for (int i = 1; i < Items; ++i) out[i] = running = op(running, items[i]);
  }
  template <int Items, class Op>
  ISOMER_CUB static void up_to(T (&items)[Items], T (&out)[Items], Op op, T running) {
    for (int i = 0; i < Items; ++i) {
      const T item = items[i];
      out[i] = running;
      running = op(running, item);
    }
  }

  TempStorage& storage_;
};

}  // namespace cub
