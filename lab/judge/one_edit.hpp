#pragma once

#include "lab/ask/find_call.hpp"
#include "lab/ask/recorded/replayed.hpp"
#include "lab/evidence/variations/numbers.hpp"
#include "lab/findings/finding.hpp"
#include "lab/judge/exchanged.hpp"

#include <vector>

/// The cause of a wrong answer that nothing else explains, looked for in the source: the candidate is
/// compiled once more with expressions that can be exchanged, and each edit is asked the smallest wrong call.
/// What makes that one right is asked all the others.
namespace isomer::lab {

/// The finding of an edit that makes every recorded call right; of no code where there is none.
Finding of_one_edit(const Exchanging& exchanging, const Approach& approach,
                    const std::vector<Replayed>& calls, const std::vector<CallOutcome>& outcomes);

/// The same of a known op: an edit with which no element of any call is wrong.
Finding of_one_edit(const Exchanging& exchanging, const Called& called, const Questions& questions,
                    const Numbers& numbers);

/// Whether an edit is worth being looked for: a finding says what is wrong and not why, or several are told
/// of one answer's numbers. Of what threads or memory make wrong nothing is looked for. `any`: one finding of
/// numbers suffices.
bool asks_for_an_edit(const std::vector<Finding>& findings, bool any);

/// What an edit makes right has one cause: of the findings of numbers one stays, with the edit as its fix, or
/// the edit's own does where none of them is of its kind.
void take_edit(std::vector<Finding>& findings, Finding edit);

}  // namespace isomer::lab
