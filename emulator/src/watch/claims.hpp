// Which block of a launch whose blocks run side by side (execution/turns.hpp) has touched a word of global memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "execution/block.hpp"
#include "memory/memory.hpp"
#include "watch/shadow.hpp"
#include "watch/undo.hpp"

namespace isomer::emulator::watch {

// A mark is the block's number, of which every launch has its own, and two bits. Lower ones are of launches before.
constexpr std::uint32_t kClaimWritten = 1, kClaimBits = 2;
/// Blocks of one launch.
constexpr std::uint64_t kMostClaimants = std::uint64_t{1} << 28;

struct Claims {
  std::atomic<std::uint32_t>* words = nullptr;  ///< by position / kWord
  std::uint32_t several = 0;                    ///< several blocks have read it and none has written; the launch's lowest
};
extern Claims claims;

/// Reserves what the first such launch would.
void reserve_claims();
/// A launch of so many blocks begins; their marks are other ones than any before.
void begin_claims(std::uint64_t blocks);
/// Of the block with that place in the launch's order.
inline std::uint32_t mark_of(std::uint64_t ordinal) {
  return claims.several + (static_cast<std::uint32_t>(ordinal + 1) << kClaimBits);
}

enum class Held : std::uint8_t { no, own, several };

/// Whose the words of an aligned access are; `no` also where the block has to ask.
template <unsigned Bytes, bool Writes>
[[gnu::always_inline]] inline Held held(std::size_t position, std::uint32_t mark) {
  const std::atomic<std::uint32_t>* const words = claims.words + position / kWord;
  bool own = true, several = !Writes;
  for (std::size_t i = 0; i < (Bytes > kWord ? Bytes / kWord : 1); ++i) {
    const std::uint32_t now = words[i].load(std::memory_order_relaxed);
    own &= Writes ? now == (mark | kClaimWritten) : (now & ~kClaimWritten) == mark;
    several &= now == claims.several;
  }
  return own ? Held::own : several ? Held::several : Held::no;
}

/// Claims the words of an aligned access that no other block of the launch has touched; false where some are not so, or
/// their page is to be kept before.
template <unsigned Bytes, bool Writes>
[[gnu::always_inline]] inline bool claim_at_once(std::size_t position, std::uint32_t mark) {
  if (Writes && !is_kept(position)) return false;
  std::atomic<std::uint32_t>* const words = claims.words + position / kWord;
  for (std::size_t i = 0; i < (Bytes > kWord ? Bytes / kWord : 1); ++i) {
    std::uint32_t now = words[i].load(std::memory_order_relaxed);
    if ((now & ~kClaimWritten) == mark && (!Writes || now != mark)) continue;
    if ((now >= claims.several && now != mark) ||
        !words[i].compare_exchange_strong(now, mark | (Writes ? kClaimWritten : 0), std::memory_order_acq_rel))
      return false;
  }
  return true;
}

inline bool is_read_by_several(std::size_t position) {
  return claims.words[position / kWord].load(std::memory_order_relaxed) == claims.several;
}

/// The running thread's block is to touch these bytes of the buffer, which is global memory or a variable. Waits
/// for its turn where an earlier block has them; does not return where the attempt ends.
void claim(Block& block, const Buffer& buffer, const void* address, std::size_t bytes, bool writes);

}  // namespace isomer::emulator::watch
