#pragma once

#include "lab/trace/trace_command.hpp"

#include <string>

namespace isomer::lab {

/// Puts together what the processes of a traced program have written into a folder: cuda-<process>.jsonl or
/// hip-<process>.jsonl, and isomer-<process>.jsonl. Where both tell of one launch (same process, thread, kernel and geometry, in
/// order), it has the device's times and argument bytes and Isomer's names for variant and parameters.
/// Starts are counted from `begun_ns`, since 1970.
void read_parts(const std::string& folder, std::uint64_t begun_ns, const LaunchSink& sink, Traced& traced);

}  // namespace isomer::lab
