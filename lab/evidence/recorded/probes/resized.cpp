#include "lab/evidence/recorded/probes/resized.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace isomer::lab {

std::vector<std::pair<std::size_t, int>> places_of_size(const Replayed& replayed) {
  std::vector<std::pair<std::size_t, int>> list;
  for (std::size_t i = 0; i < replayed.call->before.size(); ++i) {
    const Value& value = replayed.values[i];
    if (value.kind == Value::Kind::integer && value.integer == replayed.call->size) list.emplace_back(i, -1);
    for (int d = 0; value.is_tensor() && d < value.tensor.rank; ++d)
      if (value.tensor.size(d) == replayed.call->size) list.emplace_back(i, d);
  }
  return list;
}

std::string dimensions_of_size(const Replayed& replayed) {
  std::string text;
  for (const auto& [role, dim] : places_of_size(replayed))
    text += (text.empty() ? "" : ", ") + replayed.roles[role].name +
            (dim < 0 ? std::string() : fmt::format(" (dimension {})", dim));
  return text;
}

bool saw(const CallOutcome& outcome, std::string_view kind) {
  return std::any_of(outcome.answer.seen.begin(), outcome.answer.seen.end(),
                     [&](const Seen& seen) { return seen.kind.starts_with(kind); });
}

bool keeps_shape(const Replayed& made, const std::vector<Replayed>& calls) {
  const auto size = [](const Tensor& tensor, int dim) { return dim < tensor.rank ? tensor.size(dim) : 1; };
  for (std::size_t t = 0; t < made.outputs.size(); ++t)
    for (int d = 0; d < made.outputs[t].want.rank; ++d)
      for (const auto& [role, dim] : places_of_size(made)) {
        if (dim < 0 || made.roles[role].output) continue;
        const std::int64_t in = size(made.values[role].tensor, dim), out = size(made.outputs[t].want, d);
        bool scaled = true, shifted = true, constant = true, follows = true;
        for (const Replayed& call : calls) {
          if (t >= call.outputs.size() || role >= call.values.size() || !call.values[role].is_tensor())
            continue;
          const std::int64_t own_in = size(call.values[role].tensor, dim),
                             own_out = size(call.outputs[t].want, d);
          const Replayed& first = calls.front();
          follows = follows &&
                    own_out * size(first.values[role].tensor, dim) == size(first.outputs[t].want, d) * own_in;
          scaled = scaled && out * own_in == own_out * in;
          shifted = shifted && out - in == own_out - own_in;
          constant = constant && out == own_out;
        }
        if (follows && !scaled && !shifted && !constant) return false;
      }
  return true;
}

}  // namespace isomer::lab
