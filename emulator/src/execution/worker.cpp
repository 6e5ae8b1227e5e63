#include "execution/worker.hpp"

#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <numeric>

#include "execution/followed_stacks.hpp"
#include "execution/progress.hpp"
#include "execution/stillness.hpp"
#include "execution/turns.hpp"
#include "isomer/emulator/module.hpp"
#include "runtime/errors.hpp"
#include "runtime/settings.hpp"
#include "watch/order.hpp"
#include "watch/reporter.hpp"

namespace isomer::emulator {
namespace {

// Rounds in which every thread spins and nothing ever moves: of a cluster, and where all blocks that are left
// are here.
constexpr std::uint64_t kHopelessRounds = 2'000'000, kHopelessAlone = 250'000;

// The threads that run blocks now. More of them than places are left out: nobody needs every one.
constexpr unsigned kPlaces = 256;
std::array<std::atomic<int>, kPlaces> at_work{};

class AtWork {
 public:
  AtWork() {
    const int self = gettid();
    for (auto& place : at_work) {
      int none = 0;
      if (!place.compare_exchange_strong(none, self)) continue;
      place_ = &place;
      return;
    }
  }
  ~AtWork() {
    if (place_) *place_ = 0;
  }
  AtWork(const AtWork&) = delete;
  AtWork& operator=(const AtWork&) = delete;

