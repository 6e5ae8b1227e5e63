#pragma once

#include <string>

namespace isomer::core {

/// Where ISOMER_TRACE names a folder (`isomer trace` sets it), writes every launch on a GPU or the emulator
/// from now on into isomer-<process>.jsonl there, in the format of lab/capture/capture_file.hpp: variant and
/// run-time parameters by name, no times. The first call decides; every later one costs a load.
void trace_where_asked();

}  // namespace isomer::core
