#include "lab/diff/diff_verdict.hpp"

#include "core/sentence.hpp"
#include "lab/diff/metric_differences.hpp"
#include "lab/diff/time_table.hpp"
#include "lab/names/kernel_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace isomer::lab {
namespace {

constexpr std::size_t kNamed = 4, kLongestValue = 80;

bool names(const Pair& pair, std::string_view what) {
  return std::any_of(pair.differences.begin(), pair.differences.end(), [&](const Difference& difference) {
    return difference.name == what || difference.name.ends_with("." + std::string(what));
  });
}

std::string device_words(const SideTotals& side) {
  std::string text = side.device.empty() ? side.arch : side.device;
  std::string inside;
  if (side.multiprocessors > 0)
    inside = core::say(side.multiprocessors, side.arch.starts_with("gfx") ? " CUs" : " SMs");
  if (!side.arch.empty() && !side.device.empty()) inside += (inside.empty() ? "" : ", ") + side.arch;
  return inside.empty() ? text : text + " (" + inside + ")";
}

/// The name of a kernel without what follows its template's name: "kernel (2 launches)" keeps none of it.
std::string without_count(const std::string& name) {
  const std::size_t launches = name.rfind(" (");
  const bool counted = launches != std::string::npos && name.ends_with(" launches)");
  return counted ? name.substr(0, launches) : name;
}

std::string family_words(const std::string& name) {
  const std::string text = without_count(name);
  std::string family = parse_kernel_name(text).family;
  // Of a coded name, as cuBLAS's are, the stem alone says too little.
  constexpr std::size_t kCode = 60;
  if (family != text && text.find(family + "<") == std::string::npos) return short_name(text, kCode);
  // A function that is no template keeps its parameters in its name: a headline needs none.
  int depth = 0;
  for (std::size_t at = family.ends_with(')') ? family.size() : 0; at-- > 1;) {
    depth += family[at] == ')' ? 1 : family[at] == '(' ? -1 : 0;
    if (depth > 0) continue;
    if (family.compare(at, std::string::npos, "(anonymous namespace)") != 0) family.resize(at);
    break;
  }
  return short_name(family);
}

class Verdict {
 public:
  Verdict(const DiffResult& result, const Messages& messages) : result_(result), messages_(messages) {}

  std::vector<std::string> sentences() {
    incomplete("A", result_.totals_a);
    incomplete("B", result_.totals_b);
    where();
    const std::size_t before = sentences_.size();
    operators();
    steps_of_layers();
    only("only_a", "A", result_.only_a, &TimeRow::kernels_a, &TimeRow::kernels_b);
    only("only_b", "B", result_.only_b, &TimeRow::kernels_b, &TimeRow::kernels_a);
    releases();
    variants();
    number_of_layers();
    for (const Pair::Kind kind :
         {Pair::Kind::geometry, Pair::Kind::arguments, Pair::Kind::code, Pair::Kind::count})
      of_kind(kind, word(kind));
    if (const Pair* pair = first(Pair::Kind::metric)) {
      const std::string meaning = meaning_of_metric(pair->differences.front().name);
      say("metric", {{"kernel", family_words(pair->a)},
                     {"more", more(Pair::Kind::metric)},
                     {"differences", differences_of(*pair)},
                     {"meaning", meaning.empty() ? "" : messages_.say(meaning)}});
    }
    of_kind(Pair::Kind::time, machines_differ() ? "time_machines" : "time");
    if (sentences_.size() == before) say(result_.pairs.empty() ? "no_launch" : "all_same");
    return std::move(sentences_);
  }

 private:
  void say(std::string_view id, const Messages::Values& values = {}) {
    sentences_.push_back(messages_.say(id, values));
  }

  void incomplete(const char* side, const SideTotals& totals) {
    if (!totals.incomplete.empty()) say("incomplete", {{"side", side}, {"why", totals.incomplete}});
  }

  bool machines_differ() const {
    const SideTotals &a = result_.totals_a, &b = result_.totals_b;
    return other_architecture(a, b) || (!a.device.empty() && !b.device.empty() && a.device != b.device);
  }

