#include "hopper/units.hpp"

#include <fmt/format.h>

#include "execution/worker.hpp"
#include "memory/memory.hpp"
#include "runtime/errors.hpp"

namespace isomer::emulator::hopper {

Units::Units(Block& block)
    : block_(block), barriers_(block), copies_(block), tiles_(block), registers_(block) {}

void Units::begin() {
  barriers_.begin();
  copies_.begin();
  tiles_.begin();
  registers_.begin();
  warpgroups_.clear();
  const std::uint32_t count = (block_.size() + Warpgroup::kThreads - 1) / Warpgroup::kThreads;
  for (std::uint32_t i = 0; i < count; ++i) warpgroups_.push_back(std::make_unique<Warpgroup>(block_, i));
  alive_ = 0;
  for (std::uint32_t i = 0; i < block_.size(); ++i) alive_ += !block_.thread(i).ended;
}

bool Units::advance() {
  const bool products_first = (block_.launch().seed & 1) != 0;
  if (!products_first && barriers_.advance()) return true;
  for (auto& warpgroup : warpgroups_) {
    if (warpgroup->advance()) return true;
  }
  return products_first && barriers_.advance();
}

void Units::thread_ends(Thread& thread) {
  copies_.thread_ends(thread);
  warpgroup(thread.linear / Warpgroup::kThreads).thread_ends(thread);
  if (--alive_ == 0) copies_.block_ends();
}

void Units::explain_stuck() {
  barriers_.explain_stuck();
  registers_.explain_stuck();
}

std::string Units::waits_for(const Thread& thread) const {
  if (std::string barrier = barriers_.waits_for(thread); !barrier.empty()) return barrier;
  if (std::string registers = registers_.waits_for(thread); !registers.empty()) return registers;
  return warpgroups_[thread.linear / Warpgroup::kThreads]->waits_for(thread);
}

std::uint32_t Units::agent_tick(std::uint32_t agent) const {
  if (agent < product_agents()) return warpgroups_[agent / 4]->done_count();
  return barriers_.agent_tick(agent - product_agents());
}

void Units::tell(Kind kind, const watch::Site& at, const watch::Site& other, const std::string& text) {
  watch::report_violation(kind, *current_block(), *current_thread(), at, other, text);
}

void Units::stop() {
  Block& block = *current_block();
  block.launch().fail(error::launch_failure);
  block.abandon();
}

std::string Units::place(std::uint32_t address) const {
  const std::byte* at = block_.shared_at(address, 1);
  const Buffer* buffer = at != nullptr ? Memory::instance().find(at) : nullptr;
  if (buffer == nullptr) return fmt::format("address {:#x} of shared memory", address);
  const bool dynamic = buffer->name.rfind("dynamic", 0) == 0;
  return fmt::format("offset {} of {}{}", at - buffer->begin, dynamic ? "" : "shared array ", buffer->name);
}

}  // namespace isomer::emulator::hopper
