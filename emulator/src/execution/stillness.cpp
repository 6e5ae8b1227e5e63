#include "execution/stillness.hpp"

#include <cstring>

#include "execution/worker.hpp"
#include "memory/memory.hpp"
#include "memory/module_images.hpp"

namespace isomer::emulator {
namespace {

constexpr std::uint64_t kFirstLook = 4096;  // rounds; the next look comes after twice as many

std::uint64_t mixed(std::uint64_t sum, const Buffer& buffer) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15ull;
  const std::byte* at = buffer.begin;
  std::size_t left = buffer.bytes;
  for (std::uint64_t word; left >= sizeof word; at += sizeof word, left -= sizeof word) {
    std::memcpy(&word, at, sizeof word);
    sum = (sum ^ word) * kOdd;
    sum ^= sum >> 29;
  }
  for (; left > 0; --left) sum = (sum ^ std::to_integer<std::uint64_t>(*at++)) * kOdd;
  return sum;
}

/// Of all that device threads can write.
std::uint64_t sum_of_memory() {
  std::uint64_t sum = 1;
  for (const Buffer* each : Memory::instance().live_buffers()) sum = mixed(sum, *each);
  for_each_variable([&](const Buffer& each) {
    if (!each.input) sum = mixed(sum, each);
  });
  return sum;
}

bool host_can_write() {
  if (Memory::instance().has_host_ranges()) return true;
  for (const Buffer* each : Memory::instance().live_buffers())
    if (each->space == Space::managed) return true;
  return false;
}

}  // namespace

void Stillness::moved(Launch& launch) {
  if (rounds_ == 0) return;
  rounds_ = 0;
  launch.waiting -= held_;
  held_ = 0;
  launch.waits_in_vain = false;
}

void Stillness::round(Launch& launch, std::uint64_t blocks) {
  ++rounds_;
  if (blocks != held_) {
    launch.waiting += blocks - held_;
    held_ = blocks;
  }
  const bool look = rounds_ >= kFirstLook && (rounds_ & (rounds_ - 1)) == 0;
  if (!look || launch.finished + launch.waiting < launch.blocks || host_can_write()) return;
  const std::uint64_t now = sum_of_memory();
  if (rounds_ > kFirstLook && now != memory_) return moved(launch);
  launch.waits_in_vain = rounds_ > kFirstLook;
  memory_ = now;
}

}  // namespace isomer::emulator
