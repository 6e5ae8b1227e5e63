#include "lab/diff/diff_captures.hpp"

#include "core/sentence.hpp"
#include "lab/diff/alignment.hpp"
#include "lab/diff/diff_verdict.hpp"
#include "lab/diff/pair_differences.hpp"
#include "lab/diff/repeated_layers.hpp"
#include "lab/diff/time_table.hpp"

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <set>
#include <unordered_map>

namespace isomer::lab {
namespace {

/// What makes two launches the same launch, as far as both sources tell.
std::string token_of(const LaunchGroup& group, const Tells& known) {
  const Launch& launch = group.first;
  std::string token = group.name.text;
  if (known.grid) token += "\n" + triple_text(launch.grid);
  if (known.block) token += "\n" + triple_text(launch.block);
  if (known.cluster) token += "\n" + cluster_text(launch);
  if (known.shared) token += "\n" + std::to_string(launch.shared_dynamic.value_or(0));
  if (known.graph) token += launch.graph_node ? "\ngraph" : "\n-";
  if (known.variant)
    for (const auto& [name, value] : launch.variant) token += "\n" + name + "=" + value;
  return token;
}

/// ncu names a kernel without its namespaces, and true and false as numbers.
GroupedCapture without_namespaces(const GroupedCapture& capture) {
  GroupedCapture plain = capture;
  for (LaunchGroup& group : plain.groups) {
    std::string text;
    std::size_t word = 0;  // begin of the identifier that is being written
    const auto end_word = [&] {
      const std::string identifier = text.substr(word);
      if (identifier == "true" || identifier == "false")
        text.replace(word, identifier.size(), identifier == "true" ? "1" : "0");
    };
    const std::string& name = group.name.text;
    for (std::size_t i = 0; i < name.size(); ++i) {
      const char c = name[i];
      if (name.compare(i, 23, "(anonymous namespace)::") == 0) {
        i += 22;
      } else if (c == ':' && i + 1 < name.size() && name[i + 1] == ':') {
        text.resize(word);
        ++i;
      } else if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
        text += c;
      } else {
        end_word();
        text += c;
        word = text.size();
      }
    }
    end_word();
    group.name = parse_kernel_name(text);
  }
  return plain;
}

std::set<std::string> names_of(const GroupedCapture& capture) {
  std::set<std::string> names;
  for (const LaunchGroup& group : capture.groups) names.insert(group.name.text);
  return names;
}

/// A kernel of which the other side has none of that name is called without the numbers of its closures: one
/// more of them in a function numbers all behind it anew.
bool is_renumbered(const LaunchGroup& group, const std::set<std::string>& others) {
  return group.name.plain != group.name.text && !others.contains(group.name.text);
}

bool any_renumbered(const GroupedCapture& capture, const std::set<std::string>& others) {
  return std::any_of(capture.groups.begin(), capture.groups.end(),
                     [&](const LaunchGroup& group) { return is_renumbered(group, others); });
}

GroupedCapture without_closure_numbers(const GroupedCapture& capture, const std::set<std::string>& others) {
  GroupedCapture plain = capture;
  for (LaunchGroup& group : plain.groups)
    if (is_renumbered(group, others)) group.name = parse_kernel_name(group.name.plain);
  return plain;
}

using Counts = std::map<std::uint32_t, std::uint64_t>;  ///< group → launches

class CaptureDiff {
 public:
  CaptureDiff(const GroupedCapture& a, const GroupedCapture& b, const ParameterLayouts& layouts)
      : a_(a), b_(b), layouts_(layouts), known_(both(tells(a), tells(b))) {
    result_.totals_a = totals_of(a);
    result_.totals_b = totals_of(b);
    known_.code = !other_architecture(result_.totals_a, result_.totals_b);
  }

  DiffResult run() {
    number_tokens();
    match_in_order();
    // What no gap pairs: moved elsewhere, or launched another number of times, or on one side alone.
    pair_rest([](const LaunchGroup& group, std::uint32_t token) { return std::to_string(token); });
    pair_rest([](const LaunchGroup& group, std::uint32_t) { return group.name.text; });
    find_counts();
    pair_rest([](const LaunchGroup& group, std::uint32_t) { return group.name.family; });
    find_counts_by_name();
    make_pairs();
    name_the_rest();
    find_replaced();
    result_.kernels = kernel_times(a_, b_, result_.layers, pairs_);
    result_.operators = operator_times(a_, b_);
    note_sources();
    result_.verdict = verdict_of(result_);
    return std::move(result_);
  }

