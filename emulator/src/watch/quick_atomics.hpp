// The common end of a relaxed read and write at once (an addition and its kin), decided without a call:
// nobody waits for what it tells, and whom it meets at the word is an atomic of the same reach or ordered
// before it.
#pragma once

#include "watch/guesses.hpp"
#include "watch/quick.hpp"

namespace isomer::emulator::watch {

enum class Judged : std::uint8_t { no, yes, alone };

/// Whether the access is judged, and whether of a word that no other operating-system thread reaches. Its
/// thread has no fence to pass on, and no word has anything to give.
template <unsigned Bytes>
[[gnu::always_inline]] inline Judged atomically(const void* address, const void* site) {
  Thread* const thread = current_thread();
  if (thread == nullptr) return Judged::no;
  const Block& block = *thread->block;
  ThreadClock& clock = thread->clock;
  if (any_pending_store || counts_a_sample || !block.is_plainly_watched() || clock.guesses ||
      clock.just_fenced || clock.fenced_block || clock.scope != Scope::device)
    return Judged::no;
  // It may wait for the word, which is told once, or let others run.
  constexpr std::uint32_t kTurn = 64;
  const KnownSite& known = known_site(block, site);
  if ((clock.polled == address && clock.polled_at == site && !known.waits) || (clock.spins + 1) % kTurn == 0)
    return Judged::no;

  const auto* const at = static_cast<const std::byte*>(address);
  const OwnRange& range = block.own_range(at);
  const auto offset = static_cast<std::size_t>(at - range.begin);
  if ((reinterpret_cast<std::uintptr_t>(at) & (Bytes - 1)) != 0) return Judged::no;
  const bool own = offset < range.bytes;
  Buffer* const buffer = own ? nullptr : Memory::instance().page_owner(at);
  if (!own && (buffer == nullptr || !buffer->live || buffer->input || buffer->space == Space::shared ||
               at < buffer->begin || at + Bytes > buffer->end()))
    return Judged::no;
  if (own ? !block.clock().published.empty() : block.is_beside() && !block.has_turn()) return Judged::no;
  if (!own && something_published) return Judged::no;
  const Shadow& shadow = shadow_of_memory;
  if (shadow.words == nullptr) return Judged::no;
  const std::size_t position = reinterpret_cast<std::uintptr_t>(at) - shadow.base;
  const std::uint32_t begin = block.first_segment_of_epoch(), mine = clock.segment;
  if (!own && block.is_beside() && held<Bytes, true>(position, block.mark()) != Held::own) return Judged::no;
  Cell* const cells = cells_at<Bytes>(shadow, position);
  if (cells == nullptr || mine < begin || known.pc != site) return Judged::no;
  std::uint8_t* const written = shadow.written + position;
  if (!(buffer && buffer->initialised) && !initialised<Bytes, false>(written)) return Judged::no;
  const auto agrees = [&](const Entry& e) __attribute__((always_inline)) {
    if ((e.site & kAtomic) && !(e.site & kOfBlock)) return true;
    return own ? e.segment < begin || e.segment == mine : surely_ordered(e, mine, *thread, block);
  };
  for (std::size_t i = 0; i < kCells<Bytes>; ++i)
    if (!agrees(cells[i].written) || !agrees(cells[i].read_first) || !agrees(cells[i].read_latest))
      return Judged::no;
  for (std::size_t i = 0; i < kCells<Bytes>; ++i) cells[i] = {{mine, known.number | kAtomic}, {0, 0}, {0, 0}};
  initialised<Bytes, true>(written);
  if (buffer && !block.is_beside()) buffer->touched = true;
  clock.deals();
  ++clock.spins;
  clock.polled = address;
  clock.polled_at = site;
  if (clock.word != address) {
    clock.word = address;
    clock.word_at = site;
  }
  return own ? Judged::alone : Judged::yes;
}

}  // namespace isomer::emulator::watch
