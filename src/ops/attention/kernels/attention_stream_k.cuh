// The visible keys of all entries, one after the other, divided evenly (stream-K): p.workers workers take as
// many tiles of kKeys keys each, however the entries' lengths differ. A worker has a block for each unit and
// row tile, so that blocks which run at once read neighbouring heads of the same keys.
#pragma once

#include "ops/attention/kernels/attention_tile.cuh"

namespace isomer::device::attention {

/// Tiles that some query of an entry sees.
struct SeenTiles {
  i64 first, count;
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
  int sums[kThreads], longest[kThreads];

  /// Every thread of the block takes part. No entry falls into more than p.parts parts, of which two may be
  /// less than a share.
  template <int kKeys>
  ISOMER_DEVICE void fill(const AttentionParameters& p) {
    const int thread = static_cast<int>(threadIdx.x), batch = static_cast<int>(p.batch);
    const int each = (batch + kThreads - 1) / kThreads;
    const int first = thread * each < batch ? thread * each : batch,
              last = first + each < batch ? first + each : batch;
    int sum = 0, most = 0;
    for (int b = first; b < last; ++b) {
      const int count = static_cast<int>(seen_tiles<kKeys>(p, entry_of(p, b)).count);
      before[b + 1] = count;
      sum += count;
      most = most > count ? most : count;
    }
    sums[thread] = sum;
    longest[thread] = most;
    __syncthreads();
    int start = 0;
    sum = 0;
    const int filled = (batch + each - 1) / each;  // threads that have entries
#pragma unroll 16
    for (int other = 0; other < filled; ++other) {
      if (other < thread) start += sums[other];
      sum += sums[other];
      most = most > longest[other] ? most : longest[other];
    }
    for (int b = first; b < last; ++b) before[b + 1] = start += before[b + 1];
    if (thread == 0) {
      before[0] = 0;
      const int even = static_cast<int>((sum + p.workers - 1) / p.workers),
                parts = static_cast<int>(p.parts) - 1;
      const int least = (most + parts - 1) / parts, few = static_cast<int>(p.least_part / kKeys);
      share = even > least ? even : least;
      share = share > few ? share : few;
    }
    __syncthreads();
  }

  /// Tells the launch that combines the parts.
  ISOMER_DEVICE void note(const AttentionParameters& p) const {
    for (int b = static_cast<int>(threadIdx.x); b <= static_cast<int>(p.batch); b += kThreads)
      p.division[b] = before[b];
    if (threadIdx.x == 0) p.division[p.batch + 1] = share;
  }

  /// The entry that a tile belongs to; past the last one where there is none.
  ISOMER_DEVICE int entry_at(const AttentionParameters& p, i64 tile) const {
    int low = 0, high = static_cast<int>(p.batch);
    while (low < high) {
      const int middle = (low + high) / 2;
      if (before[middle + 1] > tile)
        high = middle;
      else
        low = middle + 1;
    }
    return low;
  }
};

}  // namespace isomer::device::attention
