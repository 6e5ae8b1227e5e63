#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace isomer::cpu {

/// Instruction sets, worst first. Each op's vector code is compiled once for each of the first four that the
/// architecture can have; AMX code is written by hand, for the ops that have some.
enum class Target { scalar, neon, avx2, avx512, amx };
inline constexpr int kTargets = 5;
std::string_view name_of(Target target);

/// The target that ISOMER_CPU=scalar|neon|avx2|avx512|amx forces; nothing where it is not set. Read once in a
/// process, at the first use. Throws Error bad_argument for another value.
std::optional<Target> forced_target();

/// Why code of that target cannot run here: the CPU lacks it, or ISOMER_CPU forces another. Empty where it
/// can. Decided once in a process; throws as forced_target() does.
const std::string& why_not(Target target);

/// The best target that every op has code for and that can run here; scalar where none can.
Target best_target();

/// One function pointer per target; null where there is none. Made by ISOMER_PER_TARGET.
template <class Function>
struct PerTarget {
  std::array<Function, kTargets> of{};
  Function operator[](Target target) const { return of[static_cast<std::size_t>(target)]; }
  Function best() const { return of[static_cast<std::size_t>(best_target())]; }
  /// The same with a function that is written by hand for that target.
  PerTarget with(Target target, Function function) const {
    PerTarget table = *this;
    table.of[static_cast<std::size_t>(target)] = function;
    return table;
  }
};

}  // namespace isomer::cpu
