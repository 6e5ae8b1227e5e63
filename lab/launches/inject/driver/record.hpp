#pragma once

#include "lab/launches/inject/cuda/staged.hpp"

#include <cstdint>
#include <string>

namespace isomer::inject {

/// What a launch says before the driver has it, to be written once the driver has taken it. Empty where
/// nothing is recorded: nobody asked, or the launch goes into a graph's capture.
std::string before_launch(const Staged& staged, CUstream stream, bool of_thread);
void after_launch(const std::string& said);
/// A graph was launched, of whose kernels the driver tells nothing.
void after_graph_launch();

}  // namespace isomer::inject
