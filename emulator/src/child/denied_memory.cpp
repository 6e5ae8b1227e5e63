#include "child/denied_memory.hpp"

#include <algorithm>
#include <atomic>

#include <fmt/format.h>

#include "runtime/errors.hpp"

namespace isomer::emulator {
namespace {
std::atomic<std::size_t> denied{0};  // the most bytes that the host did not give at once
}  // namespace

void forget_denied_memory() {
  denied = 0;
  take_shortage();
}

void judge_by_memory(CallResult& result) {
  using End = CallResult::End;
  const std::string shortage = take_shortage();
  if (result.end == End::timed_out || result.end == End::over_limit || result.end == End::not_callable ||
      result.end == End::too_large)
    return;
  if (!shortage.empty()) {
    result.refusals.clear();  // what else was refused follows from it
    result.message = shortage;
  } else if (denied > 0 && result.end != End::returned) {
    result.message =
        fmt::format("it asked for {} bytes of host memory, and the limit leaves less", denied.load());
  } else {
    return;
  }
  result.end = End::over_limit;
}

}  // namespace isomer::emulator

void isomer_emulator_user_denied(std::size_t bytes) {
  using isomer::emulator::denied;
  denied = std::max(denied.load(), bytes);
}
