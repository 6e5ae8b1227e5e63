#include "lab/diff/metric_differences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace isomer::lab {
namespace {

/// A counter of the work that a kernel does, under ncu's or rocprofv3's raw name (a part of it) and under its
/// title on ncu's details page; by how much two runs of one kernel may differ, and the message with what it
/// means.
struct WorkMetric {
  std::string_view raw, title;
  double noise;
  const char* meaning;
};
constexpr WorkMetric kWork[] = {
    {"SQ_INSTS_VALU_MFMA", "SQ_INSTS_VALU_MFMA", 0.01, "metric_tensor"},
    {"SQ_INSTS_", "SQ_INSTS_", 0.01, "metric_instructions"},
    {"SQ_LDS_BANK_CONFLICT", "SQ_LDS_BANK_CONFLICT", 0.05, "metric_shared"},
    {"FETCH_SIZE", "FETCH_SIZE", 0.1, "metric_dram"},
    {"WRITE_SIZE", "WRITE_SIZE", 0.1, "metric_dram"},
    {"TCC_EA", "TCC_EA", 0.1, "metric_dram"},
    {"TCC_", "TCC_", 0.1, "metric_l2"},
    {"inst_executed.sum", "Executed Instructions", 0.01, "metric_instructions"},
    {"inst_issued.sum", "Issued Instructions", 0.02, "metric_instructions"},
    {"sass_inst_executed_op_local", "Local Memory", 0.01, "metric_local"},
    {"mem_local_op", "Local(", 0.01, "metric_local"},
    {"inst_executed_pipe_tensor", "Tensor", 0.01, "metric_tensor"},
    {"inst_executed_op_hgmma", "HGMMA", 0.01, "metric_tensor"},
    {"thread_inst_executed", "Thread Instructions Executed", 0.01, "metric_instructions"},
    {"sass_thread_inst_executed_op", "Thread Instructions", 0.01, "metric_instructions"},
    {"dram__bytes", "DRAM Bytes", 0.1, "metric_dram"},
    {"dram__sectors", "DRAM Sectors", 0.1, "metric_dram"},
    {"l1tex__t_sectors", "L1 Sectors", 0.05, "metric_l2"},
    {"lts__t_sectors", "L2 Sectors", 0.1, "metric_l2"},
    {"lts__t_bytes", "L2 Bytes", 0.1, "metric_l2"},
    {"bank_conflicts", "Bank Conflicts", 0.05, "metric_shared"},
    {"inst_executed_op_shared", "Shared Instructions", 0.01, "metric_instructions"},
    {"inst_executed_pipe", "Pipe Instructions", 0.01, "metric_instructions"},
    {"thread_inst_executed_per_inst_executed", "Avg. Active Threads Per Warp", 0.02, "metric_divergence"},
    {"launch__occupancy_limit", "Block Limit", 0.001, "metric_occupancy"},
    {"theoretical_occupancy", "Theoretical Occupancy", 0.001, "metric_occupancy"},
};

/// "name [unit]" without its unit.
std::string_view stem(std::string_view name) {
  const std::size_t bracket = name.rfind(" [");
  return bracket == std::string_view::npos ? name : name.substr(0, bracket);
}

const WorkMetric* work(std::string_view name) {
  const std::string_view plain = stem(name);
  // Rates and shares follow the clock.
  if (plain.find("per_second") != std::string_view::npos ||
      plain.find("pct_of_peak") != std::string_view::npos)
    return nullptr;
  for (const WorkMetric& each : kWork)
    if (plain.find(each.raw) != std::string_view::npos || plain.find(each.title) != std::string_view::npos)
      return &each;
  return nullptr;
}

std::string number_text(double value) {
  if (value == std::floor(value) && std::abs(value) < 1e15) return fmt::format("{:.0f}", value);
  return fmt::format("{:.4g}", value);
}

struct Ranked {
  double rank = 0;
  std::size_t place = 0;
  Difference difference;
};

void sort(std::vector<Ranked>& list) {
  std::stable_sort(list.begin(), list.end(), [](const Ranked& x, const Ranked& y) {
    return x.place != y.place ? x.place < y.place : x.rank > y.rank;
  });
}

}  // namespace

std::string meaning_of_metric(const std::string& name) {
  const WorkMetric* const known = work(name);
  return known == nullptr ? "" : known->meaning;
}

std::vector<Difference> metric_differences(const LaunchGroup& a, const LaunchGroup& b) {
  std::vector<Ranked> decide, beside;
  for (const auto& [name, in_a] : a.metrics) {
    const auto found = b.metrics.find(name);
    if (found == b.metrics.end()) continue;
    const double x = in_a.first / static_cast<double>(in_a.second),
                 y = found->second.first / static_cast<double>(found->second.second);
    if (x == y || !std::isfinite(x) || !std::isfinite(y)) continue;
    const double larger = std::max(std::abs(x), std::abs(y));
    const double apart = std::abs(x - y) / std::min(std::abs(x) > 0 ? std::abs(x) : larger,
                                                    std::abs(y) > 0 ? std::abs(y) : larger);
    const std::string change = x > 0 && y > 0 ? y >= 2 * x || x >= 2 * y
                                                    ? fmt::format(" (×{:.2f})", y / x)
                                                    : fmt::format(" ({:+.1f} %)", (y / x - 1) * 100)
                                              : "";
    const Difference difference{name, number_text(x), number_text(y) + change};
    // From nothing to something is as far as it goes.
    const double rank = x == 0 || y == 0 ? 1e9 : std::abs(std::log(std::abs(y / x)));
    constexpr double kFewEvents = 32;
    if (const WorkMetric* const known = work(name)) {
      const bool counts = name.find('%') == std::string::npos && larger > kFewEvents;
      if (apart > known->noise && (counts || known->noise < 0.01))
        decide.push_back({rank, static_cast<std::size_t>(known - kWork), difference});
    } else if (apart > 0.1 && (name.find('%') == std::string::npos || std::abs(x - y) > 5)) {
      beside.push_back({rank, 0, difference});
    }
  }
  // What changed by a factor is told before what changed by a little.
  for (Ranked& each : decide)
    if (each.rank < std::log(1.25)) each.place += std::size(kWork);
  sort(decide);
  sort(beside);
  constexpr std::size_t kMost = 10;
  std::vector<Difference> differences;
  if (decide.empty()) return differences;
  for (const std::vector<Ranked>* list : {&decide, &beside})
    for (const Ranked& each : *list)
      if (differences.size() < kMost) differences.push_back(each.difference);
  return differences;
}

}  // namespace isomer::lab
