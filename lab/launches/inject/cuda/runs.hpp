#pragma once

#include <cstdint>

namespace isomer::inject {

/// Asks CUPTI for every kernel's run, which its own thread tells later. Empty, or CUPTI's word for why not.
const char* begin_runs();
/// All that are over, before the program goes.
void flush_runs();

std::uint64_t dropped_runs();

}  // namespace isomer::inject
