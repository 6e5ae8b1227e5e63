#pragma once

#include "lab/ask/recorded/replayed.hpp"
#include "lab/findings/finding.hpp"

#include <vector>

namespace isomer::lab {

/// An output, or one half of its rows, that is a product of well-known functions of the inputs' elements in
/// the original and another such product in the candidate; or that is the original and, once or twice, such a
/// product more or less: a term that is missing or has the other sign. `bounds`: how far each element may be
/// off. Empty code where it is neither.
Finding product_of_inputs(const Replayed& replayed, std::size_t output, const std::vector<double>& got,
                          const std::vector<double>& bounds);

}  // namespace isomer::lab
