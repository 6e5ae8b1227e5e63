// One block of threads on one worker. Threads start as plain calls, one after another on the same fiber; a
// thread that has to wait keeps its fiber, and the next thread starts on another. So a kernel that never
// waits never switches.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "execution/fiber.hpp"
#include "isomer_emulator/abi.h"
#include "memory/memory.hpp"
#include "watch/clock.hpp"

namespace isomer::emulator {

namespace hopper {
class Units;
}

namespace watch {
struct KnownSite;
}

class AsyncCopies;
class Turns;
class Worker;
struct Launch;

enum class Wait : std::uint8_t { none, barrier, named, meeting, grid, spin, units, cluster };

struct PendingMeeting;
class Block;

struct Thread {
  explicit Thread(watch::ThreadClock& own) : clock(own) {}
  Block* block = nullptr;
  uint3 index{};
  std::uint32_t linear = 0;
  std::uint32_t lane = 0;
  std::uint32_t warp = 0;
  Fiber* fiber = nullptr;
  Wait wait = Wait::none;
  bool started = false;
  bool ended = false;
  bool returned_early = false;  ///< a `return;` of device code was executed since the last barrier
  bool ran_off = false;         ///< it ended without one, at the kernel's last brace
  const void* site = nullptr;   ///< return address of what it waits in
  unsigned barrier_id = 0;
  std::uint64_t cluster_generation = 0;  ///< of the cluster's barrier that it came to
  PendingMeeting* meeting = nullptr;
  bool initialises = false;              ///< a static variable of a function, once for the process
  bool has_registers_in_flight = false;  ///< the tensor cores write some of what lies on its stack
  watch::ThreadClock& clock;             ///< elsewhere, so that what every launch touches is small
};

/// A barrier of the block with a number, for so many threads as its first one says.
struct NamedBarrier {
  unsigned id = 0, expected = 0, arrived = 0;
  const void* first_site = nullptr;
  watch::Carried carried;
};

/// What the lanes of a warp brought to one warp operation: sixteen bytes each.
struct Meeting {
  std::uint64_t members = 0;  ///< lanes that took part, valid once the operation is complete
  std::uint64_t guessed = 0;  ///< lanes whose values come of what blocks left out would have written
  alignas(16) unsigned char values[64][16];
};

enum class WarpOp : std::uint8_t { shuffle, vote, match, reduce, sync };

struct PendingMeeting : Meeting {
  std::uint64_t wanted = 0;  ///< lanes named by the mask; 0: whichever lanes come together
  std::uint64_t arrived = 0;
  std::uint32_t to_part = 0;
  WarpOp op{};
  const void* site = nullptr;
};

/// A stretch of a block's shared memory that its threads may use with no more asked than the shadow.
struct OwnRange {
  const std::byte* begin = nullptr;
  std::size_t bytes = 0;  ///< a multiple of the largest access
};

/// Blocks that run together and reach one another's shared memory.
struct Cluster {
  std::vector<Block*> blocks;  ///< by rank
  std::uint32_t arrived = 0;   ///< threads, at the cluster's barrier
  std::uint64_t generation = 0;
};

class Block {
 public:
  Block(Worker& worker, Launch& launch);
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  enum class Outcome { finished, stuck, abandoned };
  void begin(std::uint64_t linear, Cluster* cluster = nullptr, std::uint32_t rank = 0);
  void begin_beside(std::uint64_t linear, std::uint64_t ordinal);  ///< others (turns.hpp)
  Outcome resume();  ///< run until finished or until no thread can go on without another block
  bool can_resume() const;

  // Called on a fiber, by the device thread that is running.
  int barrier(int combine, int predicate, const void* site);
  void named_barrier(unsigned id, unsigned threads, bool waits, const void* site);
  Meeting* meet(std::uint64_t mask, WarpOp op, const void* value, unsigned bytes, const void* site);
  void part(Meeting* meeting);
  void grid_barrier(const void* site);
  void cluster_arrive();
  void cluster_wait(const void* site);
  /// Lets the other threads run; `site` is where the thread looks for what they do.
  void yield(const void* site);
  [[noreturn]] void kill_current();  ///< this thread ends here, whatever is on its stack
  [[noreturn]] void abandon();       ///< the whole block ends here
  // Of a launch whose blocks run side by side (turns.hpp); elsewhere they do nothing.
  bool is_beside() const { return turns_ != nullptr; }
  bool has_turn() const { return has_turn_; }
  std::uint32_t mark() const { return mark_; }  ///< of the words that it claims (watch/claims.hpp)
  /// Returns when all earlier blocks have ended.
  void await_turn();
  /// What follows is for the only block that runs: ends the attempt to run them side by side.
  void run_alone();
  void stops_here() { turns_ = nullptr; }  ///< the process ends
  void* shared(SharedSite& site);
  void* dynamic_shared();
  /// Addresses of the block's shared memory as its instructions have them: 18 bits. 0 and null where there is
  /// none.
  std::uint32_t shared_address(const void* at) const;
  std::byte* shared_at(std::uint32_t address, std::size_t bytes) const;
  void wait_for_units(const void* site) { wait(Wait::units, site); }
  void wake_from_units(Thread& thread) { wake(thread); }

  // The fiber's loop.
  Thread* take_fresh();
  void run(Thread& thread);
  Fiber* next();

