#include "lab/report/difference_report.hpp"

#include "lab/diff/time_table.hpp"
#include "lab/report/terminal.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace isomer::lab {
namespace {

std::string cell(const std::string& value) { return value.empty() ? "–" : value; }

/// A kernel's name with what is behind it in brackets: "(sm_90a)", "(2 launches)".
std::string short_entry(const std::string& entry) {
  const std::size_t note = entry.ends_with(')') ? entry.rfind(" (") : std::string::npos;
  return note == std::string::npos ? short_name(entry)
                                   : short_name(entry.substr(0, note)) + entry.substr(note);
}

std::string one_side(const char* side, const std::string& source, const std::vector<std::string>& names,
                     const Messages& messages) {
  std::string text;
  if (names.empty()) return text;
  text += fmt::format("\n{} {}\n", Terminal::yellow(messages.say("only_in", {{"side", side}})),
                      Terminal::dim(source));
  for (const std::string& name : names) text += fmt::format("  {}\n", short_entry(name));
  return text;
}

/// Where the time went.
std::string times(const std::vector<TimeRow>& rows, const char* title, const char* column,
                  const Messages& messages) {
  constexpr std::size_t kRows = 20;
  if (rows.empty() || rows[0].delta_ns() == 0) return {};
  std::string text = "\n" + Terminal::yellow(messages.say(title)) + "\n";
  Table table("rrrrrrl");
  table.row({"  A", "B", "Δ", messages.say("column_share"), messages.say("column_cumulative"),
             messages.say("column_launches"), messages.say(column)});
  const std::size_t shown = std::min(rows.size(), kRows);
  for (std::size_t i = 0; i < shown; ++i) {
    const TimeRow& row = rows[i];
    const std::string launches = row.launches_a == row.launches_b
                                     ? std::to_string(row.launches_a)
                                     : fmt::format("{} → {}", row.launches_a, row.launches_b);
    table.row({"  " + (row.launches_a > 0 ? time_words(row.a_ns) : cell("")),
               row.launches_b > 0 ? time_words(row.b_ns) : cell(""), time_words(row.delta_ns(), true),
               fmt::format("{:.0f} %", row.share * 100), fmt::format("{:.0f} %", row.cumulative * 100),
               launches, row.name_b.empty() ? row.name : row.name + " → " + row.name_b});
  }
  text += table.text();
  double rest = 0;
  for (std::size_t i = shown; i < rows.size(); ++i) rest += rows[i].delta_ns();
  if (shown < rows.size())
    text += Terminal::dim("  " + messages.say("rows_left", {{"count", std::to_string(rows.size() - shown)},
                                                            {"time", time_words(rest, true)}})) +
            "\n";
  return text;
}

/// Two hashes that differ are as good as any other two.
std::string signature(const Pair& pair) {
  std::string text = word(pair.kind);
  for (const Difference& each : pair.differences)
    text += '\n' + each.name + (each.name == "code_hash" ? "" : '\t' + each.a + '\t' + each.b);
  return text;
}

std::string group_text(const std::vector<const Pair*>& group, const Messages& messages) {
  const Pair& pair = *group.front();
  const std::string kind = word(pair.kind);
  std::string text = fmt::format("\n{} {}\n", Terminal::yellow(kind), Terminal::bold(short_name(pair.a)));
  // Where only what was cut differs, the parameters below say it.
  if (short_name(pair.b) != short_name(pair.a))
    text += fmt::format("{} {}\n", std::string(kind.size(), ' '), Terminal::bold(short_name(pair.b)));
  Table table("lll");
  table.row({"  ", "A", "B"});
  for (const Difference& difference : pair.differences)
    table.row({"  " + difference.name, cell(difference.a), cell(difference.b)});
  text += table.text();
  if (group.size() > 1)
    text += Terminal::dim("  " + messages.say("more_alike", {{"count", std::to_string(group.size() - 1)}})) +
            "\n";
  return text;
}

}  // namespace

std::string difference_text(const DiffResult& result, const std::string& a, const std::string& b,
                            const Messages& messages) {
  std::string text =
      result.same() ? Terminal::green(messages.say("same")) : Terminal::red(messages.say("different"));
  text += "\n";
  for (const std::string& sentence : result.verdict) text += "  " + sentence + "\n";
  text += times(result.kernels, "time_of_kernels", "column_kernel", messages) +
          times(result.operators, "time_of_operators", "column_operator", messages) +
          one_side("A", a, result.only_a, messages) + one_side("B", b, result.only_b, messages);
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
  for (std::size_t i = 0; i < std::min(groups.size(), kShown); ++i) text += group_text(groups[i], messages);
  if (groups.size() > kShown)
    text += "\n" + messages.say("more_ways", {{"count", std::to_string(groups.size() - kShown)}}) + "\n";
  const auto same = result.pairs.size() - pairs.size();
  text += "\n" +
          messages.say(result.pairs.size() == 1 ? "pair" : "pairs",
                       {{"all", std::to_string(result.pairs.size())}, {"same", std::to_string(same)}}) +
          "\n";
  for (const std::string& note : result.notes)
    text += Terminal::dim(messages.say("note") + ": " + note) + "\n";
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
    if (pair.unknown.empty()) continue;
    nlohmann::ordered_json& unknown = json["pairs"].back()["unknown"];
    for (const Difference& each : pair.unknown)
      unknown.push_back({{"name", each.name}, {"a", each.a}, {"b", each.b}});
  }
  for (const auto& [name, rows] : {std::pair{"times", &result.kernels}, {"operators", &result.operators}}) {
    json[name] = nlohmann::ordered_json::array();
    for (const TimeRow& row : *rows) {
      json[name].push_back({{"name", row.name},
                            {"name_b", row.name_b},
                            {"launches_a", row.launches_a},
                            {"launches_b", row.launches_b},
                            {"a_ns", row.a_ns},
                            {"b_ns", row.b_ns},
                            {"share", row.share},
                            {"cumulative", row.cumulative}});
      if (rows != &result.operators) continue;
      json[name].back()["kernels_a"] = row.kernels_a;
      json[name].back()["kernels_b"] = row.kernels_b;
    }
  }
  json["layers"] = nlohmann::ordered_json::array();
  for (const LayerChange& change : result.layers)
    json["layers"].push_back({{"layers", change.where.layers},
                              {"of", change.where.of},
                              {"first", change.where.first},
                              {"launches", change.where.launches},
                              {"after", change.after},
                              {"before", change.before},
                              {"only_a", change.only_a},
                              {"only_b", change.only_b}});
  json["only_a"] = result.only_a;
  json["only_b"] = result.only_b;
  json["notes"] = result.notes;
  return json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace isomer::lab
