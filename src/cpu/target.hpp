#pragma once

#include "core/plan.hpp"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace isomer::cpu {

/// Instruction sets, worst first. Each op's vector code is compiled once for each that the architecture can
/// have.
enum class Target { scalar, neon, avx2, avx512 };
inline constexpr int kTargets = 4;
std::string_view name_of(Target target);

/// Why code of that target cannot run here: the CPU lacks it, or ISOMER_CPU forces another. Empty where it
/// can. ISOMER_CPU=scalar|neon|avx2|avx512|amx; amx takes AMX where an op has it and AVX-512 elsewhere.
/// Another value throws Error bad_argument.
std::string why_not(Target target);

/// The best target that can run here.
Target best_target();

/// One function pointer per target; null where it was not compiled. Made by ISOMER_PER_TARGET.
template <class Function>
struct PerTarget {
  std::array<Function, kTargets> of{};
  Function operator[](Target target) const { return of[static_cast<std::size_t>(target)]; }
  Function best() const { return of[static_cast<std::size_t>(best_target())]; }
};

/// Base of the CPU implementations: name "cpu/<target>", available where the target is.
class Implementation : public core::Implementation {
 public:
  explicit Implementation(Target target) : target_(target), name_("cpu/" + std::string(name_of(target))) {}
  const std::string& name() const override { return name_; }
  DeviceType device() const override { return DeviceType::cpu; }
  std::string unavailable() const override { return why_not(target_); }
  Target target() const { return target_; }

 private:
  Target target_;
  std::string name_;
};

/// One Impl(target) for every target for which `function` was compiled, best first.
template <class Impl, class Function>
std::vector<std::unique_ptr<const core::Implementation>> implementations(
    const PerTarget<Function>& function) {
  std::vector<std::unique_ptr<const core::Implementation>> list;
  for (int i = kTargets - 1; i >= 0; --i)
    if (function.of[static_cast<std::size_t>(i)] != nullptr)
      list.push_back(std::make_unique<Impl>(static_cast<Target>(i)));
  return list;
}

}  // namespace isomer::cpu
