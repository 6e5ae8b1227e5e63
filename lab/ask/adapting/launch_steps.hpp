#pragma once

#include "lab/ask/trial.hpp"

#include <optional>
#include <string>
#include <vector>

namespace isomer::lab {

/// Geometries of a bare kernel that its own text suggests: each axis of the grid runs through a size of the
/// outputs, or through their rows or elements, in steps of what the block's index is multiplied by there.
/// `text`: the source; `line`: where the kernel begins. Empty where the text says no step.
std::vector<LaunchForm> geometries_by_steps(const std::string& text, int line, const Port& port,
                                            const Given& given);

/// The launch of a kernel of which each thread has one index, that of a thread in a row of blocks, guards it by
/// a bound and works with no other: any that has as many threads as the output has elements. Nothing where the
/// text is another.
std::optional<LaunchForm> launch_of_single_index(const std::string& text, int line, const Port& port,
                                                 const Given& given);

}  // namespace isomer::lab
