#include "lab/report/plan_report.hpp"

#include "lab/report/terminal.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <algorithm>

namespace isomer::lab {
namespace {

std::string triple(const std::array<std::int64_t, 3>& values) {
  return fmt::format("{}x{}x{}", values[0], values[1], values[2]);
}

std::string section(const char* title, const core::Named& values) {
  if (values.empty()) return {};
  std::string text = fmt::format("{:<12}", title);
  std::size_t column = 12;
  for (const auto& [name, value] : values) {
    const std::string item = fmt::format("{}={} ", name, value);
    if (column + item.size() > 110) {
      text += "\n" + std::string(12, ' ');
      column = 12;
    }
    text += item;
    column += item.size();
  }
  return text + "\n";
}

/// What the compiler said of a launch's code; a number that it did not say is left out.
std::string binary_text(const Binary& binary) {
  if (binary.source.empty()) return "not compiled yet; --compile compiles it";
  std::string text = binary.source;
  if (!binary.hash.empty()) text += " " + binary.hash.substr(0, 16);
  if (binary.registers >= 0) text += fmt::format(", {} registers", binary.registers);
  if (binary.spill_bytes >= 0) text += fmt::format(", {} bytes spilled", binary.spill_bytes);
  return text + fmt::format(", {:.3f} s", binary.seconds);
}

nlohmann::ordered_json binary_json(const Binary& binary, const LaunchCode& code) {
  if (binary.source.empty()) return nullptr;
  nlohmann::ordered_json json = {
      {"source", binary.source}, {"hash", nullptr}, {"registers", nullptr}, {"spill_bytes", nullptr}};
  if (!binary.hash.empty()) json["hash"] = binary.hash;
  if (binary.registers >= 0) json["registers"] = binary.registers;
  if (binary.spill_bytes >= 0) json["spill_bytes"] = binary.spill_bytes;
  if (!code.hash.empty()) json["code_hash"] = code.hash;
  if (code.shared_static >= 0) json["shared_static"] = code.shared_static;
  json["seconds"] = binary.seconds;
  if (!binary.not_kept.empty()) json["not_kept"] = binary.not_kept;
  return json;
}

/// The best of the model's first.
std::vector<gpu::Candidate> by_model(std::vector<gpu::Candidate> candidates) {
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const gpu::Candidate& x, const gpu::Candidate& y) { return x.modelled < y.modelled; });
  return candidates;
}

std::string candidates_text(const std::vector<gpu::Candidate>& candidates) {
  std::string text;
  for (const gpu::Candidate& each : by_model(candidates)) {
    text += fmt::format("{:<12}{} {:<20} modelled {:>8.1f} µs", text.empty() ? "candidates" : "",
                        each.taken ? "*" : " ", each.name, 1e6 * each.modelled);
    text += each.measured >= 0 ? fmt::format(", measured {:.1f} µs\n", 1e6 * each.measured) : "\n";
  }
  return text;
}

nlohmann::ordered_json candidates_json(const std::vector<gpu::Candidate>& candidates) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const gpu::Candidate& each : by_model(candidates)) {
    list.push_back({{"name", each.name},
                    {"modelled_seconds", each.modelled},
                    {"measured_seconds", nullptr},
                    {"taken", each.taken}});
    if (each.measured >= 0) list.back()["measured_seconds"] = each.measured;
  }
  return list;
}

std::string beside_text(const Beside& beside) {
  if (beside.library.empty()) return {};
  if (beside.rows.empty())
    return fmt::format("{:<12}takes no such case: {}\n", beside.library, beside.reason);
  std::string text = fmt::format("{:<14}{:<34}{}\n", "beside", beside.library, "this plan");
  for (const Beside::Row& row : beside.rows)
    text += fmt::format("  {:<12}{:<34}{}\n", row.name, row.theirs, row.ours.empty() ? "-" : row.ours);
  return text;
}

nlohmann::ordered_json beside_json(const Beside& beside) {
  nlohmann::ordered_json json = {{"library", beside.library}};
  if (beside.rows.empty()) json["reason"] = beside.reason;
  json["choices"] = nlohmann::ordered_json::array();
  for (const Beside::Row& row : beside.rows) {
    json["choices"].push_back({{"name", row.name}, {"theirs", row.theirs}, {"ours", nullptr}});
    if (!row.ours.empty()) json["choices"].back()["ours"] = row.ours;
  }
  return json;
}

nlohmann::ordered_json object(const core::Named& values) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const auto& [name, value] : values) json[name] = value;
  return json;
}

}  // namespace

std::string explain_text(const CaseExplanation& explanation) {
  std::string text = Terminal::bold(explanation.line) + "\n";
  for (const Explanation::Refusal& refusal : explanation.plan.refusals)
    text += Terminal::dim(fmt::format("refused     {}: {}", refusal.implementation, refusal.reason)) + "\n";
  if (explanation.plan.implementation.empty()) return text + "no implementation takes this case\n";
  text += fmt::format("{:<12}{}\n", "runs", Terminal::green(explanation.plan.implementation));
  if (!explanation.architecture.empty()) text += fmt::format("{:<12}{}\n", "for", explanation.architecture);
  text += section("variant", explanation.plan.description.variant);
  text += section("parameters", explanation.plan.description.parameters);
  text += section("constants", explanation.plan.description.constants);
  text += candidates_text(explanation.candidates);
  for (const core::Launch& launch : explanation.plan.description.launches) {
    text +=
        fmt::format("{:<12}{} grid {} block {} cluster {} shared {} bytes\n", "launch", launch.kernel,
                    triple(launch.grid), triple(launch.block), triple(launch.cluster), launch.shared_bytes);
    if (!explanation.architecture.empty())
      text += fmt::format("{:<12}{}\n", "  code", binary_text(launch.binary));
    if (!launch.binary.not_kept.empty())
      text += fmt::format("{:<12}{}\n", "  not kept", launch.binary.not_kept);
  }
  text += fmt::format("{:<12}{} bytes\n", "workspace", explanation.plan.workspace_bytes);
  return text + beside_text(explanation.beside);
}

std::string explain_json(const CaseExplanation& explanation) {
  nlohmann::ordered_json json;
  json["version"] = 1;
  json["op"] = explanation.plan.op;
  json["case"] = explanation.line;
  json["backend"] = explanation.backend;
  json["architecture"] = explanation.architecture;
  json["implementation"] = explanation.plan.implementation;
  json["refusals"] = nlohmann::ordered_json::array();
  for (const Explanation::Refusal& refusal : explanation.plan.refusals)
    json["refusals"].push_back({{"implementation", refusal.implementation}, {"reason", refusal.reason}});
  json["variant"] = object(explanation.plan.description.variant);
  json["parameters"] = object(explanation.plan.description.parameters);
  json["constants"] = object(explanation.plan.description.constants);
  if (!explanation.candidates.empty()) json["candidates"] = candidates_json(explanation.candidates);
  json["launches"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < explanation.plan.description.launches.size(); ++i) {
    const core::Launch& launch = explanation.plan.description.launches[i];
    const LaunchCode code = i < explanation.code.size() ? explanation.code[i] : LaunchCode();
    json["launches"].push_back({{"kernel", launch.kernel},
                                {"grid", launch.grid},
                                {"block", launch.block},
                                {"cluster", launch.cluster},
                                {"shared_bytes", launch.shared_bytes},
                                {"binary", binary_json(launch.binary, code)}});
  }
  json["workspace_bytes"] = explanation.plan.workspace_bytes;
  if (!explanation.beside.library.empty()) json["like"] = beside_json(explanation.beside);
  return json.dump(1) + "\n";
}

}  // namespace isomer::lab
