#pragma once

#include "lab/candidate/candidate.hpp"
#include "lab/candidate/recording.hpp"
#include "lab/diagnose/finding.hpp"

#include <string>
#include <vector>

namespace isomer::lab {

/// One output of a recorded call and what a candidate gives for it.
struct Compared {
  std::string name;
  Tensor want, got;
  double rtol = 0, atol = 0;
};

/// The way in which an answer of an unknown op is wrong: permuted axes, a constant ratio, a wrong end, the
/// flat buffer, f16 instead of f32; `unexplained`, with where and how much, where it is none of these. Empty
/// code where nothing is wrong.
Finding pattern_of(const Compared& compared);

/// Replays the calls of a recording against a candidate of an op that is not known. Adds to `diagnosis`.
void replay(const Candidate& candidate, const Entry& entry, const Recording& recording, double rtol,
            double atol, Diagnosis& diagnosis);

}  // namespace isomer::lab
