// A worker's table of the code addresses that it has met lately, with their numbers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace isomer::emulator::watch {

struct KnownSite {
  const void* pc = nullptr;
  std::uint32_t number = 0;
  bool waits = false;  ///< waits_at was told
};
inline constexpr std::size_t kKnownSites = 1024;

}  // namespace isomer::emulator::watch
