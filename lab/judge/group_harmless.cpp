#include "lab/evidence/probes/watched.hpp"
#include "lab/findings/conventions.hpp"
#include "lab/judge/group_replay.hpp"

#include <algorithm>
#include <vector>

namespace isomer::lab {
namespace {

bool is_unwritten_read(const Seen& seen) { return seen.kind == "uninitialised-read"; }

/// What depends on the order of threads, leads to memory of which nothing is known, or holds what no fill
/// decides: a thread's own variables lie on its stack.
bool is_of_other_memory(const Seen& seen) {
  return seen.kind == "race" || seen.kind.starts_with("out-of-bounds") ||
         (is_unwritten_read(seen) && (seen.shared || seen.local));
}

bool is_same(const CallOutcome& one, const CallOutcome& other) {
  if (!one.answer.ok() || !other.answer.ok() || one.got.size() != other.got.size()) return false;
  for (std::size_t t = 0; t < one.got.size(); ++t)
    if (!std::equal(one.got[t].begin(), one.got[t].end(), other.got[t].begin(), other.got[t].end(),
                    same_value))
      return false;
  return true;
}

}  // namespace

void GroupReplay::harmless_races(const std::vector<Replayed>& calls) {
  if (!std::all_of(outcomes_.begin(), outcomes_.end(), [](const CallOutcome& o) { return o.right(); }) ||
      std::none_of(diagnosis_.findings.begin(), diagnosis_.findings.end(),
                   [](const Finding& each) { return each.same_store; }))
    return;
  Approach other = approach_;
  for (const std::uint64_t seed : {7u, 1234u, 99u}) {
    other.settings.schedule_seed = seed;
    if (const CallOutcome then = replay_once(other, calls.front());
        !then.right() || then.got != outcomes_.front().got)
      return;
  }
  tell_benign_races(diagnosis_.findings);
}

void GroupReplay::harmless_reads(const std::vector<Replayed>& calls) {
  const auto seen_in = [](const CallOutcome& outcome, bool (*is)(const Seen&)) {
    return std::any_of(outcome.answer.seen.begin(), outcome.answer.seen.end(), is);
  };
  const auto reads = [&](const CallOutcome& o) { return seen_in(o, is_unwritten_read); };
  if (outcomes_.size() != calls.size() || std::none_of(outcomes_.begin(), outcomes_.end(), reads) ||
      std::any_of(outcomes_.begin(), outcomes_.end(),
                  [&](const CallOutcome& o) { return !o.answer.ok() || seen_in(o, is_of_other_memory); }))
    return;
  Approach other = approach_;
  for (const std::uint8_t fill : {std::uint8_t{0}, kLargePoison, kNegativePoison}) {
    other.settings.poison = fill;
    for (std::size_t i = 0; i < calls.size(); ++i)
      if (reads(outcomes_[i]) && !is_same(outcomes_[i], replay_once(other, calls[i]))) return;
  }
  for (CallOutcome& outcome : outcomes_)
    for (Seen& seen : outcome.answer.seen)
      if (is_unwritten_read(seen)) {
        seen.harmless = true;
        seen.text += "; no answer changes, whatever that memory holds";
      }
}

}  // namespace isomer::lab
