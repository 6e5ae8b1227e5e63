// The visible keys of all entries, one after the other, divided evenly (stream-K): p.workers workers take as
// many tiles of kKeys keys each, however the entries' lengths differ. A worker has a block for each unit and
// row tile, so that blocks which run at once read neighbouring heads of the same keys.
#pragma once

#include "ops/attention/kernels/attention_tile.cuh"

namespace isomer::device::attention {

/// Tiles that some query of an entry sees.
struct SeenTiles {
  Count first, count;
};
template <int kKeys>
ISOMER_DEVICE SeenTiles seen_tiles(const AttentionParameters& p, const AttentionEntry& e) {
  const AttentionKeys keys = visible(p, e, 0, e.q_len);
  if (e.q_len == 0 || keys.lo == keys.hi) return {0, 0};
  return {keys.lo / kKeys, (keys.hi + kKeys - 1) / kKeys - keys.lo / kKeys};
}

/// How the tiles are divided, in shared memory.
template <int kThreads>
struct Division {
  static constexpr int kEntries = 1024;
  int before[kEntries + 1];  ///< tiles of the entries before each, and of all
  int share;                 ///< tiles of a worker
  int first;                 ///< entry in which the block's worker begins; past the last one where in none
  static constexpr int kWarps = kThreads / kWarpSize;
  int sums[kWarps], longest[kWarps];

  /// Every thread of the block takes part. No entry falls into more than p.parts parts, of which two may be
  /// less than a share. Where all entries have as many tiles, each is divided by itself if that makes shares
  /// hardly longer: a second task of a worker costs as much as two or three tiles. Then an entry counts as
  /// whole shares, the last of which may be longer than what is left of its keys.
  template <int kKeys>
  ISOMER_DEVICE void fill(const AttentionParameters& p, int worker) {
    const int thread = static_cast<int>(threadIdx.x), batch = static_cast<int>(p.batch);
    const int each = (batch + kThreads - 1) / kThreads;
    const int begin = thread * each < batch ? thread * each : batch,
              end = begin + each < batch ? begin + each : batch;
    int sum = 0, most = 0;
#pragma unroll 1
    for (int b = begin; b < end; ++b) {
      const int count = static_cast<int>(seen_tiles<kKeys>(p, entry_of(p, b)).count);
      before[b + 1] = count;
      sum += count;
      most = most > count ? most : count;
    }
    int start = sum;  // of the warp's entries up to this thread's last
#pragma unroll
    for (int distance = 1; distance < kWarpSize; distance *= 2) {
      const int others = shuffle(start, (lane() - distance) & (kWarpSize - 1)),
                its = shuffle_xor(most, distance);
      if (lane() >= distance) start += others;
      most = most > its ? most : its;
    }
    if (lane() == kWarpSize - 1) {
      sums[warp()] = start;
      longest[warp()] = most;
    }
    start -= sum;
    sum = 0;
    if (thread == 0) {
      before[0] = 0;
      first = batch;
    }
    __syncthreads();
#pragma unroll
    for (int other = 0; other < kWarps; ++other) {
      if (other < warp()) start += sums[other];
      sum += sums[other];
      most = most > longest[other] ? most : longest[other];
    }
    // In 32 bits; the plan has seen that they suffice.
    const auto ceil_div = [](int tiles, const Divisor& by) {
      return static_cast<int>(quotient_of(static_cast<u32>(tiles) + static_cast<u32>(by.value) - 1, by));
    };
    const int least = ceil_div(most, p.of_whole_parts), few = static_cast<int>(p.least_part) / kKeys,
              enough = least > few ? least : few;
    const auto at_least = [&](int tiles) { return tiles > enough ? tiles : enough; };
    int its = at_least(ceil_div(sum, p.of_workers)), whole = 0;
    if (static_cast<i64>(most) * batch == sum && p.workers >= p.batch) {
      const int alike = at_least(ceil_div(most, p.of_workers_of_entry));
      if (alike * 16 <= its * 17) {
        its = alike;
        whole = static_cast<int>((static_cast<u32>(most) + static_cast<u32>(alike) - 1) /
                                 static_cast<u32>(alike)) *
                alike;
      }
    }
    const i64 mine = static_cast<i64>(worker) * its;
#pragma unroll 1
    for (int b = begin; b < end; ++b) {
      const int from = whole > 0 ? b * whole : start;
      start = from + (whole > 0 ? whole : before[b + 1]);
      before[b + 1] = start;
      if (from <= mine && mine < start) first = b;
    }
    if (thread == 0) share = its;
    __syncthreads();
  }

  /// Tells the launch that combines the parts.
  ISOMER_DEVICE void note(const AttentionParameters& p) const {
#pragma unroll 1
    for (int b = static_cast<int>(threadIdx.x); b <= static_cast<int>(p.batch); b += kThreads)
      p.division[b] = before[b];
    if (threadIdx.x == 0) p.division[p.batch + 1] = share;
  }
};

}  // namespace isomer::device::attention
