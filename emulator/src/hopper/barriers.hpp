// Barriers in shared memory that count arrivals and bytes (mbarrier).
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "execution/block.hpp"
#include "watch/reporter.hpp"

namespace isomer::emulator::hopper {

class Units;

struct Barrier {
  std::uint32_t number = 0;  ///< from 1, in the order of initialisation
  std::uint32_t address = 0;
  std::uint32_t agent = 0;  ///< of the copies that it counts: its entry of clocks
  unsigned count = 0;
  unsigned pending = 0;    ///< arrivals that the phase in progress lacks
  std::int64_t bytes = 0;  ///< announced and not landed; below zero: landed and not announced
  std::int64_t phase = 0;  ///< in progress
  bool live = false;
  unsigned waiting = 0;
  std::vector<std::uint32_t> copies;  ///< under way, counted in the phase in progress
  watch::Carried open, done;          ///< what the phase in progress, and the last, carries
  watch::Site init_site;
  std::uint32_t init_thread = 0;
  std::uint32_t init_segment = 0;       ///< 0: nobody watches
  std::vector<std::int32_t> last_wait;  ///< by thread: the phase that it waited for last, plus 2; 0: none
};

class Barriers {
 public:
  explicit Barriers(Block& block) : block_(block) {}
  void begin();
  void init(std::uint32_t address, unsigned count, const watch::Site& site);
  void invalidate(std::uint32_t address);
  /// Whether what arrives comes from another block of the cluster: its thread is none of this block's.
  void arrive(std::uint32_t address, unsigned count, std::int64_t announced, Thread* thread,
              const watch::Site& site);
  /// Arrives, and the phases that follow take so many arrivals fewer.
  void drop(std::uint32_t address, unsigned count, const watch::Site& site);
  void announce(std::uint32_t address, std::int64_t bytes, const watch::Site& site);
  /// Returns when the phase with that parity is over; with `only_look` says whether it is.
  bool wait(std::uint32_t address, unsigned parity, bool only_look, const watch::Site& site);
  /// The barrier at that address, as the running thread may use it; ends the block where there is none.
  Barrier& at(std::uint32_t address, const watch::Site& site);

  /// Lands copies of a barrier that somebody waits for; false where there are none.
  bool advance();
  /// Says what is wrong with the bytes of barriers that are waited for in vain.
  void explain_stuck();
  std::string waits_for(const Thread& thread) const;
  std::uint32_t agents() const { return static_cast<std::uint32_t>(barriers_.size()); }
  std::uint32_t agent_tick(std::uint32_t index) const {
    return static_cast<std::uint32_t>(barriers_[index].phase);
  }

 private:
  struct Waiting {
    std::uint32_t barrier = 0;  ///< number; 0: waits for none
    std::int64_t phase = 0;
  };
  Barrier* find(std::uint32_t address);
  void complete_if_done(Barrier& b);

  Block& block_;
  std::deque<Barrier> barriers_;
  std::vector<Waiting> waiting_;  ///< by thread
};

}  // namespace isomer::emulator::hopper
