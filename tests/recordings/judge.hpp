#pragma once

#include "replay.hpp"

#include <string>

namespace isomer::recordings {

/// A recorded output held against an answer.
struct Verdict {
  std::int64_t elements = 0;
  std::int64_t different = 0;  ///< not the correctly rounded answer
  std::int64_t undecided = 0;  ///< the answer lies on a tie but for the error of computing it in double
  std::int64_t outside = 0;    ///< outside the rule
  double worst = 0;            ///< largest distance in the rule's unit
  std::string first;           ///< a sentence for the first element outside; empty where none is

  bool holds() const { return elements > 0 && outside == 0; }
  std::string why() const;  ///< for a failure
};

/// Any NaN equals any NaN, +0 equals −0. An element that the op leaves as it was must be what it was.
Verdict judge(const Output& output, const Rule& rule, const oracle::Expected& expected);

/// The same for the answer of an implementation: its value may be as far from the reference's as `expected`
/// allows, and the recorded one as far as the rule allows.
Verdict judge(const Output& output, const Rule& rule, const oracle::Expected& expected, const Tensor& answer);

}  // namespace isomer::recordings
