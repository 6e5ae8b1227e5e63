#pragma once

#include "lab/ask/recorded/replayed.hpp"

namespace isomer::lab {

/// An output whose elements are one well-known function of an input's elements in the original, and another
/// in the candidate: the finding that names both, where no other pair fits and where another call, with
/// values that no recorded one has, is answered by that function too. Empty code where it is not so.
Finding function_of_elements(const Approach& approach, const std::vector<Replayed>& calls,
                             const std::vector<CallOutcome>& outcomes, std::size_t output);

}  // namespace isomer::lab
