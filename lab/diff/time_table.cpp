#include "lab/diff/time_table.hpp"

#include "lab/names/kernel_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <set>
#include <string_view>

namespace isomer::lab {
namespace {

std::string fact(const GroupedCapture& capture, const char* name) {
  const auto found = capture.about.facts.find(name);
  return found == capture.about.facts.end() ? "" : found->second;
}

/// Which names belong together: each name's row.
class Rows {
 public:
  std::size_t row_of(const std::string& name) {
    const auto [place, is_new] = rows_.emplace(name, parents_.size());
    if (is_new) parents_.push_back(place->second);
    return root(place->second);
  }
  void join(const std::string& a, const std::string& b) {
    const std::size_t x = row_of(a), y = row_of(b);
    parents_[std::max(x, y)] = std::min(x, y);
  }

 private:
  std::size_t root(std::size_t row) {
    while (parents_[row] != row) row = parents_[row] = parents_[parents_[row]];
    return row;
  }
  std::map<std::string, std::size_t> rows_;
  std::vector<std::size_t> parents_;
};

void order(std::vector<TimeRow>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const TimeRow& x, const TimeRow& y) {
    return std::abs(x.delta_ns()) != std::abs(y.delta_ns()) ? std::abs(x.delta_ns()) > std::abs(y.delta_ns())
                                                            : x.a_ns > y.a_ns;
  });
  double all = 0, sum = 0;
  for (const TimeRow& row : rows) all += std::abs(row.delta_ns());
  for (TimeRow& row : rows) {
    sum += std::abs(row.delta_ns());
    row.share = all > 0 ? std::abs(row.delta_ns()) / all : 0;
    row.cumulative = all > 0 ? sum / all : 0;
  }
}

bool timed(const GroupedCapture& capture) {
  return std::any_of(capture.groups.begin(), capture.groups.end(),
                     [](const LaunchGroup& group) { return group.timed > 0; });
}

}  // namespace

SideTotals totals_of(const GroupedCapture& capture) {
  SideTotals totals;
  totals.device = fact(capture, "device");
  totals.arch = fact(capture, "arch");
  const std::string count = fact(capture, "multiprocessors");
  std::from_chars(count.data(), count.data() + count.size(), totals.multiprocessors);
  totals.launches = capture.launches;
  for (const LaunchGroup& group : capture.groups) {
    totals.timed += group.timed;
    totals.total_ns += group.total_ns;
  }
  if (!capture.about.complete) totals.incomplete = capture.about.incomplete;
  return totals;
}

bool other_architecture(const SideTotals& a, const SideTotals& b) {
  // Of AMD's, a profile may tell the family only: "gfx94x" is any of it.
  const auto within = [](std::string_view arch, std::string_view family) {
    return family.ends_with('x') && arch.starts_with(family.substr(0, family.size() - 1));
  };
  if (!a.arch.empty() && !b.arch.empty())
    return a.arch != b.arch && !within(a.arch, b.arch) && !within(b.arch, a.arch);
  return !a.device.empty() && !b.device.empty() && a.device != b.device;
}

std::vector<TimeRow> kernel_times(
    const GroupedCapture& a, const GroupedCapture& b, const std::vector<LayerChange>& layers,
    const std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t>& pairs) {
  if (!timed(a) || !timed(b)) return {};
  Rows rows;
  for (const LaunchGroup& group : a.groups) rows.row_of(group.name.text);
  for (const LaunchGroup& group : b.groups) rows.row_of(group.name.text);
  for (const auto& [groups, count] : pairs)
    rows.join(a.groups[groups.first].name.text, b.groups[groups.second].name.text);
  for (const LayerChange& change : layers)
    if (change.replaces)
      for (const std::vector<std::string>* kernels : {&change.only_a, &change.only_b})
        for (const std::string& kernel : *kernels) rows.join(change.only_a.front(), kernel);
  struct Sums {
    TimeRow row;
    std::map<std::string, double> in_a, in_b;  ///< by name: the longest gives the row its name
  };
  std::map<std::size_t, Sums> sums;
  for (const LaunchGroup& group : a.groups) {
    Sums& of = sums[rows.row_of(group.name.text)];
    of.row.launches_a += group.count;
    of.row.a_ns += group.total_ns;
    of.in_a[group.name.text] += group.total_ns;
  }
  for (const LaunchGroup& group : b.groups) {
    Sums& of = sums[rows.row_of(group.name.text)];
    of.row.launches_b += group.count;
    of.row.b_ns += group.total_ns;
    of.in_b[group.name.text] += group.total_ns;
  }
  const auto longest = [](const std::map<std::string, double>& names) {
    const auto found = std::max_element(names.begin(), names.end(),
                                        [](const auto& x, const auto& y) { return x.second < y.second; });
    return found == names.end() ? std::string() : found->first;
  };
  std::vector<TimeRow> result;
  for (auto& [root, of] : sums) {
    const std::string in_a = longest(of.in_a), in_b = longest(of.in_b);
    of.row.name = short_name(in_a.empty() ? in_b : in_a);
    if (!in_a.empty() && !in_b.empty() && short_name(in_b) != of.row.name) of.row.name_b = short_name(in_b);
    result.push_back(std::move(of.row));
  }
  order(result);
  return result;
}

