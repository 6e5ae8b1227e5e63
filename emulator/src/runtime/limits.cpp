#include "runtime/limits.hpp"

#include "runtime/settings.hpp"

namespace isomer::emulator {
namespace {

Limits amd() {
  Limits l;
  l.block[2] = 1024;
  l.grid[1] = l.grid[2] = 65536;
  l.static_shared_bytes = l.shared_bytes = l.shared_bytes_opt_in = 64 * 1024;
  return l;
}

}  // namespace

const Limits& limits() {
  static const Limits nvidia_limits{}, amd_limits = amd();
  return settings().hip ? amd_limits : nvidia_limits;
}

}  // namespace isomer::emulator
