#pragma once

#include "lab/diff/difference.hpp"
#include "lab/diff/launch_groups.hpp"

#include <string>
#include <vector>

namespace isomer::lab {

/// What differs between the counters of two groups of launches, what says most first. Counters that measure
/// the work itself decide whether there is a difference; others, which vary from run to run, are listed
/// beside it.
std::vector<Difference> metric_differences(const LaunchGroup& a, const LaunchGroup& b);

/// The message that says what a counter's difference means; empty for one of which nothing is known.
std::string meaning_of_metric(const std::string& name);

}  // namespace isomer::lab
