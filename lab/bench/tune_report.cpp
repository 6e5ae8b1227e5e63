#include "lab/bench/tune.hpp"
#include "lab/report/terminal.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace isomer::lab {
namespace {

std::string microseconds(double seconds) { return fmt::format("{:.1f} µs", seconds * 1e6); }

}  // namespace

std::string tune_table(const Tuning& tuning) {
  std::string text;
  for (const TunedCase& each : tuning.cases) {
    text += fmt::format("{}  {}\n", Terminal::bold(each.line), each.implementation);
    if (!each.skipped.empty()) {
      text += Terminal::dim("  skipped: " + each.skipped) + "\n";
      continue;
    }
    Table table("llrrrl");
    table.row({"", "candidate", "modelled", "median", "min … max", "output"});
    table.rule();
    for (std::size_t i = 0; i < each.candidates.size(); ++i) {
      const TimedCandidate& c = each.candidates[i];
      table.row({i == each.takes ? "*" : "", c.name, microseconds(c.modelled), microseconds(c.seconds.median),
                 microseconds(c.seconds.low) + " … " + microseconds(c.seconds.high), c.verified});
    }
    text += table.text();
  }
  return text + Terminal::dim(fmt::format("{}. * is what plans take where ISOMER_TUNED names the table.\n",
                                          tuning.device));
}

std::string tune_json(const Tuning& tuning) {
  nlohmann::ordered_json json = {
      {"version", 1}, {"device", tuning.device}, {"cases", nlohmann::ordered_json::array()}};
  for (const TunedCase& each : tuning.cases) {
    nlohmann::ordered_json one = {{"case", each.line},
                                  {"implementation", each.implementation},
                                  {"takes", nullptr},
                                  {"candidates", nlohmann::ordered_json::array()}};
    if (!each.skipped.empty())
      one["skipped"] = each.skipped;
    else
      one["takes"] = each.candidates[each.takes].name;
    for (const TimedCandidate& c : each.candidates)
      one["candidates"].push_back({{"name", c.name},
                                   {"modelled_seconds", c.modelled},
                                   {"seconds", {c.seconds.low, c.seconds.median, c.seconds.high}},
                                   {"verified", c.verified}});
    json["cases"].push_back(std::move(one));
  }
  return json.dump(1) + "\n";
}

}  // namespace isomer::lab
