#include "lab/report/check_report.hpp"

#include "lab/report/terminal.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>

namespace isomer::lab {
namespace {

struct Row {
  std::string op, implementation;
  int checked = 0, passed = 0, failed = 0, refused = 0;
  std::int64_t lenient = 0;
  double worst = 0, seconds = 0;
};

std::vector<Row> rows_of(const Suite& suite) {
  std::vector<Row> rows;
  for (const Outcome& outcome : suite.outcomes) {
    auto at = std::find_if(rows.begin(), rows.end(), [&](const Row& row) {
      return row.op == outcome.op && row.implementation == outcome.implementation;
    });
    if (at == rows.end()) at = rows.insert(rows.end(), Row{outcome.op, outcome.implementation});
    at->checked += outcome.status != Status::refused;
    at->passed += outcome.status == Status::passed;
    at->failed += outcome.status == Status::failed;
    at->refused += outcome.status == Status::refused;
    at->lenient += outcome.lenient;
    if (outcome.status == Status::passed) at->worst = std::max(at->worst, outcome.worst);
    at->seconds += outcome.seconds;
  }
  // The cases of one op come implementation by implementation.
  std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    const auto first = [&](const std::string& op) {
      return std::find_if(suite.outcomes.begin(), suite.outcomes.end(),
                          [&](const Outcome& o) { return o.op == op; });
    };
    return a.op != b.op && first(a.op) < first(b.op);
  });
  return rows;
}

/// A double that JSON has: infinities become large numbers, NaN null.
nlohmann::ordered_json number(double value) {
  if (std::isnan(value)) return nullptr;
  if (std::isinf(value)) return std::copysign(1e308, value);
  return value;
}

std::string escape_xml(std::string_view text) {
  std::string out;
  for (const char c : text) switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  return out;
}

}  // namespace

std::string check_table(const Suite& suite) {
  Table table("llrrrrrr");
  table.row({"op", "implementation", "cases", "passed", "failed", "refused", "error/bound", "time"});
  table.rule();
  for (const Row& row : rows_of(suite)) {
    table.row({row.op, row.implementation, std::to_string(row.checked),
               row.failed == 0 ? Terminal::green(std::to_string(row.passed)) : std::to_string(row.passed),
               row.failed > 0 ? Terminal::red(std::to_string(row.failed)) : "0", std::to_string(row.refused),
               row.worst > 0 ? fmt::format("{:.2f}", row.worst) : "exact",
               fmt::format("{:.2f} s", row.seconds)});
  }
  std::string text = table.text();
  std::vector<std::string> said;
  for (const Absent& absent : suite.absent) {
    std::string line = fmt::format("{}: {}", absent.implementation, absent.reason);
    if (std::find(said.begin(), said.end(), line) != said.end()) continue;
    text += Terminal::dim("not run  " + line) + "\n";
    said.push_back(std::move(line));
  }
  for (const Row& row : rows_of(suite))
    if (row.lenient > 0)
      text += fmt::format("{} {}: {} elements passed by the rule for approximate division\n", row.op,
                          row.implementation, row.lenient);
  // Failures first: refusals may be many.
  int shown = 0;
  for (const Status status : {Status::failed, Status::refused})
    for (const Outcome& outcome : suite.outcomes) {
      if (outcome.status != status || ++shown > 20) continue;
      const bool failed = status == Status::failed;
      text +=
          fmt::format("\n{} {}  {}\n  {}\n", failed ? Terminal::red("FAILED") : Terminal::yellow("refused"),
                      outcome.implementation, outcome.reason, outcome.line);
    }
  if (shown > 20) text += fmt::format("\n… and {} more\n", shown - 20);
  const int failed = suite.count(Status::failed), refused = suite.count(Status::refused);
  int taken = 0, all = 0;
  for (const Sampled& sampled : suite.sampled) {
    text +=
        Terminal::dim(fmt::format("sample   {}: {} of {} cases", sampled.op, sampled.cases, sampled.all)) +
        "\n";
    taken += sampled.cases;
    all += sampled.all;
  }
  const char* good = suite.sampled.empty() ? "all hold" : "the sample holds";
  const std::string verdict = suite.checked() == 0 ? Terminal::yellow("nothing was checked")
                              : failed > 0         ? Terminal::red(fmt::format("{} failed", failed))
                                                   : Terminal::green(good);
  if (!suite.sampled.empty()) text += fmt::format("\n{} of {} cases: a sample, not the whole", taken, all);
  text += fmt::format("\n{} checked, {} passed, {} failed, {} refused in {:.1f} s, seed {}: {}\n",
                      suite.checked(), suite.count(Status::passed), failed, refused, suite.seconds,
                      suite.seed, Terminal::bold(verdict));
  return text;
}

