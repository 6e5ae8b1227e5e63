#pragma once

#include "lab/ask/recorded/replayed.hpp"
#include "lab/findings/finding.hpp"

#include <vector>

namespace isomer::lab {

/// Where an output's rows are the reference's, each times a factor (beside a vector that is added to all of
/// them), what the factor depends on over all calls says what is missing: one that moves with the size of the
/// row's elements is an epsilon that is in another place, of another size or left out; one that moves with
/// the length of the rows is what they are divided by. Empty code where it is neither.
Finding factor_of_rows(const Approach& approach, const std::vector<Replayed>& calls,
                       const std::vector<CallOutcome>& outcomes, std::size_t output);

}  // namespace isomer::lab
