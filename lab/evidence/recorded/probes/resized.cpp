#include "lab/evidence/recorded/probes/resized.hpp"

#include "lab/findings/conventions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>

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

namespace {

std::int64_t size_at(const Replayed& call, std::size_t role, int dim) {
  const Value& value = call.values[role];
  return value.is_tensor() && dim < value.tensor.rank ? value.tensor.size(dim) : 0;
}

/// Whether another dimension is always as many times this one, or so much more, and here it is not. Of calls
/// with one size alone only twice as many say so, and of last dimensions.
bool breaks(const Replayed& made, const std::vector<Replayed>& calls, std::pair<std::size_t, int> own,
            std::pair<std::size_t, int> other) {
  const auto last = [&](std::pair<std::size_t, int> each) {
    const Tensor& tensor = made.values[each.first].tensor;
    return tensor.rank > 1 && each.second == tensor.rank - 1;
  };
  const auto in = [&](const Replayed& call) { return size_at(call, own.first, own.second); };
  const auto out = [&](const Replayed& call) { return size_at(call, other.first, other.second); };
  const Replayed& first = calls.front();
  bool scaled = true, shifted = true, varies = false;
  for (const Replayed& call : calls) {
    if (in(call) <= 0 || out(call) <= 0) return false;
    scaled = scaled && out(call) * in(first) == out(first) * in(call);
    shifted = shifted && out(call) - in(call) == out(first) - in(first);
    varies = varies || in(call) != in(first);
  }
  const bool twice = out(first) == 2 * in(first) || in(first) == 2 * out(first);
  if (!varies) return twice && last(own) && last(other) && out(made) * in(first) != out(first) * in(made);
  return (scaled && out(made) * in(first) != out(first) * in(made)) ||
         (shifted && out(made) - in(made) != out(first) - in(first));
}

/// Whether the sizes of the arguments stand to each other as they do in the test's calls: who passes one of
/// them passes both.
bool keeps_relations(const Replayed& made, const std::vector<Replayed>& calls) {
  const std::vector<std::pair<std::size_t, int>> places = places_of_size(made);
  for (const auto& place : places) {
    if (place.second < 0 || made.roles[place.first].output) continue;
    for (std::size_t role = 0; role < made.call->before.size(); ++role) {
      const Value& value = made.values[role];
      for (int dim = 0; value.is_tensor() && !made.roles[role].output && dim < value.tensor.rank; ++dim) {
        const std::pair<std::size_t, int> other(role, dim);
        if (std::find(places.begin(), places.end(), other) == places.end() &&
            breaks(made, calls, place, other))
          return false;
      }
    }
  }
  return true;
}

}  // namespace

namespace {

/// Whether a size is so small, and the same in all of several calls that differ in others, as the coordinates
/// of a point are: who has it as a constant has what his callers have.
bool is_of_coordinates(const Replayed& made, const std::vector<Replayed>& calls) {
  constexpr std::int64_t kMost = 4;
  constexpr std::size_t kSeveral = 3;  // as of matrices of three by three
  if (made.call->size_before > kMost) return false;
  if (calls.size() < 2) return places_of_size(made).size() >= kSeveral;
  bool differ = false;
  for (std::size_t role = 0; role < made.call->before.size(); ++role) {
    if (!made.values[role].is_tensor()) continue;
    for (int dim = 0; dim < made.values[role].tensor.rank; ++dim) {
      const bool own = size_at(made, role, dim) == made.call->size;
      for (const Replayed& call : calls) {
        if (role >= call.call->before.size()) continue;
        const std::int64_t size = size_at(call, role, dim), first = size_at(calls.front(), role, dim);
        if (own && size != made.call->size_before) return false;
        differ = differ || size != first;
      }
    }
  }
  return differ;
}

}  // namespace

bool keeps_shape(const Replayed& made, const std::vector<Replayed>& calls) {
  if (calls.empty()) return true;
  if (is_of_coordinates(made, calls)) return false;
  if (!keeps_relations(made, calls)) return false;
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

std::string source_of(const Candidate& candidate) {
  if (candidate.path().extension() == ".so") return {};
  std::ifstream in(candidate.path(), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

Finding limit_of_size(const Replayed& replayed, const std::string& right, const std::string& why,
                      const SourcePlace& place) {
  Finding finding;
  finding.code = Code::shape_refused;
  finding.made = true;
  finding.location = place;
  finding.evidence =
      fmt::format("right for {}, and {}, which the original answers ({}), is not taken: {:.300}", right,
                  replayed.call->size, dimensions_of_size(replayed), why);
  return as_limit(std::move(finding), "none is needed where its callers never ask for this");
}

}  // namespace isomer::lab
