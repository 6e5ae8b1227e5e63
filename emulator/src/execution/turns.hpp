// A watched launch whose blocks run side by side on several workers, with the reports of one core.
//
// What the watch says may not depend on the machine, and a block's report depends on what earlier blocks did.
// So the blocks run ahead of their turn only as long as nothing can tell the difference:
//
// - Private to a block, and touched without a word to anybody: its shared memory and that memory's shadow, its
//   threads' stacks and clocks, what its fences and shared words carry.
// - Shared by the blocks: global memory, its shadow, and the findings. Every word of global memory has a mark
//   (watch/claims.hpp): which block of the launch has touched it, and whether it was written. A word of one block
//   is that block's, cell and value. A word that several blocks have only read is nobody's, and nobody notes it in
//   its cell, which only a later writer would ask.
// - A block has its turn when every earlier one has ended. From then on it sees exactly what it would see on one
//   core, if no later block has touched what it touches. What depends on the order of blocks waits for the turn:
//   atomics and volatile accesses of global memory, and a word that an earlier block has marked, of which one of
//   the two is a writer.
// - What cannot be put right in this way ends the attempt: a word that a later block has marked, a write of a word
//   that several have read, a finding, a failure, a block that waits for another, output, memory asked for on the
//   device, asynchronous units. Each page was kept before its first write (watch/undo.hpp): memory becomes what it
//   was, and the launch runs anew on one core, where it is judged as ever. Its kernel is not tried again.
//
// An attempt that succeeds has found nothing, and each of its blocks has read what it would have read on one core:
// no block has touched a word that another has written, but in the order of the turns. Thus the values in memory,
// the counts and the reports are those of one core, down to the order in which atomics add.
//
// These run on one core from the start: cooperative launches, clusters, a limit of accesses, a sample of blocks, a
// program that has registered memory of the host, small launches, and kernels of which most work is behind their
// first wait for the turn.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace isomer::emulator {

struct Launch;

class Turns {
 public:
  static constexpr unsigned kMostWorkers = 64;

  /// A worker comes; its place.
  unsigned join() { return joined_.fetch_add(1); }
  /// Its last block, if it had one, has ended, and its next one is not before this.
  void looks(unsigned place, std::uint64_t from);
  void begins(unsigned place, std::uint64_t ordinal);
  void leaves(unsigned place) { looks(place, kNone); }
  /// Returns when every block before the worker's has ended; false where the attempt is given up.
  bool wait(unsigned place);
  void give_up();
  bool given_up() const { return given_up_.load(std::memory_order_acquire); }

  /// A block has ended, which took so many steps, of which so many before it had to have its turn.
  void count(std::uint64_t ahead, std::uint64_t all);
  bool has_paid() const;

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  bool is_first(unsigned place) const;
  void tell();
  struct alignas(64) Place {
    std::atomic<std::uint64_t> at{kNone};
  };
  std::array<Place, kMostWorkers> places_;
  std::atomic<unsigned> joined_{0};
  std::atomic<bool> given_up_{false};
  alignas(64) std::atomic<std::uint32_t> moves_{0};
  std::atomic<std::uint32_t> waiting_{0};
  std::atomic<std::uint64_t> ahead_{0}, all_{0};
};

/// Whether the blocks of a watched launch may run side by side, and seem worth it.
bool may_run_side_by_side(const Launch& launch, int workers);
/// The kernel of the launch is not tried again.
void run_alone_from_now_on(const Launch& launch);

/// The running device thread, if there is one, is to do what nothing can undo. Its block must be the only one that
/// runs: does not return where it is not.
void run_alone();

}  // namespace isomer::emulator
