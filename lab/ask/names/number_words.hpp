#pragma once

#include "lab/ask/port.hpp"
#include "lab/ask/trial.hpp"

#include <string>
#include <vector>

namespace isomer::lab {

/// A stranger's number by the words of its name: weight_height are rows, weight_block_size_y is the size of a
/// block, whatever stands around them.
bool number_by_words(const Entry& entry, const Port& port, const std::string& name,
                     const std::vector<int>& role_at, Passing& passing);

}  // namespace isomer::lab
