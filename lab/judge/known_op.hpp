#pragma once

#include "lab/ask/reading.hpp"
#include "lab/candidate/candidate.hpp"
#include "lab/judge/diagnose.hpp"

#include <string>

namespace isomer::lab {

/// Calls the candidate as one of the op's originals (`reading`), and says of it what calls, numbers and
/// probes show: findings, notes and stages of `diagnosis`, or its error where it cannot be judged.
void known_op(const Candidate& candidate, const DiagnoseRequest& request, const Reading& reading,
              Diagnosis& diagnosis);

/// Why nobody can call an entry by values of the original's kinds: a struct, which only its own host code
/// fills. Empty where somebody can.
std::string not_for_outside(const Entry& entry);

}  // namespace isomer::lab
