#include "lab/evidence/recorded/quick.hpp"

#include <algorithm>

namespace isomer::lab {

Approach for_numbers(const Approach& approach, const std::vector<CallOutcome>& outcomes) {
  // What compiles for long does so once more without the watch.
  constexpr double kLong = 0.5;
  double longest = 0;
  bool clean = true;
  for (const CallOutcome& each : outcomes) {
    longest = std::max(longest, each.answer.worked_seconds);
    clean = clean && each.answer.ok() && each.answer.seen.empty();
  }
  Approach quick = approach;
  if (clean && longest > kLong) quick.settings.watch = false;
  return quick;
}

}  // namespace isomer::lab
