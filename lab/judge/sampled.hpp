#pragma once

#include "lab/ask/recorded/replayed.hpp"

#include <cstdint>

/// A few blocks of a launch say of most edits that they do not help, in a part of the time.
namespace isomer::lab {

/// Whether everything is right that a few blocks of a call have written: of what still holds the poison of
/// fresh memory nothing is said.
bool may_be_right(const Replayed& call, const CallOutcome& sampled);

/// How many blocks of the one launch of a call, of with_poison(), show that a wrong call is wrong; 0: all of them have to run. Blocks that
/// work together, and memory that the host has filled, are told by what the few leave otherwise than all do.
std::uint32_t blocks_that_tell(const Approach& approach, const Replayed& call);

}  // namespace isomer::lab
