#include "hopper/barriers.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "execution/worker.hpp"
#include "hopper/units.hpp"
#include "runtime/errors.hpp"
#include "watch/order.hpp"

namespace isomer::emulator::hopper {
namespace {

constexpr unsigned kMaxCount = (1 << 20) - 1;
constexpr std::int64_t kMaxBytes = (1 << 20) - 1;

}  // namespace

void Barriers::begin() {
  barriers_.clear();
  waiting_.assign(block_.size(), {});
}

Barrier* Barriers::find(std::uint32_t address) {
  for (Barrier& b : barriers_) {
    if (b.live && b.address == address) return &b;
  }
  return nullptr;
}

void Barriers::init(std::uint32_t address, unsigned count, const watch::Site& site) {
  Thread& self = block_.current();
  if (address % 8 != 0 || block_.shared_at(address, 8) == nullptr) {
    watch::report_violation(Kind::barrier_misuse, block_, self, site, {},
                            fmt::format("initialises a barrier at address {:#x} of shared memory, expected a "
                                        "multiple of 8 inside of what the block has",
                                        address));
    block_.units().stop();
  }
  if (count == 0 || count > kMaxCount) {
    watch::report_violation(Kind::barrier_misuse, block_, self, site, {},
                            fmt::format("initialises a barrier for {} arrivals, expected 1 to {}",
                                        static_cast<int>(count), kMaxCount));
    block_.units().stop();
  }
  if (Barrier* before = find(address); before != nullptr) {
    if (before->waiting > 0 || before->bytes != 0 || before->pending != before->count) {
      watch::report_violation(Kind::barrier_misuse, block_, self, site, before->init_site,
                              fmt::format("initialises the barrier at {}, which is in use since {{other}}",
                                          block_.units().place(address)));
    }
    before->live = false;
  }
  Barrier& b = barriers_.emplace_back();
  b.number = static_cast<std::uint32_t>(barriers_.size());
  b.address = address;
  b.agent = block_.clock_entries() - 1;
  b.count = b.pending = count;
  b.live = true;
  b.init_site = site;
  b.init_thread = self.linear;
  b.last_wait.assign(block_.size(), 0);
  if (block_.launch().watch) b.init_segment = watch::segment_of(block_, self);
}

void Barriers::invalidate(std::uint32_t address) {
  if (Barrier* b = find(address)) b->live = false;
}

Barrier& Barriers::at(std::uint32_t address, const watch::Site& site) {
  Barrier* b = find(address);
  if (b == nullptr) {
    block_.units().tell(
        Kind::barrier_misuse, site, {},
        fmt::format("uses a barrier at {} that nobody has initialised", block_.units().place(address)));
    block_.units().stop();
  }
  return *b;
}

void Barriers::arrive(std::uint32_t address, unsigned count, std::int64_t announced, Thread* thread,
                      const watch::Site& site) {
  Barrier& b = at(address, site);
  if (block_.launch().watch && thread != nullptr) {
    if (!watch::ordered(b.init_segment, block_, *thread)) {
      block_.units().tell(Kind::barrier_misuse, site, b.init_site,
                          fmt::format("arrives at the barrier at {}, and nothing orders this behind its "
                                      "initialisation at {{other}}",
                                      block_.units().place(address)));
    }
    if (count > 0) watch::arrive(b.open, block_, *thread);
  }
  b.bytes += announced;
  if (b.bytes > kMaxBytes) {
    block_.units().tell(Kind::byte_count, site, {},
                        fmt::format("brings the bytes that the barrier at {} waits for to {}, it counts to "
                                    "{}",
                                    block_.units().place(address), b.bytes, kMaxBytes));
    block_.units().stop();
  }
  if (count > b.pending) {
    block_.units().tell(
        Kind::barrier_misuse, site, b.init_site,
        fmt::format("arrives at the barrier at {} once more than the {} times that its phase {} takes since "
                    "{{other}}",
                    block_.units().place(address), b.count, b.phase));
    block_.units().stop();
  }
  b.pending -= count;
  complete_if_done(b);
}

void Barriers::drop(std::uint32_t address, unsigned count, const watch::Site& site) {
  Barrier& b = at(address, site);
  b.count -= std::min(count, b.count);
  arrive(address, count, 0, &block_.current(), site);
}

void Barriers::complete_if_done(Barrier& b) {
  if (b.pending > 0 || b.bytes != 0 || !b.copies.empty()) return;
  const bool watched = block_.launch().watch;
  ++b.phase;
  b.pending = b.count;
  if (watched) {
    b.done = b.open;
    b.open.last = {};
  }
  if (b.waiting == 0) return;
  for (std::uint32_t i = 0; i < block_.size(); ++i) {
    Waiting& w = waiting_[i];
    if (w.barrier != b.number || w.phase >= b.phase) continue;
    w.barrier = 0;
    --b.waiting;
    if (watched) watch::learn(b.done, block_, block_.thread(i));
    block_.wake_from_units(block_.thread(i));
  }
}

bool Barriers::wait(std::uint32_t address, unsigned parity, bool only_look, const watch::Site& site) {
  Barrier& b = at(address, site);
  Thread& self = block_.current();
  if (block_.launch().watch && !watch::ordered(b.init_segment, block_, self)) {
    watch::report_violation(Kind::barrier_misuse, block_, self, site, b.init_site,
                            fmt::format("waits for the barrier at {}, and nothing orders this behind its "
                                        "initialisation at {{other}}",
                                        block_.units().place(address)));
  }
  const bool over = (b.phase & 1) != static_cast<std::int64_t>(parity & 1);
  if (only_look && !over) {
    // Whoever looks again and again waits too, and lets the others go on.
    block_.yield(site.pc);
    if ((b.phase & 1) == static_cast<std::int64_t>(parity & 1)) {
      ++b.waiting;
      advance();
      --b.waiting;
    }
    if ((b.phase & 1) == static_cast<std::int64_t>(parity & 1)) return false;
  }
  const std::int64_t phase = over || only_look ? b.phase - 1 : b.phase;
  std::int32_t& last = b.last_wait[self.linear];
  if (last == phase + 2 && !only_look) {
    watch::report_violation(
        Kind::wrong_phase, block_, self, site, b.init_site,
        fmt::format(
            "waits for parity {} of the barrier at {} a second time, and phase {} is over: the parity "
            "belongs to another phase",
            parity, block_.units().place(address), phase));
  }
  last = static_cast<std::int32_t>(phase + 2);
  if (phase < b.phase) {
    if (block_.launch().watch) watch::learn(b.done, block_, self);
    return true;
  }
  ++b.waiting;
  waiting_[self.linear] = {b.number, phase};
  block_.wait_for_units(site.pc);
  return true;
}

bool Barriers::advance() {
  for (Barrier& b : barriers_) {
    if (!b.live || b.waiting == 0 || b.copies.empty()) continue;
    const auto copies = std::exchange(b.copies, {});
    const auto tick = static_cast<std::uint32_t>(b.phase + 1);
    for (const std::uint32_t copy : copies) b.bytes -= block_.units().land(copy, b.agent, tick);
    if (block_.launch().watch) watch::arrive(b.open, block_, b.agent, tick);
    if (b.pending == 0 && b.bytes < 0) {
      const Filling& f = block_.units().tiles().filling(copies.back());
      watch::report_violation(
          Kind::byte_count, block_, block_.thread(f.thread), f.site, {},
          fmt::format("brings the barrier at {} {} bytes more than were announced for its phase {}",
                      block_.units().place(b.address), -b.bytes, b.phase));
      b.bytes = 0;
    }
    complete_if_done(b);
    return true;
  }
  return false;
}

void Barriers::explain_stuck() {
  for (std::uint32_t i = 0; i < block_.size(); ++i) {
    const Waiting& w = waiting_[i];
    if (w.barrier == 0) continue;
    const Barrier& b = barriers_[w.barrier - 1];
    if (b.pending > 0 || b.bytes <= 0) continue;
    const Thread& t = block_.thread(i);
    watch::report_violation(
        Kind::byte_count, block_, t, {t.site, t.clock.calls}, b.init_site,
        fmt::format(
            "waits for ever for the barrier at {}: {} bytes more were announced for its phase {} than "
            "copies bring",
            block_.units().place(b.address), b.bytes, b.phase));
  }
}

std::string Barriers::waits_for(const Thread& thread) const {
  const Waiting& w = waiting_[thread.linear];
  if (w.barrier == 0) return {};
  const Barrier& b = barriers_[w.barrier - 1];
  return fmt::format(
      "phase {} (parity {}) of the barrier at {}, of which {} of {} arrivals and {} bytes are "
      "missing",
      w.phase, w.phase & 1, block_.units().place(b.address), b.pending, b.count,
      std::max<std::int64_t>(b.bytes, 0));
}

void Barriers::announce(std::uint32_t address, std::int64_t bytes, const watch::Site& site) {
  arrive(address, 0, bytes, &block_.current(), site);
}

}  // namespace isomer::emulator::hopper
