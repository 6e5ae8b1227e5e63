#include "lab/ask/recorded_problems.hpp"

#include "lab/ask/dtypes.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace isomer::lab {
namespace {

/// What one of the originals makes of the calls.
struct Taken {
  std::vector<std::shared_ptr<const Given>> problems;
  std::map<int, DType> in_bytes;
  std::vector<std::string> reasons;  ///< why others are none
};

// Every variation of the reference is computed for every problem, in doubles.
constexpr std::int64_t kManyElements = std::int64_t{1} << 22;
constexpr double kMuchWork = 2e9;

std::int64_t elements_of(const RecordedCall& recorded) {
  std::int64_t count = 0;
  for (const Value& value : recorded.before)
    if (value.is_tensor()) count += value.tensor.numel();
  return count;
}

bool is_much(const Port& port, const Given& given) {
  const auto& work = port.oracle->contract->work;
  return work && work(given.problem->call()).flops > kMuchWork;
}

/// The calls in their order, without the very large ones where there are others.
std::vector<bool> judged_by_size(const Recording& recording) {
  std::vector<bool> judged;
  for (const RecordedCall& recorded : recording.calls)
    judged.push_back(elements_of(recorded) <= kManyElements || !recorded.raised.empty());
  bool any = false;
  for (std::size_t i = 0; i < judged.size(); ++i)
    any = any || (judged[i] && recording.calls[i].raised.empty());
  if (!any) judged.assign(judged.size(), true);
  return judged;
}

DType returned_dtype(const RecordedCall& recorded) {
  for (const Value& returned : recorded.returned)
    if (returned.is_tensor() && returned.tensor.dtype != DType::none) return returned.tensor.dtype;
  return DType::none;
}

/// A recorded call as a problem of the port; throws where the call is none of its original.
std::shared_ptr<Given> problem_of(const Candidate& candidate, const Port& port, const RecordedCall& recorded,
                                  int index, const Recording& recording, Taken& taken) {
  std::vector<Value> values = port.by_role(recorded.before, recorded.keyword);
  DType made = returned_dtype(recorded);
  if (made == DType::none) made = made_for(candidate, port);
  const std::shared_ptr<Given> given =
      given_by_values(port,
                      fmt::format("{} call {}{}", recorded.function, index,
                                  recorded.group.empty() ? "" : " of " + recorded.group),
                      values, made);
  given->original_seconds = recorded.seconds;
  if (const auto device = recording.metadata.find("device"); device != recording.metadata.end())
    given->original_device = device->second;
  for (std::size_t role = 0; role < values.size(); ++role)
    if (port.in_bytes(role, values[role]) != DType::none)
      taken.in_bytes[static_cast<int>(role)] = values[role].tensor.dtype;
  return given;
}

/// Where no answer says how many tensors the original returns, the candidate does: originals with as many
/// come first.
void by_what_it_returns(const Candidate& candidate, CallRequest& call) {
  const auto& entries = candidate.entries();
  const auto entry = std::find_if(entries.begin(), entries.end(), [&](const Entry& each) {
    return each.name == (call.entry.empty() ? call.function : call.entry);
  });
  if (entry == entries.end() || entry->returned_tensors < 1) return;
  std::stable_partition(call.ports.begin(), call.ports.end(), [&](const Port* port) {
    return std::count_if(port->roles.begin(), port->roles.end(),
                         [](const Port::Role& role) { return role.returned; }) == entry->returned_tensors;
  });
}

}  // namespace

void take_recording(const Candidate& candidate, const Recording& recording, CallRequest& call,
                    std::vector<std::string>& notes) {
  for (const RecordedCall& recorded : recording.calls)
    call.answered = call.answered || returned_dtype(recorded) != DType::none;
  if (!call.answered) by_what_it_returns(candidate, call);
  std::vector<std::string> refused;
  const std::vector<bool> judged = judged_by_size(recording);
  for (const Port* port : call.ports) {
    Taken taken;
    int index = 0;
    for (const RecordedCall& recorded : recording.calls) {
      ++index;
      if (!recorded.raised.empty()) {
        taken.reasons.push_back(fmt::format("recorded call {} is not judged: the label refuses it", index));
        continue;
      }
      if (!judged[static_cast<std::size_t>(index) - 1]) {
        taken.reasons.push_back(
            fmt::format("recorded call {} is not judged: its arguments have {} elements, and there are "
                        "smaller recorded calls",
                        index, elements_of(recorded)));
        continue;
      }
      try {
        taken.problems.push_back(problem_of(candidate, *port, recorded, index, recording, taken));
      } catch (const Error& error) {
        taken.reasons.push_back(fmt::format("recorded call {} is not judged: {}", index, error.what()));
      }
    }
    const auto much = [&](const std::shared_ptr<const Given>& given) { return is_much(*port, *given); };
    if (const auto count = std::count_if(taken.problems.begin(), taken.problems.end(), much);
        count > 0 && static_cast<std::size_t>(count) < taken.problems.size()) {
      std::erase_if(taken.problems, much);
      taken.reasons.push_back(fmt::format(
          "{} recorded call{} not judged, with more than {:g} operations: there are smaller recorded calls",
          count, count == 1 ? " is" : "s are", kMuchWork));
    }
    // With none that takes any, the first original's reasons are told.
    const bool none = taken.problems.empty();
    const bool better = call.recorded_port == nullptr ? port == call.ports.front() || !none
                                                      : taken.problems.size() > call.recorded.size();
    if (!better) continue;
    refused = std::move(taken.reasons);
    if (none) continue;
    call.recorded = std::move(taken.problems);
    call.in_bytes = std::move(taken.in_bytes);
    call.recorded_port = port;
  }
  notes.insert(notes.end(), refused.begin(), refused.end());
}

}  // namespace isomer::lab
