#include "execution/block.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "execution/async_copies.hpp"
#include "execution/turns.hpp"
#include "execution/worker.hpp"
#include "hopper/units.hpp"
#include "isomer/emulator/module.hpp"
#include "runtime/errors.hpp"
#include "watch/claims.hpp"
#include "watch/order.hpp"
#include "watch/reporter.hpp"

extern "C" {
__thread __attribute__((visibility("default"))) uint3 isomer_emulator_thread_index;
__thread __attribute__((visibility("default"))) uint3 isomer_emulator_block_index;
__thread __attribute__((visibility("default"))) dim3 isomer_emulator_block_dim;
__thread __attribute__((visibility("default"))) dim3 isomer_emulator_grid_dim;
__thread int isomer_emulator_patience;
}

namespace isomer::emulator {
namespace {

constexpr int kPatienceOfAThread =
    256;  // atomics, after which the others run: a thread begins without a wait

// Of a thread that no other of its block can follow: so often it may let others run without a change of a word, and
// go on at all, before it is taken to wait.
constexpr std::uint32_t kMostIdle = 3, kMostStays = 1u << 20;

std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

}  // namespace

__thread Thread* running_thread = nullptr;
Block* current_block() { return running_thread ? Worker::current()->block() : nullptr; }

Block::Block(Worker& worker, Launch& launch)
    : worker_(worker),
      launch_(launch),
      turns_(launch.turns),
      known_sites_(worker.known_sites()),
      numbers_(worker.numbers()),
      plainly_watched_(launch.watch && launch.step_limit == 0) {
  clocks_.resize(launch.threads_per_block);
  threads_.reserve(clocks_.size());
  for (watch::ThreadClock& clock : clocks_) threads_.emplace_back(clock);
  ready_.resize(launch.threads_per_block);
  warps_.resize((launch.threads_per_block + launch.lanes - 1) / launch.lanes);
  const dim3 dim = launch.request.block;
  for (std::uint32_t i = 0; i < size(); ++i) {
    Thread& t = threads_[i];
    t.index = {i % dim.x, i / dim.x % dim.y, i / (dim.x * dim.y)};
    t.block = this;
    t.linear = i;
    t.lane = i % launch.lanes;
    t.warp = i / launch.lanes;
  }
}

Block::~Block() {
  for (Shared& s : shared_) {
    if (s.buffer) Memory::instance().release(s.buffer);
  }
  if (dynamic_.buffer) Memory::instance().release(dynamic_.buffer);
}

void Block::begin(std::uint64_t linear, Cluster* cluster, std::uint32_t rank) {
  cluster_ = cluster;
  rank_ = rank;
  const dim3 grid = launch_.request.grid;
  linear_ = linear;
  index_ = {static_cast<std::uint32_t>(linear % grid.x), static_cast<std::uint32_t>(linear / grid.x % grid.y),
            static_cast<std::uint32_t>(linear / grid.x / grid.y)};
  for (Thread& t : threads_) {
    t.fiber = nullptr;
    t.wait = Wait::none;
    t.started = t.ended = t.returned_early = t.ran_off = false;
    t.meeting = nullptr;
    t.has_registers_in_flight = t.initialises = false;
  }
  for (std::uint32_t w = 0; w < warps_.size(); ++w) {
    const std::uint32_t lanes = std::min<std::uint32_t>(launch_.lanes, size() - w * launch_.lanes);
    warps_[w].alive = lanes == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << lanes) - 1;
    warps_[w].pending.clear();
  }
  if (launch_.seed == RunOptions::kReversed) {
    order_.resize(size());
    for (std::uint32_t i = 0; i < size(); ++i) order_[i] = size() - 1 - i;
  } else if (launch_.seed != 0) {
    std::uint64_t state = mix(launch_.seed ^ mix(linear));
    fresh_first_ = (state & 1) != 0;
    order_.resize(size());
    for (std::uint32_t i = 0; i < size(); ++i) order_[i] = i;
    for (std::uint32_t i = size(); i > 1; --i) {
      state = mix(state);
      std::swap(order_[i - 1], order_[state % i]);
    }
  }
  ready_head_ = ready_count_ = fresh_ = arrived_ = at_grid_ = spinning_ = 0;
  alive_ = size();
  any_ = 0, all_ = 1, count_ = 0;
  begin_epoch(1);
  first_segment_of_all_ = first_segment_;
  in_grid_barrier_ = abandoned_ = false;
  spare_.clear();
  for (auto& m : meetings_) spare_.push_back(m.get());
  clock_.reset();
  for (Shared& s : shared_) s.used = false;
  dynamic_.used = false;
  next_shared_address_ = 0;
  named_.clear();
  cluster_carried_ = cluster_done_ = {};
  units_used_ = copies_used_ = false;
  // Shared memory is named before any thread runs, so that a report can name the block's arrays.
}

