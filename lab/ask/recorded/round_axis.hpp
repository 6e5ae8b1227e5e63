#pragma once

#include "lab/ask/recorded/replayed.hpp"

#include <map>
#include <string>
#include <vector>

/// Ports of an operator that works along any axis see its tensor as [outer, n, inner].
namespace isomer::lab {

/// Adds what lies before, along and behind the axis that a call says, of its first tensor.
void add_sizes_round_axis(const RecordedCall& call, std::map<std::string, Value>& numbers);

/// Passes them to the parameters of such names. Those of `unsure` that are left.
std::vector<int> take_sizes_round_axis(Form& form, const Replayed& call, const std::vector<int>& unsure);

}  // namespace isomer::lab
