// Device memory: one reserved range of addresses in which every buffer and shared array has pages of its own,
// with inaccessible pages on both sides. An address tells its buffer by one table look-up.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace isomer::emulator {

enum class Space : std::uint8_t { global, managed, shared, variable };

struct Buffer {
  std::byte* begin = nullptr;
  std::size_t bytes = 0;
  std::size_t first_page = 0;
  std::size_t pages = 0, gap = 1;  ///< and those behind it that nobody has
  std::uintptr_t shadow = 0;  ///< where in the shadow its first byte has its place
  Space space = Space::global;
  std::string name;          ///< as the source or the caller named it; empty for an anonymous allocation
  bool initialised = false;  ///< the whole buffer holds values, whatever the shadow says
  bool sampled = false;      ///< what blocks left out would have written to it, nobody knows
  bool touched = false;      ///< a thread of the current launch has written to it
  bool input = false;        ///< the current launch must not write it
  bool tensor =
      false;  ///< the host writes it unseen: what is still poison, and no kernel wrote, nobody wrote
  bool in_shadow = false;  ///< of a tensor: the shadow's bytes are its own
  bool expected = false;   ///< the watch has prepared for accesses (watch/shadow.hpp)
  bool live = false;
  std::uint32_t id = 0;
  const void* owner = nullptr;     ///< the block that a shared array belongs to
  std::vector<void*> made, freed;  ///< the host's return addresses, innermost first, where they are kept
  std::byte* end() const { return begin + bytes; }
};

class Memory {
 public:
  static constexpr std::size_t kPage = 4096;
  static constexpr std::size_t kSlack = 256;  ///< canary bytes behind a buffer, at least

  static Memory& instance() {
    Memory* const known = only_.load(std::memory_order_acquire);
    return known != nullptr ? *known : first();
  }

  /// The range's parts. The first is all programs' memory. Each other one is of the shared arrays of one worker's
  /// blocks in watched launches: they lie apart, so that neither the workers' number nor the order of blocks changes
  /// where anything else lies, and so far from each other that an index of one does not reach the next.
  static constexpr unsigned kRegions = 66;
  /// A buffer of `bytes`, aligned to 256 (or more), filled with the poison byte. Null when the range is full. Where
  /// another region than the first is, it lies in that one.
  Buffer* allocate(std::size_t bytes, Space space, std::string name, std::size_t alignment = 256,
                   unsigned region = 0);
  /// Whether the address is in a region of shared arrays.
  bool is_of_shared_arrays(const void* address) const {
    const auto at = reinterpret_cast<std::uintptr_t>(address) - base_;
    return at < bytes_ && at / kPage >= regions_[0].end;
  }
  /// The buffer that begins there, if there is one. In quarantine its pages stay its own and inaccessible, so
  /// that who uses it later can be told.
  bool release(void* pointer, bool quarantine = false, std::vector<void*> freed = {});
  void release(Buffer* buffer);
  /// A place in the shadow for what lies elsewhere, aligned as it is; 0 when the range is full.
  std::uintptr_t reserve_shadow(const void* begin, std::size_t bytes);

  /// The buffer in whose pages the address lies, dead or alive; null outside of every buffer's pages.
  Buffer* page_owner(const void* address) const {
    const auto at = reinterpret_cast<std::uintptr_t>(address) - base_;
    if (at >= bytes_) return nullptr;
    const std::uint32_t id = std::atomic_ref(pages_[at / kPage]).load(std::memory_order_acquire);
    return id == 0 ? nullptr : &table_[id];
  }
  /// The live buffer that holds the address.
  Buffer* find(const void* address) const {
    Buffer* b = page_owner(address);
    return b && b->live && address >= b->begin && address < b->end() ? b : nullptr;
  }
  /// The live buffer whose range is nearest to the address: of the block's shared arrays, or where `owner` is null of
  /// all that are no shared arrays.
  Buffer* nearest(const void* address, const void* owner) const;
  bool contains(const void* address) const {
    return reinterpret_cast<std::uintptr_t>(address) - base_ < bytes_;
  }
  std::uintptr_t base() const { return base_; }
  std::size_t reserved() const { return bytes_; }
  std::size_t in_use() const { return in_use_; }
  std::size_t limit() const { return limit_; }
  void set_limit(std::size_t bytes) { limit_ = bytes; }
  void set_poison(std::uint8_t byte) { poison_ = byte; }
  std::uint8_t poison() const { return poison_; }
  /// Whether it was filled with poison: not where it is too large.
  bool is_poisoned(const Buffer& buffer) const;
  void fill_poison(Buffer& buffer) const;

  /// First byte behind a buffer that no longer holds the canary, counted from its end; −1 where all hold it
  /// or the buffer is gone.
  std::ptrdiff_t broken_canary(const Buffer& buffer) const;
  void mend_canary(Buffer& buffer) const;
  std::vector<Buffer*> live_buffers() const;
  /// While it is held no other thread of the host releases a buffer.
  std::unique_lock<std::mutex> hold() const { return std::unique_lock(mutex_); }

  /// Host memory that the program has made visible to the device (hipHostRegister).
  void add_host_range(void* begin, std::size_t bytes);
  bool in_host_range(const void* address) const;
  bool has_host_ranges() const { return !host_ranges_.empty(); }

 private:
  Memory();
  static Memory& first();
  inline static std::atomic<Memory*> only_{nullptr};
  void lay_canary(Buffer& buffer) const;
  void close(Buffer& buffer);
  void recycle(Buffer& buffer);
  void empty_quarantine(std::size_t pages);
  std::uintptr_t base_ = 0;
  std::size_t bytes_ = 0;
  struct Region {
    std::size_t frontier = 0, end = 0;         // pages
    std::map<std::size_t, std::size_t> holes;  // first page → number of pages
  };
  std::size_t take(Region& region, std::size_t pages);
  std::array<Region, kRegions> regions_;
  std::uint32_t* pages_ = nullptr;
  Buffer* table_ = nullptr;  // reserved once, so that look-ups need no lock
  std::size_t table_size_ = 1;
  std::vector<std::uint32_t> free_ids_;
  std::deque<Buffer*> quarantine_;
  std::size_t quarantined_pages_ = 0;
  std::size_t in_use_ = 0;
  std::size_t limit_;
  std::uint8_t poison_ = 0xff;
  std::vector<std::pair<std::byte*, std::size_t>> host_ranges_;
  mutable std::mutex mutex_;
};

}  // namespace isomer::emulator
