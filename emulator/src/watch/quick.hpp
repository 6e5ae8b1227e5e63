// The common end of an access, decided without a call: nothing is wrong with it, and all that there is to
// know is what the shadow holds. Whatever is not plain goes to `access` (shadow.hpp), which judges it in
// full.
#pragma once

#include "execution/block.hpp"
#include "execution/worker.hpp"
#include "memory/thread_sanitizer.hpp"
#include "watch/claims.hpp"
#include "watch/host_order.hpp"
#include "watch/order.hpp"
#include "watch/reporter.hpp"
#include "watch/shadow.hpp"

namespace isomer::emulator::watch {

/// Whether an entry of a buffer that other blocks reach is known to be ordered before what the thread does
/// now; false: it has to be asked.
[[gnu::always_inline]] inline bool surely_ordered(const Entry& e, std::uint32_t mine, const Thread& thread,
                                                  const Block& block) {
  if (e.segment == mine || e.segment < segments_of_launch.phase_begin) return true;
  // What is older than the block is another block's.
  if (e.segment < block.first_segment()) return false;
  const Segment& s = segment(e.segment);
  return s.block == block.linear() && (s.thread == thread.linear || s.epoch < block.epoch());
}
/// Whether it is known not to be: of another block, or of this block's epoch, and nobody has been met.
[[gnu::always_inline]] inline bool surely_unordered(const Entry& e, const Thread& thread,
                                                    const Block& block) {
  if (thread.clock.seen || thread.clock.known || thread.clock.picked_value) return false;
  if (e.segment < block.first_segment()) return !block.knows_of_others();
  const Segment& s = segment(e.segment);
  return s.block == block.linear() ? s.thread != thread.linear && s.epoch == block.epoch()
                                   : !block.knows_of_others();
}

template <unsigned Bytes, bool Writes>
[[gnu::always_inline]] inline bool initialised(std::uint8_t* written) {
  if constexpr (Writes) {
    __builtin_memset(written, 1, Bytes);
    return true;
  } else {
    unsigned char all[Bytes];
    __builtin_memset(all, 1, Bytes);
    return __builtin_memcmp(written, all, Bytes) == 0;
  }
}

/// The cells of an aligned access that lie together: those of its words, or those of its bytes where its word
/// is split. Null where neither is so.
template <unsigned Bytes>
[[gnu::always_inline]] inline Cell* cells_at(const Shadow& shadow, std::size_t position) {
  Cell* const words = shadow.words + position / kWord;
  if constexpr (Bytes >= kWord) {
    for (std::size_t i = 0; i < Bytes / kWord; ++i)
      if (words[i].written.site & kSplit) return nullptr;
    return words;
  } else {
    return words->written.site & kSplit ? shadow.bytes + position : nullptr;
  }
}
template <unsigned Bytes>
inline constexpr std::size_t kCells = Bytes >= kWord ? Bytes / kWord : Bytes;

template <bool Writes>
[[gnu::always_inline]] inline void note(Thread& thread, const std::byte* at, const void* site) {
  if constexpr (Writes) {
    thread.clock.polled = nullptr;
  } else {
    thread.clock.looked = at;
    thread.clock.looked_at = site;
  }
  thread.clock.just_fenced = false;
}

// Both functions that follow are true where the access is judged: it is in bounds, aligned, initialised and
// races with nothing. They call nothing, so that the common access saves no registers: `slowly` fetches what
// they lack, which is a segment of the thread's, the number of the site and the range of shared memory.

/// Of the block's own shared memory, which nobody else touches: what is older than the last barrier is
/// ordered, and no segment has to be looked up.
template <unsigned Bytes, bool Writes>
[[gnu::always_inline]] inline bool quickly_in_own(Thread& thread, const std::byte* at, const void* site) {
  const Block& block = *thread.block;
  const OwnRange& range = block.own_range(at);
  const auto offset = static_cast<std::size_t>(at - range.begin);
  if (offset >= range.bytes || (offset & (Bytes - 1)) != 0) return false;
  if (any_pending_store || thread.clock.guesses) return false;
  const Shadow& shadow = shadow_of_memory;
  const std::size_t position = reinterpret_cast<std::uintptr_t>(at) - shadow.base;
  const std::uint32_t begin = block.first_segment_of_epoch(), mine = thread.clock.segment;
  Cell* const cells = cells_at<Bytes>(shadow, position);
  const KnownSite& known = known_site(block, site);
  if (cells == nullptr || mine < begin || known.pc != site) return false;
  std::uint8_t* const written = shadow.written + position;
  if (!Writes && !initialised<Bytes, false>(written)) return false;
  const auto after = [begin, mine](const Entry& e) { return e.segment >= begin && e.segment != mine; };
  bool among_readers = false;
  for (std::size_t i = 0; i < kCells<Bytes>; ++i) {
    const Cell& c = cells[i];
    if (after(c.written)) return false;
    if constexpr (Writes) {
      if (after(c.read_first) || after(c.read_latest)) return false;
    } else {
      among_readers |= after(c.read_first);
    }
  }
  // Who has met nobody since the barrier is unordered with every reader.
  if (among_readers && (thread.clock.seen || thread.clock.known || thread.clock.picked_value)) return false;
  const Entry entry{mine, known.number};
  for (std::size_t i = 0; i < kCells<Bytes>; ++i) {
    Cell& c = cells[i];
    if constexpr (Writes) {
      c = {entry, {0, 0}, {0, 0}};
    } else if (c.read_latest.segment != mine) {
      (after(c.read_first) ? c.read_latest : c.read_first) = entry;
    }
  }
  if constexpr (Writes) initialised<Bytes, true>(written);
  note<Writes>(thread, at, site);
  return true;
}

/// Of any other memory.
template <unsigned Bytes, bool Writes>
[[gnu::always_inline]] inline bool quickly(Thread& thread, const std::byte* at, const void* site) {
  const Block& block = *thread.block;
  if (any_pending_store || !block.is_plainly_watched() || thread.clock.guesses) return false;
  Buffer* const buffer = Memory::instance().page_owner(at);
  if (buffer == nullptr) {
    // Compilers hook the reads of blockDim and gridDim, whose type has a constructor, and of the count of
    // atomics.
    const auto inside = [at](const auto& variable) {
      return static_cast<std::size_t>(at - reinterpret_cast<const std::byte*>(&variable)) < sizeof variable;
    };
    if (inside(blockDim) || inside(gridDim) || inside(isomer_emulator_patience)) return true;
    // The arguments of the launch, which every thread reads.
    const LaunchRequest& request = block.launch().request;
    const auto* package = static_cast<const std::byte*>(request.package);
    return !Writes && at >= package && at + Bytes <= package + request.package_bytes;
  }
  if (!buffer->live || at < buffer->begin || at + Bytes > buffer->end()) return false;
  if ((reinterpret_cast<std::uintptr_t>(at) & (Bytes - 1)) != 0 || buffer->space == Space::shared)
    return false;
  if (Writes && buffer->input) return false;
  const Shadow& shadow = shadow_of_memory;
  if (shadow.words == nullptr) return false;
  const std::size_t position = reinterpret_cast<std::uintptr_t>(at) - shadow.base;
  std::uint8_t* const written = shadow.written + position;
  // Whoever writes it in this launch is told, and nobody else can race with its readers.
  if (!Writes && buffer->input) return buffer->initialised || initialised<Bytes, false>(written);
  if (block.is_beside()) {
    const Held whose = held<Bytes, Writes>(position, block.mark());
    if (whose == Held::no && !claim_at_once<Bytes, Writes>(position, block.mark())) return false;
    if (whose == Held::several) {
      if (!buffer->initialised && !initialised<Bytes, false>(written)) return false;
      note<Writes>(thread, at, site);
      return true;
    }
  }
  if (!Writes && !buffer->initialised && !initialised<Bytes, false>(written)) return false;
  const std::uint32_t mine = thread.clock.segment;
  Cell* const cells = cells_at<Bytes>(shadow, position);
  const KnownSite& known = known_site(block, site);
  if (cells == nullptr || mine < block.first_segment_of_epoch() || known.pc != site) return false;
  for (std::size_t i = 0; i < kCells<Bytes>; ++i) {
    const Cell& c = cells[i];
    if (!surely_ordered(c.written, mine, thread, block)) return false;
    if constexpr (Writes) {
      if (!surely_ordered(c.read_first, mine, thread, block) ||
          !surely_ordered(c.read_latest, mine, thread, block))
        return false;
    } else if (!surely_ordered(c.read_first, mine, thread, block) &&
               !surely_unordered(c.read_first, thread, block)) {
      return false;
    }
  }
  const Entry entry{mine, known.number};
  for (std::size_t i = 0; i < kCells<Bytes>; ++i) {
    Cell& c = cells[i];
    if constexpr (Writes) {
      c = {entry, {0, 0}, {0, 0}};
    } else if (c.read_latest.segment != mine) {
      (surely_ordered(c.read_first, mine, thread, block) ? c.read_first : c.read_latest) = entry;
    }
  }
  if constexpr (Writes) {
    initialised<Bytes, true>(written);
    if (!block.is_beside()) buffer->touched = true;
  }
  note<Writes>(thread, at, site);
  return true;
}

/// What several blocks may reach is claimed, if it is there and is to be.
void claim_of_others(Block& block, const std::byte* at, std::size_t bytes, bool writes);

/// The same with what they lacked; what is not plain is judged in full.
template <unsigned Bytes, bool Writes>
[[gnu::noinline]] void slowly(Thread& thread, const std::byte* at, const void* site) {
  Block& block = *thread.block;
  if (block.is_plainly_watched() && !thread.clock.guesses) {
    segment_of(block, thread);
    site_number(block, site);
    const bool own = block.keep_own_range(at);
    if (!own && block.is_beside()) claim_of_others(block, at, Bytes, Writes);
    if (own ? quickly_in_own<Bytes, Writes>(thread, at, site)
                                 : quickly<Bytes, Writes>(thread, at, site))
      return;
  }
  access(at, Bytes, (Writes ? write : read) | typed, site);
}

template <unsigned Bytes, bool Writes>
[[gnu::noinline]] void elsewhere(Thread& thread, const std::byte* at, const void* site) {
  if (thread.fiber->contains(at) && !thread.has_registers_in_flight) return;
  if (!quickly<Bytes, Writes>(thread, at, site)) slowly<Bytes, Writes>(thread, at, site);
}

template <unsigned Bytes, bool Writes>
[[gnu::always_inline]] inline void plain(const void* address, const void* site) {
  const auto* const at = static_cast<const std::byte*>(address);
  if (Thread* const thread = current_thread()) {
    if (!quickly_in_own<Bytes, Writes>(*thread, at, site)) elsewhere<Bytes, Writes>(*thread, at, site);
    tell_sanitizer(at, Bytes, Writes);
  } else if (host_order::any_under_way.load(std::memory_order_relaxed)) {
    host_order::touched(address, Bytes, Writes ? write : read, site);
  }
}

}  // namespace isomer::emulator::watch