 private:
  using KeyOf = std::function<std::string(const LaunchGroup&, std::uint32_t token)>;

  void number_tokens() {
    std::unordered_map<std::string, std::uint32_t> numbers;
    const auto number = [&](const GroupedCapture& side, std::vector<std::uint32_t>& tokens) {
      for (const LaunchGroup& group : side.groups)
        tokens.push_back(numbers.emplace(token_of(group, known_), static_cast<std::uint32_t>(numbers.size()))
                             .first->second);
    };
    number(a_, tokens_a_);
    number(b_, tokens_b_);
  }

  static std::vector<std::uint32_t> tokens(const GroupedCapture& side, const std::vector<std::uint32_t>& of) {
    std::vector<std::uint32_t> all(side.sequence.size());
    std::transform(side.sequence.begin(), side.sequence.end(), all.begin(),
                   [&](std::uint32_t group) { return of[group]; });
    return all;
  }

  void match_in_order() {
    const std::vector<std::uint32_t> in_a = tokens(a_, tokens_a_), in_b = tokens(b_, tokens_b_);
    const RepeatedLayers layers_a = RepeatedLayers::of(in_a), layers_b = RepeatedLayers::of(in_b);
    const Alignment alignment = align_by_layers(in_a, layers_a, in_b, layers_b);
    if (!alignment.by_order)
      result_.notes.push_back(
          "the order of launches differs so much that it was not compared: launches are paired by "
          "name and geometry");
    if (const std::size_t a = layers_a.layers_of_each_run(), b = layers_b.layers_of_each_run();
        a != b && a > 0 && b > 0 && same_layer(in_a, layers_a, in_b, layers_b)) {
      result_.repeated_a = a;
      result_.repeated_b = b;
      result_.repeated_launches = layers_a.launches();
    }
    const LayersOfSide side{layers_a.empty() ? layers_b : layers_a, layers_a.empty()};
    std::size_t at_a = 0, at_b = 0;
    for (const Gap& gap : alignment.gaps) {
      for (; at_a < gap.a_begin; ++at_a, ++at_b) ++pairs_[{a_.sequence[at_a], b_.sequence[at_b]}];
      compare_gap(gap, alignment.by_order, side);
      at_a = gap.a_end;
      at_b = gap.b_end;
    }
    for (; at_a < a_.sequence.size(); ++at_a, ++at_b) ++pairs_[{a_.sequence[at_a], b_.sequence[at_b]}];
    tell_layers(side.layers);
  }

  /// The layers by which places are told: A's, or B's where A has none.
  struct LayersOfSide {
    const RepeatedLayers& layers;
    bool are_of_b;
    /// None of a gap that is longer than a layer.
    std::optional<std::size_t> of(const Gap& gap) const {
      const std::size_t begin = are_of_b ? gap.b_begin : gap.a_begin, end = are_of_b ? gap.b_end : gap.a_end;
      const auto layer = layers.layer_of(begin);
      return end > begin && layers.layer_of(end - 1) != layer ? std::nullopt : layer;
    }
  };

  void compare_gap(const Gap& gap, bool by_order, const LayersOfSide& side) {
    Counts in_a, in_b;
    for (std::size_t i = gap.a_begin; i < gap.a_end; ++i) ++in_a[a_.sequence[i]];
    for (std::size_t i = gap.b_begin; i < gap.b_end; ++i) ++in_b[b_.sequence[i]];
    const std::optional<std::size_t> layer = by_order ? side.of(gap) : std::nullopt;
    if (by_order) {
      paired_ = {};
      pair(in_a, in_b, [](const LaunchGroup& group, std::uint32_t) { return group.name.text; });
      pair(in_a, in_b, [](const LaunchGroup& group, std::uint32_t) { return group.name.family; });
      if (layer)
        for (const auto& groups : paired_) layers_of_pair_[groups].insert(*layer);
    }
    constexpr std::size_t kLongestChange = 64;
    if (layer && (!in_a.empty() || !in_b.empty()) && gap.a_begin > 0 && gap.a_end < a_.sequence.size() &&
        gap.a_end - gap.a_begin <= kLongestChange && gap.b_end - gap.b_begin <= kLongestChange) {
      PlaceInLayer place{a_.sequence[gap.a_begin - 1], a_.sequence[gap.a_end], {}, {}};
      left_in_order(a_, gap.a_begin, gap.a_end, in_a, place.only_a);
      left_in_order(b_, gap.b_begin, gap.b_end, in_b, place.only_b);
      layers_of_place_[place].insert(*layer);
    }
    for (const auto& [group, count] : in_a) rest_a_[group] += count;
    for (const auto& [group, count] : in_b) rest_b_[group] += count;
  }