void Block::begin_epoch(std::uint32_t epoch) {
  epoch_ = epoch;
  if (launch_.watch) first_segment_ = watch::next_segment_of(numbers_);
}

bool Block::can_resume() const {
  return !in_grid_barrier_ || launch_.grid_generation.load() != grid_generation_ || launch_.cancelled.load();
}

Block::Outcome Block::resume() {
  worker_.enter(this);
  isomer_emulator_block_index = index_;
  isomer_emulator_block_dim = launch_.request.block;
  isomer_emulator_grid_dim = launch_.request.grid;
  progressed_ = moved_ = false;
  yields_ = 0;
  if (in_grid_barrier_ && launch_.grid_generation.load() != grid_generation_) {
    in_grid_barrier_ = false;
    leave_grid_barrier();
  }
  if (spinning_ > 0) {
    spinning_ = 0;
    for (std::uint32_t i = 0; i < size(); ++i) {
      Thread& t = threads_[permuted(i)];
      if (t.wait == Wait::spin) wake(t);
    }
  }
  if (Fiber* first = next(); first != worker_.main()) worker_.switch_to(first);
  running_thread = nullptr;
  worker_.enter(nullptr);
  if (turns_ != nullptr) turns_->count(has_turn_ ? steps_ahead_ : steps_, steps_);
  launch_.thread_steps.fetch_add(std::exchange(steps_, 0), std::memory_order_relaxed);
  for (Fiber* f : dead_fibers_) worker_.pool().abandon(f);
  dead_fibers_.clear();
  if (abandoned_) {
    reclaim();
    return Outcome::abandoned;
  }
  return alive_ == 0 && fresh_ == size() ? Outcome::finished : Outcome::stuck;
}

void Block::reclaim() {
  for (Thread& t : threads_) {
    if (t.started && !t.ended) worker_.pool().abandon(t.fiber);
    t.ended = true;
  }
}

Thread* Block::take_fresh() {
  if (fresh_ == size() || abandoned_ || launch_.cancelled.load(std::memory_order_relaxed)) return nullptr;
  if (ready_count_ > 0 && !fresh_first_) return nullptr;
  return &threads_[permuted(fresh_++)];
}

/// Nobody looks at the clock of a thread that has not begun.
void Block::begin_clock(Thread& thread) {
  thread.clock.reset();
  watch::segment_of(*this, thread);
}

void Block::run(Thread& thread) {
  current_ = running_thread = &thread;
  thread.started = true;
  moved_ = true;
  yields_ = 0;
  ++steps_;
  thread.fiber = worker_.running();
  progressed_ = true;
  isomer_emulator_thread_index = thread.index;
  isomer_emulator_patience = kPatienceOfAThread;
  if (launch_.watch) begin_clock(thread);
  launch_.request.invoke(launch_.request.package);
  current_->ran_off = !current_->returned_early;
  ended(*current_);
}

Fiber* Block::leave() {
  current_ = running_thread = nullptr;
  return worker_.main();
}

Fiber* Block::next() {
  if (watch::any_pending_store) watch::settle_pending_store();
  for (;;) {
    if (launch_.cancelled.load(std::memory_order_relaxed)) abandoned_ = true;
    if (abandoned_) return leave();
    const bool has_fresh = fresh_ < size();
    if (ready_count_ > 0 && !(fresh_first_ && has_fresh)) {
      Thread* t = ready_[ready_head_];
      ready_head_ = ready_head_ + 1 == size() ? 0 : ready_head_ + 1;
      --ready_count_;
      ++steps_;
      moved_ = true;
      current_ = running_thread = t;
      isomer_emulator_thread_index = t->index;
      return t->fiber;
    }
    if (has_fresh) return worker_.pool().acquire();
    if (alive_ == 0) return leave();
    if (complete_converged()) continue;
    // The asynchronous units are as late as can be: they go on where no thread can without them.
    if (units_used_ && units_->advance()) continue;
    if (at_grid_ > 0 && at_grid_ == alive_) {
      if (!in_grid_barrier_ && !counts_in_grid()) continue;
      return leave();
    }
    if (spinning_ > 0 || cluster_ != nullptr) return leave();
    report_deadlock();
    abandoned_ = true;
    launch_.fail(error::launch_failure);
  }
}