  /// Devices, and the time of each side: what everything else is read with.
  void where() {
    const SideTotals &a = result_.totals_a, &b = result_.totals_b;
    std::string text;
    const auto add = [&](const std::string& more) { text += (text.empty() ? "" : " ") + more; };
    if (machines_differ())
      add(messages_.say(other_architecture(a, b) ? "machines_differ" : "devices_differ",
                        {{"a", device_words(a)}, {"b", device_words(b)}}));
    else if (!a.device.empty() && !b.device.empty())
      add(messages_.say("machine", {{"device", device_words(a)}}));
    if (a.timed > 0 && b.timed > 0) {
      const double change = a.total_ns > 0 ? (b.total_ns / a.total_ns - 1) * 100 : 0;
      add(messages_.say(
          "totals", {{"a", time_words(a.total_ns)},
                     {"b", time_words(b.total_ns)},
                     {"launches_a", launches(a.launches)},
                     {"launches_b", launches(b.launches)},
                     {"change", a.total_ns > 0 && std::abs(change) >= 0.05
                                    ? messages_.say("change", {{"percent", fmt::format("{:+.1f} %", change)}})
                                    : ""}}));
      constexpr double kWorthSaying = 3, kMost = 0.5;
      // Two machines run other kernels for one operator.
      const std::vector<TimeRow>& rows =
          machines_differ() && !result_.operators.empty() ? result_.operators : result_.kernels;
      if (std::abs(change) >= kWorthSaying && rows.size() > 1 && rows[0].share >= kMost) {
        const double delta = rows[0].delta_ns(), all = b.total_ns - a.total_ns;
        // What the other rows take back is no part of it.
        const bool part = delta * all > 0 && std::abs(delta) <= std::abs(all) * 1.0001;
        add(messages_.say(part ? "most_of_it" : "largest", {{"name", rows[0].name},
                                                            {"delta", time_words(delta, true)},
                                                            {"all", time_words(all, true)},
                                                            {"rest", time_words(all - delta, true)}}));
      }
    }
    if (!text.empty()) sentences_.push_back(text);
  }

  std::string launches(std::uint64_t count) const {
    return messages_.say(count == 1 ? "launch" : "launches", {{"count", std::to_string(count)}});
  }

  using KernelsOf = std::vector<std::string> TimeRow::*;

  /// "softmax", "2 kernels (transpose, gemm)": of an operator.
  std::string kernel_list(const std::vector<std::string>& kernels) const {
    constexpr std::size_t kListed = 3;
    std::string text;
    for (std::size_t i = 0; i < std::min(kernels.size(), kListed); ++i)
      text += (i > 0 ? ", " : "") + family_words(kernels[i]);
    if (kernels.size() == 1) return text;
    return messages_.say("kernel_list", {{"count", std::to_string(kernels.size())},
                                         {"names", text + (kernels.size() > kListed ? ", …" : "")}});
  }

  /// One operation that other kernels do on each side: what the profile itself says belongs together, however
  /// many kernels it is on each.
  void operators() {
    const TimeRow* first = nullptr;
    std::size_t others = 0;
    const auto alone = [](const std::vector<std::string>& only, const std::vector<std::string>& kernels) {
      return std::any_of(kernels.begin(), kernels.end(), [&](const std::string& kernel) {
        return std::any_of(only.begin(), only.end(),
                           [&](const std::string& each) { return without_count(each) == kernel; });
      });
    };
    for (const TimeRow& row : result_.operators) {
      if (row.kernels_a.empty() || row.kernels_b.empty() ||
          (!alone(result_.only_a, row.kernels_a) && !alone(result_.only_b, row.kernels_b)))
        continue;
      if (first == nullptr)
        first = &row;
      else
        ++others;
    }
    if (first == nullptr) return;
    say("operator_kernels",
        {{"operator", first->name},
         {"a", kernel_list(first->kernels_a)},
         {"b", kernel_list(first->kernels_b)},
         {"more", others == 0   ? std::string()
                  : others == 1 ? messages_.say("more_operator")
                                : messages_.say("more_operators", {{"count", std::to_string(others)}})}});
  }

  /// "in each of 32 layers (9 launches that repeat)"; empty where the launches repeat nothing.
  std::string layer_words(const LayerShare& where) const {
    if (where.of == 0) return "";
    const Messages::Values values{{"layers", std::to_string(where.layers)},
                                  {"of", std::to_string(where.of)},
                                  {"first", std::to_string(where.first)},
                                  {"launches", std::to_string(where.launches)}};
    return messages_.say(where.layers == where.of ? "in_each_layer"
                         : where.layers == 1      ? "in_layer"
                                                  : "in_layers",
                         values);
  }

