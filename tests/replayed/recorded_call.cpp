#include "recorded_call.hpp"

#include <utility>

namespace isomer::lab {

void record(Recording& recording, const char* label, const std::vector<Value>& arguments, const Act& act) {
  RecordedCall call{.function = label, .before = arguments};
  call.keyword.resize(arguments.size());
  for (const Value& each : arguments) call.after.push_back(deep_copy(each));
  act(call.after);
  recording.calls.push_back(std::move(call));
}

}  // namespace isomer::lab
