#pragma once

#include "lab/ask/recorded/replayed.hpp"
#include "lab/findings/finding.hpp"

#include <set>
#include <string>

/// What the answer to one recorded call shows, beside the reference's.
namespace isomer::lab {

/// What is said of an answer before its numbers: that it came, its rank, its dtype.
void form_of_answers(const Approach& approach, const Entry& entry, const Replayed& replayed,
                     const CallOutcome& outcome, Diagnosis& diagnosis);

/// Inputs that the original leaves as they are.
void inputs_kept(const Approach& approach, const Replayed& replayed, const CallOutcome& outcome,
                 Diagnosis& diagnosis);

struct Answered {
  const Approach& approach;
  const Replayed& replayed;
  const CallOutcome& outcome;
  const Facts* facts;  ///< may be null
  const std::set<std::string>&
      factored;  ///< outputs whose rows are the reference's times a factor that is told
};

/// Findings of the numbers. `vague`: 0 what has a cause of its own, then (1) what is likely, then (2) what is
/// not explained.
void numbers_of_answer(const Answered& answered, int vague, Diagnosis& diagnosis);

}  // namespace isomer::lab