  /// One step of a repeated layer that other kernels do on each side.
  void steps_of_layers() {
    const TimeRow* operation = nullptr;
    for (const LayerChange& change : result_.layers) {
      if (!change.replaces) continue;
      // The profile's own word for it is better than its place.
      for (const TimeRow& row : result_.operators)
        if (!row.kernels_b.empty() && std::find(row.kernels_a.begin(), row.kernels_a.end(),
                                                change.only_a.front()) != row.kernels_a.end())
          operation = &row;
      told_a_.insert(change.only_a.begin(), change.only_a.end());
      told_b_.insert(change.only_b.begin(), change.only_b.end());
      if (operation == nullptr)
        say("layer_step", {{"where", layer_words(change.where)},
                           {"after", family_words(change.after)},
                           {"before", family_words(change.before)},
                           {"a", kernel_list(change.only_a)},
                           {"b", kernel_list(change.only_b)}});
      operation = nullptr;
    }
  }

  void number_of_layers() {
    if (result_.repeated_launches > 0)
      say("layer_count", {{"launches", std::to_string(result_.repeated_launches)},
                          {"a", std::to_string(result_.repeated_a)},
                          {"b", std::to_string(result_.repeated_b)}});
  }

  /// Where in the layers all of these are launched, if one place has them all.
  std::string place_of(const std::vector<std::string>& kernels,
                       std::vector<std::string> LayerChange::*here) const {
    for (const LayerChange& change : result_.layers) {
      const std::vector<std::string>& there = change.*here;
      if (std::all_of(kernels.begin(), kernels.end(), [&](const std::string& each) {
            return std::find(there.begin(), there.end(), without_count(each)) != there.end();
          }))
        return layer_words(change.where) +
               messages_.say("layer_after", {{"after", family_words(change.after)}});
    }
    return "";
  }

  /// Kernels of one side whose operators the other side runs by other kernels are told above.
  void only(const std::string& id, const char* side, const std::vector<std::string>& all, KernelsOf here,
            KernelsOf there) {
    std::set<std::string> told, untold;
    for (const TimeRow& row : result_.operators)
      for (const std::string& kernel : row.*here) ((row.*there).empty() ? untold : told).insert(kernel);
    const bool is_a = here == &TimeRow::kernels_a;
    const std::set<std::string>& in_layers = is_a ? told_a_ : told_b_;
    std::vector<std::string> kernels;
    for (const std::string& each : all)
      if (in_layers.contains(without_count(each)))
        continue;
      else if (!told.contains(without_count(each)) || untold.contains(without_count(each)))
        kernels.push_back(each);
    if (kernels.empty()) return;
    const std::string first = family_words(kernels[0]);
    const Messages::Values values{
        {"count", std::to_string(kernels.size())},
        {"first", first},
        {"side", side},
        {"where", place_of(kernels, is_a ? &LayerChange::only_a : &LayerChange::only_b)}};
    const std::string which = other_architecture(result_.totals_a, result_.totals_b) ? "only_by_device" : id;
    say(kernels.size() == 1 ? which + "_one" : which, values);
  }

  /// "Is_causal is false in A and true in B; …" of one pair.
  std::string differences_of(const Pair& pair) const {
    std::string text;
    const auto side = [&](const std::string& value) {
      return value.empty() ? messages_.say("nothing") : short_name(value, kLongestValue);
    };
    for (std::size_t i = 0; i < std::min(pair.differences.size(), kNamed); ++i) {
      const Difference& each = pair.differences[i];
      text += (i > 0 ? "; " : "") +
              messages_.say("difference", {{"name", each.name}, {"a", side(each.a)}, {"b", side(each.b)}});
    }
    if (pair.differences.size() > kNamed)
      text += "; " + messages_.say("differences_more",
                                   {{"count", std::to_string(pair.differences.size() - kNamed)}});
    return text;
  }

  /// Whether one template takes another number of arguments on each side.
  static bool is_release(const Pair& pair) {
    if (pair.kind != Pair::Kind::variant) return false;
    const KernelName a = parse_kernel_name(pair.a), b = parse_kernel_name(pair.b);
    if (a.family != b.family || a.arity == b.arity) return false;
    for (std::size_t i = 0; i < std::min(a.arity.size(), b.arity.size()); ++i)
      if (a.templates[i] == b.templates[i] && a.arity[i] != b.arity[i] && !variadic(a.templates[i]))
        return true;
    return false;
  }

  /// Lists that take as many arguments as they hold.
  static bool variadic(const std::string& name) {
    for (const std::string_view each : {"tuple", "pack", "sequence", "variant", "TrivialOffsetCalculator"})
      if (name.ends_with(each)) return true;
    return false;
  }

