#pragma once

#include "lab/ask/find_call.hpp"
#include "lab/evidence/variations/numbers.hpp"

namespace isomer::lab {

/// A stranger that touches several elements at once where rows of some calls do not begin at such a multiple:
/// those calls are not asked, which is told as a limit. Whether it is so; then `called` and `numbers` are of
/// the others.
bool take_whole_vectors(const Candidate& candidate, const Questions& questions, Called& called,
                        Numbers& numbers);

}  // namespace isomer::lab
