#include "lab/report/batch_report.hpp"

#include "lab/report/markup.hpp"
#include "lab/report/terminal.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace isomer::lab {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Count& count) {
  return {{"checked", count.passed + count.failed},
          {"passed", count.passed},
          {"failed", count.failed},
          {"errors", count.errors},
          {"seconds", count.seconds}};
}

std::vector<std::pair<std::string, std::size_t>> most_first(
    const std::map<std::string, std::size_t>& counts) {
  std::vector<std::pair<std::string, std::size_t>> list(counts.begin(), counts.end());
  std::stable_sort(list.begin(), list.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return list;
}

std::string dumped(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string named(const std::string& name) { return name.empty() ? "not known" : name; }

std::string pass_at_words(const Totals& totals, const std::string& author) {
  std::string text;
  if (const auto it = totals.pass_at.find(author); it != totals.pass_at.end())
    for (const PassAt& at : it->second)
      text += fmt::format("{}pass@{} {:.1f} % of {} {}", text.empty() ? "" : ", ", at.k, 100 * at.share,
                          at.tasks, at.tasks == 1 ? "task" : "tasks");
  return text;
}

void add_counts(Table& table, const std::map<std::string, Count>& counts) {
  for (const auto& [name, count] : counts)
    table.row({escape_terminal(named(name)), std::to_string(count.passed), std::to_string(count.failed),
               std::to_string(count.errors), fmt::format("{:.1f}", count.seconds)});
}

std::string listed(const char* title, const std::vector<Comparison::Change>& changes) {
  std::string text;
  for (const Comparison::Change& each : changes) {
    text += fmt::format("  {}: {} → {}", escape_terminal(each.folder + "/" + each.candidate), each.before,
                        each.after);
    for (const std::string& code : each.gone) text += Terminal::green(" −" + code);
    for (const std::string& code : each.come) text += Terminal::red(" +" + code);
    text += "\n";
  }
  return text.empty() ? "" : fmt::format("{} ({})\n{}", Terminal::bold(title), changes.size(), text);
}

Json json_of(const std::vector<Comparison::Change>& changes) {
  Json list = Json::array();
  for (const Comparison::Change& each : changes)
    list.push_back({{"folder", each.folder},
                    {"candidate", each.candidate},
                    {"before", each.before},
                    {"after", each.after},
                    {"gone", each.gone},
                    {"come", each.come}});
  return list;
}

}  // namespace

std::string totals_table(const Totals& totals) {
  std::string text;
  if (!totals.causes.empty()) {
    Table causes("lr");
    causes.row({Terminal::bold("finding"), Terminal::bold("candidates")});
    for (const auto& [code, count] : most_first(totals.causes)) causes.row({code, std::to_string(count)});
    text += causes.text() + "\n";
  }
  for (const auto& [title, counts] :
       {std::pair("op", &totals.by_op), std::pair("author", &totals.by_author)}) {
    if (counts->empty() || (counts->size() == 1 && counts->begin()->first.empty())) continue;
    Table table("lrrrr");
    table.row({Terminal::bold(title), "pass", "fail", "not judged", "seconds"});
    add_counts(table, *counts);
    text += table.text() + "\n";
  }
  for (const auto& [author, at] : totals.pass_at)
    text += fmt::format("{}{}\n", author.empty() ? "" : escape_terminal(author) + ": ",
                        pass_at_words(totals, author));
  return text + fmt::format("{} {}: {} pass, {} fail, {} could not be judged\n", totals.all.all(),
                            totals.all.all() == 1 ? "candidate" : "candidates", totals.all.passed,
                            totals.all.failed, totals.all.errors);
}

std::string totals_json(const Totals& totals) {
  Json json;
  json["version"] = 1;
  json["summary"] = json_of(totals.all);
  json["causes"] = Json::object();
  for (const auto& [code, count] : most_first(totals.causes)) json["causes"][code] = count;
  json["ops"] = Json::object();
  for (const auto& [op, count] : totals.by_op) json["ops"][op] = json_of(count);
  json["authors"] = Json::object();
  for (const auto& [author, count] : totals.by_author) {
    Json entry = json_of(count);
    entry["pass_at"] = Json::object();
    if (const auto it = totals.pass_at.find(author); it != totals.pass_at.end())
      for (const PassAt& at : it->second)
        entry["pass_at"][std::to_string(at.k)] = {{"share", at.share}, {"tasks", at.tasks}};
    json["authors"][author] = std::move(entry);
  }
  return dumped(json);
}

std::string totals_markdown(const Totals& totals) {
  std::string text = fmt::format("# Batch\n\n{} candidates: {} pass, {} fail, {} could not be judged.\n",
                                 totals.all.all(), totals.all.passed, totals.all.failed, totals.all.errors);
  if (!totals.causes.empty()) text += "\n| finding | candidates |\n|---|---:|\n";
  for (const auto& [code, count] : most_first(totals.causes))
    text += fmt::format("| `{}` | {} |\n", code, count);
  for (const auto& [title, counts] :
       {std::pair("op", &totals.by_op), std::pair("author", &totals.by_author)}) {
    text += fmt::format("\n| {} | pass | fail | not judged | seconds |\n|---|---:|---:|---:|---:|\n", title);
    for (const auto& [name, count] : *counts)
      text += fmt::format("| {} | {} | {} | {} | {:.1f} |\n", escape_markdown(named(name)), count.passed,
                          count.failed, count.errors, count.seconds);
  }
  text += "\n| author | k | pass@k | tasks |\n|---|---:|---:|---:|\n";
  for (const auto& [author, list] : totals.pass_at)
    for (const PassAt& at : list)
      text += fmt::format("| {} | {} | {:.3f} | {} |\n", escape_markdown(named(author)), at.k, at.share,
                          at.tasks);
  return text;
}

std::string comparison_table(const Comparison& c) {
  return listed("better", c.better) + listed("worse", c.worse) +
         listed("same verdict, other findings", c.other) +
         fmt::format(
             "{} better, {} worse, {} with other findings, {} the same; {} only in the first, {} only in the "
             "second\n",
             c.better.size(), c.worse.size(), c.other.size(), c.same, c.only_before, c.only_after);
}

std::string comparison_json(const Comparison& c) {
  Json json;
  json["version"] = 1;
  json["better"] = json_of(c.better);
  json["worse"] = json_of(c.worse);
  json["other"] = json_of(c.other);
  json["same"] = c.same;
  json["only_before"] = c.only_before;
  json["only_after"] = c.only_after;
  return dumped(json);
}

}  // namespace isomer::lab
