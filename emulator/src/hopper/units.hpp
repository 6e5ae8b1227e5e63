// Hopper's asynchronous units of one block: barriers that count bytes, the bulk copy engine, products of
// warpgroups, the pool of registers. They are as late as the rules allow: a copy lands when somebody waits
// for its barrier, a product is carried out when its warpgroup waits for it, a store reads its tile when its
// thread waits, and all that only where no thread of the block can go on otherwise.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "execution/block.hpp"
#include "hopper/barriers.hpp"
#include "hopper/copies.hpp"
#include "hopper/registers.hpp"
#include "hopper/tiles.hpp"
#include "hopper/warpgroups.hpp"

namespace isomer::emulator::hopper {

class Units {
 public:
  explicit Units(Block& block);
  void begin();  ///< a block

  Barriers& barriers() { return barriers_; }
  Copies& copies() { return copies_; }
  Tiles& tiles() { return tiles_; }
  RegisterPool& registers() { return registers_; }
  Warpgroup& warpgroup(std::uint32_t number) { return *warpgroups_[number]; }

  /// Does one thing that somebody waits for; false where there is none.
  bool advance();
  void thread_ends(Thread& thread);
  /// No thread can go on: says what is wrong, where a rule was broken.
  void explain_stuck();
  std::string waits_for(const Thread& thread) const;
  void touch(const void* at, std::size_t bytes, bool writes, const void* site) {
    tiles_.touch(at, bytes, writes, site);
  }
  void touch_registers(Thread& thread, const void* at, std::size_t bytes, bool writes, const void* site) {
    warpgroup(thread.linear / Warpgroup::kThreads).touch_registers(thread, at, bytes, writes, site);
  }
  std::uint32_t land(std::uint32_t filling, std::uint32_t agent, std::uint32_t tick) {
    return copies_.land(filling, agent, tick);
  }

  /// What has ticks beside the threads: each warp's products, then each barrier's copies.
  std::uint32_t agents() const { return product_agents() + barriers_.agents(); }
  std::uint32_t agent_tick(std::uint32_t agent) const;

  /// What the running thread did wrong.
  void tell(Kind kind, const watch::Site& at, const watch::Site& other, const std::string& text);
  /// The launch cannot go on behind it.
  [[noreturn]] void stop();
  /// "offset 64 of dynamic shared memory".
  std::string place(std::uint32_t address) const;

 private:
  std::uint32_t product_agents() const { return static_cast<std::uint32_t>(warpgroups_.size()) * 4; }
  Block& block_;
  Barriers barriers_;
  Copies copies_;
  Tiles tiles_;
  RegisterPool registers_;
  std::vector<std::unique_ptr<Warpgroup>> warpgroups_;
  std::uint32_t alive_ = 0;
};

}  // namespace isomer::emulator::hopper
