#pragma once

#include "lab/findings/finding.hpp"

namespace isomer::lab {

/// Whether what was seen of a candidate's answers is of another kind than the edit that makes them right, so
/// that it is told no more.
bool is_of_another_kind(const Finding& seen, const Finding& edit);

/// What both are told as. Which elements are wrong, and by how much, says less than what has to be changed.
Code code_of_both(const Finding& seen, const Finding& edit);

/// Whether it changes which of two equal values comes first.
bool is_of_ties(const Finding& edit);

}  // namespace isomer::lab
