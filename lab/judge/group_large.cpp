#include "lab/judge/group_replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

/// Calls that are large: they are asked behind those of smaller sizes, which are judged in their place where
/// they come to no end.
namespace isomer::lab {

void GroupReplay::ask_large(std::vector<Replayed>& large, std::vector<Replayed>& calls) {
  Approach brief = approach_;
  brief.settings.timeout_seconds = std::min(brief.settings.timeout_seconds, kSecondsOfACall);
  const bool right =
      std::all_of(outcomes_.begin(), outcomes_.end(), [](const CallOutcome& o) { return o.right(); });
  // Calls of the test's own that are wrong are so whatever the large ones answer.
  const auto wrong_at = [&] {
    std::size_t at = 0;
    while (at < calls.size() && (calls[at].call->asked.empty() || outcomes_[at].right())) ++at;
    return at;
  }();
  const bool stand_in_is_wrong = wrong_at < calls.size();
  std::string why;
  for (Replayed& each : large) {
    CallOutcome outcome;
    if (why.empty() && (right || stand_in_is_wrong)) outcome = replay_once(brief, each);
    if (why.empty() && stand_in_is_wrong && outcome.right()) {
      diagnosis_.notes.push_back(fmt::format("'{}' is wrong but '{}' is right, so the latter is judged",
                                             calls[wrong_at].line, each.line));
      std::erase_if(calls, [](const Replayed& call) { return !call.call->asked.empty(); });
      std::move(large.begin(), large.end(), std::back_inserter(calls));
      outcomes_.clear();
      ask(calls);
      return;
    }
    if (why.empty() && lost(outcome) && outcome.answer.end != Answer::End::over_limit)
      why = outcome.answer.message;
    if (why.empty() && right) {
      calls.push_back(std::move(each));
      outcomes_.push_back(std::move(outcome));
      continue;
    }
    diagnosis_.notes.push_back(fmt::format("'{}' is {}: '{}' is judged in its place", each.line,
                                           !why.empty()        ? why
                                           : stand_in_is_wrong ? "large, and also wrong"
                                                               : "large",
                                           calls.front().line));
  }
}

void GroupReplay::leave_out_large(std::vector<Replayed>& calls) {
  std::vector<Replayed> kept;
  std::vector<CallOutcome> outcomes;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const Answer& answer = outcomes_[i].answer;
    if (answer.unwatched && answer.ok())
      diagnosis_.notes.push_back(fmt::format(
          "'{}' is too large to be watched, so its memory accesses are not judged", calls[i].line));
    if (answer.end == Answer::End::too_large) {
      diagnosis_.notes.push_back(fmt::format("'{}' is not judged: {}", calls[i].line, answer.message));
      continue;
    }
    kept.push_back(std::move(calls[i]));
    outcomes.push_back(std::move(outcomes_[i]));
  }
  if (kept.empty() && diagnosis_.error.empty())
    diagnosis_.error = fmt::format("'{}' is {}", calls.front().line, outcomes_.front().answer.message);
  calls = std::move(kept);
  outcomes_ = std::move(outcomes);
}

}  // namespace isomer::lab
