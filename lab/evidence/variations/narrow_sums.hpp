#pragma once

#include "lab/evidence/variations/numbers.hpp"

#include <string>

namespace isomer::lab {

/// Of an op that sums, where no set of variations explains what is left: whether it is what sums in a
/// narrower type leave, whatever the order and the tiles they are added in. Then the root mean square of the
/// error is at most 2^-6 of that of the answer in every call whose answers are finite; a term, a scale or a
/// row that is wrong leaves more. Says so with that share, or nothing.
std::string narrow_sums(const Port& port, const Numbers& numbers);

}  // namespace isomer::lab
