#include "memory/memory.hpp"

#include <sys/mman.h>

#include <cstring>
#include <new>
#include <utility>

#include "memory/reserve.hpp"
#include "memory/thread_sanitizer.hpp"

namespace isomer::emulator {
namespace {
constexpr std::uint8_t kCanary = 0xc5;
constexpr std::size_t kMaxBuffers = std::size_t{1} << 22;
// The watch reserves 32 times as much, and the sanitizer leaves a program 1.5 TiB.
constexpr std::size_t kMostReserved = std::size_t{kThreadSanitizer ? 8 : 64} << 30;
constexpr std::size_t kBetweenArrays = 66;  // pages: more than a block's shared memory
constexpr std::size_t kPoisonLimit = std::size_t{256} << 20;  // a sparse giant stays sparse
}  // namespace

Memory& Memory::first() {
  static Memory* memory = new Memory;  // outlives every static destructor of a user's module
  only_.store(memory, std::memory_order_release);
  return *memory;
}

Memory::Memory() : limit_(std::size_t{16} << 30) {
  for (std::size_t bytes = kMostReserved; bytes >= std::size_t{1} << 30; bytes /= 2) {
    void* p = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) continue;
    base_ = reinterpret_cast<std::uintptr_t>(p);
    bytes_ = bytes;
    break;
  }
  if (base_ == 0) throw std::bad_alloc();
  // The last quarter is for shared arrays, and half of that for the first worker, which may have many blocks.
  const std::size_t pages = bytes_ / kPage;
  std::size_t from = pages - pages / 4;
  regions_[0].frontier = 1;
  regions_[0].end = regions_[1].frontier = from;
  regions_[1].end = from = pages - pages / 8;
  for (unsigned i = 2; i < kRegions; ++i) {
    regions_[i].frontier = from;
    regions_[i].end = from += pages / 8 / (kRegions - 2);
  }
  pages_ = reserve<std::uint32_t>(bytes_ / kPage);
  table_ = reserve<Buffer>(kMaxBuffers);
}

/// Pages of a region that nobody has; 0 where there are not so many.
std::size_t Memory::take(Region& region, std::size_t pages) {
  for (auto it = region.holes.begin(); it != region.holes.end(); ++it) {
    if (it->second < pages) continue;
    const std::size_t first = it->first, rest = it->second - pages;
    region.holes.erase(it);
    if (rest > 0) region.holes[first + pages] = rest;
    return first;
  }
  if (region.frontier + pages > region.end) return 0;
  return std::exchange(region.frontier, region.frontier + pages);
}

Buffer* Memory::allocate(std::size_t bytes, Space space, std::string name, std::size_t alignment, unsigned region) {
  std::unique_lock lock(mutex_);
  // Shared memory is not of the device's, and the block has counted it.
  const bool counted = space != Space::shared;
  if (alignment > kPage || (counted && (bytes > limit_ || in_use_ + bytes > limit_))) return nullptr;
  const std::size_t pages = (bytes + kSlack + kPage - 1) / kPage;
  // One inaccessible page behind; the page in front belongs to the last.
  std::size_t gap = 1, first = 0;
  if (region != 0 && region < kRegions) first = take(regions_[region], pages + (gap = kBetweenArrays));
  if (first == 0) first = take(regions_[0], pages + (gap = 1));
  if (first == 0) {
    if (quarantine_.empty()) return nullptr;
    empty_quarantine(0);
    lock.unlock();
    return allocate(bytes, space, std::move(name), alignment, region);
  }
  std::uint32_t id = 0;
  if (!free_ids_.empty()) {
    id = free_ids_.back();
    free_ids_.pop_back();
  } else {
    if (table_size_ == kMaxBuffers) return nullptr;
    id = static_cast<std::uint32_t>(table_size_++);
    new (&table_[id]) Buffer;
  }
  auto* begin = reinterpret_cast<std::byte*>(base_ + first * kPage);
  if (mprotect(begin, pages * kPage, PROT_READ | PROT_WRITE) != 0) return nullptr;
  Buffer& buffer = table_[id];
  buffer = Buffer{};
  buffer.begin = begin;
  buffer.bytes = bytes;
  buffer.first_page = first;
  buffer.shadow = first * kPage;
  buffer.pages = pages;
  buffer.gap = gap;
  buffer.space = space;
  buffer.name = std::move(name);
  buffer.live = true;
  buffer.id = id;
  // Seen with the buffer by whoever looks there without the lock.
  for (std::size_t p = 0; p < pages; ++p) std::atomic_ref(pages_[first + p]).store(id, std::memory_order_release);
  if (counted) in_use_ += bytes;
  // What host and device share begins as the zero pages that an operating system gives.
  if (space != Space::managed) fill_poison(buffer);
  lay_canary(buffer);
  return &buffer;
}