  Thread& current() { return *current_; }
  Worker& worker() { return worker_; }
  Launch& launch() const { return launch_; }
  const uint3& index() const { return index_; }
  std::uint64_t linear() const { return linear_; }
  std::uint32_t epoch() const { return epoch_; }
  /// What the watch has numbered lower was done before this epoch began.
  std::uint32_t first_segment_of_epoch() const { return first_segment_; }
  std::uint32_t first_segment() const { return first_segment_of_all_; }  ///< the same of the block
  /// Whether its launch is watched and its accesses are not counted.
  bool is_plainly_watched() const { return plainly_watched_; }
  /// The range that holds the address, if it is kept; any other does not hold it.
  const OwnRange& own_range(const void* at) const { return own_ranges_[place_of_range(at)]; }
  /// Keeps it; false where the address is not in this block's shared memory, or its units use that too.
  bool keep_own_range(const void* at);
  watch::BlockClock& clock() { return clock_; }
  const watch::BlockClock& clock() const { return clock_; }
  /// The worker's table of sites, and its numbers of segments.
  watch::KnownSite* known_sites() const { return known_sites_; }
  watch::Numbers& numbers() { return numbers_; }
  bool knows_of_others() const { return clock_.known != nullptr; }
  Thread& thread(std::uint32_t linear) { return threads_[linear]; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(threads_.size()); }
  std::uint32_t warps() const { return static_cast<std::uint32_t>(warps_.size()); }
  /// The asynchronous units, from their first use on; and whether they were used.
  hopper::Units& units();
  hopper::Units* used_units() const { return units_used_ ? units_.get() : nullptr; }
  /// Copies of its threads, from their first on; null before.
  AsyncCopies& copies();
  const AsyncCopies* used_copies() const { return copies_used_ ? copies_.get() : nullptr; }
  /// Clocks have an entry for each thread, then for each agent of the units.
  std::uint32_t clock_entries() const;
  std::uint32_t agent_tick(std::uint32_t entry) const;
  bool progressed() const { return progressed_; }
  bool moved() const { return moved_; }         ///< some thread ran at the last resume
  std::uint32_t rank() const { return rank_; }  ///< in its cluster
  /// The block of that rank in the cluster; null where there is none.
  Block* mate(std::uint32_t rank);
  bool is_mate(const void* owner) const;
  std::uint32_t alive() const { return alive_; }
  void report_deadlock();
  std::vector<Fiber*>& dead_fibers() { return dead_fibers_; }

 private:
  struct Warp {
    std::uint64_t alive = 0;
    std::vector<PendingMeeting*> pending;
  };
  void wait(Wait why, const void* site);
  void wake(Thread& thread);
  void ended(Thread& thread);
  [[gnu::noinline]] void begin_clock(Thread& thread);
  void release_barrier();
  void check_barrier_sites(Wait at);
  void check_barrier_is_whole(Wait at);
  bool counts_in_grid();
  void leave_grid_barrier();
  void complete(Warp& warp, std::size_t which);
  bool complete_converged();
  bool settle(Warp& warp);
  void release_cluster_if_all();
  Fiber* leave();
  void reclaim();
  std::uint32_t permuted(std::uint32_t i) const { return order_.empty() ? i : order_[i]; }

  Worker& worker_;
  Launch& launch_;
  uint3 index_{};
  std::uint64_t linear_ = 0;
  std::vector<watch::ThreadClock> clocks_;  // of the threads
  std::vector<Thread> threads_;
  std::vector<Warp> warps_;
  std::vector<std::uint32_t> order_;  // empty: natural order
  std::vector<Thread*> ready_;        // ring of size() entries
  std::uint32_t ready_head_ = 0, ready_count_ = 0;
  std::uint32_t fresh_ = 0, alive_ = 0;
  std::uint32_t arrived_ = 0, at_grid_ = 0, spinning_ = 0;
  std::uint32_t yields_ = 0;  ///< since a thread came further than to look again
  bool fresh_first_ = true;
  int any_ = 0, all_ = 1, count_ = 0, result_any_ = 0, result_all_ = 0, result_count_ = 0;
  std::uint64_t steps_ = 0;
  Turns* turns_;
  bool has_turn_ = false;
  std::uint32_t mark_ = 0;
  std::uint64_t steps_ahead_ = 0;  ///< before it had to have its turn
  watch::KnownSite* const known_sites_;
  watch::Numbers& numbers_;
  std::uint32_t epoch_ = 1, first_segment_ = 0, first_segment_of_all_ = 0;
  const bool plainly_watched_;
  static constexpr std::size_t kOwnRanges = 16;
  static std::size_t place_of_range(const void* at) {
    return reinterpret_cast<std::uintptr_t>(at) / Memory::kPage % kOwnRanges;
  }
  std::array<OwnRange, kOwnRanges> own_ranges_;
  void begin_epoch(std::uint32_t epoch);
  std::uint64_t grid_generation_ = 0;
  bool in_grid_barrier_ = false, abandoned_ = false, progressed_ = false, moved_ = false;
  Thread* current_ = nullptr;
  struct Shared {
    Buffer* buffer = nullptr;
    bool used = false;
    std::uint32_t address = 0;
  };
  std::vector<Shared> shared_;
  Shared dynamic_;
  std::uint32_t next_shared_address_ = 0;
  std::vector<NamedBarrier> named_;
  std::unique_ptr<hopper::Units> units_;
  std::unique_ptr<AsyncCopies> copies_;
  bool units_used_ = false, copies_used_ = false;
  std::vector<PendingMeeting*> spare_;
  std::vector<std::unique_ptr<PendingMeeting>> meetings_;
  std::vector<Fiber*> dead_fibers_;
  watch::BlockClock clock_;
  Cluster* cluster_ = nullptr;
  std::uint32_t rank_ = 0;
  watch::Carried cluster_carried_,
      cluster_done_;  ///< what the block's threads bring to the cluster's barrier
};

/// The device thread that runs on this operating-system thread; null in host code. Asked at every load and
/// store of a watched module: hence a bare variable, which C++'s thread_local would hide behind a call.
extern __thread Thread* running_thread;
inline Thread* current_thread() { return running_thread; }
Block* current_block();

}  // namespace isomer::emulator
