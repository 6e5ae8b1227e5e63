#include "watch/claims.hpp"

#include "memory/reserve.hpp"
#include "watch/quick.hpp"
#include "watch/undo.hpp"

namespace isomer::emulator::watch {

Claims claims;

namespace {

/// The next number, of 30 bits.
std::uint64_t next_number = 1;
constexpr std::uint64_t kNumbers = std::uint64_t{1} << 30;

std::size_t marks() { return Memory::instance().reserved() / kWord; }

void claim_word(Block& block, const Buffer& buffer, std::size_t position, bool writes) {
  std::atomic<std::uint32_t>& word = claims.words[position / kWord];
  const std::uint32_t mine = block.mark();
  std::uint32_t now = word.load(std::memory_order_acquire);
  for (;;) {
    const std::uint32_t holder = now & ~kClaimWritten;
    const bool written = (now & kClaimWritten) != 0;
    std::uint32_t wanted = mine | (writes ? kClaimWritten : 0u);
    if (now < claims.several) {
      // Nobody of this launch.
    } else if (holder == mine) {
      if (written || !writes) return;
    } else if (now == claims.several) {
      if (!writes) return;
      block.run_alone();
    } else if (!written && !writes && buffer.space != Space::managed) {
      wanted = claims.several;
    } else {
      // Of managed memory it is kept who has read it: host code may write it before anybody has waited.
      if (holder > mine) block.run_alone();
      block.await_turn();
      wanted |= now & kClaimWritten;
    }
    if (wanted & kClaimWritten) keep_page(block, buffer, position);
    if (word.compare_exchange_strong(now, wanted, std::memory_order_acq_rel)) return;
  }
}

}  // namespace

void reserve_claims() {
  if (claims.words != nullptr) return;
  claims.words = reserve<std::atomic<std::uint32_t>>(marks());
}

void begin_claims(std::uint64_t blocks) {
  reserve_claims();
  if (next_number + blocks + 1 >= kNumbers) {
    forget_pages(claims.words, marks());
    next_number = 1;
  }
  claims.several = static_cast<std::uint32_t>(next_number << kClaimBits);
  next_number += blocks + 1;
}

void claim(Block& block, const Buffer& buffer, const void* address, std::size_t bytes, bool writes) {
  const std::size_t first = position(buffer, address), end = first + bytes;
  for (std::size_t at = first / kWord * kWord; at < end; at += kWord) claim_word(block, buffer, at, writes);
}

void claim_of_others(Block& block, const std::byte* at, std::size_t bytes, bool writes) {
  const Buffer* const buffer = Memory::instance().page_owner(at);
  if (buffer == nullptr || !buffer->live || buffer->space == Space::shared || at < buffer->begin ||
      at + bytes > buffer->end() || buffer->input)
    return;
  claim(block, *buffer, at, bytes, writes);
}

}  // namespace isomer::emulator::watch
