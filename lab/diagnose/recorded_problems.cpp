#include "lab/diagnose/recorded_problems.hpp"

#include <fmt/format.h>

namespace isomer::lab {
namespace {

/// A recorded call as a problem of the port; throws where the call is none of its original.
std::shared_ptr<Given> problem_of(const Port& port, const RecordedCall& recorded, int index,
                                  const Recording& recording) {
  std::vector<Value> values = port.by_role(recorded.before, recorded.keyword);
  DType made = DType::none;
  for (const Value& returned : recorded.returned)
    if (returned.is_tensor() && made == DType::none) made = returned.tensor.dtype;
  const std::shared_ptr<Given> given =
      given_by_values(port,
                      fmt::format("{} call {}{}", recorded.function, index,
                                  recorded.group.empty() ? "" : " of " + recorded.group),
                      values, made);
  given->original_seconds = recorded.seconds;
  if (const auto device = recording.metadata.find("device"); device != recording.metadata.end())
    given->original_device = device->second;
  return given;
}

}  // namespace

void take_recording(const Recording& recording, CallRequest& call, std::vector<std::string>& notes) {
  std::vector<std::string> refused;
  for (const Port* port : call.ports) {
    std::vector<std::shared_ptr<const Given>> taken;
    std::vector<std::string> reasons;
    int index = 0;
    for (const RecordedCall& recorded : recording.calls) {
      ++index;
      try {
        taken.push_back(problem_of(*port, recorded, index, recording));
      } catch (const Error& error) {
        reasons.push_back(fmt::format("recorded call {} is not judged: {}", index, error.what()));
      }
    }
    // With none that takes any, the first original's reasons are told.
    const bool better = call.recorded_port == nullptr ? port == call.ports.front() || !taken.empty()
                                                      : taken.size() > call.recorded.size();
    if (!better) continue;
    refused = std::move(reasons);
    if (taken.empty()) continue;
    call.recorded = std::move(taken);
    call.recorded_port = port;
  }
  notes.insert(notes.end(), refused.begin(), refused.end());
}

}  // namespace isomer::lab
