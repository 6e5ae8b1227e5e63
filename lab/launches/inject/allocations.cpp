#include "lab/launches/inject/allocations.hpp"

#include "lab/launches/inject/output.hpp"

namespace isomer::inject {

Allocations& allocations() {
  static Allocations& only = *new Allocations;
  return only;
}

void Allocations::add(std::uint64_t address, std::uint64_t bytes) {
  if (address == 0 || bytes == 0) return;
  const std::lock_guard lock(mutex_);
  ranges_[address] = {bytes, next_++};
}

void Allocations::remove(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  ranges_.erase(address);
}

std::string Allocations::place(std::uint64_t word) {
  // Addresses of device memory: above every integer and flag, below what a double's exponent makes.
  if (word < 0x100000000ull || word >= 0x800000000000ull) return {};
  std::uint64_t ordinal = 0, offset = 0;
  const auto find = [&] {
    const std::lock_guard lock(mutex_);
    auto range = ranges_.upper_bound(word);
    if (range == ranges_.begin()) return false;
    --range;
    ordinal = range->second.ordinal;
    offset = word - range->first;
    return offset < range->second.bytes;
  };
  if (always_ || !find()) {
    // Allocated before the first callback, or by a call that has none (static __device__ arrays). The driver
    // is asked with no lock held: another of its threads may wait for ours.
    std::uint64_t begin = 0, bytes = 0;
    if (lookup_ == nullptr || !lookup_(word, begin, bytes)) return {};
    if (always_) {
      // What lay there before is gone.
      const std::lock_guard lock(mutex_);
      if (const auto known = ranges_.find(begin); known == ranges_.end() || known->second.bytes != bytes)
        ranges_[begin] = {bytes, next_++};
    } else {
      add(begin, bytes);
    }
    if (!find()) return {};
  }
  std::string text;
  append(text, ordinal);
  text += '+';
  append(text, offset);
  return text;
}

}  // namespace isomer::inject
