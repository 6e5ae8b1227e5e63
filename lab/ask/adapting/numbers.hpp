#pragma once

#include "lab/ask/find_call.hpp"

#include <vector>

namespace isomer::lab {

/// Parameters (`unsure`, whole numbers) of which the names say nothing, found by trial: what gives most of
/// the right answer, writes most of it, and strays nowhere. Two at once: one that is wrong hides the other.
void try_numbers(const Candidate& candidate, const CallRequest& request, const std::vector<int>& unsure,
                 Called& called);

/// The guess's form with each of its unsure numbers as what it may be, the likeliest first: tiles and codes
/// that are common, sizes of the problem's tensors, 0 and 1. One form where it has none.
std::vector<Form> forms_of_numbers(const Guess& guess, const Given& given);
/// Whether a guess is unsure of numbers, and all of them are tiles and codes, of which any that the function
/// takes will do.
bool is_unsure_of_tiles_alone(const Guess& guess);

}  // namespace isomer::lab
