#include <isomer/explain.hpp>

#include "core/json_text.hpp"
#include "core/sentence.hpp"

namespace isomer {
namespace {

using core::json_quoted;
using core::say;

std::string object(const Named& values) {
  std::string json = "{";
  for (const auto& [name, value] : values) {
    if (json.size() > 1) json += ',';
    json += json_quoted(name) + ':' + json_quoted(value);
  }
  return json + '}';
}

std::string triple(const std::array<std::int64_t, 3>& values) {
  return say('[', values[0], ',', values[1], ',', values[2], ']');
}

}  // namespace

std::string to_json(const Explanation& explanation) {
  std::string json = say("{\"version\":1,\"op\":", json_quoted(explanation.op),
                         ",\"implementation\":", json_quoted(explanation.implementation), ",\"refusals\":[");
  for (const Explanation::Refusal& refusal : explanation.refusals) {
    if (json.back() == '}') json += ',';
    json += say("{\"implementation\":", json_quoted(refusal.implementation),
                ",\"reason\":", json_quoted(refusal.reason), '}');
  }
  json += say("],\"variant\":", object(explanation.description.variant),
              ",\"parameters\":", object(explanation.description.parameters),
              ",\"constants\":", object(explanation.description.constants), ",\"launches\":[");
  for (const Launch& launch : explanation.description.launches) {
    if (json.back() == '}') json += ',';
    json += say("{\"kernel\":", json_quoted(launch.kernel), ",\"grid\":", triple(launch.grid),
                ",\"block\":", triple(launch.block), ",\"cluster\":", triple(launch.cluster),
                ",\"shared_bytes\":", launch.shared_bytes, ",\"registers\":");
    json += launch.binary.registers < 0 ? "null}" : say(launch.binary.registers, '}');
  }
  return json + say("],\"workspace_bytes\":", explanation.workspace_bytes, '}');
}

}  // namespace isomer
