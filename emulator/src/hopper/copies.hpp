// The bulk copy engine: boxes of tensors and plain stretches of bytes between global and shared memory.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "execution/block.hpp"
#include "hopper/tensor_map.hpp"
#include "watch/reporter.hpp"

namespace isomer::emulator::hopper {

/// What a copy moves: a box, or `bytes` adjacent bytes where the map has no rank.
struct Box {
  TensorMap map;
  int coordinates[5] = {};
  std::byte* global = nullptr;
  std::uint32_t bytes = 0;
};

class Copies {
 public:
  explicit Copies(Block& block) : block_(block) {}
  void begin();
  Box box_of(const void* map, int rank, const int* coordinates, std::uint32_t shared,
             const watch::Site& site);
  Box stretch_of(void* global, std::uint32_t bytes, std::uint32_t shared, const watch::Site& site);

  void load(const Box& box, std::uint32_t to, std::uint32_t barrier, const watch::Site& site);
  void store(const Box& box, std::uint32_t from, const watch::Site& site);
  void commit();
  /// Until at most so many groups of the running thread's stores have not been read out of shared memory.
  void wait(unsigned groups);
  /// The copy's bytes lie in shared memory from now on; how many they are.
  std::uint32_t land(std::uint32_t filling, std::uint32_t agent, std::uint32_t tick);
  void thread_ends(Thread& thread);
  void block_ends();

 private:
  struct Load {
    Box box;
    bool landed = false;
  };
  struct Store {
    Box box;
    std::uint32_t from = 0;
    bool done = false;
  };
  struct Stores {
    std::vector<std::uint32_t> open;                ///< of no group yet
    std::deque<std::vector<std::uint32_t>> groups;  ///< oldest first
  };
  void look_behind_row(const Box& box, const BoxRow& row, const watch::Site& site);
  void look_at_global(const Box& box, bool writes, const watch::Site& site);
  void read_out(std::uint32_t draining, Thread& thread);

  Block& block_;
  std::vector<Load> loads_;    ///< as the tiles number them
  std::vector<Store> stores_;  ///< likewise
  std::vector<Stores> of_thread_;
};

}  // namespace isomer::emulator::hopper
