#include "runtime/settings.hpp"

#include <cstdlib>

namespace isomer::emulator {
namespace {

std::uint64_t number(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text && *text ? std::strtoull(text, nullptr, 10) : otherwise;
}

}  // namespace

Settings& settings() {
  static Settings s = [] {
    Settings from;
    from.lanes = number("ISOMER_EMULATOR_LANES", 32) == 64 ? 64 : 32;
    from.seed = number("ISOMER_EMULATOR_SEED", 0);
    from.watch = number("ISOMER_EMULATOR_WATCH", 0) != 0;
    from.workers = static_cast<int>(number("ISOMER_EMULATOR_WORKERS", 0));
    from.step_limit = number("ISOMER_EMULATOR_STEPS", 0);
    return from;
  }();
  return s;
}

}  // namespace isomer::emulator
