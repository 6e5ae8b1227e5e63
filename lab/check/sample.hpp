#pragma once

#include "lab/check/target.hpp"
#include "oracle/oracle.hpp"

#include <vector>

namespace isomer::lab {

/// `count` of an op's ordinary cases, for a look that costs little where each case is slow: the list is cut
/// into that many stretches of equal length, and of each the case is taken that costs least on those targets,
/// in work and in programs that no case before it needs. Where none of them runs a kernel that the list runs,
/// the cheapest case that does is taken too. A list that is no longer than `count` is taken whole.
std::vector<oracle::Case> sample(const oracle::Oracle& oracle, const std::vector<Target>& targets, int count,
                                 int jobs);

}  // namespace isomer::lab
