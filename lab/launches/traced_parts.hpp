#pragma once

#include "lab/launches/trace_command.hpp"

#include <string>

namespace isomer::lab {

/// Puts together what the processes of a traced program have written into a folder: cuda-<process>.jsonl or
/// hip-<process>.jsonl, and isomer-<process>.jsonl. Where both tell of one launch (same process, thread,
/// kernel and geometry, in order), it has the device's times and argument bytes and Isomer's names for
/// variant and parameters. Launches of several processes come by their starts, those of one in the order in
/// which it made them; one that knows no times comes before those that ended after it. Of more than 128
/// processes, those that ended first come first. Starts are counted from `begun_ns`, since 1970.
void read_parts(const std::string& folder, std::uint64_t begun_ns, const LaunchSink& sink, Traced& traced);

}  // namespace isomer::lab
