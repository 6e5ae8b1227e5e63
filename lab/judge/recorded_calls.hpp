#pragma once

#include "lab/ask/recorded/replayed.hpp"
#include "lab/findings/finding.hpp"

#include <vector>

/// What all recorded calls together say of a candidate that is called as well as it can be.
namespace isomer::lab {

/// A launch that the device refused, or a kernel that never ended: what the call gives besides is no answer.
bool cut_short(const CallOutcome& outcome);

/// Tells why a call came to no answer, once of each argument.
void tell_end(const Approach& approach, const Entry& entry, const Replayed& replayed, const Answer& answer,
              Diagnosis& diagnosis);

/// Findings of the calls (one at least) and their `outcomes`: of the device, of the answers' form, of memory,
/// of numbers; and how the stage of calling ended. `facts` may be null. `adapted`: the call had to be
/// changed.
void judge(const Approach& approach, const Entry& entry, const Facts* facts, bool adapted,
           const std::vector<Replayed>& calls, const std::vector<CallOutcome>& outcomes,
           Diagnosis& diagnosis);

}  // namespace isomer::lab
