#include "lab/diff/pair_differences.hpp"

#include "core/sentence.hpp"
#include "lab/diff/argument_words.hpp"
#include "lab/diff/metric_differences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace isomer::lab {
namespace {

using Named = std::vector<std::pair<std::string, std::string>>;
using Differences = std::vector<Difference>;

void add(Differences& to, const std::string& name, const std::string& a, const std::string& b) {
  if (a != b) to.push_back({name, a, b});
}

template <class Number>
void add(Differences& to, const std::string& name, const std::optional<Number>& a,
         const std::optional<Number>& b) {
  if (a && b && *a != *b) to.push_back({name, std::to_string(*a), std::to_string(*b)});
}

/// In the order of A's names, B's own after them.
Differences named_differences(const Named& a, const Named& b) {
  Differences differences;
  const std::map<std::string, std::string> in_a(a.begin(), a.end()), in_b(b.begin(), b.end());
  for (const auto& [name, value] : a) {
    const auto other = in_b.find(name);
    add(differences, name, value, other == in_b.end() ? "" : other->second);
  }
  for (const auto& [name, value] : b)
    if (!in_a.contains(name)) add(differences, name, "", value);
  return differences;
}

Differences named_differences(const std::map<std::string, std::string>& a,
                              const std::map<std::string, std::string>& b) {
  return named_differences(Named(a.begin(), a.end()), Named(b.begin(), b.end()));
}

Differences geometry_differences(const Launch& a, const Launch& b, const Tells& known) {
  Differences differences;
  // Decided for each launch: what one of the two does not tell is no difference.
  if (a.grid && b.grid) add(differences, "grid", triple_text(a.grid), triple_text(b.grid));
  if (a.block && b.block) add(differences, "block", triple_text(a.block), triple_text(b.block));
  if (known.cluster && (known.absence || (a.cluster && b.cluster)))
    add(differences, "cluster", cluster_text(a), cluster_text(b));
  if (known.shared) add(differences, "shared_dynamic", a.shared_dynamic, b.shared_dynamic);
  if (known.attributes) {
    const auto yes = [](bool value) { return value ? "yes" : "no"; };
    add(differences, "cooperative", yes(a.cooperative), yes(b.cooperative));
    add(differences, "programmatic stream serialization", yes(a.programmatic), yes(b.programmatic));
  }
  if (known.graph) add(differences, "in a graph", a.graph_node ? "yes" : "no", b.graph_node ? "yes" : "no");
  return differences;
}

Differences code_differences(const Launch& a, const Launch& b) {
  Differences differences;
  if (!a.code_hash.empty() && !b.code_hash.empty())
    add(differences, "machine code", a.code_hash.substr(0, 16), b.code_hash.substr(0, 16));
  add(differences, "registers", a.registers, b.registers);
  add(differences, "scalar_registers", a.scalar_registers, b.scalar_registers);
  add(differences, "shared_static", a.shared_static, b.shared_static);
  add(differences, "local_bytes", a.local_bytes, b.local_bytes);
  return differences;
}

std::string time_text(const LaunchGroup& group) {
  const double median = group.median_ns();
  return fmt::format("{:.2f} µs ± {:.2f} of {}", median / 1e3, group.spread_ns() / 1e3, group.timed);
}

/// Slower or faster than the noise of both explains. One launch has no noise that could be known.
Differences time_differences(const LaunchGroup& a, const LaunchGroup& b) {
  constexpr std::uint64_t kFewest = 3;
  if (a.timed < kFewest || b.timed < kFewest) return {};
  constexpr double kErrors = 3, kShare = 0.03, kClock = 500;
  constexpr double kOfMedian = 1.2533;  // a median's standard error over a mean's
  const double in_a = a.median_ns(), in_b = b.median_ns();
  const double error = std::hypot(a.spread_ns() / std::sqrt(static_cast<double>(a.timed)),
                                  b.spread_ns() / std::sqrt(static_cast<double>(b.timed)));
  const double bound = std::max({kErrors * kOfMedian * error, kShare * std::min(in_a, in_b), kClock});
  if (std::abs(in_a - in_b) <= bound) return {};
  return {
      {"time", time_text(a), core::say(time_text(b), fmt::format(", {:+.1f} %", (in_b / in_a - 1) * 100))}};
}

}  // namespace

