#pragma once

#include "lab/ask/find_call.hpp"

namespace isomer::lab {

/// Where one element alone is passed of a tensor, what that answers is not the whole: with one element it is.
void judge_kinds(const Candidate& candidate, const CallRequest& request, Called& called);
/// A tensor that is read beyond its end, and rightly where it has a dimension more than it has.
void adapt_to_rank(const Candidate& candidate, const CallRequest& request, Called& called);

}  // namespace isomer::lab
