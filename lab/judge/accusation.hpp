#pragma once

#include "lab/ask/find_call.hpp"
#include "lab/ask/recorded/binding.hpp"
#include "lab/evidence/variations/numbers.hpp"

#include <string>
#include <vector>

/// What has to be known before a fault is told of a candidate: that it is called as its author calls it. A
/// right answer shows that, or a cause with which every answer is right; without either what is seen may be
/// the call's. Each function gives the sentence that is told in the faults' place; empty where they may be
/// told.
namespace isomer::lab {

/// Of a stranger of which no call came to an answer.
std::string why_not_accused(const Called& called);

/// Of a candidate of a known op that was asked: `findings` are what was seen until now.
std::string why_not_accused(const Candidate& candidate, bool stranger, const CallSettings& settings,
                            const Called& called, const Numbers& numbers,
                            const std::vector<Finding>& findings);

/// Of a candidate that is held against recorded calls, with sizes that go back to `sizes_by`: `any_right`,
/// one of its answers is right; `explained`, with what an experiment changes all are.
std::string why_not_accused(const Entry& entry, SizesBy sizes_by, const std::string& called_with,
                            bool any_right, bool explained);

}  // namespace isomer::lab
