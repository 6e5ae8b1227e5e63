#pragma once

#include "lab/ask/find_call.hpp"
#include "lab/evidence/variations/numbers.hpp"

#include <string>

namespace isomer::lab {

/// A kernel that shares its keys among as many blocks as the device holds has one tile in each of them, with
/// as many keys as the op's problems have. Asks for so many that a block has a second tile, and where that
/// answer is wrong, `called` asks it too and `numbers` become those with it. `source`: of the candidate.
void ask_longer_keys(const Candidate& candidate, const std::string& source, const Questions& questions,
                     Called& called, Numbers& numbers);

}  // namespace isomer::lab
