#pragma once

#include "lab/ask/trial.hpp"
#include "lab/candidate/candidate.hpp"

#include <vector>

namespace isomer::lab {

/// A stranger's number as the nodes of ggml's graphs have them: "ne01", a size of the first source along its
/// second dimension, counted from the innermost, and "nb11", a stride of the second source in bytes. "ne1"
/// and "nb1" are of the result. Heads lie outside of a sequence there. Whether it is one.
bool number_of_graph(const Entry& entry, const Port& port, const Parameter& p,
                     const std::vector<int>& role_at, Passing& passing);

/// Whether its sizes are said so.
bool has_numbers_of_graph(const Entry& entry);

}  // namespace isomer::lab
