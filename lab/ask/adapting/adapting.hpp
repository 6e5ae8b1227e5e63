#pragma once

#include "lab/ask/find_call.hpp"

namespace isomer::lab {

/// Calls, and adapts one thing after the other for as long as the call is refused; whether it came to an
/// answer. What was adapted is in `called`, steps that led nowhere are not.
bool adapt_to_refusals(const Candidate& candidate, const CallRequest& request, Called& called);

}  // namespace isomer::lab
