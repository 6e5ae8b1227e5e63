// CUB's collectives of a warp, in CUB's order of operations: sums are the device's to the bit. Only lane 0 of
// a reduction has its result.
#pragma once

#include "cub_operators.h"

namespace cub {

namespace detail {

ISOMER_EMULATOR_INLINE unsigned linear_thread() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

/// The lanes of this thread's segment of `width` lanes that the block has.
ISOMER_EMULATOR_INLINE std::uint64_t segment_mask(unsigned width) {
  const unsigned linear = linear_thread(), threads = blockDim.x * blockDim.y * blockDim.z;
  const unsigned lane = linear % ISOMER_EMULATOR_LANES, first = lane / width * width;
  const unsigned begin = linear - lane + first, count = begin + width <= threads ? width : threads - begin;
  return (count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1) << first;
}

/// Lane 0 of the segment gets the reduction of its first `valid` lanes.
template <unsigned Width, class T, class Op>
ISOMER_CUB T warp_reduce(T value, Op op, unsigned valid) {
  const std::uint64_t mask = segment_mask(Width);
  const unsigned lane = isomer_emulator_lane(), rank = lane % Width;
  for (unsigned offset = 1; offset < Width; offset *= 2) {
    const bool there = rank + offset < valid;
    const T other = isomer::emulator::shuffled(mask, value, there ? lane + offset : lane);
    if (there) value = op(value, other);
  }
  return value;
}
template <unsigned Width, class T, class Op>
ISOMER_CUB T warp_scan(T value, Op op) {
  const std::uint64_t mask = segment_mask(Width);
  const unsigned lane = isomer_emulator_lane(), rank = lane % Width;
  for (unsigned offset = 1; offset < Width; offset *= 2) {
    const T other = isomer::emulator::shuffled(mask, value, rank >= offset ? lane - offset : lane);
    if (rank >= offset) value = op(other, value);
  }
  return value;
}
template <unsigned Width, class T>
ISOMER_CUB T lane_before(T value) {
  const unsigned lane = isomer_emulator_lane();
  return isomer::emulator::shuffled(segment_mask(Width), value, lane % Width > 0 ? lane - 1 : lane);
}

}  // namespace detail

template <class T, int Width = ISOMER_EMULATOR_LANES, int Arch = 0>
class WarpReduce {
 public:
  struct TempStorage {
    char unused;
  };
  ISOMER_CUB explicit WarpReduce(TempStorage&) {}
  template <class Op>
  ISOMER_CUB T Reduce(T value, Op op) {
    return detail::warp_reduce<kPower>(value, op, Width);
  }
  template <class Op>
  ISOMER_CUB T Reduce(T value, Op op, int valid) {
    return detail::warp_reduce<kPower>(value, op, static_cast<unsigned>(valid));
  }
  ISOMER_CUB T Sum(T value) { return Reduce(value, cub::Sum()); }
  ISOMER_CUB T Sum(T value, int valid) { return Reduce(value, cub::Sum(), valid); }

 private:
  static constexpr unsigned power_from(unsigned width) {
    return width & (width - 1) ? 2 * power_from(width / 2) : width;
  }
  static constexpr unsigned kPower =
      power_from(Width) < unsigned(Width) ? 2 * power_from(Width) : power_from(Width);
};

template <class T, int Width = ISOMER_EMULATOR_LANES, int Arch = 0>
class WarpScan {
 public:
  struct TempStorage {
    char unused;
  };
  ISOMER_CUB explicit WarpScan(TempStorage&) {}
  template <class Op>
  ISOMER_CUB void InclusiveScan(T value, T& out, Op op) {
    out = detail::warp_scan<Width>(value, op);
  }
  template <class Op>
  ISOMER_CUB void InclusiveScan(T value, T& out, Op op, T& aggregate) {
    out = detail::warp_scan<Width>(value, op);
    aggregate = Broadcast(out, Width - 1);
  }
  template <class Op>
  ISOMER_CUB void ExclusiveScan(T value, T& out, T initial, Op op) {
    const T before = detail::lane_before<Width>(detail::warp_scan<Width>(value, op));
    out = isomer_emulator_lane() % Width == 0 ? initial : op(initial, before);
  }
  template <class Op>
  ISOMER_CUB void ExclusiveScan(T value, T& out, T initial, Op op, T& aggregate) {
    const T all = detail::warp_scan<Width>(value, op), before = detail::lane_before<Width>(all);
    out = isomer_emulator_lane() % Width == 0 ? initial : op(initial, before);
    aggregate = Broadcast(all, Width - 1);
  }
  ISOMER_CUB void InclusiveSum(T value, T& out) { InclusiveScan(value, out, cub::Sum()); }
  ISOMER_CUB void InclusiveSum(T value, T& out, T& aggregate) {
    InclusiveScan(value, out, cub::Sum(), aggregate);
  }
  ISOMER_CUB void ExclusiveSum(T value, T& out) { ExclusiveScan(value, out, T(), cub::Sum()); }
  ISOMER_CUB void ExclusiveSum(T value, T& out, T& aggregate) {
    ExclusiveScan(value, out, T(), cub::Sum(), aggregate);
  }
  ISOMER_CUB T Broadcast(T value, unsigned from) {
    const unsigned lane = isomer_emulator_lane();
    return isomer::emulator::shuffled(detail::segment_mask(Width), value, lane / Width * Width + from);
  }
};

}  // namespace cub