std::string check_json(const Suite& suite, const Coverage* coverage) {
  nlohmann::ordered_json json;
  json["version"] = 1;
  json["seed"] = suite.seed;
  json["summary"] = {{"checked", suite.checked()},
                     {"passed", suite.count(Status::passed)},
                     {"failed", suite.count(Status::failed)},
                     {"refused", suite.count(Status::refused)}};
  for (const Sampled& sampled : suite.sampled)
    json["sample"].push_back({{"op", sampled.op}, {"cases", sampled.cases}, {"of", sampled.all}});
  json["results"] = nlohmann::ordered_json::array();
  for (const Outcome& outcome : suite.outcomes)
    json["results"].push_back({{"op", outcome.op},
                               {"implementation", outcome.implementation},
                               {"case", outcome.line},
                               {"status", name_of(outcome.status)},
                               {"reason", outcome.reason},
                               {"max_abs", number(outcome.max_abs)},
                               {"max_rel", number(outcome.max_rel)},
                               {"tolerance", number(outcome.tolerance)},
                               {"lenient", outcome.lenient},
                               {"seconds", outcome.seconds}});
  json["absent"] = nlohmann::ordered_json::array();
  for (const Absent& absent : suite.absent)
    json["absent"].push_back(
        {{"op", absent.op}, {"implementation", absent.implementation}, {"reason", absent.reason}});
  if (coverage != nullptr) {
    auto& cover = json["coverage"];
    cover["holes"] = coverage->holes();
    cover["ops"] = nlohmann::ordered_json::array();
    for (const Coverage::Op& op : coverage->ops) {
      nlohmann::ordered_json entry;
      entry["op"] = op.op;
      for (const Coverage::Axis& axis : op.axes)
        for (const auto& [value, cases] : axis.cells) entry["axes"][axis.name][value] = cases;
      for (const Coverage::Pair& pair : op.pairs)
        entry["pairs"].push_back(
            {{"a", pair.a}, {"b", pair.b}, {"cases", pair.cases}, {"cannot_meet", pair.cannot_meet}});
      cover["ops"].push_back(std::move(entry));
    }
  }
  return json.dump(1) + "\n";
}

std::string check_junit(const Suite& suite) {
  std::map<std::string, std::vector<const Outcome*>> by_op;
  for (const Outcome& outcome : suite.outcomes) by_op[outcome.op].push_back(&outcome);
  std::string xml = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"{}\" failures=\"{}\" skipped=\"{}\" "
      "time=\"{:.3f}\">\n",
      suite.outcomes.size(), suite.count(Status::failed), suite.count(Status::refused), suite.seconds);
  for (const auto& [op, outcomes] : by_op) {
    // NOTES: clang before 16 lets no lambda capture a structured binding.
    const auto number = [&, &outcomes = outcomes](Status status) {
      return std::count_if(outcomes.begin(), outcomes.end(),
                           [&](const Outcome* o) { return o->status == status; });
    };
    xml += fmt::format(" <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" skipped=\"{}\">\n", op,
                       outcomes.size(), number(Status::failed), number(Status::refused));
    for (const Outcome* outcome : outcomes) {
      xml += fmt::format("  <testcase classname=\"{}.{}\" name=\"{}\" time=\"{:.6f}\"", op,
                         outcome->implementation, escape_xml(outcome->line), outcome->seconds);
      if (outcome->status == Status::passed)
        xml += "/>\n";
      else
        xml += fmt::format("><{0} message=\"{1}\"/></testcase>\n",
                           outcome->status == Status::failed ? "failure" : "skipped",
                           escape_xml(outcome->reason));
    }
    xml += " </testsuite>\n";
  }
  return xml + "</testsuites>\n";
}

std::string coverage_table(const Coverage& coverage) {
  std::string text;
  for (const Coverage::Op& op : coverage.ops) {
    text += "\n" + Terminal::bold(op.op) + "\n";
    for (const Coverage::Axis& axis : op.axes) {
      text += fmt::format("  {:<12}", axis.name);
      for (const auto& [value, cases] : axis.cells)
        text +=
            fmt::format(" {}", cases > 0 ? fmt::format("{}:{}", value, cases) : Terminal::red(value + ":0"));
      text += "\n";
    }
    int met = 0, impossible = 0;
    std::map<std::string, int> reasons;
    for (const Coverage::Pair& pair : op.pairs) {
      if (!pair.cannot_meet.empty()) {
        ++impossible;
        ++reasons[pair.cannot_meet];
      } else if (pair.cases > 0) {
        ++met;
      }
    }
    if (op.pairs.empty()) continue;
    text += fmt::format("  pairs of features: {} of {} that may meet do", met,
                        op.pairs.size() - static_cast<std::size_t>(impossible));
    text += fmt::format("; {} cannot\n", impossible);
    for (const auto& [reason, pairs] : reasons)
      text += Terminal::dim(fmt::format("    {:>3}  {}\n", pairs, reason));
  }
  const auto holes = coverage.holes();
  text += fmt::format("\n{} cells without a checked case\n", holes.size());
  for (const std::string& hole : holes) text += "  " + Terminal::red(hole) + "\n";
  return text;
}

}  // namespace isomer::lab
