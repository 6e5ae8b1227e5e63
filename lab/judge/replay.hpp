#pragma once

#include "lab/ask/names/named_sizes.hpp"
#include "lab/candidate/candidate.hpp"
#include "lab/candidate/filled_locals.hpp"
#include "lab/candidate/recording.hpp"
#include "lab/findings/finding.hpp"
#include "lab/judge/exchanged.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace isomer::lab {

/// What a candidate of an op that is not known is held against.
struct ReplayRequest {
  const Recording& recording;
  double rtol = 0, atol = 0;
  CallSettings settings;
  /// The same candidate built for warps of 64 lanes; null where that makes no difference.
  std::function<std::shared_ptr<const Candidate>()> wide;
  bool narrow_warps = false;  ///< the instruction asks for warps of 32 lanes
  NamedSizes sizes = {};      ///< what the label calls the sizes of its tensors
  FilledLocals with_locals = {};
  int unset_sum = 0;          ///< the line of a variable that may be read before it is set; 0: none
  bool label_clears = false;  ///< the label fills memory with a number somewhere
  bool shares = false;        ///< threads of a block work together in it
  Exchanging exchanging = {};
  bool every_edit = false;  ///< edits are looked for beside a cause that is known
  /// Numbers that the label writes: it bounds values by no other. Empty where there is no label.
  std::vector<std::string> label_numbers = {};
  /// Seconds that experiments took so far, for calls of all signatures together.
  std::shared_ptr<double> experimented = std::make_shared<double>(0);
  /// Seconds that sizes were searched for in all groups.
  std::shared_ptr<double> searched = std::make_shared<double>(0);
};

/// Replays the calls of a recording against a candidate of an op that is not known: adapts the call until it
/// is answered, finds by experiments what makes a wrong answer right, and says the rest by its pattern. Adds
/// to `diagnosis`.
void replay(const Candidate& candidate, const Entry& entry, const ReplayRequest& request,
            Diagnosis& diagnosis);

}  // namespace isomer::lab
