// Which accesses are ordered. See clock.hpp for the model.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "execution/block.hpp"

namespace isomer::emulator::watch {

/// A stretch of one thread's work between two steps of its clock.
struct Segment {
  std::uint64_t block = 0;
  std::uint32_t thread = 0;  ///< or, from the block's size on, an agent of its asynchronous units
  std::uint32_t epoch = 0;
  std::uint32_t tick = 0;
};

/// 32 numbers. Neighbours step together: the segments of 32 threads of a block at one tick need no list;
/// others have one.
struct SegmentRun {
  static constexpr std::uint32_t kLength = 32, kListed = 0xffffffffu;
  std::uint64_t block = 0;   ///< where it is listed: the place of its first
  std::uint32_t thread = 0;  ///< its first; or kListed
  std::uint32_t epoch = 0;
  std::uint32_t tick = 0;
};

/// Of the launch, numbered from `first_number` on; what lies before `phase_begin` is ordered before
/// everything.
struct Segments {
  SegmentRun* runs = nullptr;  ///< reserved before the first watched launch, as `listed` is
  Segment* listed = nullptr;
  std::uint32_t first_number = 1, phase_begin = 1;
  std::atomic<std::uint32_t> runs_taken{0}, listed_taken{0};  ///< by all workers; of `listed` in runs
};
extern Segments segments_of_launch;
/// Reserves what the launches' segments need, which the first launch would.
void reserve_segments();
/// Whether some word of global memory has had anything left with it in this phase. Asked by who has its turn.
extern bool something_published;

/// The number of the segment that the thread is in, where it has none yet.
std::uint32_t new_segment_of(Block& block, Thread& thread);
/// The number of the segment that the thread is in; never 0.
inline std::uint32_t segment_of(Block& block, Thread& thread) {
  const ThreadClock& c = thread.clock;
  return c.segment != 0 && c.epoch == block.epoch() ? c.segment : new_segment_of(block, thread);
}
/// Every segment that there is has a lower number.
inline std::uint32_t next_segment() {
  return segments_of_launch.first_number +
         segments_of_launch.runs_taken.load(std::memory_order_relaxed) * SegmentRun::kLength;
}
/// Every segment of this worker's has a lower number, and of those to come none of an earlier epoch of its block has a
/// higher one.
inline std::uint32_t next_segment_of(const Numbers& numbers) {
  return numbers.next_run == numbers.end_run
             ? next_segment()
             : segments_of_launch.first_number + numbers.next_run * SegmentRun::kLength;
}
inline Segment segment(std::uint32_t number) {
  const std::uint32_t place = number - segments_of_launch.first_number, in_run = place % SegmentRun::kLength;
  const SegmentRun& run = segments_of_launch.runs[place / SegmentRun::kLength];
  if (run.thread == SegmentRun::kListed) return segments_of_launch.listed[run.block + in_run];
  return {run.block, run.thread + in_run, run.epoch, run.tick};
}

/// Whether everything in the earlier segment happens before what the thread does now. `at_once`: what came
/// with a word counts without a fence, as it does for accesses that no cache keeps.
bool ordered(std::uint32_t earlier, Block& block, Thread& thread, bool at_once = false);

void block_barrier(Block& block);
void join(Block& block, const std::vector<Thread*>& members);
/// Lanes come to a warp operation that orders no memory.
void converge(Block& block, const std::vector<Thread*>& members);
/// Whether a lane of the thread's own warp was in the segment before it came to such an operation with the
/// thread: then what it read there is read.
bool read_before(std::uint32_t earlier, Block& block, Thread& thread);
void fence(Block& block, Thread& thread, Scope scope);
/// A write of a word that leaves with it what the last fences noted; `own`: it is in the block's shared memory;
/// `release`: it is a fence itself.
void publish(Block& block, Thread& thread, const void* address, bool own, Scope scope, bool release);
/// A read of such a word. `lock`: it came by a compare-and-swap; `acquire`: it is a fence itself.
void pick_up(Block& block, Thread& thread, const void* address, bool own, Scope scope, bool lock, bool acquire);

/// A thread arrives at a barrier that carries what it knows to those who wait for it, and goes on.
void arrive(Carried& carried, Block& block, Thread& thread);
/// The work of an agent up to that tick has ended for those who wait.
void arrive(Carried& carried, Block& block, std::uint32_t agent, std::uint32_t tick);
void learn(const Carried& carried, Block& block, Thread& thread);
/// Work of an agent that has ended now, as a segment: those know of it who learn of the agent's tick.
std::uint32_t segment_of_agent(Block& block, std::uint32_t agent, std::uint32_t tick);
/// Whether the thread knows that the agent has come to that tick.
bool knows(Block& block, Thread& thread, std::uint32_t agent, std::uint32_t tick);
/// What the thread knows of the generic proxy's accesses holds for the asynchronous proxy too.
void proxy_fence(Block& block, Thread& thread);
/// Whether a proxy fence stands between the segment and what the thread does now.
bool proxied(std::uint32_t earlier, Block& block, Thread& thread);

/// Everything so far is ordered before everything that follows: a launch begins, or the grid met.
void new_phase();
void begin_launch();

}  // namespace isomer::emulator::watch
