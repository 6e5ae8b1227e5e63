// What of a group of recorded calls an edit of the label, or of the source, explains.
#include "lab/ask/recorded/replayed.hpp"
#include "lab/evidence/recorded/probes/edited_label.hpp"
#include "lab/judge/group_replay.hpp"
#include "lab/judge/one_edit.hpp"
#include "lab/judge/recorded_calls.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>
#include <utility>

namespace isomer::lab {

void GroupReplay::explain_by_the_label(const std::vector<Replayed>& calls, const Approach& as_called,
                                       const std::vector<CallOutcome>& answered) {
  const auto edit_of = [&](const Approach& approach, const std::vector<CallOutcome>& outcomes) {
    return of_edited_label({approach, calls, outcomes}, request_.recording, facts_ ? facts_->label_file : "",
                           others_);
  };
  Finding edit = edit_of(as_called, answered);
  if (edit.code == Code::none && &answered != &outcomes_) edit = edit_of(approach_, outcomes_);
  if (edit.code == Code::none) return;
  // Who answers what the label does but for an edit was asked as he is called.
  explained_ = true;
  std::vector<Finding> own = take_own();
  // What calls of other signatures only looked like is this as well, unless an edit was found for them.
  std::erase_if(diagnosis_.findings, [](const Finding& each) {
    return is_explained_by_an_edit(each) && each.edited.empty() && !each.decides;
  });
  told_before_ = diagnosis_.findings.size();
  // Calls of another signature may have shown the same.
  const std::vector<Finding>& others = diagnosis_.findings;
  if (std::any_of(others.begin(), others.end(), [&](const Finding& each) {
        return each.subject == Subject::candidate && each.fix == edit.fix && each.code == edit.code;
      }))
    drop_what_an_edit_explains(own);
  else
    take_edit_of_label(own, std::move(edit));
  for (Finding& each : own) add_once(diagnosis_.findings, std::move(each));
}

std::vector<Finding> GroupReplay::take_own() {
  std::vector<Finding>& all = diagnosis_.findings;
  const auto first = all.begin() + static_cast<std::ptrdiff_t>(std::min(told_before_, all.size()));
  std::vector<Finding> own(std::make_move_iterator(first), std::make_move_iterator(all.end()));
  all.erase(first, all.end());
  return own;
}

void GroupReplay::explain_by_an_edit(const std::vector<Replayed>& calls, const Approach& as_called,
                                     const std::vector<CallOutcome>& answered,
                                     const std::vector<Finding>& found) {
  // What other calls showed is not this edit's to explain.
  std::vector<Finding> own = take_own();
  std::vector<Finding>& all = diagnosis_.findings;
  if (sizes_by_ == SizesBy::guess && !not_accused().empty())
    explain_by_sizes_and_an_edit(calls, as_called, own);
  else
    explain_by_an_edit(calls, as_called, answered, found, own);
  for (Finding& each : own) {
    // What an edit mends for calls of another signature, it mends for these.
    const bool told = !each.edited.empty() && std::any_of(all.begin(), all.end(), [&](const Finding& other) {
      return other.fix == each.fix && other.edited == each.edited;
    });
    if (!told) add_once(all, std::move(each));
  }
}

void GroupReplay::explain_by_an_edit(const std::vector<Replayed>& calls, const Approach& as_called,
                                     const std::vector<CallOutcome>& answered,
                                     const std::vector<Finding>& found, std::vector<Finding>& findings) {
  const bool every = request_.every_edit || !not_accused().empty();
  EditsAsked how = edits_asked(findings, entry_, every);
  how.beyond = &asked_;
  how.others = others_;
  if (!how.any) return;
  if (std::all_of(answered.begin(), answered.end(), [](const CallOutcome& o) { return o.right(); }))
    if (Finding edit = edit_of_what_was_asked(calls, answered, how); edit.code != Code::none)
      return take_edit(findings, std::move(edit));
  // Who is right with an edit was asked as he is called.
  const auto take = [&](Finding edit) {
    explained_ = true;
    take_edit(findings, std::move(edit));
  };
  // What experiments show of numbers may be the edit's, too: the calls are asked as they are first.
  if (std::all_of(found.begin(), found.end(), is_explained_by_an_edit)) {
    Finding edit = of_one_edit(request_.exchanging, as_called, calls, answered, how);
    if (edit.code != Code::none) return take(std::move(edit));
  }
  if (found.empty()) return;
  // Else that which is left beside them.
  const auto beside = std::stable_partition(findings.begin(), findings.end(), [&](const Finding& each) {
    return std::any_of(found.begin(), found.end(), [&](const Finding& other) {
      return other.code == each.code && other.argument == each.argument;
    });
  });
  std::vector<Finding> experiments(findings.begin(), beside);
  findings.erase(findings.begin(), beside);
  how = edits_asked(findings, entry_, every);
  how.beyond = &asked_;
  how.others = others_;
  if (how.any)
    if (Finding edit = of_one_edit(request_.exchanging, approach_, calls, outcomes_, how);
        edit.code != Code::none)
      take(std::move(edit));
  findings.insert(findings.begin(), std::make_move_iterator(experiments.begin()),
                  std::make_move_iterator(experiments.end()));
}

Finding GroupReplay::edit_of_what_was_asked(const std::vector<Replayed>& calls,
                                            const std::vector<CallOutcome>& answered, EditsAsked how) {
  std::vector<Replayed> all = calls;
  std::vector<CallOutcome> outcomes = answered;
  bool wrong = false;
  for (const Replayed& each : asked_) {
    CallOutcome outcome = replay_once(approach_, each);
    if (!outcome.answer.ok() || lost(outcome)) continue;
    wrong = wrong || !outcome.right();
    all.push_back(each);
    outcomes.push_back(std::move(outcome));
  }
  how.beyond = &all;
  return wrong ? of_one_edit(request_.exchanging, approach_, all, outcomes, how) : Finding();
}

void GroupReplay::explain_by_sizes_and_an_edit(const std::vector<Replayed>& calls, const Approach& as_called,
                                               std::vector<Finding>& findings) {
  constexpr double kSecondsOfOne = 8, kSecondsOfAll = 24;  // of a busy machine
  constexpr int kMostEdits = 1500;
  const auto begin = std::chrono::steady_clock::now();
  struct Way {
    Approach approach;
    std::vector<CallOutcome> outcomes;
    EditsAsked how = {true, false, kMostEdits, kSecondsOfOne};
    Finding edit;
  };
  std::vector<Way> ways;
  for (const Form& form : other_sizes_) {
    Way way;
    way.approach = as_called;
    way.approach.form = form;
    for (const Replayed& each : calls) {
      way.outcomes.push_back(replay_once(way.approach, each));
      way.how.watched = way.how.watched || !way.outcomes.back().answer.seen.empty();
      if (!way.outcomes.back().answer.ok() || lost(way.outcomes.back())) break;
    }
    if (way.outcomes.size() == calls.size() && way.outcomes.back().answer.ok())
      ways.push_back(std::move(way));
  }
  // What keeps to its memory is likelier meant than what does not.
  std::optional<Way> only;
  for (const bool strays : {false, true}) {
    for (Way& way : ways) {
      if (way.how.watched != strays) continue;
      // That another way is right with an edit too cannot be ruled out.
      if (std::chrono::steady_clock::now() - begin > std::chrono::duration<double>(kSecondsOfAll)) return;
      way.edit = of_one_edit(request_.exchanging, way.approach, calls, way.outcomes, way.how);
      if (way.edit.code == Code::none) continue;
      if (only) return;
      only = std::move(way);
    }
    if (only) break;
  }
  if (!only) return;
  approach_ = std::move(only->approach);
  outcomes_ = std::move(only->outcomes);
  explained_ = true;
  diagnosis_.called_with = numbers_in_words(approach_.form, calls.front().values);
  drop_what_an_edit_explains(findings);
  add_once(findings, std::move(only->edit));
}

}  // namespace isomer::lab
