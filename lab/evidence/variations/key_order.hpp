#pragma once

#include "lab/ask/find_call.hpp"
#include "lab/evidence/variations/numbers.hpp"

#include <optional>

namespace isomer::lab {

/// Attention whose wrong answer becomes right where the largest score of a row comes first, and stays wrong
/// where it comes last: sums that were made under a smaller maximum are not rescaled, whatever the parts of
/// the keys are in which they are made. Nothing where it is not so, or where that cannot be asked.
std::optional<Finding> order_of_keys(const Candidate& candidate, const Called& called,
                                     const CallSettings& settings, const Numbers& numbers);

}  // namespace isomer::lab
