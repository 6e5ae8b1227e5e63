// Memory that the candidate is lent, which nothing of the label stands for.
#include "lab/evidence/recorded/probes/resized.hpp"
#include "lab/findings/conventions.hpp"
#include "lab/judge/group_replay.hpp"
#include "lab/text/pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace isomer::lab {

void GroupReplay::try_cleared_room(const std::vector<Replayed>& calls) {
  const std::string names = lent_room(approach_.form);
  if (names.empty()) return;
  const std::string note = fmt::format("{} is lent memory, which the label has none of", names);
  std::vector<std::string>& notes = diagnosis_.notes;
  if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
  const auto right = [](const CallOutcome& each) { return each.right(); };
  if (std::all_of(outcomes_.begin(), outcomes_.end(), right)) return;
  Approach cleared = approach_;
  clear_room(cleared.form);
  std::vector<CallOutcome> outcomes;
  for (const Replayed& each : calls) {
    outcomes.push_back(replay_once(cleared, each));
    if (!outcomes.back().right()) return;
  }
  Finding finding;
  finding.code = Code::uninitialised_read;
  finding.argument = names;
  finding.location = entry_.place;
  finding.evidence =
      fmt::format("all {} calls are right where {} holds zeros before the call, and not with other memory",
                  calls.size(), names);
  finding.fix = fmt::format("clear all that is read of {}", names);
  // Who clears none of it expects its caller to.
  static const Pattern clears("(?i)memset|fill");
  if (!clears.found_in(source_of(*approach_.candidate)))
    finding = as_limit(std::move(finding), "none is needed where its callers clear it");
  add_once(diagnosis_.findings, std::move(finding));
  explained_ = true;
  approach_ = std::move(cleared);
  outcomes_ = std::move(outcomes);
}

}  // namespace isomer::lab
