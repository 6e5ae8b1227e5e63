#include "lab/diagnose/replay/replayed.hpp"

#include <vector>

namespace isomer::lab {

const Entry& overload_for(const Candidate& candidate, const Entry& entry, const Replayed& replayed,
                          const CallSettings& settings) {
  std::vector<const Entry*> overloads;
  for (const Entry& each : candidate.entries())
    if (each.exported && each.name == entry.name && each.form == entry.form) overloads.push_back(&each);
  if (overloads.size() < 2) return entry;
  for (const Entry* each : overloads) {
    const Bound bound = bind_call(*each, replayed);
    if (!bound.findings.empty()) continue;
    Approach approach;
    approach.candidate = &candidate;
    approach.form = bound.form;
    approach.settings = settings;
    const CallOutcome outcome = replay_once(approach, replayed);
    const Answer::End end = outcome.answer.end;
    if (end != Answer::End::refused && end != Answer::End::not_callable) return *each;
  }
  return entry;
}

}  // namespace isomer::lab
