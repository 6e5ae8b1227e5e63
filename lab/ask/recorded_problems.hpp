#pragma once

#include "lab/ask/find_call.hpp"
#include "lab/candidate/recording.hpp"

#include <string>
#include <vector>

namespace isomer::lab {

/// Takes into `call` the recorded calls that one of the op's ports can make sense of, as problems: of the
/// port that understands most of them, since one call may be of several originals by chance of its sizes.
/// What the reference leaves open by its contract (an index out of range) is no call that can be judged, and
/// is noted.
void take_recording(const Candidate& candidate, const Recording& recording, CallRequest& call,
                    std::vector<std::string>& notes);

}  // namespace isomer::lab