void Block::wait(Wait why, const void* site) {
  Thread& self = *current_;
  self.wait = why;
  self.site = site;
  Fiber* to = next();
  if (to != worker_.running()) worker_.switch_to(to);
}

void Block::wake(Thread& thread) {
  thread.wait = Wait::none;
  std::uint32_t tail = ready_head_ + ready_count_;
  if (tail >= size()) tail -= size();
  ready_[tail] = &thread;
  ++ready_count_;
}

void Block::ended(Thread& thread) {
  if (units_used_) units_->thread_ends(thread);
  if (watch::any_pending_store) watch::settle_pending_store();
  thread.ended = true;
  thread.fiber = nullptr;
  yields_ = 0;
  --alive_;
  Warp& warp = warps_[thread.warp];
  warp.alive &= ~(std::uint64_t{1} << thread.lane);
  while (!warp.pending.empty() && settle(warp)) {
  }
  if (arrived_ > 0 && arrived_ == alive_) {
    if (launch_.watch) check_barrier_is_whole(Wait::barrier);
    release_barrier();
  }
  if (cluster_ != nullptr) release_cluster_if_all();
}

hopper::Units& Block::units() {
  run_alone();
  if (!units_) units_ = std::make_unique<hopper::Units>(*this);
  if (!units_used_) units_->begin();
  units_used_ = true;
  own_ranges_ = {};
  return *units_;
}

AsyncCopies& Block::copies() {
  if (!copies_) copies_ = std::make_unique<AsyncCopies>(*this);
  if (!copies_used_) copies_->begin();
  copies_used_ = true;
  return *copies_;
}

std::uint32_t Block::clock_entries() const { return size() + (units_used_ ? units_->agents() : 0); }
std::uint32_t Block::agent_tick(std::uint32_t entry) const {
  return units_used_ ? units_->agent_tick(entry - size()) : 0;
}

void Block::kill_current() {
  Thread& self = *current_;
  Fiber* mine = worker_.running();
  dead_fibers_.push_back(mine);
  ended(self);
  Fiber* to = next();
  worker_.switch_to(to);
  __builtin_unreachable();
}

void Block::abandon() {
  abandoned_ = true;
  worker_.switch_to(leave());
  __builtin_unreachable();
}

void Block::begin_beside(std::uint64_t linear, std::uint64_t ordinal) {
  begin(linear);
  has_turn_ = false;
  mark_ = watch::mark_of(ordinal);
}

void Block::await_turn() {
  if (turns_ == nullptr || has_turn_) return;
  steps_ahead_ = steps_;
  if (!turns_->wait(worker_.place())) abandon();
  has_turn_ = true;
}

void Block::run_alone() {
  if (turns_ == nullptr) return;
  turns_->give_up();
  launch_.cancelled = true;
  abandon();
}

void Block::yield(const void* site) {
  Thread& self = *current_;
  watch::ThreadClock& clock = self.clock;
  clock.deals();
  clock.idle = clock.has_changed ? 0 : clock.idle + 1;
  clock.has_changed = false;
  // Where everybody here has yielded and nobody came further, all wait for another block.
  const bool others = (ready_count_ > 0 || fresh_ < size()) && yields_++ <= alive_;
  if (others) {
    wake(self);
    Fiber* to = next();
    if (to != worker_.running()) worker_.switch_to(to);
  } else if (launch_.watch && clock.idle < kMostIdle && clock.stays < kMostStays) {
    // It does not only look: another block would do no more for it than this one, whose turn it is.
    ++clock.stays;
  } else {
    clock.stays = 0;
    ++spinning_;
    wait(Wait::spin, site);
  }
}

}  // namespace isomer::emulator
