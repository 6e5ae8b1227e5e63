#pragma once

#include "lab/evidence/variations/numbers.hpp"

#include <optional>

namespace isomer::lab {

/// Where one output is made of 8-bit floats element by element: some of their bit patterns, such as those of
/// the subnormals, give wrong elements wherever they are, each by one factor, and all others are right.
/// Nothing where the answers show no such thing.
/// `set`: variations of the reference that are told besides.
std::optional<Finding> decoded_otherwise(const Port& port, const Numbers& numbers,
                                         const std::vector<std::string>& set = {});

}  // namespace isomer::lab
