#pragma once

#include "lab/ask/find_call.hpp"
#include "lab/ask/recorded/replayed.hpp"
#include "lab/evidence/variations/numbers.hpp"
#include "lab/findings/finding.hpp"
#include "lab/judge/exchanged.hpp"

#include <vector>

/// The cause of a wrong answer that nothing else explains, looked for in the source: the candidate is
/// compiled once more with expressions that can be exchanged, and each edit is asked the smallest wrong call.
/// What makes that one right is asked all the others.
namespace isomer::lab {

/// Whether edits are tried, and how.
struct EditsAsked {
  bool any = false;
  bool watched = false;  ///< memory or the order of threads is at fault: each call is watched
  int most = 5000;       ///< edits that are tried
  double seconds = 20;   ///< for which they are, on a busy machine
  /// Other calls, of huge numbers among them: an edit that makes an infinity of what has an answer hides a
  /// fault and mends none. May be null.
  const std::vector<Replayed>* beyond = nullptr;
  /// Calls of other signatures, which are to be right as well. May be null.
  const std::vector<AnsweredGroup>* others = nullptr;
  /// Of a known op: what an original does otherwise than the op is a convention, and may stay.
  bool stranger = false;
};

/// Whether an edit is worth being looked for: a finding says what is wrong and not why or where, or several
/// are told of one answer. `every`: one finding of numbers suffices, whatever it says.
EditsAsked edits_asked(const std::vector<Finding>& findings, const Entry& entry, bool every);
/// The same of a known op: where no variation of it explains the numbers either.
EditsAsked edits_asked(const Numbers& numbers, const Entry& entry, bool every);

/// The finding of an edit that makes every recorded call right; of no code where there is none.
Finding of_one_edit(const Exchanging& exchanging, const Approach& approach,
                    const std::vector<Replayed>& calls, const std::vector<CallOutcome>& outcomes,
                    const EditsAsked& how);

/// The same of a known op: an edit with which no element of any call is wrong.
Finding of_one_edit(const Exchanging& exchanging, const Called& called, const Questions& questions,
                    const Numbers& numbers, const EditsAsked& how);

/// What an edit makes right has one cause: of the findings of memory and numbers one stays, with the edit as
/// its fix, or the edit's own does where several are told and none of them is of its kind.
void take_edit(std::vector<Finding>& findings, Finding edit);
/// The edit as what a probe saw of an index, where that is what it mends: one fault is told once.
Finding with_index(Finding edit, std::vector<Finding>& probed);

/// The same of an edit of the label, which explains all of an answer: what part of it looked like another
/// cause is told no more.
void take_edit_of_label(std::vector<Finding>& findings, Finding edit);

/// Without the findings of memory and numbers.
void drop_what_an_edit_explains(std::vector<Finding>& findings);
/// Of a candidate's numbers, which an edit may make right.
bool is_explained_by_an_edit(const Finding& finding);

}  // namespace isomer::lab
