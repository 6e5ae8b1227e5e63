#include "gpu/facts.hpp"

#include <cstdlib>
#include <span>

namespace isomer::gpu {
namespace {

std::span<const Facts> table() {
  // One common part of each architecture: sizes that plans ask for, as the vendors publish them.
  static const Facts kTable[] = {
      {"NVIDIA A100", "sm_80", 32, 108, 1024, 2048, 65536, 166912, 167936, 40 << 20, std::int64_t{80} << 30},
      {"NVIDIA L40S", "sm_89", 32, 142, 1024, 1536, 65536, 101376, 102400, 96 << 20, std::int64_t{48} << 30},
      {"NVIDIA H100", "sm_90a", 32, 132, 1024, 2048, 65536, 232448, 233472, 50 << 20, std::int64_t{80} << 30},
      {"NVIDIA B200", "sm_100a", 32, 148, 1024, 2048, 65536, 232448, 233472, 126 << 20,
       std::int64_t{180} << 30},
      {"AMD Instinct MI250X", "gfx90a", 64, 110, 1024, 2048, 131072, 65536, 65536, 8 << 20,
       std::int64_t{64} << 30},
      {"AMD Instinct MI300X", "gfx942", 64, 304, 1024, 2048, 131072, 65536, 65536, 256 << 20,
       std::int64_t{192} << 30},
      {"AMD Radeon RX 7900", "gfx1100", 32, 96, 1024, 2048, 65536, 65536, 65536, 96 << 20,
       std::int64_t{24} << 30},
  };
  return kTable;
}

}  // namespace

bool launches_overlap(const Facts& facts) {
  return facts.architecture.starts_with("sm_") && std::atoi(facts.architecture.c_str() + 3) >= 90;
}

const Facts* known_architecture(std::string_view architecture) {
  for (const Facts& facts : table())
    if (facts.architecture == architecture) return &facts;
  return nullptr;
}

std::vector<std::string> known_architectures() {
  std::vector<std::string> names;
  for (const Facts& facts : table()) names.push_back(facts.architecture);
  return names;
}

}  // namespace isomer::gpu
