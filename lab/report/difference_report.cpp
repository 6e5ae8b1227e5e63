#include "lab/report/difference_report.hpp"

#include "lab/report/terminal.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

namespace isomer::lab {
namespace {

std::string cell(const std::string& value) { return value.empty() ? "–" : value; }

std::string one_side(const char* side, const std::string& source, const std::vector<std::string>& names) {
  std::string text;
  if (names.empty()) return text;
  text += fmt::format("\n{} {}\n", Terminal::yellow(fmt::format("only in {}", side)), Terminal::dim(source));
  for (const std::string& name : names) text += fmt::format("  {}\n", name);
  return text;
}

/// Two hashes that differ are as good as any other two.
std::string signature(const Pair& pair) {
  std::string text = word(pair.kind);
  for (const Difference& each : pair.differences)
    text += '\n' + each.name + (each.name == "code_hash" ? "" : '\t' + each.a + '\t' + each.b);
  return text;
}

std::string group_text(const std::vector<const Pair*>& group) {
  const Pair& pair = *group.front();
  const std::string kind = word(pair.kind);
  std::string text = fmt::format("\n{} {}\n", Terminal::yellow(kind), Terminal::bold(pair.a));
  if (pair.b != pair.a) text += fmt::format("{} {}\n", std::string(kind.size(), ' '), Terminal::bold(pair.b));
  Table table("lll");
  table.row({"  ", "A", "B"});
  for (const Difference& difference : pair.differences)
    table.row({"  " + difference.name, cell(difference.a), cell(difference.b)});
  text += table.text();
  if (group.size() > 1) text += Terminal::dim(fmt::format("  and {} more like it", group.size() - 1)) + "\n";
  return text;
}

}  // namespace

std::string difference_text(const DiffResult& result, const std::string& a, const std::string& b) {
  std::string text = result.same() ? Terminal::green("same") : Terminal::red("different");
  text += "\n";
  for (const std::string& sentence : result.verdict) text += "  " + sentence + "\n";
  text += one_side("A", a, result.only_a) + one_side("B", b, result.only_b);
  std::vector<const Pair*> pairs;
  for (const Pair& pair : result.pairs)
    if (pair.kind != Pair::Kind::same) pairs.push_back(&pair);
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const Pair* x, const Pair* y) { return x->kind < y->kind; });
  // Pairs that differ in the same way are one entry, by the order of their first.
  std::vector<std::vector<const Pair*>> groups;
  std::map<std::string, std::size_t> group_of;
  for (const Pair* pair : pairs) {
    const auto [at, is_new] = group_of.emplace(signature(*pair), groups.size());
    if (is_new) groups.emplace_back();
    groups[at->second].push_back(pair);
  }
  constexpr std::size_t kShown = 100;
  for (std::size_t i = 0; i < std::min(groups.size(), kShown); ++i) text += group_text(groups[i]);
  if (groups.size() > kShown)
    text += fmt::format("\n… and {} more ways to differ; --json has them all\n", groups.size() - kShown);
  const auto same = result.pairs.size() - pairs.size();
  text += fmt::format("\n{} pair{}, {} the same\n", result.pairs.size(), result.pairs.size() == 1 ? "" : "s",
                      same);
  for (const std::string& note : result.notes) text += Terminal::dim("note: " + note) + "\n";
  return text;
}

std::string difference_json(const DiffResult& result) {
  nlohmann::ordered_json json;
  json["version"] = 1;
  json["verdict"] = result.same() ? "same" : "different";
  json["sentences"] = result.verdict;
  json["pairs"] = nlohmann::ordered_json::array();
  for (const Pair& pair : result.pairs) {
    nlohmann::ordered_json differences = nlohmann::ordered_json::array();
    for (const Difference& difference : pair.differences)
      differences.push_back({{"name", difference.name}, {"a", difference.a}, {"b", difference.b}});
    json["pairs"].push_back(
        {{"kind", word(pair.kind)}, {"a", pair.a}, {"b", pair.b}, {"differences", std::move(differences)}});
  }
  json["only_a"] = result.only_a;
  json["only_b"] = result.only_b;
  json["notes"] = result.notes;
  return json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace isomer::lab
