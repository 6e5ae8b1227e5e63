#include "watch/order.hpp"

#include <algorithm>
#include <deque>
#include <unordered_map>

// The watch runs a launch on one worker, so nothing here is locked.
namespace isomer::emulator::watch {
namespace {

constexpr std::size_t kKnownLimit = 4096;  // snapshots a thread carries; older knowledge is dropped

std::deque<Segment> segments;
std::uint32_t first_number = 1;  // number of segments.front()
std::uint32_t phase_begin = 1;   // segments before it are ordered before everything
std::unordered_map<const void*, SnapshotList> published;

void refresh(Block& block, ThreadClock& clock) {
  if (clock.epoch == block.epoch()) return;
  clock.epoch = block.epoch();
  clock.seen.reset();
  clock.segment = 0;
}

void step(ThreadClock& clock) {
  ++clock.tick;
  clock.segment = 0;
}

void merge(SnapshotList& into, const SnapshotList& from) {
  for (const auto& s : from) {
    if (std::find(into.begin(), into.end(), s) == into.end()) into.push_back(s);
  }
  if (into.size() > kKnownLimit) into.erase(into.begin(), into.end() - kKnownLimit);
}

std::shared_ptr<const Snapshot> snapshot(Block& block, Thread& thread) {
  auto s = std::make_shared<Snapshot>();
  s->block = block.linear();
  s->epoch = block.epoch();
  s->thread = thread.linear;
  s->tick = thread.clock.tick;
  s->seen = thread.clock.seen;
  s->known = thread.clock.known;
  merge(s->known, block.clock().known);
  return s;
}

std::uint32_t entry(const Ticks& ticks, std::uint32_t index) {
  return index < ticks.size() ? ticks[index] : 0;
}

void fold(Ticks& into, const Ticks& from) {
  if (into.size() < from.size()) into.resize(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) into[i] = std::max(into[i], from[i]);
}

/// The larger of each entry; one of the two where that is it.
std::shared_ptr<const Ticks> both(const std::shared_ptr<const Ticks>& a,
                                  const std::shared_ptr<const Ticks>& b) {
  if (!a || a == b) return b;
  if (!b) return a;
  auto sum = std::make_shared<Ticks>(*a);
  fold(*sum, *b);
  return sum;
}

bool covers(const Snapshot& s, const Segment& e) {
  if (s.block == e.block) {
    if (e.epoch < s.epoch) return true;
    if (e.epoch == s.epoch) {
      if (e.thread == s.thread && e.tick <= s.tick) return true;
      if (s.seen && entry(*s.seen, e.thread) >= e.tick) return true;
    }
  }
  return std::any_of(s.known.begin(), s.known.end(), [&](const auto& k) { return covers(*k, e); });
}

bool covers(const SnapshotList& list, const Segment& e) {
  return std::any_of(list.begin(), list.end(), [&](const auto& s) { return covers(*s, e); });
}

}  // namespace

std::uint32_t segment_of(Block& block, Thread& thread) {
  ThreadClock& c = thread.clock;
  refresh(block, c);
  if (c.segment == 0) {
    segments.push_back({block.linear(), thread.linear, c.epoch, c.tick});
    c.segment = first_number + static_cast<std::uint32_t>(segments.size()) - 1;
  }
  return c.segment;
}

const Segment& segment(std::uint32_t number) { return segments[number - first_number]; }

bool ordered(std::uint32_t earlier, Block& block, Thread& thread) {
  if (earlier < phase_begin) return true;
  const Segment& e = segment(earlier);
  ThreadClock& c = thread.clock;
  if (e.block == block.linear()) {
    if (e.thread == thread.linear || e.epoch < block.epoch()) return true;
    if (c.seen && entry(*c.seen, e.thread) >= e.tick) return true;
  }
  return covers(c.known, e) || covers(block.clock().known, e);
}

void block_barrier(Block& block) {
  watch::BlockClock& all = block.clock();
  all.ticks.resize(block.clock_entries());
  for (std::uint32_t i = 0; i < block.size(); ++i) {
    Thread& t = block.thread(i);
    all.ticks[i] = t.clock.tick++;
    if (t.clock.proxied) {
      all.proxied = both(all.proxied, t.clock.proxied);
      t.clock.proxied.reset();
    }
    if (t.clock.known.empty()) continue;
    merge(block.clock().known, t.clock.known);
    t.clock.known.clear();
  }
  for (std::uint32_t i = block.size(); i < all.ticks.size(); ++i) all.ticks[i] = block.agent_tick(i);
}

void join(Block& block, const std::vector<Thread*>& members) {
  auto seen = std::make_shared<Ticks>(block.clock_entries(), 0);
  std::shared_ptr<const Ticks> proxied;
  SnapshotList known;
  const Ticks* last = nullptr;
  for (Thread* t : members) {
    refresh(block, t->clock);
    if (t->clock.seen && t->clock.seen.get() != last) {
      last = t->clock.seen.get();
      for (std::size_t i = 0; i < last->size(); ++i) (*seen)[i] = std::max((*seen)[i], (*last)[i]);
    }
    merge(known, t->clock.known);
    proxied = both(proxied, t->clock.proxied);
  }
  for (Thread* t : members) (*seen)[t->linear] = std::max((*seen)[t->linear], t->clock.tick);
  for (Thread* t : members) {
    t->clock.seen = seen;
    t->clock.known = known;
    t->clock.proxied = proxied;
    step(t->clock);
  }
}

void fence(Block& block, Thread& thread) {
  refresh(block, thread.clock);
  thread.clock.fenced = snapshot(block, thread);
  step(thread.clock);
}

void publish(Block& block, Thread& thread, const void* address, bool release) {
  if (release) fence(block, thread);
  if (!thread.clock.fenced) return;
  SnapshotList& list = published[address];
  if (list.empty() || list.back() != thread.clock.fenced) list.push_back(thread.clock.fenced);
}

void pick_up(Block&, Thread& thread, const void* address) {
  const auto found = published.find(address);
  if (found != published.end()) merge(thread.clock.known, found->second);
}

namespace {

void begin_epoch(Carried& carried, Block& block) {
  if (carried.epoch == block.epoch()) return;
  carried.epoch = block.epoch();
  carried.seen.reset();
}

}  // namespace

void arrive(Carried& carried, Block& block, Thread& thread) {
  refresh(block, thread.clock);
  begin_epoch(carried, block);
  carried.last = {};
  auto seen = carried.seen ? std::make_shared<Ticks>(*carried.seen) : std::make_shared<Ticks>();
  seen->resize(std::max<std::size_t>(seen->size(), block.clock_entries()));
  if (thread.clock.seen) fold(*seen, *thread.clock.seen);
  (*seen)[thread.linear] = thread.clock.tick;
  carried.seen = std::move(seen);
  carried.proxied = both(carried.proxied, thread.clock.proxied);
  merge(carried.known, thread.clock.known);
  step(thread.clock);
}

void arrive(Carried& carried, Block& block, std::uint32_t agent, std::uint32_t tick) {
  begin_epoch(carried, block);
  carried.last = {};
  auto seen = carried.seen ? std::make_shared<Ticks>(*carried.seen) : std::make_shared<Ticks>();
  seen->resize(std::max<std::size_t>(seen->size(), block.clock_entries()));
  (*seen)[agent] = std::max((*seen)[agent], tick);
  carried.seen = std::move(seen);
}

void learn(const Carried& carried, Block& block, Thread& thread) {
  ThreadClock& c = thread.clock;
  refresh(block, c);
  // Of an earlier epoch every thread knows everything.
  const std::shared_ptr<const Ticks> news = carried.epoch == block.epoch() ? carried.seen : nullptr;
  auto& last = carried.last;
  if (last.epoch != block.epoch() || last.seen != c.seen || last.proxied != c.proxied)
    last = {block.epoch(), c.seen, c.proxied, both(c.seen, news), both(c.proxied, carried.proxied)};
  c.seen = last.seen_then;
  c.proxied = last.proxied_then;
  merge(c.known, carried.known);
  step(c);
}

std::uint32_t segment_of_agent(Block& block, std::uint32_t agent, std::uint32_t tick) {
  segments.push_back({block.linear(), agent, block.epoch(), tick});
  return first_number + static_cast<std::uint32_t>(segments.size()) - 1;
}

bool knows(Block& block, Thread& thread, std::uint32_t agent, std::uint32_t tick) {
  refresh(block, thread.clock);
  return entry(block.clock().ticks, agent) >= tick ||
         (thread.clock.seen && entry(*thread.clock.seen, agent) >= tick);
}

void proxy_fence(Block& block, Thread& thread) {
  refresh(block, thread.clock);
  auto all = std::make_shared<Ticks>(block.clock_entries());
  fold(*all, block.clock().ticks);
  if (thread.clock.seen) fold(*all, *thread.clock.seen);
  if (thread.clock.proxied) fold(*all, *thread.clock.proxied);
  (*all)[thread.linear] = thread.clock.tick;
  thread.clock.proxied = std::move(all);
  step(thread.clock);
}

bool proxied(std::uint32_t earlier, Block& block, Thread& thread) {
  if (earlier < phase_begin) return true;
  const Segment& e = segment(earlier);
  if (e.block != block.linear() || e.thread >= block.size()) return true;
  const auto& mine = thread.clock.proxied;
  const auto& everyones = block.clock().proxied;
  return (mine && entry(*mine, e.thread) >= e.tick) || (everyones && entry(*everyones, e.thread) >= e.tick);
}

void new_phase() {
  phase_begin = first_number + static_cast<std::uint32_t>(segments.size());
  published.clear();
}

void begin_launch() {
  new_phase();
  first_number = phase_begin;
  segments.clear();
}

}  // namespace isomer::emulator::watch
