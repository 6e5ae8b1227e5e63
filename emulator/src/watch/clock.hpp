// What a thread knows about the others' progress: enough to say whether two accesses are ordered.
//
// Inside a block, a barrier orders everything before it against everything after it (the block's epoch).
// Inside an epoch, warp operations and partial barriers order the threads that took part: each thread counts
// its own steps (`tick`) and keeps, once it met somebody, a vector of the ticks it has seen. A shuffle, a
// vote and the like order no memory, but for this: what a lane has read before is not changed by what another
// lane writes behind it, for no lane gets a result before all have come with what they read. Between blocks,
// and through words of memory, only fences and atomic or volatile accesses order: a fence notes what its
// thread knows, the next such write of a word leaves that with the word for those whom its scope and the
// fence's reach, and whoever reads the word knows it from his own next fence on.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "memory/thread_sanitizer.hpp"

namespace isomer::emulator::watch {

/// Per thread of the block, and behind the threads per agent of its asynchronous units (execution/block.hpp);
/// a tick is seen when it is ≤ the entry. A shorter list has seen nothing of the rest.
using Ticks = std::vector<std::uint32_t>;

/// What is known of one block: everything before an epoch, and of that epoch the threads' ticks.
struct Known {
  std::uint64_t block = 0;
  std::uint32_t epoch = 0;
  std::shared_ptr<const Ticks> ticks;
};
/// By block. Null: nothing.
using Knowledge = std::shared_ptr<const std::vector<Known>>;

/// Whom a fence or an atomic reaches. The host and other devices are not here: system is device.
enum class Scope : std::uint8_t { block, device };

/// What every access touches lies first, in one line of the cache. The rest is as new in most threads of most kernels,
/// which `dealt` tells: whoever writes to it calls deals() before.
struct alignas(64) ThreadClock {
  std::uint32_t segment = 0;  ///< 0: none yet since the last step
  std::uint32_t epoch = 0;    ///< the block's epoch that `tick` and `seen` belong to
  std::uint32_t tick = 1;
  bool dealt = false;
  bool just_fenced = false;                           ///< nothing was accessed since
  bool guesses = false;                               ///< it has read what blocks left out would have written
  const void *looked_at = nullptr, *looked = nullptr;  ///< the last plain read
  const void* polled = nullptr;                        ///< the last word read so, with no write since
  std::vector<const void*> calls;                      ///< return addresses, outermost first

  std::shared_ptr<const Ticks> seen;
  std::shared_ptr<const Ticks> converged;  ///< by lane of its warp: what it has read, and comes behind
  std::shared_ptr<const Ticks> proxied;    ///< what a proxy fence stands behind, across epochs
  Knowledge known;
  Knowledge picked;                       ///< read with a word, and to be had from the next fence on
  Knowledge picked_value;                 ///< that part of it that did not come with a lock
  Knowledge fenced_device, fenced_block;  ///< what the last fences noted, for whom they reach
  Scope scope = Scope::device;            ///< of the atomics that follow
  bool has_changed = false;               ///< a word, by an atomic, since it last let others run
  const void* polled_at = nullptr;        ///< where `polled` was read
  const void *word_at = nullptr, *word = nullptr;  ///< where the last word read so was first read
  std::uint32_t spins = 0;
  std::uint32_t idle = 0;   ///< how often it let others run and had not
  std::uint32_t stays = 0;  ///< how often it went on, since no other thread of its block could run

  void deals() { dealt = true; }
  /// As new, except that the lists keep their memory: this happens for every thread of every block.
  void reset() {
    segment = epoch = 0;
    tick = 1;
    just_fenced = guesses = false;
    polled = looked_at = looked = nullptr;
    calls.clear();
    if (dealt || kThreadSanitizer) reset_dealings();
  }

 private:
  void reset_dealings() {
    // In the build that the second tier watches, a writer that did not say so ends the process.
    if (!dealt && (seen || converged || proxied || known || picked || picked_value || fenced_device || fenced_block ||
                   scope != Scope::device || has_changed || polled_at || word_at || word || spins || idle || stays))
      std::abort();
    for (auto* ticks : {&seen, &converged, &proxied})
      if (*ticks) ticks->reset();
    for (Knowledge* k : {&known, &picked, &picked_value, &fenced_device, &fenced_block})
      if (*k) k->reset();
    scope = Scope::device;
    dealt = has_changed = false;
    polled_at = word_at = word = nullptr;
    spins = idle = stays = 0;
  }
};

/// What was left with a word: for everybody, and for the own block of those whose fence or write reached no
/// further.
struct Published {
  Knowledge device;
  std::vector<std::pair<std::uint64_t, Knowledge>> in_block;
};
using PublishedWords = std::unordered_map<const void*, Published>;

/// What a worker has of the numbers of segments (order.hpp): runs of them that are its own and not begun, and in one
/// that is listed and not full the next number.
struct Numbers {
  std::uint32_t next_run = 0, end_run = 0;
  std::uint32_t next_listed = 0;  ///< 0: there is none
};

struct BlockClock {
  Knowledge known;                       ///< what every thread of the block knows since the last barrier
  Ticks ticks;                           ///< of every thread and agent at the last barrier
  std::shared_ptr<const Ticks> proxied;  ///< by any thread's proxy fence before the last barrier
  /// The numbers of segments that the threads of a stretch of 32 take at one step (order.hpp).
  struct Run {
    std::uint32_t epoch = 0, tick = 0, first = 0;
    std::uint32_t used = 0;  ///< by so many threads
  };
  std::vector<Run> runs;
  PublishedWords published;  ///< of its shared memory
  void reset() {
    if (!published.empty()) published.clear();
    known.reset();
    ticks.clear();
    runs.clear();
    proxied.reset();
  }
};

/// What a barrier that counts arrivals carries from those who arrive to those who wait.
struct Carried {
  std::uint32_t epoch = 0;  ///< of the block, that `seen` belongs to
  std::shared_ptr<const Ticks> seen, proxied;
  Knowledge known;
  // Threads that wait for the same thing know mostly the same: what the last one learnt serves the next.
  struct Lesson {
    std::uint32_t epoch = 0;  ///< 0: none yet
    std::shared_ptr<const Ticks> seen, proxied, seen_then, proxied_then;
  };
  mutable Lesson last;
};

}  // namespace isomer::emulator::watch
