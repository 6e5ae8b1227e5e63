// Which parts of a large range of memory anybody has ever touched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace isomer::emulator {

struct Extent {
  std::uint64_t offset = 0, bytes = 0;
};

inline constexpr std::uint64_t kSparseBytes = std::uint64_t{256} << 20;

/// The parts of a range of private memory that hold something; the rest is untouched and zero. One extent
/// below kSparseBytes, and where the system does not tell.
std::vector<Extent> touched_extents(const void* begin, std::uint64_t bytes);

}  // namespace isomer::emulator
