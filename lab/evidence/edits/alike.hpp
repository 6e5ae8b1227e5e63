#pragma once

#include "lab/evidence/edits/exchangeable.hpp"

#include <vector>

namespace isomer::lab {

/// Adds what changes two or three places alike: in one line, or in lines that stand together and say the same
/// of other names. Who makes a mistake in one of them copies it to the next. `next`: the first free number.
void add_alike(std::vector<Exchange>& edits, int next);

}  // namespace isomer::lab
