#include "memory/pages.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

namespace isomer::emulator {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kPresent = std::uint64_t{1} << 63, kSwapped = std::uint64_t{1} << 62;

}  // namespace

std::vector<Extent> touched_extents(const void* begin, std::uint64_t bytes) {
  const std::vector<Extent> whole{{0, bytes}};
  if (bytes < kSparseBytes || sysconf(_SC_PAGESIZE) != static_cast<long>(kPage)) return whole;
  const int map = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  if (map < 0) return whole;
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  const std::uint64_t first = address / kPage, last = (address + bytes - 1) / kPage;
  std::vector<Extent> extents;
  std::vector<std::uint64_t> entries(std::uint64_t{1} << 16);
  for (std::uint64_t page = first; page <= last;) {
    const std::uint64_t count = std::min<std::uint64_t>(entries.size(), last - page + 1);
    const auto wanted = static_cast<ssize_t>(count * sizeof(std::uint64_t));
    if (pread(map, entries.data(), count * sizeof(std::uint64_t),
              static_cast<off_t>(page * sizeof(std::uint64_t))) != wanted) {
      close(map);
      return whole;
    }
    for (std::uint64_t i = 0; i < count; ++i) {
      if (!(entries[i] & (kPresent | kSwapped))) continue;
      const std::uint64_t at = std::max<std::uint64_t>((page + i) * kPage, address) - address;
      const std::uint64_t end = std::min<std::uint64_t>((page + i + 1) * kPage - address, bytes);
      if (!extents.empty() && extents.back().offset + extents.back().bytes == at) {
        extents.back().bytes += end - at;
      } else {
        extents.push_back({at, end - at});
      }
    }
    page += count;
  }
  close(map);
  return extents;
}

}  // namespace isomer::emulator
