#pragma once

#include "lab/ask/recorded/replayed.hpp"
#include "lab/findings/finding.hpp"

#include <vector>

namespace isomer::lab {

/// An output with one number for each row of an input that is off by a multiple of what the row comes to: its
/// sum, or its mean. Empty code where it is not.
Finding term_of_rows(const Approach& approach, const std::vector<Replayed>& calls,
                     const std::vector<CallOutcome>& outcomes, std::size_t output);

/// An answer that is off by whole multiples of what a narrow integer type wraps at, or that stops at its
/// largest value, each times scales that the call passes.
Finding wrapped_sums(const Approach& approach, const Replayed& replayed, const CallOutcome& outcome,
                     std::size_t output);

}  // namespace isomer::lab
