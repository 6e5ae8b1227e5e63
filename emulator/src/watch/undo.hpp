// What memory held before a launch whose blocks run side by side (execution/turns.hpp) first wrote to it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "execution/block.hpp"
#include "memory/memory.hpp"

namespace isomer::emulator::watch {

/// By page of the shadow's positions, in which launch it was kept.
struct KeptPages {
  std::atomic<std::uint32_t>* in = nullptr;
  std::uint32_t now = 0;
};
extern KeptPages kept_pages;
inline bool is_kept(std::size_t position) {
  return kept_pages.in[position / Memory::kPage].load(std::memory_order_acquire) == kept_pages.now;
}

/// Reserves what the first such launch would.
void reserve_undo();
/// Such a launch begins: nothing is kept.
void begin_undo();
/// Before the first write of the launch to the page of the shadow's position: keeps what of the buffer lies there, its
/// bytes and whether they were written. Ends the attempt where too much is kept.
void keep_page(Block& block, const Buffer& buffer, std::size_t position);
/// Memory becomes what it was. No worker runs.
void undo_writes();

}  // namespace isomer::emulator::watch