namespace {

/// What an operator launches, most launched first.
std::vector<std::string> kernels_of(const GroupedCapture& side, const OperatorTime& of) {
  std::map<std::string, std::uint64_t> counts;
  for (const auto& [group, count] : of.groups) counts[side.groups[group].name.text] += count;
  std::vector<std::string> names;
  for (const auto& [name, count] : counts) names.push_back(name);
  std::stable_sort(names.begin(), names.end(),
                   [&](const std::string& x, const std::string& y) { return counts.at(x) > counts.at(y); });
  return names;
}

}  // namespace

std::vector<TimeRow> operator_times(const GroupedCapture& a, const GroupedCapture& b) {
  if (a.operators.empty() || b.operators.empty()) return {};
  std::set<std::string> names;
  for (const auto& [name, of] : a.operators) names.insert(name);
  for (const auto& [name, of] : b.operators) names.insert(name);
  const auto of = [](const GroupedCapture& side, const std::string& name) {
    const auto found = side.operators.find(name);
    return found == side.operators.end() ? OperatorTime() : found->second;
  };
  std::vector<TimeRow> result;
  for (const std::string& name : names) {
    const OperatorTime in_a = of(a, name), in_b = of(b, name);
    TimeRow row;
    row.name = name;
    row.launches_a = in_a.launches;
    row.launches_b = in_b.launches;
    row.a_ns = in_a.total_ns;
    row.b_ns = in_b.total_ns;
    row.kernels_a = kernels_of(a, in_a);
    row.kernels_b = kernels_of(b, in_b);
    result.push_back(std::move(row));
  }
  order(result);
  return result;
}

std::string short_name(const std::string& name, std::size_t columns) {
  if (name.size() <= columns) return name;
  // A kernel inside of a wrapper is called by its own name.
  const std::string family = parse_kernel_name(name).family;
  if (!family.empty() && family.size() + 3 <= columns && !name.starts_with(family) &&
      name.find(family + "<") != std::string::npos)
    return family + "<…>";
  const std::size_t open = name.find('<', name.starts_with('<') ? 1 : 0);
  std::string text = name;
  // A long family keeps its end, which says more than its outer namespaces.
  if (open == std::string::npos || open + 4 > columns) {
    text = name.substr(0, open);
    static constexpr std::string_view kAnonymous = "(anonymous namespace)";
    for (std::size_t list = text.find('(', 1); list != std::string::npos; list = text.find('(', list + 1))
      if (text.compare(list, kAnonymous.size(), kAnonymous) != 0) {
        text.resize(list);
        break;
      }
    while (text.size() > columns) {
      const std::size_t colons = text.find("::");
      if (colons == std::string::npos || colons + 2 >= text.size()) break;
      text.erase(0, colons + 2);
    }
    if (text.size() <= columns) return text;
  }
  std::size_t cut = columns - 4;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) --cut;
  return text.substr(0, cut) + (open != std::string::npos && open < cut ? "…>" : "…");
}

std::string time_words(double nanoseconds, bool delta) {
  const double size = std::abs(nanoseconds);
  const char* const sign = !delta ? "" : nanoseconds < 0 ? "-" : "+";
  if (size >= 1e9) return fmt::format("{}{:.2f} s", sign, size / 1e9);
  if (size >= 1e6) return fmt::format("{}{:.2f} ms", sign, size / 1e6);
  return fmt::format("{}{:.2f} µs", sign, size / 1e3);
}

}  // namespace isomer::lab
