#pragma once

#include "lab/ask/find_call.hpp"

#include <vector>

namespace isomer::lab {

/// Parameters (`unsure`, whole numbers) of which the names say nothing, found by trial: what gives most of
/// the right answer, writes most of it, and strays nowhere. Two at once: one that is wrong hides the other.
void try_numbers(const Candidate& candidate, const CallRequest& request, const std::vector<int>& unsure,
                 Called& called);

}  // namespace isomer::lab
