#include "lab/evidence/recorded/probes/probes.hpp"

#include "lab/evidence/probes/watched.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

namespace isomer::lab {
namespace {

constexpr std::size_t kLargest = 16u << 20;
constexpr int kArguments = 4;

/// The same values with as much room before and behind their storage as that has.
Value with_room(const Value& value) {
  constexpr std::size_t kAligned = 256;
  const std::size_t room = (value.storage_bytes + kAligned - 1) / kAligned * kAligned;
  Value wide =
      tensor_value(value.name, DType::u8, {static_cast<std::int64_t>(2 * room + value.storage_bytes)});
  auto* bytes = static_cast<std::byte*>(wide.storage.get());
  std::memcpy(bytes + room, value.storage.get(), value.storage_bytes);
  wide.boolean = value.boolean;
  wide.tensor = value.tensor;
  wide.storage_offset = room + value.storage_offset;
  wide.tensor.data = bytes + wide.storage_offset;
  return wide;
}

/// The argument that the candidate, or its callers, call that.
std::optional<std::size_t> role_of(const Approach& approach, const Replayed& replayed,
                                   const std::string& buffer) {
  const std::vector<Passing>& passings = approach.form.passings;
  const std::vector<Parameter>& parameters = approach.form.entry->parameters;
  for (std::size_t i = 0; i < passings.size(); ++i) {
    if (passings[i].what != Passing::What::role) continue;
    const auto role = static_cast<std::size_t>(passings[i].role);
    if (!replayed.values[role].is_tensor() || replayed.values[role].storage_bytes > kLargest) continue;
    if (replayed.roles[role].name == buffer || (i < parameters.size() && parameters[i].name == buffer))
      return role;
  }
  return std::nullopt;
}

}  // namespace

void probe_overruns(const Approach& approach, const Replayed& replayed, const CallOutcome& outcome,
                    std::vector<Finding>& findings) {
  const auto overrun = [](const Seen& seen) { return seen.kind.starts_with("out-of-bounds"); };
  const auto first = std::find_if(outcome.answer.seen.begin(), outcome.answer.seen.end(), overrun);
  if (first == outcome.answer.seen.end() || first->place.line == 0) return;
  const SourcePlace place = first->place;
  std::vector<Seen> seen = outcome.answer.seen;
  Replayed other = replayed;
  for (int i = 0; i < kArguments; ++i) {
    bool widened = false;
    for (const Seen& each : seen) {
      if (!overrun(each) || each.place.line != place.line || each.place.file != place.file) continue;
      const std::optional<std::size_t> role = role_of(approach, replayed, each.buffer);
      if (!role || other.values[*role].storage_bytes != replayed.values[*role].storage_bytes) continue;
      other.values[*role] = with_room(replayed.values[*role]);
      widened = true;
    }
    if (!widened) return;
    Answer more = replay_once(approach, other).answer;
    seen = more.seen;
    // The next access of that line; what else comes of the values that lie there is no fault.
    std::erase_if(more.seen, [&](const Seen& each) {
      return !overrun(each) || each.place.line != place.line || each.place.file != place.file ||
             !role_of(approach, replayed, each.buffer);
    });
    more.refused_launches.clear();
    findings_of_device(more, {replayed.line, replayed.empty, replayed.shared}, findings);
  }
}

}  // namespace isomer::lab
