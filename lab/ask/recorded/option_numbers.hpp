#pragma once

#include "lab/ask/names/named_sizes.hpp"
#include "lab/ask/recorded/option_codes.hpp"
#include "lab/record/facts.hpp"

#include <string>
#include <vector>

namespace isomer::lab {

/// Numbers by which a C function is told an option of the label's that it calls otherwise: `nbits` of `bits`,
/// `rho_bar` of `clip_rho`, or a bit of `flags` for each. What callers leave to the label's default is that,
/// in the call that leaves it out. None of a parameter that has the name of one of the label's arguments or
/// sizes. `label` may be null.
std::vector<OptionCode> option_numbers(const Entry& entry, const std::vector<Replayed>& calls,
                                       const std::string& source, const LabelFunction* label,
                                       const NamedSizes& sizes);

}  // namespace isomer::lab
