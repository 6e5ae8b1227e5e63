#pragma once

#include "lab/ask/find_call.hpp"
#include "lab/ask/recorded/replayed.hpp"
#include "lab/evidence/variations/numbers.hpp"
#include "lab/findings/finding.hpp"

#include <string>
#include <vector>

namespace isomer::lab {

/// Whether a source has threads of a block work together, so that fewer of them may do so otherwise.
bool works_together(const std::string& source);

/// Numbers that are right, or explained, where no block has more than a few warps, and not as the
/// candidate launches them: what one warp has does not reach the others. `numbers` and the settings of
/// `questions` become those of such launches. Empty code where it is not so.
Finding of_fewer_warps(const Candidate& candidate, const Called& called, Questions& questions,
                       Numbers& numbers);

/// The same of recorded calls: `approach` and `outcomes` become those of such launches.
Finding of_fewer_warps(Approach& approach, const std::vector<Replayed>& calls,
                       std::vector<CallOutcome>& outcomes);

}  // namespace isomer::lab