Tells tells(const GroupedCapture& capture) {
  Tells known;
  for (const LaunchGroup& group : capture.groups) {
    known.grid |= group.first.grid.has_value();
    known.block |= group.first.block.has_value();
    known.shared |= group.first.shared_dynamic.has_value();
    known.variant |= !group.first.variant.empty();
    known.graph |= group.first.graph_node.has_value();
    known.cluster |= group.first.cluster.has_value();
  }
  const std::string& kind = capture.about.kind;
  // A source that would tell of them tells their absence too.
  known.graph |= kind == "isomer" || kind == "nsys";
  known.cluster |= kind == "isomer" || kind == "explain";
  known.absence = kind == "isomer" || kind == "explain" || kind == "nsys";
  known.attributes = kind == "isomer";
  return known;
}

Tells both(const Tells& a, const Tells& b) {
  return {a.grid && b.grid,       a.block && b.block,     a.cluster && b.cluster,
          a.shared && b.shared,   a.graph && b.graph,     a.attributes && b.attributes,
          a.variant && b.variant, a.absence && b.absence, a.code && b.code};
}

std::string cluster_text(const Launch& launch) {
  if (!launch.cluster || (*launch.cluster)[0] == 0) return "1x1x1";
  return triple_text(launch.cluster);
}

std::vector<Difference> variant_differences(const LaunchGroup& a, const LaunchGroup& b, bool variant_known) {
  Differences differences;
  if (a.name.text != b.name.text) {
    if (a.name.family == b.name.family) differences = named_differences(a.name.parameters, b.name.parameters);
    if (differences.empty()) differences.push_back({"kernel", a.name.text, b.name.text});
    // What follows from a difference that is listed already is no other one.
    std::set<std::pair<std::string, std::string>> listed;
    for (const Difference& difference : differences) listed.emplace(difference.a, difference.b);
    for (Difference& derived : named_differences(a.name.derived, b.name.derived)) {
      const bool named = std::any_of(differences.begin(), differences.end(),
                                     [&](const Difference& each) { return each.name == derived.name; });
      if (!named && !listed.contains({derived.a, derived.b})) differences.push_back(std::move(derived));
    }
  }
  if (variant_known)
    for (Difference& difference : named_differences(a.first.variant, b.first.variant))
      differences.push_back(std::move(difference));
  return differences;
}

Pair compare_groups(const LaunchGroup& a, const LaunchGroup& b, const Tells& known,
                    const ParameterLayouts& layouts, std::vector<std::string>& notes) {
  Pair pair;
  pair.a = a.name.text;
  pair.b = b.name.text;
  const auto take = [&pair](Pair::Kind kind, Differences&& differences) {
    if (differences.empty()) return;
    if (pair.kind == Pair::Kind::same) pair.kind = kind;
    for (Difference& difference : differences) pair.differences.push_back(std::move(difference));
  };
  take(Pair::Kind::variant, variant_differences(a, b, known.variant));
  const bool one_kernel = pair.kind == Pair::Kind::same;
  take(Pair::Kind::geometry, geometry_differences(a.first, b.first, known));
  if (!a.first.parameters.empty() && !b.first.parameters.empty())
    take(Pair::Kind::arguments, named_differences(a.first.parameters, b.first.parameters));
  ArgumentDifferences arguments = compare_arguments(a, b, layouts);
  if (arguments.masked > 0)
    notes.push_back(core::say(a.name.text, ": ", arguments.masked,
                              " bytes of its arguments vary from launch to launch and were not compared"));
  if (arguments.once && !arguments.differences.empty())
    notes.push_back(core::say(a.name.text,
                              ": launched only once on one side, so padding between its arguments cannot be "
                              "told from values; launch it twice to tell them apart"));
  if (!arguments.unknown.empty())
    notes.push_back(core::say(a.name.text, ": ", arguments.unknown.size(),
                              " words of a struct differ whose fields no table names: they may be padding or "
                              "values, and decide nothing; tools/parameter_layout.py makes a table from the "
                              "kernel's headers"));
  pair.unknown = std::move(arguments.unknown);
  take(Pair::Kind::arguments, std::move(arguments.differences));
  if (one_kernel && known.code) take(Pair::Kind::code, code_differences(a.first, b.first));
  if (known.code) take(Pair::Kind::metric, metric_differences(a, b));
  take(Pair::Kind::time, time_differences(a, b));
  return pair;
}

}  // namespace isomer::lab
