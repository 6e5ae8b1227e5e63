#include "watch/undo.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "memory/reserve.hpp"
#include "watch/shadow.hpp"

namespace isomer::emulator::watch {

// Of `in`: twice the launch's number, and one less while it is being done.
KeptPages kept_pages;

namespace {

constexpr std::size_t kPage = Memory::kPage;
constexpr std::size_t kMost = std::size_t{1} << 30;   // bytes that are kept of one launch
constexpr std::size_t kResident = std::size_t{64} << 20;  // bytes that stay with the process between launches

/// In the log: what follows it are the bytes, then whether they were written where that is kept.
struct Kept {
  std::byte* begin;
  std::size_t bytes;  ///< 0: the one that did not fit
  std::size_t position, has_written;
};

std::byte* log = nullptr;
std::atomic<std::size_t> used{0};

constexpr std::uint32_t kLast = 0xfffffffe;  // twice a launch's number

std::size_t size_of(const Kept& k) {
  const std::size_t all = sizeof(Kept) + k.bytes + (k.has_written ? k.bytes : 0);
  return (all + alignof(Kept) - 1) / alignof(Kept) * alignof(Kept);
}

void copy_of(Block& block, const Buffer& buffer, std::size_t position) {
  const std::size_t page = position / kPage * kPage;
  const std::size_t first = std::max<std::size_t>(page, buffer.shadow);
  const std::size_t end = std::min<std::size_t>(page + kPage, buffer.shadow + buffer.bytes);
  Kept kept{buffer.begin + (first - buffer.shadow), end - first, first, !buffer.initialised};
  const std::size_t at = used.fetch_add(size_of(kept), std::memory_order_relaxed);
  std::byte* to = log + at;
  if (at + size_of(kept) > kMost) {
    kept.bytes = 0;
    if (at + sizeof kept <= kMost) std::memcpy(to, &kept, sizeof kept);
    block.run_alone();
  }
  std::memcpy(to, &kept, sizeof kept);
  to += sizeof kept;
  std::memcpy(to, kept.begin, kept.bytes);
  to += kept.bytes;
  if (kept.has_written) std::memcpy(to, &shadow_of_memory.written[first], kept.bytes);
}

}  // namespace

void reserve_undo() {
  if (log != nullptr) return;
  log = reserve<std::byte>(kMost);
  expect_many(log, kMost);
  kept_pages.in = reserve<std::atomic<std::uint32_t>>(Memory::instance().reserved() / kPage);
}

void begin_undo() {
  reserve_undo();
  if (used > kResident) forget_pages(log, kMost);
  used = 0;
  if (kept_pages.now == kLast) {
    forget_pages(kept_pages.in, Memory::instance().reserved() / kPage);
    kept_pages.now = 0;
  }
  kept_pages.now += 2;
}

void keep_page(Block& block, const Buffer& buffer, std::size_t position) {
  std::atomic<std::uint32_t>& state = kept_pages.in[position / kPage];
  const std::uint32_t done = kept_pages.now, under_way = done - 1;
  std::uint32_t now = state.load(std::memory_order_acquire);
  while (now != done) {
    if (now == under_way) {
      if (block.launch().cancelled) block.run_alone();
      sched_yield();
      now = state.load(std::memory_order_acquire);
    } else if (state.compare_exchange_strong(now, under_way, std::memory_order_acquire)) {
      copy_of(block, buffer, position);
      state.store(done, std::memory_order_release);
      return;
    }
  }
}

void undo_writes() {
  const std::size_t end = used;
  for (std::size_t at = 0; at + sizeof(Kept) <= std::min(end, kMost);) {
    Kept kept;
    std::memcpy(&kept, log + at, sizeof kept);
    if (kept.bytes == 0) break;
    const std::byte* from = log + at + sizeof kept;
    std::memcpy(kept.begin, from, kept.bytes);
    from += kept.bytes;
    if (kept.has_written) std::memcpy(&shadow_of_memory.written[kept.position], from, kept.bytes);
    at += size_of(kept);
  }
}

}  // namespace isomer::emulator::watch
