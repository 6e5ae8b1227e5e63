#pragma once

#include <string>
#include <vector>

namespace isomer::lab {

/// Names of numbers, in lower case, that say no more than that they count elements.
const std::vector<std::string>& count_names();

/// Whether a count is one of all elements: beside the size of a row it is no number of rows.
bool counts_everything(const std::string& name);

/// How many dimensions an array of sizes or strides has.
const std::vector<std::string>& rank_names();

}  // namespace isomer::lab