  static void left_in_order(const GroupedCapture& side, std::size_t begin, std::size_t end, Counts left,
                            std::vector<std::uint32_t>& into) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto found = left.find(side.sequence[i]);
      if (found == left.end() || found->second == 0) continue;
      --found->second;
      into.push_back(side.sequence[i]);
    }
  }

  static LayerShare share_of(const RepeatedLayers& layers, const std::set<std::size_t>& which) {
    const RepeatedLayers::Share share = layers.share(which);
    return {share.layers, share.of, share.first, layers.launches()};
  }

  void tell_layers(const RepeatedLayers& layers) {
    for (const auto& [groups, which] : layers_of_pair_) share_of_pair_[groups] = share_of(layers, which);
    for (const auto& [place, which] : layers_of_place_) {
      LayerChange change{share_of(layers, which),
                         a_.groups[place.after].name.text,
                         a_.groups[place.before].name.text,
                         {},
                         {}};
      for (const std::uint32_t group : place.only_a) change.only_a.push_back(a_.groups[group].name.text);
      for (const std::uint32_t group : place.only_b) change.only_b.push_back(b_.groups[group].name.text);
      result_.layers.push_back(std::move(change));
    }
    std::stable_sort(
        result_.layers.begin(), result_.layers.end(),
        [](const LayerChange& x, const LayerChange& y) { return x.where.layers > y.where.layers; });
  }

  /// Pairs groups of one key with one another, most like first: as many launches as both sides have.
  void pair(Counts& in_a, Counts& in_b, const KeyOf& key) {
    std::map<std::string, std::vector<std::uint32_t>> by_key;
    for (const auto& [group, count] : in_b) by_key[key(b_.groups[group], tokens_b_[group])].push_back(group);
    for (auto& [group, count] : in_a) {
      const auto found = by_key.find(key(a_.groups[group], tokens_a_[group]));
      if (found == by_key.end()) continue;
      auto others = found->second;
      // Of very many any is as good.
      constexpr std::size_t kMostWeighed = 64;
      if (others.size() <= kMostWeighed)
        std::stable_sort(others.begin(), others.end(), [&, mine = group](std::uint32_t x, std::uint32_t y) {
          return distance(mine, x) < distance(mine, y);
        });
      for (const std::uint32_t other : others) {
        const auto there = in_b.find(other);
        const std::uint64_t both = there == in_b.end() ? 0 : std::min(count, there->second);
        if (both == 0) continue;
        pairs_[{group, other}] += both;
        paired_.push_back({group, other});
        count -= both;
        there->second -= both;
      }
    }
    std::erase_if(in_a, [](const auto& entry) { return entry.second == 0; });
    std::erase_if(in_b, [](const auto& entry) { return entry.second == 0; });
  }

  std::size_t distance(std::uint32_t a, std::uint32_t b) const {
    const LaunchGroup& left = a_.groups[a];
    const LaunchGroup& right = b_.groups[b];
    std::size_t far = variant_differences(left, right, known_.variant).size() * 8;
    far += triple_text(left.first.grid) != triple_text(right.first.grid) ? 1 : 0;
    far += triple_text(left.first.block) != triple_text(right.first.block) ? 1 : 0;
    far += left.first.parameters != right.first.parameters ? 1 : 0;
    return far;
  }

  void pair_rest(const KeyOf& key) { pair(rest_a_, rest_b_, key); }

  /// A launch that is left over, of a token that was paired, is one time more on its side.
  void find_counts() {
    std::set<std::uint32_t> paired;
    for (const auto& [pair, count] : pairs_)
      if (tokens_a_[pair.first] == tokens_b_[pair.second]) paired.insert(tokens_a_[pair.first]);
    const auto move = [&](Counts& rest, const std::vector<std::uint32_t>& tokens) {
      for (auto& [group, count] : rest)
        if (paired.contains(tokens[group])) {
          recount_.insert(tokens[group]);
          count = 0;
        }
      std::erase_if(rest, [](const auto& entry) { return entry.second == 0; });
    };
    move(rest_a_, tokens_a_);
    move(rest_b_, tokens_b_);
  }

  /// And so is one whose kernel was paired, launched otherwise.
  void find_counts_by_name() {
    std::map<std::string, std::uint32_t> paired;
    for (const auto& [pair, count] : pairs_)
      if (a_.groups[pair.first].name.text == b_.groups[pair.second].name.text)
        paired.emplace(a_.groups[pair.first].name.text, pair.first);
    const auto move = [&](Counts& rest, const GroupedCapture& side) {
      for (auto& [group, count] : rest)
        if (const auto found = paired.find(side.groups[group].name.text); found != paired.end()) {
          recount_by_name_.insert(found->second);
          count = 0;
        }
      std::erase_if(rest, [](const auto& entry) { return entry.second == 0; });
    };
    move(rest_a_, a_);
    move(rest_b_, b_);
  }

  static std::uint64_t total_of_name(const GroupedCapture& side, const std::string& name) {
    std::uint64_t count = 0;
    for (const LaunchGroup& group : side.groups)
      if (group.name.text == name) count += group.count;
    return count;
  }

  static std::uint64_t total(const GroupedCapture& side, const std::vector<std::uint32_t>& tokens,
                             std::uint32_t of) {
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < tokens.size(); ++i)
      if (tokens[i] == of) count += side.groups[i].count;
    return count;
  }

  /// Before the times, behind what says more.
  void add_counts(Pair& pair, std::uint64_t a, std::uint64_t b) const {
    // A plan tells what one call launches, not how often it is called.
    if (a == b || a_.about.kind == "explain" || b_.about.kind == "explain") return;
    const bool behind = pair.kind != Pair::Kind::same && pair.kind != Pair::Kind::time;
    if (!behind) pair.kind = Pair::Kind::count;
    pair.differences.insert(behind ? pair.differences.end() : pair.differences.begin(),
                            {"launches", std::to_string(a), std::to_string(b)});
  }

  void make_pairs() {
    std::map<std::uint32_t, bool> counted;
    for (const auto& [groups, count] : pairs_) {
      Pair pair =
          compare_groups(a_.groups[groups.first], b_.groups[groups.second], known_, layouts_, result_.notes);
      if (const auto share = share_of_pair_.find(groups); share != share_of_pair_.end())
        pair.where = share->second;
      const std::uint32_t token = tokens_a_[groups.first];
      const std::string& name = a_.groups[groups.first].name.text;
      if (recount_.contains(token) && token == tokens_b_[groups.second] && !counted[token]) {
        counted[token] = true;
        add_counts(pair, total(a_, tokens_a_, token), total(b_, tokens_b_, token));
      } else if (recount_by_name_.contains(groups.first) && name == b_.groups[groups.second].name.text) {
        recount_by_name_.erase(groups.first);
        add_counts(pair, total_of_name(a_, name), total_of_name(b_, name));
      }
      result_.pairs.push_back(std::move(pair));
    }
  }

  void name_the_rest() {
    const auto name = [](const GroupedCapture& side, const Counts& rest, std::vector<std::string>& names) {
      std::map<std::string, std::uint64_t> by_name;
      for (const auto& [group, count] : rest) by_name[side.groups[group].name.text] += count;
      for (const auto& [text, count] : by_name)
        names.push_back(count == 1 ? text : core::say(text, " (", count, " launches)"));
    };
    name(a_, rest_a_, result_.only_a);
    name(b_, rest_b_, result_.only_b);
  }

  /// The evidence that kernels of one side are those of the other.
  void find_replaced() {
    constexpr std::size_t kFewestLayers = 3;
    const auto alone = [](const GroupedCapture& side, const Counts& rest, const std::string& name) {
      return std::any_of(rest.begin(), rest.end(),
                         [&](const auto& each) { return side.groups[each.first].name.text == name; });
    };
    for (LayerChange& change : result_.layers)
      change.replaces = change.where.layers >= kFewestLayers && !change.only_a.empty() &&
                        !change.only_b.empty() &&
                        std::all_of(change.only_a.begin(), change.only_a.end(),
                                    [&](const std::string& name) { return alone(a_, rest_a_, name); }) &&
                        std::all_of(change.only_b.begin(), change.only_b.end(),
                                    [&](const std::string& name) { return alone(b_, rest_b_, name); });
  }

  void note_sources() {
    const auto side = [&](const char* name, const GroupedCapture& capture) {
      if (!capture.about.complete)
        result_.notes.push_back(core::say(name, " is incomplete: ", capture.about.incomplete));
      for (const auto& [key, value] : capture.about.facts)
        if (key.starts_with("note ")) result_.notes.push_back(core::say(name, ": ", value));
    };
    side("A", a_);
    side("B", b_);
    std::string missing;
    const auto compared = [&](bool is, const char* what) {
      if (!is) missing += (missing.empty() ? "" : ", ") + std::string(what);
    };
    compared(known_.grid && known_.block, "grid and block");
    compared(known_.cluster, "clusters");
    compared(known_.shared, "dynamic shared memory");
    const auto any = [](const GroupedCapture& capture, auto has) {
      return std::any_of(capture.groups.begin(), capture.groups.end(),
                         [&](const LaunchGroup& group) { return has(group.first); });
    };
    const auto arguments = [](const Launch& launch) {
      return launch.arguments_known || !launch.parameters.empty();
    };
    const auto code = [](const Launch& launch) { return !launch.code_hash.empty(); };
    compared(any(a_, arguments) && any(b_, arguments), "arguments");
    compared(any(a_, code) && any(b_, code), "machine code");
    if (!known_.code)
      result_.notes.push_back(
          "machine code, registers and memory are not compared, because the architectures differ");
    if (!missing.empty() && !a_.groups.empty() && !b_.groups.empty())
      result_.notes.push_back(core::say("not compared, because at least one source lacks it: ", missing));
    std::sort(result_.notes.begin(), result_.notes.end());
    result_.notes.erase(std::unique(result_.notes.begin(), result_.notes.end()), result_.notes.end());
  }

  const GroupedCapture& a_;
  const GroupedCapture& b_;
  const ParameterLayouts& layouts_;
  Tells known_;
  std::vector<std::uint32_t> tokens_a_, tokens_b_;  ///< of each group
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> pairs_;
  Counts rest_a_, rest_b_;
  /// A place in the layers: the groups of A around it, and what each side alone launches there.
  struct PlaceInLayer {
    std::uint32_t after, before;
    std::vector<std::uint32_t> only_a, only_b;
    auto operator<=>(const PlaceInLayer&) const = default;
  };
  std::vector<std::pair<std::uint32_t, std::uint32_t>> paired_;  ///< in the gap that is looked at
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::set<std::size_t>> layers_of_pair_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, LayerShare> share_of_pair_;
  std::map<PlaceInLayer, std::set<std::size_t>> layers_of_place_;
  std::set<std::uint32_t> recount_;          ///< tokens
  std::set<std::uint32_t> recount_by_name_;  ///< groups of A
  DiffResult result_;
};

}  // namespace

void add_build_options(DiffResult& result, const std::vector<Difference>& options) {
  for (Pair& pair : result.pairs)
    if (std::any_of(pair.differences.begin(), pair.differences.end(),
                    [](const Difference& difference) { return difference.name == "machine code"; }))
      pair.differences.insert(pair.differences.end(), options.begin(), options.end());
  result.verdict = verdict_of(result);
}

DiffResult diff_captures(const GroupedCapture& a, const GroupedCapture& b, const ParameterLayouts& layouts) {
  if (a.about.kind != "ncu" && b.about.kind != "ncu") {
    const std::set<std::string> in_a = names_of(a), in_b = names_of(b);
    if (!any_renumbered(a, in_b) || !any_renumbered(b, in_a)) return CaptureDiff(a, b, layouts).run();
    const GroupedCapture plain_a = without_closure_numbers(a, in_b),
                         plain_b = without_closure_numbers(b, in_a);
    return CaptureDiff(plain_a, plain_b, layouts).run();
  }
  const GroupedCapture plain_a = without_namespaces(a), plain_b = without_namespaces(b);
  return CaptureDiff(plain_a, plain_b, layouts).run();
}

}  // namespace isomer::lab
