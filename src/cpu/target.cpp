#include "cpu/target.hpp"

#include "core/sentence.hpp"
#include "cpu/compiled.hpp"

#include <cstdlib>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace isomer::cpu {
namespace {

#if defined(__x86_64__)
/// Bit 29 of ECX of leaf 1: clang's __builtin_cpu_supports does not know the name.
bool has_f16c() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}
#endif

bool cpu_has(Target target) {
  switch (target) {
#if defined(__x86_64__)
    case Target::avx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
             __builtin_cpu_supports("bmi2") && has_f16c();
    case Target::avx512:
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512cd") && cpu_has(Target::avx2);
    case Target::neon:
      return false;
#elif defined(__aarch64__)
    case Target::neon:
      return true;
#endif
    default:
      return target == Target::scalar;
  }
}

/// The target that ISOMER_CPU forces; nothing where it is not set.
std::optional<Target> forced() {
  const char* text = std::getenv("ISOMER_CPU");
  if (text == nullptr || *text == '\0') return std::nullopt;
  const std::string_view name = text;
  if (name == "amx") return Target::avx512;
  for (int i = 0; i < kTargets; ++i)
    if (name == name_of(static_cast<Target>(i))) return static_cast<Target>(i);
  core::fail(ErrorCode::bad_argument, "ISOMER_CPU expects scalar, neon, avx2, avx512 or amx, got '", name,
             "'");
}

}  // namespace

std::string_view name_of(Target target) {
  constexpr std::string_view names[kTargets] = {"scalar", "neon", "avx2", "avx512"};
  return names[static_cast<std::size_t>(target)];
}

std::string why_not(Target target) {
  if (const auto only = forced(); only && *only != target) {
    const std::string left_out = not_compiled(*only);
    return core::say("ISOMER_CPU=", name_of(*only), " is set", left_out.empty() ? "" : ", and ", left_out);
  }
  if (std::string left_out = not_compiled(target); !left_out.empty()) return left_out;
  if (cpu_has(target)) return {};
  switch (target) {
    case Target::avx512:
      return "this CPU has no AVX-512 (F, VL, DQ, BW, CD)";
    case Target::avx2:
      return "this CPU has no AVX2 with FMA, BMI2 and F16C";
    default:
      return core::say("this CPU has no ", name_of(target));
  }
}

Target best_target() {
  for (int i = kTargets - 1; i > 0; --i)
    if (why_not(static_cast<Target>(i)).empty()) return static_cast<Target>(i);
  return Target::scalar;
}

}  // namespace isomer::cpu
