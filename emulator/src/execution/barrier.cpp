// Barriers of a block: the full one with its three reductions, the named ones that count, the one of the
// grid.
#include <algorithm>

#include <fmt/format.h>

#include "execution/worker.hpp"
#include "hopper/units.hpp"
#include "runtime/errors.hpp"
#include "watch/order.hpp"
#include "watch/reporter.hpp"

namespace isomer::emulator {

enum Combine { plain, any, all, count };

int Block::barrier(int combine, int predicate, const void* site) {
  if (combine != plain) {
    any_ |= predicate != 0;
    all_ &= predicate != 0;
    count_ += predicate != 0;
  }
  Thread& self = *current_;
  self.site = site;
  self.returned_early = false;
  if (++arrived_ == alive_) {
    self.wait = Wait::barrier;
    if (launch_.watch) check_barrier_sites(Wait::barrier);
    if (launch_.watch && alive_ < size()) check_barrier_is_whole(Wait::barrier);
    self.wait = Wait::none;
    release_barrier();
  } else {
    wait(Wait::barrier, site);
  }
  // The results stand until every thread, this one too, has come to the next barrier.
  return combine == any ? result_any_ : combine == all ? result_all_ : result_count_;
}

void Block::release_barrier() {
  result_any_ = any_, result_all_ = all_, result_count_ = count_;
  any_ = 0, all_ = 1, count_ = 0;
  arrived_ = 0;
  progressed_ = true;
  yields_ = 0;
  if (launch_.watch) watch::block_barrier(*this);
  begin_epoch(epoch_ + 1);
  for (std::uint32_t i = 0; i < size(); ++i) {
    Thread& t = threads_[permuted(i)];
    if (t.wait == Wait::barrier) wake(t);
  }
}

void Block::check_barrier_sites(Wait at) {
  const Thread* first = nullptr;
  for (const Thread& t : threads_) {
    if (t.wait != at) continue;
    if (!first) {
      first = &t;
    } else if (t.site != first->site) {
      watch::report_divergence(*this, *first, t);
      return;
    }
  }
}

/// Threads that have returned are not waited for; whoever only came to the kernel's end went around a barrier
/// that stands under a condition.
void Block::check_barrier_is_whole(Wait at) {
  const Thread *waits = nullptr, *left = nullptr;
  for (const Thread& t : threads_) {
    if (!waits && t.wait == at) waits = &t;
    if (!left && t.ended && t.ran_off) left = &t;
  }
  if (waits && left) watch::report_left_out(*this, *waits, *left);
}

void Block::named_barrier(unsigned id, unsigned threads, bool waits, const void* site) {
  Thread& self = *current_;
  const unsigned expected = threads == 0 ? alive_ : threads;
  auto found = std::find_if(named_.begin(), named_.end(), [id](const NamedBarrier& b) { return b.id == id; });
  if (found == named_.end()) {
    found = named_.emplace(found);
    found->id = id;
  }
  NamedBarrier& b = *found;
  if (b.arrived == 0 || threads == 0) {
    if (b.arrived == 0) b.first_site = site;
    b.expected = expected;
  } else if (b.expected != expected) {
    watch::report_violation(Kind::barrier_divergence, *this, self, {site, self.clock.calls},
                            {b.first_site, {}},
                            fmt::format("comes to named barrier {} for {} threads, where others came at "
                                        "{{other}} for {}",
                                        id, expected, b.expected));
  }
  self.barrier_id = id;
  ++b.arrived;
  if (launch_.watch) watch::arrive(b.carried, *this, self);
  if (b.arrived < b.expected) {
    if (waits) wait(Wait::named, site);
    return;
  }
  const watch::Carried carried = std::move(b.carried);
  b.carried = {};
  b.arrived = 0;
  progressed_ = true;
  if (launch_.watch && waits) watch::learn(carried, *this, self);
  for (std::uint32_t i = 0; i < size(); ++i) {
    Thread& t = threads_[permuted(i)];
    if (t.wait != Wait::named || t.barrier_id != id || t.ended) continue;
    if (launch_.watch) watch::learn(carried, *this, t);
    wake(t);
  }
}

void Block::grid_barrier(const void* site) {
  if (!launch_.request.cooperative) {
    watch::report_event(Kind::trap, site, "waits for the whole grid in a launch that is not cooperative");
    launch_.fail(error::launch_failure);
    abandon();
  }
  ++at_grid_;
  current_->returned_early = false;
  wait(Wait::grid, site);
}

/// All threads that are left have come to the grid's barrier. On CUDA's devices that is a barrier of the
/// block, then its thread (0,0,0) alone counts the block in and looks whether the others have come, then a
/// barrier of the block again. So where that thread has ended, the block is not counted, and the rest of it
/// goes on.
bool Block::counts_in_grid() {
  if (launch_.watch) {
    check_barrier_sites(Wait::grid);
    if (alive_ < size()) check_barrier_is_whole(Wait::grid);
  }
  if (threads_[0].ended && launch_.blocks > 1 && !launch_.hip) {
    for (const Thread& t : threads_)
      if (t.wait == Wait::grid) {
        watch::report_violation(Kind::barrier_divergence, *this, t, {t.site, t.clock.calls}, {},
                                "waits in the grid's barrier, where thread (0,0,0) of each block counts its "
                                "block in: here it has ended, so that this block is not counted and does not "
                                "wait for the others");
        break;
      }
    if (launch_.watch) watch::block_barrier(*this);
    leave_grid_barrier();
    return false;
  }
  in_grid_barrier_ = true;
  grid_generation_ = launch_.grid_generation.load();
  launch_.arrive_at_grid_barrier();
  return true;
}

void Block::leave_grid_barrier() {
  at_grid_ = 0;
  progressed_ = true;
  yields_ = 0;
  begin_epoch(epoch_ + 1);
  for (std::uint32_t i = 0; i < size(); ++i) {
    Thread& t = threads_[permuted(i)];
    if (t.wait == Wait::grid) wake(t);
  }
}

Block* Block::mate(std::uint32_t rank) {
  if (cluster_ == nullptr) return rank == 0 ? this : nullptr;
  return rank < cluster_->blocks.size() ? cluster_->blocks[rank] : nullptr;
}

bool Block::is_mate(const void* owner) const {
  return cluster_ != nullptr &&
         std::find(cluster_->blocks.begin(), cluster_->blocks.end(), owner) != cluster_->blocks.end();
}

void Block::cluster_arrive() {
  if (cluster_ == nullptr) return;
  Thread& self = *current_;
  self.cluster_generation = cluster_->generation + 1;
  ++cluster_->arrived;
  if (launch_.watch) watch::arrive(cluster_carried_, *this, self);
  release_cluster_if_all();
}

void Block::release_cluster_if_all() {
  std::uint32_t alive = 0;
  for (const Block* block : cluster_->blocks) alive += block->alive_;
  if (cluster_->arrived == 0 || cluster_->arrived < alive) return;
  cluster_->arrived = 0;
  ++cluster_->generation;
  for (Block* block : cluster_->blocks) {
    // Of other blocks' accesses nothing is kept: between blocks of a cluster the watch takes all as ordered.
    block->cluster_done_ = std::move(block->cluster_carried_);
    block->cluster_carried_ = {};
    for (std::uint32_t i = 0; i < block->size(); ++i) {
      Thread& t = block->threads_[block->permuted(i)];
      if (t.wait != Wait::cluster || t.ended) continue;
      if (launch_.watch) watch::learn(block->cluster_done_, *block, t);
      block->wake(t);
    }
  }
}

void Block::cluster_wait(const void* site) {
  if (cluster_ == nullptr) return;
  Thread& self = *current_;
  if (cluster_->generation >= self.cluster_generation) {
    if (launch_.watch) watch::learn(cluster_done_, *this, self);
    return;
  }
  wait(Wait::cluster, site);
}

void Block::report_deadlock() {
  if (units_used_) units_->explain_stuck();
  watch::report_deadlock(*this);
}

}  // namespace isomer::emulator
