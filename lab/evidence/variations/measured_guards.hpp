#pragma once

#include "lab/evidence/variations/search.hpp"

#include <vector>

namespace isomer::lab {

/// What a candidate puts under its maxima so that nothing is divided by zero, where its scales show it:
/// variations of the op whose constant is measured. A floor under the maximum, or under the scale, is the
/// value that the scales of small maxima share; a guard that gives another scale begins somewhere between the
/// largest maximum that has it and the smallest that has its own. Empty where the scales show none, or the op
/// has no maximum.
std::vector<oracle::Variation> measured_guards(const Port& port, const std::vector<Evidence>& evidence);

/// The decimal number with the fewest digits in [low, high], a power of ten before others: "1e-3".
std::string simplest_between(double low, double high);

}  // namespace isomer::lab
