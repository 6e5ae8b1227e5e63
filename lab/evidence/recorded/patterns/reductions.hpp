#pragma once

#include "lab/ask/recorded/replayed.hpp"
#include "lab/findings/finding.hpp"

#include <vector>

namespace isomer::lab {

/// Where an output is a number of each row of an input (a sum, a maximum, the logarithm of a sum), or has
/// such a number as a factor or as a summand of its rows: which number of which rows the reference has there
/// and which one the candidate has, by all calls. Empty code where no such pair fits.
Finding reduction_of_rows(const Approach& approach, const std::vector<Replayed>& calls,
                          const std::vector<CallOutcome>& outcomes, std::size_t output);

/// Where an output is the reference's times one factor in every call, and that is a ratio of two numbers that
/// a mean may be divided by (sizes, elements that are not left out): which two. Empty code otherwise.
Finding factor_of_counts(const std::vector<Replayed>& calls, const std::vector<CallOutcome>& outcomes,
                         std::size_t output);

/// One number of each row that is off by a share of the elements that a mask counts in it.
Finding factor_of_masks(const std::vector<Replayed>& calls, const std::vector<CallOutcome>& outcomes,
                        std::size_t output);

}  // namespace isomer::lab
