#include "lab/report/candidate_report.hpp"

#include "lab/report/markup.hpp"
#include "lab/report/terminal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>

namespace isomer::lab {
namespace {

std::vector<std::string> codes_of(const Diagnosis& diagnosis) {
  std::vector<std::string> codes;
  for (const Finding& finding : diagnosis.findings) {
    const std::string code = said_against(finding);
    if (finding.subject == Subject::candidate && !is_remark(finding) &&
        std::find(codes.begin(), codes.end(), code) == codes.end())
      codes.push_back(code);
  }
  return codes;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string place_of(const Finding& finding) {
  if (finding.location.file.empty()) return {};
  const std::string name = finding.location.file.substr(finding.location.file.rfind('/') + 1);
  return finding.location.line > 0 ? fmt::format("{}:{}", name, finding.location.line) : name;
}

/// Three lines of the source round a place, the one that is meant marked and a caret below its text.
std::string source_lines(const SourcePlace& place) {
  std::ifstream file(place.file);
  std::string text, line;
  for (int number = 1; place.line > 0 && number <= place.line + 1 && std::getline(file, line); ++number) {
    if (number < place.line - 1) continue;
    constexpr std::size_t kWidth = 110;
    std::replace(line.begin(), line.end(), '\t', ' ');
    const std::size_t begin = line.find_first_not_of(' ');
    const std::string shown = escape_terminal(line.size() > kWidth ? line.substr(0, kWidth) + "…" : line);
    text += Terminal::dim(fmt::format("      {:>5} | ", number)) + shown + "\n";
    if (number == place.line && begin != std::string::npos)
      text += Terminal::dim(fmt::format("      {:>5} | ", "")) + std::string(std::min(begin, kWidth), ' ') +
              Terminal::green("^") + "\n";
  }
  return text;
}

std::string coloured(const std::string& verdict) {
  if (verdict == "pass") return Terminal::green(verdict);
  return verdict == "fail" ? Terminal::red(verdict) : Terminal::yellow(verdict);
}

std::string title_of(const Diagnosis& d) {
  return d.folder.empty() ? d.candidate : fmt::format("{}/{}", d.folder, d.candidate);
}

/// "rows, with m=256, k=16": the function that was called, and its numbers.
std::string call_of(const Diagnosis& d) {
  return d.called_with.empty() ? d.entry : fmt::format("{}, with {}", d.entry, d.called_with);
}

std::string mending_line(const Diagnosis& before, const Diagnosis& after) {
  const Mended m = mended(before, after);
  std::string text = fmt::format("against {}: ", before.candidate);
  text += m.mended.empty() ? "nothing fixed" : "fixed " + joined(m.mended);
  if (!m.left.empty()) text += "; remaining " + joined(m.left);
  if (!m.added.empty()) text += "; new " + joined(m.added);
  return text;
}

/// "rounding-mode K (proved): evidence. Fix: … (candidate.hip.cpp:27)"
std::string junit_line(const Finding& finding) {
  const std::string place = place_of(finding);
  return fmt::format("{} ({}): {}. Fix: {}{}\n", said_against(finding), name_of(finding.strength),
                     finding.evidence, finding.fix, place.empty() ? "" : " (" + place + ")");
}

}  // namespace

bool follows(const Diagnosis& a, const Diagnosis& b) {
  return !a.folder.empty() && a.folder == b.folder && a.error.empty() && b.error.empty();
}

std::map<std::string, int> counted(const std::vector<Diagnosis>& diagnoses) {
  std::map<std::string, int> counts = {{"pass", 0}, {"fail", 0}, {"error", 0}};
  for (const Diagnosis& d : diagnoses) ++counts[d.verdict()];
  return counts;
}

Mended mended(const Diagnosis& before, const Diagnosis& after) {
  Mended result;
  const std::vector<std::string> old = codes_of(before), now = codes_of(after);
  for (const std::string& code : old)
    (std::find(now.begin(), now.end(), code) == now.end() ? result.mended : result.left).push_back(code);
  for (const std::string& code : now)
    if (std::find(old.begin(), old.end(), code) == old.end()) result.added.push_back(code);
  return result;
}

std::string candidates_table(const std::vector<Diagnosis>& diagnoses) {
  std::string text;
  for (std::size_t i = 0; i < diagnoses.size(); ++i) {
    const Diagnosis& d = diagnoses[i];
    const std::string device = d.backend == "emulated" ? "" : ", on " + d.backend;
    text += fmt::format(
        "{}{}  {}{}\n", i > 0 ? "\n" : "", Terminal::bold(escape_terminal(title_of(d))),
        coloured(d.verdict()),
        d.op.empty() ? d.entry.empty()
                           ? ""
                           : Terminal::dim(fmt::format("  no known op, called as {}{}", call_of(d), device))
                     : Terminal::dim(fmt::format(
                           "  op {}{}{}", d.op, d.entry.empty() ? "" : ", called as " + call_of(d), device)));
    if (!d.error.empty()) text += fmt::format("  {}\n", escape_terminal(d.error));
    const auto stage = [](const char* name, Stage s) {
      const std::string word = fmt::format("{} {}", name, name_of(s));
      return s == Stage::failed   ? Terminal::red(word)
             : s == Stage::passed ? Terminal::green(word)
                                  : Terminal::dim(word);
    };
    if (d.error.empty())
      text += fmt::format("  {} · {} · {} · {} {} in {:.1f} s\n", stage("compile", d.compile),
                          stage("call", d.call), stage("exec", d.exec), d.calls,
                          d.calls == 1 ? "call" : "calls", d.seconds);
    int number = 0;
    for (const Finding& finding : d.findings) {
      const std::string whose =
          finding.subject == Subject::candidate ? "" : fmt::format(" [{}]", name_of(finding.subject));
      text += fmt::format(
          "  {:>2}. {}{}{}  {}  {}\n", ++number,
          is_remark(finding) ? Terminal::yellow(name_of(finding.code)) : Terminal::red(name_of(finding.code)),
          finding.argument.empty() ? "" : " " + Terminal::bold(escape_terminal(finding.argument)), whose,
          Terminal::dim(name_of(finding.strength)), escape_terminal(finding.evidence));
      text += source_lines(finding.location);
      const std::string place = escape_terminal(place_of(finding));
      if (!finding.fix.empty())
        text += fmt::format("      {} {}{}\n", Terminal::green("fix:"), escape_terminal(finding.fix),
                            place.empty() ? "" : Terminal::dim("  (" + place + ")"));
    }
    for (const std::string& note : d.notes) text += Terminal::dim("  note: " + escape_terminal(note)) + "\n";
    if (i > 0 && follows(diagnoses[i - 1], d))
      text += "  " + escape_terminal(mending_line(diagnoses[i - 1], d)) + "\n";
  }
  const auto counts = counted(diagnoses);
  text += fmt::format("\n{} {}: {} pass, {} fail, {} could not be judged\n", diagnoses.size(),
                      diagnoses.size() == 1 ? "candidate" : "candidates", counts.at("pass"),
                      counts.at("fail"), counts.at("error"));
  return text;
}

std::string candidates_markdown(const std::vector<Diagnosis>& diagnoses) {
  std::string text = "# Candidates\n";
  for (std::size_t i = 0; i < diagnoses.size(); ++i) {
    const Diagnosis& d = diagnoses[i];
    text += fmt::format("\n## {}: {}\n\n", escape_markdown(title_of(d)), d.verdict());
    if (!d.error.empty()) {
      text += escape_markdown(d.error) + "\n";
      continue;
    }
    text += fmt::format("{}{}; compile {}, call {}, exec {}; {} calls.\n",
                        d.op.empty() ? "No known op" : fmt::format("Op `{}`", d.op),
                        d.backend == "emulated" ? "" : " on " + d.backend, name_of(d.compile),
                        name_of(d.call), name_of(d.exec), d.calls);
    if (!d.findings.empty())
      text +=
          "\n| # | finding | argument | strength | evidence | place | fix |\n|---|---|---|---|---|---|---|\n";
    int number = 0;
    for (const Finding& finding : d.findings)
      text += fmt::format(
          "| {} | `{}`{} | {} | {} | {} | {} | {} |\n", ++number, name_of(finding.code),
          finding.subject == Subject::candidate ? "" : fmt::format(" ({})", name_of(finding.subject)),
          escape_markdown(finding.argument), name_of(finding.strength), escape_markdown(finding.evidence),
          escape_markdown(place_of(finding)), escape_markdown(finding.fix));
    for (const std::string& note : d.notes) text += "\nNote: " + escape_markdown(note) + "\n";
    if (i > 0 && follows(diagnoses[i - 1], d))
      text += "\n" + escape_markdown(mending_line(diagnoses[i - 1], d)) + ".\n";
  }
  return text;
}

std::string candidates_junit(const std::vector<Diagnosis>& diagnoses) {
  std::map<std::string, std::vector<const Diagnosis*>> folders;
  for (const Diagnosis& d : diagnoses) folders[d.folder].push_back(&d);
  const auto counts = counted(diagnoses);
  std::string xml = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"{}\" failures=\"{}\" errors=\"{}\">\n",
      diagnoses.size(), counts.at("fail"), counts.at("error"));
  for (const auto& [folder, list] : folders) {
    int failures = 0, errors = 0;
    for (const Diagnosis* d : list) {
      failures += d->verdict() == "fail";
      errors += d->verdict() == "error";
    }
    xml += fmt::format(" <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\">\n",
                       escape_markup(folder), list.size(), failures, errors);
    for (const Diagnosis* d : list) {
      xml += fmt::format("  <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\"", escape_markup(d->op),
                         escape_markup(d->candidate), d->seconds);
      if (d->verdict() == "pass") {
        xml += "/>\n";
      } else if (d->verdict() == "error") {
        xml += fmt::format("><error message=\"{}\"/></testcase>\n", escape_markup(d->error));
      } else {
        std::string lines;
        for (const Finding& finding : d->findings)
          if (finding.subject == Subject::candidate) lines += junit_line(finding);
        xml += fmt::format("><failure message=\"{}\">{}</failure></testcase>\n",
                           escape_markup(joined(codes_of(*d))), escape_markup(lines));
      }
    }
    xml += " </testsuite>\n";
  }
  return xml + "</testsuites>\n";
}

}  // namespace isomer::lab
