#pragma once

#include "lab/findings/code.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace isomer::lab {

/// What a variation of an op's reference is called as a finding.
struct VariationCode {
  std::string_view variation;  ///< "rounding=nearest"; one that ends with '=' stands for all that begin so
  Code code = Code::none;
  std::string_view fix;
  /// Patterns of source lines where the fault may stand, the likeliest first.
  std::vector<std::string_view> places;
};

/// Of one of those names. Throws Error internal for a variation without a code.
const VariationCode& code_of(std::string_view variation);

/// "causal=top-left + scale=none": how a set of variations is called.
std::string joined_names(const std::vector<std::string>& names);

}  // namespace isomer::lab
