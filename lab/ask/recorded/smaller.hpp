#pragma once

#include "lab/ask/recorded/replayed.hpp"

#include <vector>

namespace isomer::lab {

/// Takes the calls of smaller sizes out of `asked`: those that the reference was asked beside large `calls`.
std::vector<Replayed> take_smaller(std::vector<Replayed>& asked, const std::vector<Replayed>& calls);
/// Puts those in the place of the calls that they stand for, and gives these.
std::vector<Replayed> stood_for(std::vector<Replayed>& calls, const std::vector<Replayed>& smaller);
/// The calls of larger sizes likewise: they are asked last, of candidates that are right so far.
std::vector<Replayed> take_larger(std::vector<Replayed>& asked);

}  // namespace isomer::lab
