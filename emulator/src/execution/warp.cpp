// Warp operations: lanes meet, each leaves a value, and when all that the mask names have come each may read
// what the others left. Operations without a mask (HIP's, and CUDA's old ones) mean the lanes that execute
// together: here, the lanes that stand at the same place when no lane of the block can go on otherwise. Of
// several such places the one that comes first in the code goes first, as diverged lanes rejoin behind it.
#include <algorithm>
#include <bit>
#include <cstring>

#include "execution/worker.hpp"
#include "watch/order.hpp"
#include "watch/reporter.hpp"

namespace isomer::emulator {

Meeting* Block::meet(std::uint64_t mask, WarpOp op, const void* value, unsigned bytes, const void* site) {
  Thread& self = *current_;
  Warp& warp = warps_[self.warp];
  const std::uint64_t bit = std::uint64_t{1} << self.lane;
  if (mask != 0 && !(mask & bit)) {
    watch::report_unnamed_lane(site, self.lane, launch_.lanes);
    mask = 0;  // as hardware runs it: with the lanes that execute together
  }
  PendingMeeting* meeting = nullptr;
  for (PendingMeeting* p : warp.pending) {
    if (p->wanted == mask && p->op == op && (mask != 0 || p->site == site) && !(p->arrived & bit)) {
      meeting = p;
      break;
    }
  }
  if (!meeting) {
    if (spare_.empty()) {
      meetings_.push_back(std::make_unique<PendingMeeting>());
      spare_.push_back(meetings_.back().get());
    }
    meeting = spare_.back();
    spare_.pop_back();
    meeting->wanted = mask;
    meeting->arrived = meeting->guessed = 0;
    meeting->op = op;
    meeting->site = site;
    warp.pending.push_back(meeting);
  }
  meeting->arrived |= bit;
  if (self.clock.guesses) meeting->guessed |= bit;
  if (bytes > 0) std::memcpy(meeting->values[self.lane], value, bytes);
  self.meeting = meeting;
  self.site = site;
  const std::uint64_t expected = mask == 0 ? warp.alive : mask & warp.alive;
  if (meeting->arrived == expected) {
    complete(warp, std::find(warp.pending.begin(), warp.pending.end(), meeting) - warp.pending.begin());
  } else {
    wait(Wait::meeting, site);
  }
  self.meeting = nullptr;
  return meeting;
}

void Block::part(Meeting* meeting) {
  auto* pending = static_cast<PendingMeeting*>(meeting);
  if (--pending->to_part == 0) spare_.push_back(pending);
}

void Block::complete(Warp& warp, std::size_t which) {
  PendingMeeting* meeting = warp.pending[which];
  warp.pending.erase(warp.pending.begin() + static_cast<std::ptrdiff_t>(which));
  meeting->members = meeting->arrived;
  meeting->to_part = static_cast<std::uint32_t>(std::popcount(meeting->arrived));
  progressed_ = true;
  yields_ = 0;
  Thread* lanes = &threads_[static_cast<std::size_t>(&warp - warps_.data()) * launch_.lanes];
  if (launch_.watch) {
    std::vector<Thread*> members;
    for (std::uint64_t m = meeting->members; m; m &= m - 1) members.push_back(&lanes[std::countr_zero(m)]);
    if (meeting->op == WarpOp::sync)
      watch::join(*this, members);
    else
      watch::converge(*this, members);
  }
  const bool backwards = (launch_.seed & 2) != 0;
  for (std::uint64_t m = meeting->members; m;) {
    const int lane = backwards ? 63 - std::countl_zero(m) : std::countr_zero(m);
    m &= ~(std::uint64_t{1} << lane);
    if (lanes[lane].wait == Wait::meeting) wake(lanes[lane]);
  }
}

bool Block::settle(Warp& warp) {
  for (std::size_t i = 0; i < warp.pending.size(); ++i) {
    const PendingMeeting& p = *warp.pending[i];
    const std::uint64_t expected = p.wanted == 0 ? warp.alive : p.wanted & warp.alive;
    if (p.arrived == expected) {
      complete(warp, i);
      return true;
    }
  }
  return false;
}

bool Block::complete_converged() {
  bool any = false;
  for (Warp& warp : warps_) {
    std::size_t best = warp.pending.size();
    for (std::size_t i = 0; i < warp.pending.size(); ++i) {
      if (warp.pending[i]->wanted != 0) continue;
      if (best == warp.pending.size() || warp.pending[i]->site < warp.pending[best]->site) best = i;
    }
    if (best == warp.pending.size()) continue;
    complete(warp, best);
    any = true;
  }
  return any;
}

}  // namespace isomer::emulator
