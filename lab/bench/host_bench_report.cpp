#include "lab/bench/host_bench.hpp"
#include "lab/report/terminal.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace isomer::lab {

std::string host_bench_table(const HostBench& bench) {
  const auto micro = [](double seconds) { return fmt::format("{:.2f} µs", seconds * 1e6); };
  Table table("llrrr");
  table.row({"case", "implementation", "planning", "call", "by a Plan"});
  table.rule();
  for (const HostCost& c : bench.costs)
    table.row({c.line, c.implementation, micro(c.planning), micro(c.call), micro(c.plan)});
  return table.text() +
         fmt::format(
             "\n{}, {} thread{}. The least of many batches of 50 calls; a call and a Plan compute too, "
             "planning happens once for a form of call.\n",
             to_string(bench.device), bench.threads, bench.threads == 1 ? "" : "s");
}

std::string host_bench_json(const HostBench& bench) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const HostCost& c : bench.costs)
    list.push_back({{"case", c.line},
                    {"implementation", c.implementation},
                    {"planning_seconds", c.planning},
                    {"call_seconds", c.call},
                    {"plan_seconds", c.plan}});
  return nlohmann::ordered_json{{"version", 1}, {"threads", bench.threads}, {"host", list}}.dump(2) + "\n";
}

}  // namespace isomer::lab
