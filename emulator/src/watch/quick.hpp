// The common end of an access, decided without a call: nothing is wrong with it, and all that there is to
// know is what the shadow holds. Whatever is not plain goes to `access` (shadow.hpp), which judges it in
// full.
#pragma once

#include "execution/block.hpp"
#include "execution/worker.hpp"
#include "watch/host_order.hpp"
#include "watch/order.hpp"
#include "watch/reporter.hpp"
#include "watch/shadow.hpp"

namespace isomer::emulator::watch {

/// Whether the entry is known to be ordered before what the thread does now; false: it has to be asked.
inline bool surely_ordered(const Entry& e, std::uint32_t mine, const Segment& now) {
  if (e.segment == mine || e.segment < segments_of_launch.phase_begin) return true;
  const Segment& s = segment(e.segment);
  return s.block == now.block && (s.thread == now.thread || s.epoch < now.epoch);
}
/// Whether it is known not to be: of this block's epoch, and the thread has met nobody in it.
inline bool surely_unordered(const Entry& e, const Thread& thread, const Block& block, const Segment& now) {
  if (thread.clock.seen || thread.clock.known || thread.clock.picked_value) return false;
  const Segment& s = segment(e.segment);
  return s.block == now.block ? s.thread != now.thread && s.epoch == now.epoch : !block.knows_of_others();
}

template <unsigned Bytes, bool Writes>
inline bool initialised(std::uint8_t* written) {
  if constexpr (Writes) {
    __builtin_memset(written, 1, Bytes);
    return true;
  } else {
    unsigned char all[Bytes];
    __builtin_memset(all, 1, Bytes);
    return __builtin_memcmp(written, all, Bytes) == 0;
  }
}

/// True where the access is judged: it is in bounds, aligned, initialised and races with nothing.
template <unsigned Bytes, bool Writes>
inline bool quickly(Thread& thread, const void* address, const void* site) {
  Block& block = *Worker::current()->block();
  Launch& launch = block.launch();
  Memory& memory = Memory::instance();
  const auto* at = static_cast<const std::byte*>(address);
  Buffer* const buffer = memory.page_owner(at);
  if (buffer == nullptr) {
    // The arguments of the launch, which every thread reads.
    const auto* package = static_cast<const std::byte*>(launch.request.package);
    return !Writes && at >= package && at + Bytes <= package + launch.request.package_bytes;
  }
  if (shadow_of_memory.words == nullptr) return false;
  if (!buffer->live || at < buffer->begin || at + Bytes > buffer->end()) return false;
  if (buffer->space == Space::shared && (buffer->owner != &block || block.used_units() != nullptr))
    return false;
  if ((reinterpret_cast<std::uintptr_t>(at) & (Bytes - 1)) != 0) return false;
  if (!launch.watch || launch.step_limit != 0 || thread.clock.guesses) return false;
  const std::size_t position = reinterpret_cast<std::uintptr_t>(at) - memory.base();
  std::uint8_t* const written = shadow_of_memory.written + position;
  if (Writes && buffer->input) return false;
  if (!Writes && !buffer->initialised && !initialised<Bytes, false>(written)) return false;
  if (!Writes && buffer->input && buffer->initialised) return true;

  const std::uint32_t mine = segment_of(block, thread);
  const Entry entry{mine, site_number(site)};
  // Only this block touches its shared memory: what is older than its last barrier is ordered, and nothing
  // has to be looked up. What the thread has met since is asked of those whom it may have met.
  const bool own = buffer->space == Space::shared;
  const Segment now = own ? Segment{} : segment(mine);
  const std::uint32_t begin = block.first_segment_of_epoch();
  const auto before = [&](const Entry& e) {
    return own ? e.segment < begin || e.segment == mine : surely_ordered(e, mine, now);
  };
  const auto beside = [&](const Entry& e) {
    return own ? !thread.clock.seen && !thread.clock.known && !thread.clock.picked_value
               : surely_unordered(e, thread, block, now);
  };
  Cell* cells = nullptr;
  std::size_t count = 0;
  if constexpr (Bytes >= kWord) {
    cells = shadow_of_memory.words + position / kWord;
    count = Bytes / kWord;
    for (std::size_t i = 0; i < count; ++i)
      if (cells[i].written.site & kSplit) return false;
  } else {
    if (!(shadow_of_memory.words[position / kWord].written.site & kSplit)) return false;
    cells = shadow_of_memory.bytes + position;
    count = Bytes;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const Cell& c = cells[i];
    if (!before(c.written)) return false;
    if constexpr (Writes) {
      if (!before(c.read_first) || !before(c.read_latest)) return false;
    } else if (!before(c.read_first) && !beside(c.read_first)) {
      return false;
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    Cell& c = cells[i];
    if constexpr (Writes) {
      c = {entry, {0, 0}, {0, 0}};
    } else if (c.read_latest.segment != mine) {
      if (before(c.read_first)) {
        c.read_first = entry;
      } else {
        c.read_latest = entry;
      }
    }
  }
  if constexpr (Writes) {
    initialised<Bytes, true>(written);
    buffer->touched = true;
    thread.clock.polled = nullptr;
  } else {
    thread.clock.looked = address;
    thread.clock.looked_at = site;
  }
  thread.clock.just_fenced = false;
  return true;
}

template <unsigned Bytes, bool Writes>
inline void plain(const void* address, const void* site) {
  Thread* const thread = current_thread();
  if (thread == nullptr) {
    if (host_order::any_under_way.load(std::memory_order_relaxed))
      host_order::touched(address, Bytes, Writes ? write : read, site);
    return;
  }
  if (thread->fiber->contains(address) && !thread->has_registers_in_flight) return;
  if (!any_pending_store && quickly<Bytes, Writes>(*thread, address, site)) return;
  access(address, Bytes, (Writes ? write : read) | typed, site);
}

}  // namespace isomer::emulator::watch
