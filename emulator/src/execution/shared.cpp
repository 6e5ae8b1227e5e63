// Shared memory: every array of a block is a buffer of its own, with guard pages, made at its first use and
// kept for the blocks that follow on this worker.
#include <atomic>
#include <mutex>

#include "execution/worker.hpp"
#include "runtime/errors.hpp"
#include "runtime/limits.hpp"
#include "watch/reporter.hpp"
#include "watch/shadow.hpp"

namespace isomer::emulator {
namespace {

constexpr std::uint32_t kFirstAddress = 1024;  // below it Hopper keeps what is the system's
constexpr std::uint32_t kAddressStep = 1024;   // the longest swizzle repeats after so many bytes

std::uint32_t rounded(std::size_t bytes) {
  return static_cast<std::uint32_t>((bytes + kAddressStep - 1) / kAddressStep * kAddressStep);
}

int number(SharedSite& site) {
  static std::mutex mutex;
  static int count = 0;
  std::atomic_ref<int> index(site.index);
  if (int known = index.load(std::memory_order_acquire)) return known;
  std::lock_guard lock(mutex);
  if (int known = index.load(std::memory_order_acquire)) return known;
  index.store(++count, std::memory_order_release);
  return count;
}

}  // namespace

void* Block::shared(SharedSite& site) {
  const auto index = static_cast<std::size_t>(number(site));
  if (index >= shared_.size()) shared_.resize(index + 1);
  Shared& s = shared_[index];
  if (s.used) return s.buffer->begin;
  // A kernel's arrays count together for the compiler, whatever dynamic memory it may be given besides.
  std::size_t fixed = site.bytes;
  for (const Shared& other : shared_) {
    if (other.used) fixed += other.buffer->bytes;
  }
  const std::size_t total = fixed + launch_.request.shared_bytes;
  const std::size_t limit =
      std::max(limits().static_shared_bytes,
               launch_.request.shared_bytes + site.bytes > 0 ? limits().shared_bytes_opt_in : std::size_t{0});
  if (fixed > limits().static_shared_bytes || total > limit) {
    const bool of_fixed = fixed > limits().static_shared_bytes;
    refuse(error::launch_out_of_resources,
           std::string(launch_.request.kernel) + ": shared array " + site.name + " brings the block to " +
               std::to_string(of_fixed ? fixed : total) + " bytes of shared memory" +
               (of_fixed ? " in arrays of fixed size, a kernel may have " +
                               std::to_string(limits().static_shared_bytes) + " of these"
                         : ", the device has " + std::to_string(limit)));
    launch_.fail(error::launch_out_of_resources);
    abandon();
  }
  if (!s.buffer) {
    const unsigned region = launch_.watch ? worker_.region() : 0;
    s.buffer = Memory::instance().allocate(site.bytes, Space::shared, site.name,
                                           std::max<std::size_t>(site.alignment, 256), region);
    if (!s.buffer) {
      refuse(error::out_of_memory, std::string("no memory for shared array ") + site.name);
      launch_.fail(error::out_of_memory);
      abandon();
    }
    s.buffer->owner = this;
  } else {
    Memory::instance().fill_poison(*s.buffer);
  }
  if (launch_.watch) watch::forget(*s.buffer);
  s.used = true;
  if (next_shared_address_ == 0) next_shared_address_ = kFirstAddress + rounded(launch_.request.shared_bytes);
  s.address = next_shared_address_;
  next_shared_address_ += rounded(site.bytes);
  return s.buffer->begin;
}

bool Block::keep_own_range(const void* at) {
  constexpr std::size_t kLargest = 16;  // bytes of an access
  if (!plainly_watched_ || units_used_) return false;
  const Buffer* const buffer = Memory::instance().find(at);
  if (!buffer || buffer->space != Space::shared || buffer->owner != this || buffer->input ||
      buffer->initialised)
    return false;
  own_ranges_[place_of_range(at)] = {buffer->begin, buffer->bytes / kLargest * kLargest};
  return true;
}

std::uint32_t Block::shared_address(const void* at) const {
  const auto* byte = static_cast<const std::byte*>(at);
  const auto inside = [byte](const Shared& s) {
    return s.used && byte >= s.buffer->begin && byte <= s.buffer->end();
  };
  if (inside(dynamic_)) return dynamic_.address + static_cast<std::uint32_t>(byte - dynamic_.buffer->begin);
  for (const Shared& s : shared_) {
    if (inside(s)) return s.address + static_cast<std::uint32_t>(byte - s.buffer->begin);
  }
  return 0;
}

std::byte* Block::shared_at(std::uint32_t address, std::size_t bytes) const {
  const auto inside = [&](const Shared& s) {
    return s.used && address >= s.address && address + bytes <= s.address + s.buffer->bytes;
  };
  if (inside(dynamic_)) return dynamic_.buffer->begin + (address - dynamic_.address);
  for (const Shared& s : shared_) {
    if (inside(s)) return s.buffer->begin + (address - s.address);
  }
  return nullptr;
}

void* Block::dynamic_shared() {
  if (!dynamic_.buffer) {
    dynamic_.buffer =
        Memory::instance().allocate(launch_.request.shared_bytes, Space::shared, "dynamic shared memory",
                                    1024, launch_.watch ? worker_.region() : 0);
    if (!dynamic_.buffer) {
      launch_.fail(error::out_of_memory);
      abandon();
    }
    dynamic_.buffer->owner = this;
  } else if (!dynamic_.used) {
    Memory::instance().fill_poison(*dynamic_.buffer);
  }
  if (!dynamic_.used && launch_.watch) watch::forget(*dynamic_.buffer);
  dynamic_.used = true;
  dynamic_.address = kFirstAddress;
  return dynamic_.buffer->begin;
}

}  // namespace isomer::emulator
