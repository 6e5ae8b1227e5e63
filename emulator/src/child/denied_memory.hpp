// Memory that the user's code asked for and did not get.
#pragma once

#include <cstddef>

#include "isomer/emulator/session.hpp"

namespace isomer::emulator {

/// Nothing so far: a call begins.
void forget_denied_memory();
/// Whoever was denied memory and failed, failed for that, whatever came next. What the emulated device denies
/// is an end by itself, as it is on a real one.
void judge_by_memory(CallResult& result);

}  // namespace isomer::emulator

extern "C" {
/// The host's allocator gave nothing.
__attribute__((visibility("default"))) void isomer_emulator_user_denied(std::size_t bytes);
}
