#include "hopper/registers.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "execution/worker.hpp"
#include "hopper/units.hpp"
#include "runtime/limits.hpp"

namespace isomer::emulator::hopper {
namespace {

constexpr unsigned kThreads = 128, kStep = 8, kFewest = 24, kMost = 256;

}  // namespace

void RegisterPool::begin() {
  const std::uint32_t count = (block_.size() + kThreads - 1) / kThreads;
  // What ptxas gives a kernel whose launch bounds name the block's threads.
  launched_ = std::min(kMost, limits().registers_per_block / (count * kThreads) / kStep * kStep);
  warpgroups_.assign(count, {.registers = launched_});
  waiting_.assign(block_.size(), false);
}

unsigned RegisterPool::used() const {
  unsigned sum = 0;
  for (const OfWarpgroup& w : warpgroups_) sum += w.registers;
  return sum;
}

void RegisterPool::set(unsigned registers, bool takes, const watch::Site& site) {
  Thread& self = block_.current();
  const std::uint32_t number = self.linear / kThreads;
  OfWarpgroup& mine = warpgroups_[number];
  std::string wrong;
  if (registers % kStep != 0 || registers < kFewest || registers > kMost)
    wrong = fmt::format("asks for {} registers a thread, expected a multiple of {} from {} to {}", registers,
                        kStep, kFewest, kMost);
  else if (mine.arrived > 0 && (mine.wanted != registers || mine.takes != takes))
    wrong =
        fmt::format("asks for {} registers a thread where others of its warpgroup asked for {} at {{other}}",
                    registers, mine.wanted);
  else if (takes && registers < mine.registers)
    wrong = fmt::format("takes up to {} registers a thread and has {}", registers, mine.registers);
  else if (!takes && registers > mine.registers)
    wrong = fmt::format("keeps {} registers a thread and has {}", registers, mine.registers);
  if (!wrong.empty()) {
    block_.units().tell(Kind::register_pool, site, mine.site, wrong);
    block_.units().stop();
  }
  mine.wanted = registers;
  mine.takes = takes;
  mine.site = site;
  ++mine.arrived;
  waiting_[self.linear] = takes;
  serve();
  if (waiting_[self.linear]) block_.wait_for_units(site.pc);
}

void RegisterPool::serve() {
  const unsigned pool = launched_ * static_cast<unsigned>(warpgroups_.size());
  for (std::uint32_t n = 0; n < warpgroups_.size(); ++n) {
    OfWarpgroup& w = warpgroups_[n];
    const unsigned members = std::min(kThreads, block_.size() - n * kThreads);
    if (w.arrived < members) continue;
    if (w.takes && used() - w.registers + w.wanted > pool) continue;
    w.registers = w.wanted;
    w.arrived = 0;
    for (std::uint32_t t = n * kThreads; t < n * kThreads + members; ++t) {
      if (!waiting_[t]) continue;
      waiting_[t] = false;
      if (&block_.thread(t) != &block_.current()) block_.wake_from_units(block_.thread(t));
    }
    return serve();
  }
}

void RegisterPool::explain_stuck() {
  for (std::uint32_t n = 0; n < warpgroups_.size(); ++n) {
    const OfWarpgroup& w = warpgroups_[n];
    if (w.arrived == 0 || !w.takes) continue;
    std::string others;
    for (std::uint32_t i = 0; i < warpgroups_.size(); ++i)
      if (i != n) others += fmt::format("{}{}", others.empty() ? "" : " and ", warpgroups_[i].registers);
    watch::report_violation(
        Kind::register_pool, block_, block_.thread(n * kThreads), w.site, {},
        fmt::format("waits for ever for {} registers a thread: its {} warpgroups were launched with {} each, "
                    "{} in all, and the others hold {}",
                    w.wanted, warpgroups_.size(), launched_, launched_ * warpgroups_.size(),
                    others.empty() ? "none" : others));
  }
}

std::string RegisterPool::waits_for(const Thread& thread) const {
  if (!waiting_[thread.linear]) return {};
  return fmt::format("its warpgroup's request for {} registers a thread",
                     warpgroups_[thread.linear / kThreads].wanted);
}

}  // namespace isomer::emulator::hopper