  const Pair* first(Pair::Kind kind) const {
    const auto found = std::find_if(result_.pairs.begin(), result_.pairs.end(),
                                    [&](const Pair& pair) { return pair.kind == kind; });
    return found == result_.pairs.end() ? nullptr : &*found;
  }

  std::string more_of(std::size_t others) const {
    if (others == 0) return {};
    return messages_.say(others == 1 ? "more_pair" : "more_pairs", {{"count", std::to_string(others)}});
  }
  std::string more(Pair::Kind kind) const {
    return more_of(
        static_cast<std::size_t>(std::count_if(result_.pairs.begin(), result_.pairs.end(),
                                               [&](const Pair& pair) { return pair.kind == kind; })) -
        1);
  }

  /// Of templates that take another number of arguments.
  void releases() {
    std::vector<const Pair*> all;
    for (const Pair& pair : result_.pairs)
      if (is_release(pair)) all.push_back(&pair);
    if (all.empty()) return;
    std::set<std::string> added, removed;
    for (const Pair* pair : all) {
      const KernelName a = parse_kernel_name(pair->a), b = parse_kernel_name(pair->b);
      const auto lacks = [](const KernelName& name, const std::string& parameter) {
        return std::none_of(name.parameters.begin(), name.parameters.end(),
                            [&](const auto& each) { return each.first == parameter; });
      };
      for (const auto& [name, value] : b.parameters)
        if (name.find('#') == std::string::npos && lacks(a, name)) added.insert(name);
      for (const auto& [name, value] : a.parameters)
        if (name.find('#') == std::string::npos && lacks(b, name)) removed.insert(name);
    }
    const auto list = [](const std::set<std::string>& names) {
      std::string text;
      for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
      return text;
    };
    std::string what;
    if (!added.empty()) what = messages_.say("release_added", {{"names", list(added)}});
    if (!removed.empty())
      what += (what.empty() ? "" : "; ") + messages_.say("release_removed", {{"names", list(removed)}});
    if (what.empty()) {
      const auto arguments = [](const std::string& name) {
        std::string text;
        for (const std::size_t count : parse_kernel_name(name).arity)
          text += (text.empty() ? "" : "+") + std::to_string(count);
        return text;
      };
      what = messages_.say("release_count",
                           {{"a", arguments(all.front()->a)}, {"b", arguments(all.front()->b)}});
    }
    say("release",
        {{"kernel", family_words(all.front()->a)}, {"more", more_of(all.size() - 1)}, {"added", what}});
  }

  void variants() {
    std::vector<const Pair*> all;
    for (const Pair& pair : result_.pairs)
      if (pair.kind == Pair::Kind::variant && !is_release(pair)) all.push_back(&pair);
    if (all.empty()) return;
    say("variant", {{"kernel", family_words(all.front()->a)},
                    {"more", more_of(all.size() - 1)},
                    {"where", all.size() == 1 ? layer_words(all.front()->where) : ""},
                    {"differences", differences_of(*all.front())},
                    {"cause", cause(*all.front())}});
  }

  void of_kind(Pair::Kind kind, std::string_view id) {
    if (const Pair* pair = first(kind))
      say(id,
          {{"kernel", family_words(pair->a)}, {"more", more(kind)}, {"differences", differences_of(*pair)}});
  }

  /// What decides a compile-time parameter of the attention kernels that people compare.
  std::string cause(const Pair& pair) const {
    if (names(pair, "Varlen") || names(pair, "varlen")) {
      std::string text = messages_.say("cause_varlen");
      for (const Difference& each : pair.differences)
        for (const char* pointer : {"cu_seqlens_q", "cu_seqlens_k", "seqused_q", "seqused_k", "leftpad_k"})
          if (each.name == pointer)
            text += messages_.say("cause_pointer", {{"name", pointer}, {"a", each.a}, {"b", each.b}});
      return text;
    }
    if (names(pair, "Is_causal") || names(pair, "is_causal") || names(pair, "causal"))
      return messages_.say("cause_causal");
    if (names(pair, "ClusterShape") || names(pair, "cluster")) return messages_.say("cause_cluster");
    return "";
  }

  const DiffResult& result_;
  const Messages& messages_;
  std::vector<std::string> sentences_;
  std::set<std::string> told_a_, told_b_;  ///< kernels of one side that a step of the layers told of
};

}  // namespace

std::vector<std::string> verdict_of(const DiffResult& result, const Messages& messages) {
  return Verdict(result, messages).sentences();
}

}  // namespace isomer::lab
