#include "lab/evidence/recorded/probes/probes.hpp"

#include "oracle/expected.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>

namespace isomer::lab {
namespace {

bool meets_at(const CallOutcome& outcome, const Finding& race) {
  return std::any_of(outcome.answer.seen.begin(), outcome.answer.seen.end(), [&](const Seen& seen) {
    return seen.kind == "race" && seen.place.line == race.location.line;
  });
}

/// Two places of one value in a tensor of indices.
std::optional<std::pair<std::size_t, std::size_t>> repeated(const Replayed& call, std::size_t role) {
  if (role >= call.values.size() || !call.values[role].is_tensor() || call.roles[role].output ||
      is_float(call.values[role].tensor.dtype))
    return std::nullopt;
  const std::vector<double> values = oracle::elements(call.values[role].tensor);
  std::map<double, std::size_t> first;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (const auto [place, fresh] = first.emplace(values[i], i); !fresh) return std::pair(place->second, i);
  return std::nullopt;
}

}  // namespace

void tell_repeated_indices(const std::vector<Replayed>& calls, const std::vector<CallOutcome>& outcomes,
                           std::vector<Finding>& findings) {
  for (Finding& finding : findings) {
    if (finding.code != Code::race || finding.shared || finding.location.line == 0) continue;
    for (std::size_t role = 0; role < calls.front().roles.size(); ++role) {
      const Value& value = calls.front().values[role];
      if (!value.is_tensor() || is_float(value.tensor.dtype) || value.tensor.numel() < 2) continue;
      std::size_t first = calls.size();
      bool by_it = true, apart = false;
      for (std::size_t i = 0; i < calls.size(); ++i) {
        const bool meets = meets_at(outcomes[i], finding), twice = repeated(calls[i], role).has_value();
        if (meets && first == calls.size()) first = i;
        by_it = by_it && (!meets || (twice && outcomes[i].answer.ok()));
        apart = apart || (!meets && !twice && outcomes[i].answer.ok() && outcomes[i].elements > 0);
      }
      if (!by_it || !apart || first == calls.size()) continue;
      const auto [a, b] = *repeated(calls[first], role);
      const std::string& name = calls[first].roles[role].name;
      finding.evidence = fmt::format(
          "'{}': {}[{}] and {}[{}] are equal, so that two writes of the label itself have one destination "
          "and its "
          "answer is not defined there; where they differ, no two threads of the candidate meet",
          calls[first].line, name, a, name, b);
      finding.code = Code::duplicate_index;
      finding.subject = Subject::test;
      finding.argument = name;
      finding.location = {};
      finding.fix = "give every write a destination of its own";
      break;
    }
  }
}

}  // namespace isomer::lab
