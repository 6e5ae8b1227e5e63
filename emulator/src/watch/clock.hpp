// What a thread knows about the others' progress: enough to say whether two accesses are ordered.
//
// Inside a block, a barrier orders everything before it against everything after it (the block's epoch).
// Inside an epoch, warp operations and partial barriers order the threads that took part: each thread counts
// its own steps (`tick`) and keeps, once it met somebody, a vector of the ticks it has seen. Between blocks
// only a fence followed by an atomic or volatile access orders: the writer leaves a snapshot, the reader
// picks it up.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace isomer::emulator::watch {

/// Per thread of the block, and behind the threads per agent of its asynchronous units (execution/block.hpp);
/// a tick is seen when it is ≤ the entry. A shorter list has seen nothing of the rest.
using Ticks = std::vector<std::uint32_t>;

struct Snapshot;
using SnapshotList = std::vector<std::shared_ptr<const Snapshot>>;

/// What a thread had done, and what it knew, when it published something.
struct Snapshot {
  std::uint64_t block = 0;
  std::uint32_t epoch = 0;
  std::uint32_t thread = 0;
  std::uint32_t tick = 0;
  std::shared_ptr<const Ticks> seen;
  SnapshotList known;
};

struct ThreadClock {
  std::uint32_t segment = 0;  ///< 0: none yet since the last step
  std::uint32_t epoch = 0;    ///< the block's epoch that `tick` and `seen` belong to
  std::uint32_t tick = 1;
  std::shared_ptr<const Ticks> seen;
  std::shared_ptr<const Ticks> proxied;    ///< what a proxy fence stands behind, across epochs
  std::shared_ptr<const Snapshot> fenced;  ///< taken at the last fence
  SnapshotList known;
  std::vector<const void*> calls;  ///< return addresses, outermost first
  std::uint32_t spins = 0;
  /// As new, except that the lists keep their memory: this happens for every thread of every block.
  void reset() {
    segment = epoch = spins = 0;
    tick = 1;
    seen.reset();
    proxied.reset();
    fenced.reset();
    known.clear();
    calls.clear();
  }
};

struct BlockClock {
  SnapshotList known;                    ///< what every thread of the block knows since the last barrier
  Ticks ticks;                           ///< of every thread and agent at the last barrier
  std::shared_ptr<const Ticks> proxied;  ///< by any thread's proxy fence before the last barrier
  void reset() {
    known.clear();
    ticks.clear();
    proxied.reset();
  }
};

/// What a barrier that counts arrivals carries from those who arrive to those who wait.
struct Carried {
  std::uint32_t epoch = 0;  ///< of the block, that `seen` belongs to
  std::shared_ptr<const Ticks> seen, proxied;
  SnapshotList known;
  // Threads that wait for the same thing know mostly the same: what the last one learnt serves the next.
  struct Lesson {
    std::uint32_t epoch = 0;  ///< 0: none yet
    std::shared_ptr<const Ticks> seen, proxied, seen_then, proxied_then;
  };
  mutable Lesson last;
};

}  // namespace isomer::emulator::watch
