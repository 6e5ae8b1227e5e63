#include "lab/capture/launch_json.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <string>

namespace isomer::lab {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr char kDigits[] = "0123456789abcdef";

std::string hex(const std::vector<std::uint8_t>& bytes) {
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

/// Empty where the text is not hexadecimal.
std::vector<std::uint8_t> unhex(const std::string& text) {
  std::vector<std::uint8_t> bytes;
  if (text.size() % 2 != 0) return bytes;
  bytes.reserve(text.size() / 2);
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = hex_digit(text[i]), low = hex_digit(text[i + 1]);
    if (high < 0 || low < 0) return {};
    bytes.push_back(static_cast<std::uint8_t>(high << 4 | low));
  }
  return bytes;
}

template <class Number>
void put(ordered_json& line, const char* key, const std::optional<Number>& value) {
  if (value) line[key] = *value;
}

void put(ordered_json& line, const char* key, const std::string& value) {
  if (!value.empty()) line[key] = value;
}

template <class Unsigned>
void get(const json& line, const char* key, std::optional<Unsigned>& into) {
  const auto found = line.find(key);
  if (found == line.end() || !found->is_number_unsigned()) return;
  const auto value = found->get<std::uint64_t>();
  if (value <= std::numeric_limits<Unsigned>::max()) into = static_cast<Unsigned>(value);
}

void get(const json& line, const char* key, std::optional<double>& into) {
  if (const auto found = line.find(key); found != line.end() && found->is_number())
    into = found->get<double>();
}

void get(const json& line, const char* key, std::string& into) {
  if (const auto found = line.find(key); found != line.end() && found->is_string())
    into = found->get<std::string>();
}

void get(const json& line, const char* key, bool& into) {
  if (const auto found = line.find(key); found != line.end() && found->is_boolean())
    into = found->get<bool>();
}

void get(const json& line, const char* key, std::optional<std::array<std::uint32_t, 3>>& into) {
  const auto found = line.find(key);
  if (found == line.end() || !found->is_array() || found->size() != 3) return;
  std::array<std::uint32_t, 3> values{};
  for (std::size_t i = 0; i < 3; ++i) {
    const json& value = (*found)[i];
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > UINT32_MAX) return;
    values[i] = value.get<std::uint32_t>();
  }
  into = values;
}

void get(const json& line, const char* key, std::map<std::string, std::string>& into) {
  const auto found = line.find(key);
  if (found == line.end() || !found->is_object()) return;
  for (const auto& [name, value] : found->items())
    if (value.is_string()) into[name] = value.get<std::string>();
}

void read_arguments(const json& line, const ParameterLayout& layout, Launch& launch) {
  const auto found = line.find("arguments");
  if (found == line.end() || !found->is_array()) return;
  launch.arguments.clear();
  launch.arguments_known = true;
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < found->size(); ++i) {
    ArgumentBytes argument;
    if ((*found)[i].is_string()) argument.bytes = unhex((*found)[i].get_ref<const std::string&>());
    argument.offset = i < layout.size() ? layout[i].first : next;
    next = argument.offset + static_cast<std::uint32_t>(argument.bytes.size());
    launch.arguments.push_back(std::move(argument));
  }
  const auto pointers = line.find("pointers");
  if (pointers == line.end() || !pointers->is_array()) return;
  for (const json& pointer : *pointers) {
    if (!pointer.is_array() || pointer.size() != 3 || !pointer[0].is_number_unsigned() ||
        !pointer[1].is_number_unsigned() || !pointer[2].is_string())
      continue;
    const auto parameter = pointer[0].get<std::uint64_t>(), offset = pointer[1].get<std::uint64_t>();
    if (parameter >= launch.arguments.size()) continue;
    ArgumentBytes& argument = launch.arguments[parameter];
    if (offset + 8 <= argument.bytes.size() && offset < UINT32_MAX)
      argument.pointers[static_cast<std::uint32_t>(offset)] = pointer[2].get<std::string>();
  }
}

}  // namespace

