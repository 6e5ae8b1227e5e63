#include "watch/order.hpp"

#include <algorithm>
#include <new>

#include "execution/worker.hpp"
#include "memory/reserve.hpp"
#include "watch/shadow.hpp"

// What blocks share here is touched by the one that has its turn (execution/turns.hpp), so nothing is locked.
namespace isomer::emulator::watch {

Segments segments_of_launch;
bool something_published = false;

namespace {

SegmentRun*& runs = segments_of_launch.runs;
Segment*& listed = segments_of_launch.listed;
std::uint32_t& first_number = segments_of_launch.first_number;
std::uint32_t& phase_begin = segments_of_launch.phase_begin;

PublishedWords published;

void refresh(Block& block, ThreadClock& clock) {
  if (clock.epoch == block.epoch()) return;
  clock.epoch = block.epoch();
  clock.segment = 0;
  if (!clock.dealt) return;
  clock.seen.reset();
  clock.converged.reset();
}

void step(ThreadClock& clock) {
  ++clock.tick;
  clock.segment = 0;
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

void add(std::vector<Known>& to, const Known& news) {
  const auto at = std::lower_bound(to.begin(), to.end(), news.block,
                                   [](const Known& k, std::uint64_t block) { return k.block < block; });
  if (at == to.end() || at->block != news.block) {
    to.insert(at, news);
  } else if (at->epoch < news.epoch) {
    *at = news;
  } else if (at->epoch == news.epoch) {
    at->ticks = both(at->ticks, news.ticks);
  }
}

void merge(Knowledge& into, const Knowledge& from) {
  if (!from || into == from) return;
  if (!into) {
    into = from;
    return;
  }
  // What nobody else holds may change where it is.
  auto sum = into.use_count() == 1 ? std::const_pointer_cast<std::vector<Known>>(into)
                                   : std::make_shared<std::vector<Known>>(*into);
  for (const Known& k : *from) add(*sum, k);
  into = std::move(sum);
}

const Known* of_block(const Knowledge& all, std::uint64_t block) {
  if (!all) return nullptr;
  const auto at = std::lower_bound(all->begin(), all->end(), block,
                                   [](const Known& k, std::uint64_t wanted) { return k.block < wanted; });
  return at != all->end() && at->block == block ? &*at : nullptr;
}

Knowledge only_of_block(const Knowledge& all, std::uint64_t block) {
  const Known* own = of_block(all, block);
  return own ? std::make_shared<std::vector<Known>>(1, *own) : nullptr;
}

bool covers(const Knowledge& all, const Segment& e) {
  const Known* k = of_block(all, e.block);
  if (!k) return false;
  return e.epoch < k->epoch || (e.epoch == k->epoch && k->ticks && entry(*k->ticks, e.thread) >= e.tick);
}

/// Everything that the thread knows and has done.
Knowledge all_of(Block& block, Thread& thread) {
  auto ticks = thread.clock.seen ? std::make_shared<Ticks>(*thread.clock.seen) : std::make_shared<Ticks>();
  if (ticks->size() <= thread.linear) ticks->resize(thread.linear + 1);
  (*ticks)[thread.linear] = thread.clock.tick;
  Knowledge all = std::make_shared<std::vector<Known>>(1, Known{block.linear(), block.epoch(), ticks});
  merge(all, thread.clock.known);
  merge(all, block.clock().known);
  return all;
}

void acquire_picked(Block& block, ThreadClock& clock, Scope scope) {
  if (!clock.picked) return;
  if (scope == Scope::block) {
    merge(clock.known, only_of_block(clock.picked, block.linear()));
    return;
  }
  merge(clock.known, clock.picked);
  clock.picked.reset();
  clock.picked_value.reset();
}

constexpr std::uint32_t kRun = SegmentRun::kLength;
/// From here on no number is left out.
constexpr std::uint32_t kManyNumbers = 0xc0000000u;
/// From here on the next launch numbers anew.
constexpr std::uint32_t kLastFirst = 0x80000000u;
constexpr std::size_t kMostRuns = std::size_t{1} << 27, kMostListed = std::size_t{1} << 25;
/// Runs that a worker takes at once where others take some too.
constexpr std::uint32_t kRunsAtOnce = 64;

std::uint32_t begin_run(Block& block, const SegmentRun& run) {
  Numbers& numbers = block.numbers();
  if (numbers.next_run == numbers.end_run) {
    const std::uint32_t more = block.is_beside() ? kRunsAtOnce : 1;
    numbers.next_run = segments_of_launch.runs_taken.fetch_add(more, std::memory_order_relaxed);
    numbers.end_run = numbers.next_run + more;
  }
  runs[numbers.next_run] = run;
  return first_number + numbers.next_run++ * kRun;
}

std::uint32_t list(const Segment& segment, Block& block) {
  Numbers& numbers = block.numbers();
  std::uint32_t& next = numbers.next_listed;
  // No number is lower than the begin of the epoch that it belongs to.
  if (next < block.first_segment_of_epoch() || (next - first_number) % kRun == 0) {
    const std::uint32_t more = segments_of_launch.listed_taken.fetch_add(1, std::memory_order_relaxed);
    if (more >= kMostListed) throw std::bad_alloc();
    next = begin_run(block, {std::uint64_t{more} * kRun, SegmentRun::kListed, 0, 0});
  }
  const std::uint32_t place = next - first_number;
  listed[runs[place / kRun].block + place % kRun] = segment;
  return next++;
}

}  // namespace

std::uint32_t new_segment_of(Block& block, Thread& thread) {
  ThreadClock& c = thread.clock;
  refresh(block, c);
  if (c.segment != 0) return c.segment;
  auto& known = block.clock().runs;
  if (known.empty()) known.resize((block.size() + kRun - 1) / kRun);
  auto& run = known[thread.linear / kRun];
  const std::uint32_t place = thread.linear % kRun;
  if (run.epoch == c.epoch && run.tick == c.tick) {
    ++run.used;
    return c.segment = run.first + place;
  }
  // Who steps alone is listed: a run of his would be 32 numbers for one segment.
  if ((run.epoch == c.epoch && (run.tick > c.tick || run.used == 1)) || next_segment_of(block.numbers()) > kManyNumbers)
    return c.segment = list({block.linear(), thread.linear, c.epoch, c.tick}, block);
  run = {c.epoch, c.tick, begin_run(block, {block.linear(), thread.linear - place, c.epoch, c.tick}), 1};
  return c.segment = run.first + place;
}

bool ordered(std::uint32_t earlier, Block& block, Thread& thread, bool at_once) {
  if (earlier < phase_begin) return true;
  const Segment& e = segment(earlier);
  ThreadClock& c = thread.clock;
  if (e.block == block.linear()) {
    if (e.thread == thread.linear || e.epoch < block.epoch()) return true;
    if (c.seen && entry(*c.seen, e.thread) >= e.tick) return true;
  }
  return covers(c.known, e) || covers(block.clock().known, e) || (at_once && covers(c.picked_value, e));
}

void block_barrier(Block& block) {
  watch::BlockClock& all = block.clock();
  all.ticks.resize(block.clock_entries());
  for (std::uint32_t i = 0; i < block.size(); ++i) {
    Thread& t = block.thread(i);
    all.ticks[i] = t.clock.tick++;
    if (!t.clock.dealt) continue;
    if (t.clock.proxied) {
      all.proxied = both(all.proxied, t.clock.proxied);
      t.clock.proxied.reset();
    }
    // Who waits has whoever came with him wait for what he has read.
    acquire_picked(block, t.clock, Scope::device);
    if (!t.clock.known) continue;
    merge(block.clock().known, t.clock.known);
    t.clock.known.reset();
  }
  for (std::uint32_t i = block.size(); i < all.ticks.size(); ++i) all.ticks[i] = block.agent_tick(i);
}

void join(Block& block, const std::vector<Thread*>& members) {
  auto seen = std::make_shared<Ticks>(block.clock_entries(), 0);
  std::shared_ptr<const Ticks> proxied;
  Knowledge known;
  const Ticks* last = nullptr;
  for (Thread* t : members) {
    refresh(block, t->clock);
    if (t->clock.seen && t->clock.seen.get() != last) {
      last = t->clock.seen.get();
      for (std::size_t i = 0; i < last->size(); ++i) (*seen)[i] = std::max((*seen)[i], (*last)[i]);
    }
    acquire_picked(block, t->clock, Scope::device);
    merge(known, t->clock.known);
    proxied = both(proxied, t->clock.proxied);
  }
  for (Thread* t : members) (*seen)[t->linear] = std::max((*seen)[t->linear], t->clock.tick);
  for (Thread* t : members) {
    t->clock.deals();
    t->clock.seen = seen;
    t->clock.known = known;
    t->clock.proxied = proxied;
    step(t->clock);
  }
}

void converge(Block& block, const std::vector<Thread*>& members) {
  const std::uint32_t lanes = block.launch().lanes;
  auto met = std::make_shared<Ticks>(lanes, 0);
  const Ticks* last = nullptr;
  for (Thread* t : members) {
    refresh(block, t->clock);
    if (t->clock.converged && t->clock.converged.get() != last) {
      last = t->clock.converged.get();
      fold(*met, *last);
    }
  }
  for (Thread* t : members) (*met)[t->linear % lanes] = t->clock.tick;
  for (Thread* t : members) {
    t->clock.deals();
    t->clock.converged = met;
    step(t->clock);
  }
}

bool read_before(std::uint32_t earlier, Block& block, Thread& thread) {
  const Segment& e = segment(earlier);
  const std::uint32_t lanes = block.launch().lanes;
  return e.block == block.linear() && e.epoch == block.epoch() && thread.clock.converged &&
         thread.clock.epoch == block.epoch() && e.thread / lanes == thread.linear / lanes &&
         entry(*thread.clock.converged, e.thread % lanes) >= e.tick;
}

void fence(Block& block, Thread& thread, Scope scope) {
  ThreadClock& c = thread.clock;
  refresh(block, c);
  c.deals();
  acquire_picked(block, c, scope);
  c.fenced_block = all_of(block, thread);
  if (scope == Scope::device) c.fenced_device = c.fenced_block;
  c.just_fenced = true;
  step(c);
}

void publish(Block& block, Thread& thread, const void* address, bool own_word, Scope scope, bool release) {
  ThreadClock& c = thread.clock;
  if (release) fence(block, thread, scope);
  if (!c.fenced_block) return;
  Published& word = own_word ? block.clock().published[address] : published[address];
  if (!own_word) something_published = true;
  if (scope == Scope::device) {
    merge(word.device, c.fenced_device);
    if (c.fenced_block == c.fenced_device) return;
  }
  const auto own = std::find_if(word.in_block.begin(), word.in_block.end(),
                                [&](const auto& of) { return of.first == block.linear(); });
  if (own == word.in_block.end()) {
    word.in_block.emplace_back(block.linear(), c.fenced_block);
  } else {
    merge(own->second, c.fenced_block);
  }
}

void pick_up(Block& block, Thread& thread, const void* address, bool own, Scope scope, bool lock, bool acquire) {
  const PublishedWords& words = own ? block.clock().published : published;
  if (words.empty()) return;
  const auto found = words.find(address);
  if (found == words.end()) return;
  ThreadClock& c = thread.clock;
  c.deals();
  const auto take = [&](const Knowledge& news) {
    merge(c.picked, news);
    if (!lock) merge(c.picked_value, news);
  };
  take(scope == Scope::device ? found->second.device : only_of_block(found->second.device, block.linear()));
  for (const auto& [of, news] : found->second.in_block) {
    if (of == block.linear()) take(news);
  }
  if (acquire) acquire_picked(block, c, scope);
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
  acquire_picked(block, thread.clock, Scope::device);
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
  c.deals();
  c.seen = last.seen_then;
  c.proxied = last.proxied_then;
  merge(c.known, carried.known);
  step(c);
}

std::uint32_t segment_of_agent(Block& block, std::uint32_t agent, std::uint32_t tick) {
  return list({block.linear(), agent, block.epoch(), tick}, block);
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
  thread.clock.deals();
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
  phase_begin = next_segment();
  published.clear();
  something_published = false;
}

void reserve_segments() {
  if (runs != nullptr) return;
  runs = reserve<SegmentRun>(kMostRuns);
  listed = reserve<Segment>(kMostListed * kRun);
}

void begin_launch() {
  reserve_all();
  new_phase();
  if (phase_begin >= kLastFirst) {
    forget_who_touched();
    phase_begin = 1;
  }
  first_number = phase_begin;
  segments_of_launch.runs_taken = segments_of_launch.listed_taken = 0;
}

}  // namespace isomer::emulator::watch