 private:
  std::atomic<int>* place_ = nullptr;
};

void land(boost::context::detail::transfer_t from) { static_cast<Fiber*>(from.data)->context = from.fctx; }

}  // namespace

Launch::Launch(const LaunchRequest& r) : request(r) {
  const Settings& s = settings();
  threads_per_block = r.block.x * r.block.y * r.block.z;
  of_grid = blocks = std::uint64_t{r.grid.x} * r.grid.y * r.grid.z;
  cluster = std::max(r.cluster, 1u);
  if (s.blocks > 0 && !r.cooperative && cluster == 1) blocks = std::min(blocks, s.blocks);
  const std::uint64_t units = blocks / cluster;
  seed = s.seed;
  lanes = s.lanes;
  watch = s.watch;
  hip = s.hip;
  step_limit = s.step_limit;
  resident_blocks = r.cooperative ? blocks : 64;
  if (seed == RunOptions::kReversed) {
    multiplier_ = units - 1;  // −1: n − 1 − ordinal
    offset_ = units - 1;
  } else if (seed != 0 && units > 1) {
    // A permutation of the blocks that needs no table: multiply by a number that shares no factor with them.
    multiplier_ = (seed * 0x9e3779b97f4a7c15ull >> 20) % units;
    while (std::gcd(multiplier_, units) != 1) multiplier_ = (multiplier_ + 1) % units;
    offset_ = (seed * 0xbf58476d1ce4e5b9ull >> 17) % units;
  }
}

bool Launch::take(std::uint64_t& linear, std::uint64_t& ordinal) {
  const std::uint64_t units = blocks / cluster;
  if (next.load(std::memory_order_relaxed) >= units) return false;
  ordinal = next.fetch_add(1, std::memory_order_acq_rel);
  if (ordinal >= units) return false;
  linear =
      static_cast<std::uint64_t>((static_cast<unsigned __int128>(ordinal) * multiplier_ + offset_) % units) *
      cluster;
  if (blocks < of_grid && blocks > 1)
    linear =
        static_cast<std::uint64_t>(static_cast<unsigned __int128>(linear) * (of_grid - 1) / (blocks - 1));
  return true;
}

void Launch::run_again_in_clusters(std::uint32_t blocks_of_one) {
  if (turns != nullptr) turns->give_up();
  wanted_cluster = blocks_of_one;
  cancelled.store(true);
}

void Launch::fail(int code) {
  if (turns != nullptr) turns->give_up();
  int none = 0;
  error.compare_exchange_strong(none, code);
  cancelled.store(true);
}

void Launch::arrive_at_grid_barrier() {
  std::lock_guard lock(grid_mutex);
  if (++grid_arrived == blocks) {
    grid_arrived = 0;
    if (watch) watch::new_phase();
    ++grid_generation;
  }
}

// A fault on a fiber may be its stack's end: the handler needs a stack of its own.
Worker::Worker() : pool_(&Worker::body) {
  main_.record = followed::stack_that_runs();
  constexpr std::size_t kSignalStack = 256 * 1024;
  signal_stack_.resize(kSignalStack);
  stack_t stack{};
  stack.ss_sp = signal_stack_.data();
  stack.ss_size = kSignalStack;
  stack_t before{};
  if (sigaltstack(nullptr, &before) == 0 && (before.ss_flags & SS_DISABLE)) sigaltstack(&stack, nullptr);
}

Worker::~Worker() {
  stack_t stack{};
  if (sigaltstack(nullptr, &stack) != 0 || stack.ss_sp != signal_stack_.data()) return;
  stack.ss_flags = SS_DISABLE;
  sigaltstack(&stack, nullptr);
}

__thread Worker* Worker::current_ = nullptr;

Worker& Worker::here() {
  static thread_local Worker worker;
  current_ = &worker;
  return worker;
}

void Worker::switch_to(Fiber* fiber) {
  Fiber* from = running_;
  running_ = fiber;
  const auto to = fiber->context;
  followed::switch_to(fiber->record);
  land(boost::context::detail::jump_fcontext(to, from));
}

void Worker::body(boost::context::detail::transfer_t from) {
  land(from);
  Worker& worker = *current_;
  for (;;) {
    Block& block = *worker.block_;
    if (Thread* fresh = block.take_fresh()) {
      block.run(*fresh);
      continue;
    }
    Fiber* self = worker.running_;
    worker.pool_.release(self);
    if (Fiber* to = block.next(); to != self) worker.switch_to(to);
  }
}

/// The blocks of a cluster run by turns, each until it cannot go on without another.
void Worker::work_on_clusters(Launch& launch) {
  std::vector<std::unique_ptr<Block>> blocks;
  for (std::uint32_t i = 0; i < launch.cluster; ++i) blocks.push_back(std::make_unique<Block>(*this, launch));
  std::uint64_t linear = 0, ordinal = 0;
  while (!launch.cancelled.load() && launch.take(linear, ordinal)) {
    Cluster cluster;
    for (auto& block : blocks) cluster.blocks.push_back(block.get());
    for (std::uint32_t i = 0; i < launch.cluster; ++i) blocks[i]->begin(linear + i, &cluster, i);
    std::vector<bool> ended(launch.cluster);
    bool moved = true;
    std::uint64_t spins = 0;
    while (moved && !launch.cancelled.load()) {
      moved = false;
      for (std::uint32_t i = 0; i < launch.cluster && !launch.cancelled.load(); ++i) {
        if (ended[i]) continue;
        const Block::Outcome outcome = blocks[i]->resume();
        ended[i] = outcome == Block::Outcome::finished;
        moved = moved || blocks[i]->moved();
        spins = blocks[i]->progressed() ? 0 : spins + 1;
        if (ended[i]) block_ends(launch);
      }
      if (spins > kHopelessRounds) moved = false;
    }
    for (std::uint32_t i = 0; i < launch.cluster && !launch.cancelled.load(); ++i) {
      if (ended[i]) continue;
      blocks[i]->report_deadlock();
      launch.fail(error::launch_failure);
    }
    if (launch.cancelled.load()) {
      for (std::uint32_t i = 0; i < launch.cluster; ++i)
        if (!ended[i]) blocks[i]->resume();  // gives its fibers back
    }
  }
}

int thread_at_work(unsigned turn) {
  for (unsigned i = 0; i < kPlaces; ++i)
    if (const int thread = at_work[(turn + i) % kPlaces]) return thread;
  return 0;
}

void Worker::work_side_by_side(Launch& launch) {
  Turns& turns = *launch.turns;
  place_ = turns.join();
  Block block(*this, launch);
  for (std::uint64_t linear = 0, ordinal = 0;;) {
    turns.looks(place_, launch.next.load(std::memory_order_acquire));
    if (launch.cancelled.load() || !launch.take(linear, ordinal)) break;
    turns.begins(place_, ordinal);
    block.begin_beside(linear, ordinal);
    if (block.resume() == Block::Outcome::finished) {
      block_ends(launch);
    } else {
      // It waits for another, or the launch has failed: on one core that is told.
      turns.give_up();
      launch.cancelled = true;
    }
  }
  turns.leaves(place_);
}

void Worker::work(Launch& launch) {
  const AtWork now;
  numbers_ = {};
  if (launch.turns != nullptr) return work_side_by_side(launch);
  if (launch.cluster > 1) return work_on_clusters(launch);
  std::deque<Block*> resident;
  std::vector<std::unique_ptr<Block>> owned;
  std::vector<Block*> spare;
  Stillness stillness;
  while (!launch.cancelled.load()) {
    Block* block = nullptr;
    std::uint64_t linear = 0, ordinal = 0;
    if (resident.size() < launch.resident_blocks && launch.take(linear, ordinal)) {
      if (spare.empty()) {
        owned.push_back(std::make_unique<Block>(*this, launch));
        spare.push_back(owned.back().get());
      }
      block = spare.back();
      spare.pop_back();
      block->begin(linear);
    } else {
      for (std::size_t i = 0; i < resident.size() && !block; ++i) {
        Block* candidate = resident.front();
        resident.pop_front();
        if (candidate->can_resume()) {
          block = candidate;
        } else {
          resident.push_back(candidate);
        }
      }
      if (!block) {
        if (resident.empty()) break;
        // Everything here waits for the grid's barrier. If every other block has ended or waits too, it is in
        // vain.
        if (launch.finished.load() + launch.grid_arrived.load() >= launch.blocks &&
            launch.finished.load() > 0 && !resident.front()->can_resume()) {
          watch::report_deadlock(*resident.front());
          launch.fail(error::launch_failure);
        }
        sched_yield();
        continue;
      }
    }
    switch (block->resume()) {
      case Block::Outcome::finished:
        block_ends(launch);
        spare.push_back(block);
        stillness.moved(launch);
        break;
      case Block::Outcome::stuck:
        resident.push_back(block);
        if (block->progressed()) {
          stillness.moved(launch);
        } else {
          stillness.round(launch, resident.size());
        }
        if (launch.waits_in_vain && stillness.rounds() > kHopelessAlone) {
          watch::report_deadlock(*block);
          launch.fail(error::launch_timeout);
        }
        break;
      case Block::Outcome::abandoned:
        break;
    }
  }
  for (Block* block : resident) {
    if (launch.cancelled.load()) block->resume();  // gives its fibers back
  }
}

}  // namespace isomer::emulator
