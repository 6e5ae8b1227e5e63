#pragma once

#include "lab/ask/find_call.hpp"
#include "lab/ask/recorded/replayed.hpp"
#include "lab/candidate/filled_locals.hpp"
#include "lab/evidence/variations/numbers.hpp"
#include "lab/findings/finding.hpp"

#include <memory>
#include <string>
#include <vector>

/// Sums and maxima that begin with whatever their variable holds. The candidate is built once more, so that
/// local variables that nothing initialises begin with a pattern of bits, and then with zeros: what answers
/// otherwise reads one of them before anything has set it.
namespace isomer::lab {

/// The form with the same entry of another build.
Form in_build(const Candidate& build, const Form& form);

/// The line on which a variable is declared without a value that the same source adds to, or takes a maximum
/// with; 0: there is none, and nothing is built.
int line_of_unset_sum(const std::string& source);

/// The build with zeros, where it answers a recorded call otherwise than the one with a pattern: with it the
/// rest is judged. `finding` says so. Null where the answers are the same.
std::shared_ptr<const Candidate> with_set_locals(const FilledLocals& filled, const Approach& approach,
                                                 const std::vector<Replayed>& calls,
                                                 const std::vector<CallOutcome>& outcomes, Finding& finding);

/// The same of a known op; `numbers` and the entry of `called` become those of the build with zeros.
std::shared_ptr<const Candidate> with_set_locals(const FilledLocals& filled, Called& called,
                                                 const Questions& questions, Numbers& numbers,
                                                 Finding& finding);

}  // namespace isomer::lab
