#include "lab/report/trace_report.hpp"

#include "lab/report/terminal.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>

namespace isomer::lab {
namespace {

std::string nanoseconds(double value) {
  if (value >= 1e9) return fmt::format("{:.2f} s", value / 1e9);
  if (value >= 1e6) return fmt::format("{:.2f} ms", value / 1e6);
  return fmt::format("{:.2f} µs", value / 1e3);
}

/// The names that Isomer gives, after the kernel's.
std::string variant_text(const Launch& launch) {
  std::string text;
  for (const auto& [name, value] : launch.variant)
    if (name != "op") text += fmt::format(" {}={}", name, value);
  return text;
}

/// A name that a row of a terminal can hold.
std::string shortened(const std::string& name, std::size_t columns) {
  if (name.size() <= columns) return name;
  std::size_t cut = columns;
  while (cut > 0 && (static_cast<unsigned char>(name[cut]) & 0xC0) == 0x80) --cut;
  return name.substr(0, cut) + "…";
}

std::vector<const LaunchGroup*> by_time(const GroupedCapture& launches) {
  std::vector<const LaunchGroup*> order;
  for (const LaunchGroup& group : launches.groups) order.push_back(&group);
  std::stable_sort(order.begin(), order.end(), [](const LaunchGroup* a, const LaunchGroup* b) {
    return a->total_ns != b->total_ns ? a->total_ns > b->total_ns : a->count > b->count;
  });
  return order;
}

}  // namespace

std::string trace_text(const Traced& traced, const GroupedCapture& launches) {
  constexpr std::size_t kRows = 40, kName = 90;
  std::string text;
  const auto order = by_time(launches);
  if (!order.empty()) {
    Table table("rrrlll");
    table.row({"launches", "total", "median", "grid", "block", "kernel"});
    table.rule();
    for (std::size_t i = 0; i < std::min(order.size(), kRows); ++i) {
      const LaunchGroup& group = *order[i];
      const bool timed = group.timed > 0;
      table.row({std::to_string(group.count), timed ? nanoseconds(group.total_ns) : "–",
                 timed ? nanoseconds(group.median_ns()) : "–", triple_text(group.first.grid),
                 triple_text(group.first.block),
                 shortened(group.name.text + variant_text(group.first), kName)});
    }
    text += table.text();
    if (order.size() > kRows) text += Terminal::dim(fmt::format("and {} more", order.size() - kRows)) + "\n";
    text += "\n";
  }
  text += fmt::format("{} launches of {} kernels in {} process{}\n", launches.launches,
                      launches.groups.size(), traced.processes, traced.processes == 1 ? "" : "es");
  for (const std::string& sentence : traced.missing)
    text += fmt::format("{} {}\n", Terminal::yellow("not captured"), sentence);
  if (traced.signal != 0)
    text += fmt::format("the program was ended by signal {} ({})\n", traced.signal, strsignal(traced.signal));
  else if (traced.exit_status != 0)
    text += fmt::format("the program ended with status {}\n", traced.exit_status);
  return text;
}

std::string trace_json(const Traced& traced, const GroupedCapture& launches) {
  nlohmann::ordered_json json;
  json["version"] = 1;
  json["command"] = traced.about.command;
  json["exit_status"] = traced.signal == 0 ? nlohmann::ordered_json(traced.exit_status) : nullptr;
  json["signal"] = traced.signal != 0 ? nlohmann::ordered_json(traced.signal) : nullptr;
  json["processes"] = traced.processes;
  json["launches"] = launches.launches;
  json["complete"] = traced.about.complete;
  json["not_captured"] = traced.missing;
  json["facts"] = traced.about.facts;
  json["kernels"] = nlohmann::ordered_json::array();
  for (const LaunchGroup* group : by_time(launches)) {
    nlohmann::ordered_json kernel;
    kernel["kernel"] = group->name.text;
    kernel["family"] = group->name.family;
    kernel["launches"] = group->count;
    kernel["total_ns"] = group->timed > 0 ? nlohmann::ordered_json(group->total_ns) : nullptr;
    kernel["median_ns"] = group->timed > 0 ? nlohmann::ordered_json(group->median_ns()) : nullptr;
    kernel["grid"] = group->first.grid ? nlohmann::ordered_json(*group->first.grid) : nullptr;
    kernel["block"] = group->first.block ? nlohmann::ordered_json(*group->first.block) : nullptr;
    kernel["variant"] = group->first.variant;
    kernel["parameters"] = group->first.parameters;
    json["kernels"].push_back(std::move(kernel));
  }
  return json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace isomer::lab
