#include "core/sentence.hpp"
#include "lab/capture/readers.hpp"
#include "lab/text/read_json.hpp"

#include <nlohmann/json.hpp>

namespace isomer::lab {
namespace {

using nlohmann::json;

void named(const json& object, const char* key, const char* prefix,
           std::map<std::string, std::string>& into) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_object()) return;
  for (const auto& [name, value] : found->items())
    if (value.is_string()) into[prefix + name] = value.get<std::string>();
}

void unsigned_triple(const json& object, const char* key, std::optional<std::array<std::uint32_t, 3>>& into) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array() || found->size() != 3) return;
  std::array<std::uint32_t, 3> values{};
  for (std::size_t i = 0; i < 3; ++i) {
    if (!(*found)[i].is_number_unsigned() || (*found)[i].get<std::uint64_t>() > UINT32_MAX) return;
    values[i] = (*found)[i].get<std::uint32_t>();
  }
  into = values;
}

std::string text_of(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

Capture read_explain(std::istream& in, const std::string& source, const LaunchSink& sink) {
  const json plan = read_json(in);
  if (!plan.is_object() || !plan.contains("op") || !plan.contains("launches") || !plan["launches"].is_array())
    core::fail(ErrorCode::io, "trace: '", source, "' is not output of isomer explain --json");
  Capture capture;
  capture.source = source;
  capture.kind = "explain";
  capture.command = "isomer explain " + text_of(plan, "case");
  Launch common;
  named(plan, "variant", "", common.variant);
  common.variant["op"] = text_of(plan, "op");
  common.variant["implementation"] = text_of(plan, "implementation");
  named(plan, "parameters", "", common.parameters);
  named(plan, "constants", "constant ", common.parameters);
  for (const json& each : plan["launches"]) {
    if (!each.is_object()) continue;
    Launch launch = common;
    launch.name = text_of(each, "kernel");
    unsigned_triple(each, "grid", launch.grid);
    unsigned_triple(each, "block", launch.block);
    unsigned_triple(each, "cluster", launch.cluster);
    if (each.contains("shared_bytes") && each["shared_bytes"].is_number_unsigned())
      launch.shared_dynamic = each["shared_bytes"].get<std::uint64_t>();
    if (const auto binary = each.find("binary"); binary != each.end() && binary->is_object()) {
      launch.code_hash = text_of(*binary, "code_hash");
      // A plan counts all shared memory, a launch what it asks for besides the kernel's own.
      const auto own = binary->find("shared_static");
      if (own != binary->end() && own->is_number_unsigned() && launch.shared_dynamic &&
          own->get<std::uint64_t>() <= *launch.shared_dynamic) {
        launch.shared_static = own->get<std::uint64_t>();
        *launch.shared_dynamic -= *launch.shared_static;
      }
      if (const auto registers = binary->find("registers"); registers != binary->end() &&
                                                            registers->is_number_unsigned() &&
                                                            registers->get<std::uint64_t>() < 1u << 16)
        launch.registers = registers->get<std::uint32_t>();
    }
    sink(std::move(launch));
  }
  return capture;
}

}  // namespace isomer::lab