void Memory::close(Buffer& buffer) {
  void* begin = reinterpret_cast<void*>(base_ + buffer.first_page * kPage);
  madvise(begin, buffer.pages * kPage, MADV_DONTNEED);
  mprotect(begin, buffer.pages * kPage, PROT_NONE);
  if (buffer.space != Space::shared) in_use_ -= buffer.bytes;
  buffer.live = false;
}

void Memory::release(Buffer* buffer) {
  std::lock_guard lock(mutex_);
  close(*buffer);
  recycle(*buffer);
}

void Memory::empty_quarantine(std::size_t pages) {
  while (quarantined_pages_ > pages) {
    quarantined_pages_ -= quarantine_.front()->pages;
    recycle(*quarantine_.front());
    quarantine_.pop_front();
  }
}

void Memory::recycle(Buffer& buffer) {
  const std::size_t first = buffer.first_page;
  for (std::size_t p = 0; p < buffer.pages; ++p)
    std::atomic_ref(pages_[first + p]).store(0, std::memory_order_release);
  free_ids_.push_back(buffer.id);
  auto region = regions_.begin();
  while (first >= region->end) ++region;
  auto& holes = region->holes;
  auto [it, inserted] = holes.emplace(first, buffer.pages + buffer.gap);
  if (auto next = std::next(it); next != holes.end() && it->first + it->second == next->first) {
    it->second += next->second;
    holes.erase(next);
  }
  if (it != holes.begin()) {
    if (auto before = std::prev(it); before->first + before->second == it->first) {
      before->second += it->second;
      holes.erase(it);
    }
  }
}

std::uintptr_t Memory::reserve_shadow(const void* begin, std::size_t bytes) {
  std::lock_guard lock(mutex_);
  const std::size_t pages = (bytes + 2 * kPage - 1) / kPage;
  Region& region = regions_[0];
  if (region.frontier + pages > region.end) return 0;
  const std::uintptr_t at = region.frontier * kPage + reinterpret_cast<std::uintptr_t>(begin) % kPage;
  region.frontier += pages;
  return at;
}

bool Memory::release(void* pointer, bool quarantine, std::vector<void*> freed) {
  Buffer* buffer = page_owner(pointer);
  if (!buffer || !buffer->live || buffer->begin != pointer) return false;
  if (!quarantine) {
    release(buffer);
    return true;
  }
  std::lock_guard lock(mutex_);
  close(*buffer);
  buffer->freed = std::move(freed);
  quarantine_.push_back(buffer);
  quarantined_pages_ += buffer->pages;
  empty_quarantine(bytes_ / kPage / 4);
  return true;
}

Buffer* Memory::nearest(const void* address, const void* owner) const {
  std::lock_guard lock(mutex_);
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  Buffer* best = nullptr;
  std::uintptr_t distance = ~std::uintptr_t{0};
  for (std::size_t id = 1; id < table_size_; ++id) {
    Buffer& b = table_[id];
    if (!b.live || (b.space == Space::shared ? b.owner : nullptr) != owner) continue;
    const auto lo = reinterpret_cast<std::uintptr_t>(b.begin), hi = lo + b.bytes;
    const std::uintptr_t d = at < lo ? lo - at : at >= hi ? at - hi : 0;
    if (d < distance) distance = d, best = &b;
  }
  return best;
}

void Memory::fill_poison(Buffer& buffer) const {
  if (buffer.bytes <= kPoisonLimit) std::memset(buffer.begin, poison_, buffer.bytes);
}

bool Memory::is_poisoned(const Buffer& buffer) const {
  return buffer.bytes > 0 && buffer.bytes <= kPoisonLimit;
}

// A buffer of another launch may go at any moment.
std::ptrdiff_t Memory::broken_canary(const Buffer& buffer) const {
  std::lock_guard lock(mutex_);
  if (!buffer.live) return -1;
  const auto* end = reinterpret_cast<const std::uint8_t*>(buffer.end());
  for (std::size_t i = 0; i < kSlack; ++i) {
    if (end[i] != kCanary) return static_cast<std::ptrdiff_t>(i);
  }
  return -1;
}

void Memory::mend_canary(Buffer& buffer) const {
  std::lock_guard lock(mutex_);
  if (buffer.live) lay_canary(buffer);
}

void Memory::lay_canary(Buffer& buffer) const { std::memset(buffer.end(), kCanary, kSlack); }

std::vector<Buffer*> Memory::live_buffers() const {
  std::lock_guard lock(mutex_);
  std::vector<Buffer*> live;
  for (std::size_t id = 1; id < table_size_; ++id) {
    if (table_[id].live) live.push_back(&table_[id]);
  }
  return live;
}

void Memory::add_host_range(void* begin, std::size_t bytes) {
  std::lock_guard lock(mutex_);
  host_ranges_.emplace_back(static_cast<std::byte*>(begin), bytes);
}

bool Memory::in_host_range(const void* address) const {
  std::lock_guard lock(mutex_);
  const auto* at = static_cast<const std::byte*>(address);
  for (auto [begin, bytes] : host_ranges_) {
    if (at >= begin && at < begin + bytes) return true;
  }
  return false;
}

}  // namespace isomer::emulator
