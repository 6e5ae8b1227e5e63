#pragma once

#include "lab/candidate/recording.hpp"

#include <functional>
#include <vector>

namespace isomer::lab {

/// What a label does with copies of its arguments.
using Act = std::function<void(std::vector<Value>&)>;

/// One more call of the label with these arguments, and what it leaves of them.
void record(Recording& recording, const char* label, const std::vector<Value>& arguments, const Act& act);

}  // namespace isomer::lab
