#include "gpu/facts.hpp"

#include "core/sentence.hpp"

#include <span>
#include <utility>

namespace isomer::gpu {
namespace {

std::span<const Facts> facts_table() {
  // One common part of each architecture: sizes that plans ask for, as the vendors publish them.
  static const Facts kTable[] = {
      {"NVIDIA A100", "sm_80", nvidia_capabilities(80), 32, 108, 1024, 2048, 65536, 166912, 167936, 40 << 20,
       std::int64_t{80} << 30},
      {"NVIDIA L40S", "sm_89", nvidia_capabilities(89), 32, 142, 1024, 1536, 65536, 101376, 102400, 96 << 20,
       std::int64_t{48} << 30},
      {"NVIDIA H100", "sm_90a", nvidia_capabilities(90), 32, 132, 1024, 2048, 65536, 232448, 233472, 50 << 20,
       std::int64_t{80} << 30},
      {"NVIDIA B200", "sm_100a", nvidia_capabilities(100), 32, 148, 1024, 2048, 65536, 232448, 233472,
       126 << 20, std::int64_t{180} << 30},
      {"AMD Instinct MI250X", "gfx90a", Capabilities{}, 64, 110, 1024, 2048, 131072, 65536, 65536, 8 << 20,
       std::int64_t{64} << 30},
      {"AMD Instinct MI300X", "gfx942", Capabilities{}, 64, 304, 1024, 2048, 131072, 65536, 65536, 256 << 20,
       std::int64_t{192} << 30},
      {"AMD Radeon RX 7900", "gfx1100", Capabilities{}, 32, 96, 1024, 2048, 65536, 65536, 65536, 96 << 20,
       std::int64_t{24} << 30},
  };
  return kTable;
}

}  // namespace

std::string lacking(const Capabilities& needs, const Capabilities& has) {
  constexpr std::pair<bool Capabilities::*, const char*> kWords[] = {
      {&Capabilities::mma, "tensor cores for fragments of 16 bits"},
      {&Capabilities::fp8_mma, "tensor cores for fragments of FP8"},
      {&Capabilities::bulk_copy, "bulk tensor copies"},
      {&Capabilities::wgmma, "wgmma"},
      {&Capabilities::clusters, "clusters"},
      {&Capabilities::overlap, "overlapping launches"}};
  std::vector<std::string_view> missing;
  for (const auto& [capability, word] : kWords)
    if (needs.*capability && !(has.*capability)) missing.emplace_back(word);
  std::string text;
  for (std::size_t i = 0; i < missing.size(); ++i)
    text += core::say(i == 0 ? "" : i + 1 == missing.size() ? " and " : ", ", missing[i]);
  return text;
}

Capabilities nvidia_capabilities(int compute_capability) {
  return {.mma = compute_capability >= 80,
          .fp8_mma = compute_capability >= 89,
          .bulk_copy = compute_capability >= 90,
          .wgmma = compute_capability == 90,  // of this one architecture alone
          .clusters = compute_capability >= 90,
          .overlap = compute_capability >= 90};
}

const Facts* known_architecture(std::string_view architecture) {
  for (const Facts& facts : facts_table())
    if (facts.architecture == architecture) return &facts;
  return nullptr;
}

std::vector<std::string> known_architectures() {
  std::vector<std::string> names;
  for (const Facts& facts : facts_table()) names.push_back(facts.architecture);
  return names;
}

}  // namespace isomer::gpu