ordered_json kernel_json(const Launch& launch) {
  ordered_json line;
  line["kernel"] = 0;
  put(line, "name", launch.name);
  put(line, "demangled", launch.demangled);
  put(line, "code_hash", launch.code_hash);
  put(line, "module", launch.module);
  put(line, "registers", launch.registers);
  put(line, "scalar_registers", launch.scalar_registers);
  put(line, "shared_static", launch.shared_static);
  put(line, "local_bytes", launch.local_bytes);
  if (launch.arguments_known) {
    line["parameters"] = ordered_json::array();
    for (const ArgumentBytes& argument : launch.arguments)
      line["parameters"].push_back({argument.offset, argument.bytes.size()});
  }
  if (!launch.variant.empty()) line["variant"] = launch.variant;
  return line;
}

ordered_json launch_json(const Launch& launch) {
  ordered_json line;
  line["launch"] = launch.correlation.value_or(0);
  line["kernel"] = 0;
  put(line, "grid", launch.grid);
  put(line, "block", launch.block);
  put(line, "cluster", launch.cluster);
  put(line, "shared_dynamic", launch.shared_dynamic);
  put(line, "stream", launch.stream);
  put(line, "thread", launch.thread);
  put(line, "process", launch.process);
  put(line, "device", launch.device);
  put(line, "graph_node", launch.graph_node);
  if (launch.cooperative) line["cooperative"] = true;
  if (launch.programmatic) line["programmatic"] = true;
  if (launch.captured) line["captured"] = true;
  if (launch.arguments_known) {
    ordered_json bytes = ordered_json::array(), pointers = ordered_json::array();
    for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
      bytes.push_back(hex(launch.arguments[i].bytes));
      for (const auto& [offset, place] : launch.arguments[i].pointers) pointers.push_back({i, offset, place});
    }
    line["arguments"] = std::move(bytes);
    if (!pointers.empty()) line["pointers"] = std::move(pointers);
  }
  if (!launch.parameters.empty()) line["parameters"] = launch.parameters;
  if (!launch.metrics.empty()) line["metrics"] = launch.metrics;
  put(line, "start", launch.start_ns);
  put(line, "duration", launch.duration_ns);
  return line;
}

void read_kernel(const json& line, Launch& launch, ParameterLayout& layout) {
  get(line, "name", launch.name);
  get(line, "demangled", launch.demangled);
  get(line, "code_hash", launch.code_hash);
  get(line, "module", launch.module);
  get(line, "registers", launch.registers);
  get(line, "scalar_registers", launch.scalar_registers);
  get(line, "shared_static", launch.shared_static);
  get(line, "local_bytes", launch.local_bytes);
  get(line, "variant", launch.variant);
  const auto parameters = line.find("parameters");
  if (parameters == line.end() || !parameters->is_array()) return;
  for (const json& parameter : *parameters) {
    if (!parameter.is_array() || parameter.size() != 2 || !parameter[0].is_number_unsigned() ||
        !parameter[1].is_number_unsigned() || parameter[0].get<std::uint64_t>() > 1u << 20 ||
        parameter[1].get<std::uint64_t>() > 1u << 20)
      return;
    layout.emplace_back(parameter[0].get<std::uint32_t>(), parameter[1].get<std::uint32_t>());
  }
}

void read_launch(const json& line, const ParameterLayout& layout, Launch& launch, std::uint64_t origin) {
  get(line, "grid", launch.grid);
  get(line, "block", launch.block);
  get(line, "cluster", launch.cluster);
  get(line, "shared_dynamic", launch.shared_dynamic);
  get(line, "shared_static", launch.shared_static);
  get(line, "local_bytes", launch.local_bytes);
  get(line, "registers", launch.registers);
  get(line, "stream", launch.stream);
  get(line, "thread", launch.thread);
  get(line, "process", launch.process);
  get(line, "device", launch.device);
  get(line, "graph_node", launch.graph_node);
  get(line, "cooperative", launch.cooperative);
  get(line, "programmatic", launch.programmatic);
  get(line, "captured", launch.captured);
  get(line, "parameters", launch.parameters);
  if (const auto metrics = line.find("metrics"); metrics != line.end() && metrics->is_object())
    for (const auto& [name, value] : metrics->items())
      if (value.is_number()) launch.metrics[name] = value.get<double>();
  std::optional<std::uint64_t> begun;
  get(line, "start", begun);
  if (begun && *begun >= origin)
    launch.start_ns = static_cast<double>(*begun - origin);
  else
    get(line, "start", launch.start_ns);
  get(line, "duration", launch.duration_ns);
  read_arguments(line, layout, launch);
}

}  // namespace isomer::lab
