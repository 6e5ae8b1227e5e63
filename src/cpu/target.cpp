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

/// The CPU has the tiles and their bf16 and int8 products (leaf 7, EDX), and the system saves them (XCR0).
bool has_amx() {
  constexpr unsigned kBf16 = 1u << 22, kTile = 1u << 24, kInt8 = 1u << 25, kAll = kBf16 | kTile | kInt8;
  constexpr unsigned kTileState = 3u << 17;
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_OSXSAVE) == 0) return false;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (d & kAll) != kAll) return false;
  unsigned low = 0, high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (low & kTileState) == kTileState;
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
    case Target::amx:
      return has_amx() && cpu_has(Target::avx512);
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

/// What the build or the CPU has not, as a sentence; empty where both have it.
std::string lack_of(Target target) {
  if (std::string left_out = not_compiled(target); !left_out.empty()) return left_out;
  if (cpu_has(target)) return {};
  switch (target) {
    case Target::amx:
      return "this CPU has no AMX (TILE, BF16, INT8)";
    case Target::avx512:
      return "this CPU has no AVX-512 (F, VL, DQ, BW, CD)";
    case Target::avx2:
      return "this CPU has no AVX2 with FMA, BMI2 and F16C";
    default:
      return core::say("this CPU has no ", name_of(target));
  }
}

std::optional<Target> read_forced() {
  const char* text = std::getenv("ISOMER_CPU");
  if (text == nullptr || *text == '\0') return std::nullopt;
  const std::string_view name = text;
  for (int i = 0; i < kTargets; ++i)
    if (name == name_of(static_cast<Target>(i))) return static_cast<Target>(i);
  core::fail(ErrorCode::bad_argument, "ISOMER_CPU expects scalar, neon, avx2, avx512 or amx, got '", name,
             "'");
}

/// CPUID traps in a virtual machine and takes tens of microseconds there: it is asked once.
std::array<std::string, kTargets> ask() {
  const std::optional<Target> forced = forced_target();
  const std::string lack = forced ? lack_of(*forced) : "";
  std::array<std::string, kTargets> answers;
  for (int i = 0; i < kTargets; ++i) {
    const auto target = static_cast<Target>(i);
    std::string& answer = answers[static_cast<std::size_t>(i)];
    if (!forced || *forced == target)
      answer = lack_of(target);
    else
      answer = core::say("ISOMER_CPU=", name_of(*forced), " is set", lack.empty() ? "" : ", and ", lack);
  }
  return answers;
}

}  // namespace

std::string_view name_of(Target target) {
  constexpr std::string_view names[kTargets] = {"scalar", "neon", "avx2", "avx512", "amx"};
  return names[static_cast<std::size_t>(target)];
}

std::optional<Target> forced_target() {
  static const std::optional<Target> forced = read_forced();
  return forced;
}

const std::string& why_not(Target target) {
  static const std::array<std::string, kTargets> answers = ask();
  return answers[static_cast<std::size_t>(target)];
}

Target best_target() {
  for (int i = static_cast<int>(Target::avx512); i > 0; --i)
    if (why_not(static_cast<Target>(i)).empty()) return static_cast<Target>(i);
  return Target::scalar;
}

}  // namespace isomer::cpu
