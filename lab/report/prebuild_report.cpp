#include "lab/report/prebuild_report.hpp"

#include "lab/report/terminal.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <algorithm>

namespace isomer::lab {
namespace {

/// What the vendor does not say is no number.
std::string cell(std::int64_t value) { return value < 0 ? "–" : std::to_string(value); }

nlohmann::ordered_json known_number(std::int64_t value) {
  if (value < 0) return nullptr;
  return value;
}

}  // namespace

int Prebuild::failed() const {
  return static_cast<int>(
      std::count_if(built.begin(), built.end(), [](const Built& each) { return !each.failure.empty(); }));
}

int Prebuild::spilling() const {
  return static_cast<int>(
      std::count_if(built.begin(), built.end(), [](const Built& each) { return each.spills(); }));
}

int Prebuild::falling_short() const {
  return static_cast<int>(
      std::count_if(built.begin(), built.end(), [](const Built& each) { return each.falls_short(); }));
}

std::string prebuild_table(const Prebuild& result, bool tell_refused) {
  std::string text;
  if (!result.built.empty()) {
    Table table("llrrrrr");
    table.row({"arch", "program", "registers", "spills", "shared", "image", "time"});
    table.rule();
    for (const Built& built : result.built) {
      const std::string& architecture = built.wanted.backend.facts->architecture;
      const std::string program = built.wanted.program.text();
      if (!built.failure.empty()) {
        table.row({architecture, program, "", "", "", Terminal::red("FAILED"), ""});
        continue;
      }
      const std::string spills = cell(built.resources.spill_bytes);
      table.row({architecture, program, cell(built.resources.registers),
                 built.spills() ? Terminal::red(spills) : spills, cell(built.resources.shared_bytes),
                 std::to_string(built.image_bytes), fmt::format("{:.2f} s", built.seconds)});
    }
    text += table.text();
    text += Terminal::dim("registers per thread; spills, shared memory and images in bytes") + "\n";
  }
  for (const Built& built : result.built) {
    if (!built.failure.empty())
      text += fmt::format("\n{} {}\n  {}\n", Terminal::red("FAILED"), built.failure, built.wanted.line);
    if (built.spills())
      text += fmt::format("\n{} {} for {} spills {} bytes of a thread\n  {}\n", Terminal::yellow("spills"),
                          built.wanted.program.text(), built.wanted.backend.facts->architecture,
                          built.resources.spill_bytes, built.wanted.line);
    if (built.resources.serialized)
      text += fmt::format("\n{} {} for {}: its warpgroups' products wait for one another\n  {}\n",
                          Terminal::yellow("serialized"), built.wanted.program.text(),
                          built.wanted.backend.facts->architecture, built.wanted.line);
  }
  if (tell_refused)
    for (const Refused& refused : result.programs.refused)
      text += fmt::format("\n{} {} for {}: {}\n  {}\n", Terminal::yellow("refused"), refused.implementation,
                          refused.architecture, refused.reason, refused.line);
  text += fmt::format(
      "\n{} programs of {} plans: {} compiled into {} in {:.1f} s, {} failed, {} spill{}{}\n",
      result.built.size(), result.programs.planned,
      result.built.size() - static_cast<std::size_t>(result.failed()), result.folder, result.seconds,
      result.failed(), result.spilling(),
      result.programs.refused.empty() ? "" : fmt::format("; {} refusals", result.programs.refused.size()),
      result.programs.left_out == 0
          ? ""
          : fmt::format("; this is a sample: {} more programs were not compiled", result.programs.left_out));
  return text;
}

std::string prebuild_json(const Prebuild& result) {
  nlohmann::ordered_json json;
  json["version"] = 1;
  json["folder"] = result.folder;
  json["summary"] = {{"planned", result.programs.planned},
                     {"programs", result.built.size()},
                     {"failed", result.failed()},
                     {"spilling", result.spilling()},
                     {"refused", result.programs.refused.size()},
                     {"seconds", result.seconds}};
  if (result.programs.left_out > 0) json["summary"]["left_out"] = result.programs.left_out;
  json["programs"] = nlohmann::ordered_json::array();
  for (const Built& built : result.built) {
    nlohmann::ordered_json variant = nlohmann::ordered_json::object();
    for (const auto& [name, value] : built.wanted.program.variant) variant[name] = value;
    json["programs"].push_back({{"architecture", built.wanted.backend.facts->architecture},
                                {"kernel", built.wanted.program.kernel},
                                {"variant", std::move(variant)},
                                {"op", built.wanted.op},
                                {"implementation", built.wanted.implementation},
                                {"case", built.wanted.line},
                                {"registers", known_number(built.resources.registers)},
                                {"spill_bytes", known_number(built.resources.spill_bytes)},
                                {"shared_bytes", known_number(built.resources.shared_bytes)},
                                {"serialized", built.resources.serialized},
                                {"image_bytes", built.image_bytes},
                                {"seconds", built.seconds},
                                {"compiler", built.compiler},
                                {"hash", built.hash},
                                {"failure", built.failure}});
  }
  json["refused"] = nlohmann::ordered_json::array();
  for (const Refused& refused : result.programs.refused)
    json["refused"].push_back({{"architecture", refused.architecture},
                               {"implementation", refused.implementation},
                               {"case", refused.line},
                               {"reason", refused.reason}});
  return json.dump(1) + "\n";
}

}  // namespace isomer::lab
