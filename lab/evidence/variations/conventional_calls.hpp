#pragma once

#include "lab/ask/find_call.hpp"
#include "lab/evidence/variations/numbers.hpp"

#include <optional>

namespace isomer::lab {

/// A layout that other houses have: the answer is right with it, or explained. Then it is told.
void take_convention(const Candidate& candidate, const Questions& questions, Called& called,
                     Numbers& numbers);

/// A flag of the op that no parameter says, such as causal: where the answer is right with it, the candidate
/// has it for good, and is asked for nothing else. `right_alone`: only where the answer was wrong and is
/// right with it, and not where a fault is left beside.
bool take_flag(const Candidate& candidate, const Questions& questions, Called& called,
               std::optional<Port>& narrowed, Numbers& numbers, bool right_alone = false);

/// A call that is wrong in memory of any content, and right in memory that is zero: it adds to what its
/// callers have cleared, which is a convention. Whether it is so; then `called` and `numbers` are of such
/// calls.
bool take_cleared(const Candidate& candidate, const Questions& questions, Called& called, Numbers& numbers);

/// Lent memory that is read before anything is written there: the answers are right, or explained, where it is
/// zero, and neither otherwise. Then `called` and `numbers` are of such calls, and the finding says so; of no
/// code where it is not so.
Finding of_unset_room(const Candidate& candidate, const Questions& questions, Called& called,
                      Numbers& numbers);

}  // namespace isomer::lab
