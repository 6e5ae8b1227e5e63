#pragma once

#include "lab/diff/launch_groups.hpp"
#include "lab/launches/trace_command.hpp"

#include <string>

namespace isomer::lab {

/// Kernels by time, then by launches; and what could not be captured.
std::string trace_text(const Traced& traced, const GroupedCapture& launches);
/// Version 1: command, exit status or signal, kernels, what is missing.
std::string trace_json(const Traced& traced, const GroupedCapture& launches);

}  // namespace isomer::lab
