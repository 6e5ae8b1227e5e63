#include "recording.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace isomer::recordings {
namespace {

constexpr const char* kSuffix = ".safetensors";

Rule rule_of(const nlohmann::json& text) {
  const std::string kind = text.at("rule");
  if (kind == "exact") return {Rule::Kind::exact};
  if (kind == "ulp") return {Rule::Kind::ulp, text.at("max")};
  if (kind == "step") return {Rule::Kind::step, text.at("ulp")};
  if (kind == "scaled") return {Rule::Kind::scaled, text.at("max")};
  if (kind == "tolerance" && text.contains("c")) return {Rule::Kind::tolerance, text.at("c"), true};
  if (kind == "tolerance") return {Rule::Kind::tolerance, text.at("factor")};
  throw std::runtime_error("unknown rule " + kind);
}

}  // namespace

std::string folder() { return std::string(ISOMER_TEST_DATA) + "/recordings"; }

std::vector<std::string> names() {
  std::vector<std::string> list;
  std::error_code missing;
  for (const auto& entry : std::filesystem::directory_iterator(folder(), missing))
    if (entry.path().extension() == kSuffix) list.push_back(entry.path().stem());
  std::sort(list.begin(), list.end());
  return list;
}

std::vector<std::string> listed_names() {
  std::vector<std::string> list;
  std::ifstream file(folder() + "/README.md");
  bool table = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("| bundle |")) table = true;
    if (!table || !line.starts_with("| ") || line.starts_with("| bundle |")) continue;
    const std::string cell = line.substr(2, line.find(" |") - 2);
    list.push_back(cell.substr(cell.rfind(' ') + 1));
  }
  std::sort(list.begin(), list.end());
  return list;
}

Recording read(const std::string& name) {
  const Bundle bundle = load(folder() + "/" + name + kSuffix);
  const auto& metadata = bundle.metadata();
  const auto json = [&](const char* key) { return nlohmann::json::parse(metadata.at(key)); };
  if (metadata.at("format") != "isomer-recording 1")
    throw std::runtime_error(name + ": unknown format " + metadata.at("format"));
  const nlohmann::json rules = json("compare");
  Recording recording{.name = name,
                      .bundle = bundle,
                      .op = metadata.at("op"),
                      .options = json("options"),
                      .inputs = json("inputs"),
                      .outputs = json("outputs"),
                      .rules = {},
                      .variations = json("variations"),
                      .exact_under = json("exact_under"),
                      .departures = json("departures"),
                      .undefined = metadata.at("dagger") == "yes"};
  for (const auto& [output, rule] : rules.items()) recording.rules[output] = rule_of(rule);
  return recording;
}

}  // namespace isomer::recordings
