#pragma once

#include "lab/ask/find_call.hpp"
#include "lab/evidence/variations/numbers.hpp"
#include "lab/judge/diagnose.hpp"

#include <memory>

namespace isomer::lab {

/// Whether what explains the numbers is what too few lanes of a warp come to, or lanes were missing in what a
/// warp does, as of code for 64.
bool is_of_fewer_lanes(const Numbers& numbers);

/// The candidate built for other lanes of a warp whose numbers are right, or explained, where its own are
/// not, or are by less: with 64 of them (`wide`), or with shuffles that leave each lane the whole of a
/// reduction. What that says of the candidate is a finding or a note; `called`, `questions` and `numbers`
/// become the other's. Null where neither explains them.
std::shared_ptr<const Candidate> of_other_lanes(const std::shared_ptr<const Candidate>& wide,
                                                const DiagnoseRequest& request, Called& called,
                                                Questions& questions, Numbers& numbers, Diagnosis& diagnosis);

}  // namespace isomer::lab
