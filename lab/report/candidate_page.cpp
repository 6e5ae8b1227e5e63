#include "lab/report/candidate_report.hpp"
#include "lab/report/markup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace isomer::lab {
namespace {

constexpr const char* kPageStyle = R"css(
body{font:15px/1.45 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#1b1f24;background:#fff}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin:2.2rem 0 .3rem;border-top:1px solid #d5dae0;padding-top:1rem}
table{border-collapse:collapse;width:100%}td a{overflow-wrap:anywhere}td code{white-space:nowrap}td,th{padding:.35rem .6rem;text-align:left;vertical-align:top;border-bottom:1px solid #e6e9ed}
code{font-family:ui-monospace,monospace;font-size:.92em}.pass{color:#116329}.fail{color:#a40e26}.error{color:#7d4e00}
.fix{color:#116329}.dim{color:#57606a}.pictures{display:flex;flex-wrap:wrap;gap:1.5rem;margin:.8rem 0}figure{margin:0}
figcaption{font-size:.85em;color:#57606a}
.scroll{overflow-x:auto}svg{max-width:100%}h2{overflow-wrap:anywhere}
@media (max-width:44rem){.findings tr,.findings td{display:block;border:0;padding:.1rem 0}.findings th{display:none}.findings tr{border-bottom:1px solid #8884;padding:.5rem 0}td code{white-space:normal;overflow-wrap:anywhere}}
@media (prefers-color-scheme:dark){body{background:#14171a;color:#e2e6ea}td,th,h2{border-color:#2e343a}.pass,.fix{color:#5fce7d}.fail{color:#ff8896}.error{color:#e3b25b}.dim,figcaption{color:#98a2ad}}
)css";

/// Elements as a grid of at most this many cells each way; a cell is the share of its elements that is wrong.
constexpr std::size_t kCells = 64;

std::string grid(const Diagnosis::Difference& d) {
  // A last dimension of one element would be a line: the ones before it are put beside each other.
  std::size_t columns = 1;
  int folded = 0;
  for (std::size_t i = d.shape.size(); i > 0 && columns == 1; --i, ++folded)
    columns = static_cast<std::size_t>(std::max<std::int64_t>(d.shape[i - 1], 1));
  std::size_t rows = std::max<std::size_t>(d.wrong.size() / columns, 1);
  const std::size_t across = std::min(columns, kCells), down = std::min(rows, kCells);
  std::vector<double> share(across * down), count(across * down);
  for (std::size_t i = 0; i < d.wrong.size(); ++i) {
    const std::size_t cell = (i / columns) * down / rows * across + (i % columns) * across / columns;
    share[cell] += d.wrong[i];
    count[cell] += 1;
  }
  const double size = 320.0 / static_cast<double>(std::max(across, std::size_t{16}));
  const double height = size * static_cast<double>(down);
  std::string svg = fmt::format(
      "<svg role=\"img\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\"><title>where "
      "{2} differs</title>"
      "<rect width=\"100%\" height=\"100%\" fill=\"#8fc79e\"/>",
      size * static_cast<double>(across), height, escape_markup(d.output));
  for (std::size_t cell = 0; cell < share.size(); ++cell) {
    if (share[cell] == 0) continue;
    svg += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"#b3142c\" "
        "fill-opacity=\"{:.2f}\"/>",
        static_cast<double>(cell % across) * size, static_cast<double>(cell / across) * size, size, size,
        0.25 + 0.75 * share[cell] / std::max(count[cell], 1.0));
  }
  const auto wrong = std::count(d.wrong.begin(), d.wrong.end(), 1);
  std::string shape;
  for (const std::int64_t n : d.shape) shape += (shape.empty() ? "" : ", ") + std::to_string(n);
  return fmt::format(
      "<figure>{}</svg><figcaption>{} [{}]: {} of {} elements differ (rows: all but the last "
      "{})</figcaption></figure>",
      svg, escape_markup(d.output), shape, wrong, d.wrong.size(),
      folded > 1 ? fmt::format("{} dimensions", folded) : "dimension");
}

/// How large the errors of the wrong elements are, by powers of ten.
std::string histogram(const Diagnosis::Difference& d) {
  constexpr int kLow = -10, kHigh = 6;
  std::array<int, kHigh - kLow + 2> bins{};
  int most = 0;
  for (std::size_t i = 0; i < d.wrong.size(); ++i) {
    if (!d.wrong[i]) continue;
    const double error = std::fabs(d.error[i]);
    const int bin = !std::isfinite(error) ? kHigh - kLow + 1
                    : error == 0
                        ? 0
                        : std::clamp(static_cast<int>(std::floor(std::log10(error))), kLow, kHigh) - kLow;
    most = std::max(most, ++bins[static_cast<std::size_t>(bin)]);
  }
  if (most == 0) return {};
  constexpr int kBar = 22, kHeight = 120;
  const int width = kBar * static_cast<int>(bins.size());
  std::string svg = fmt::format(
      "<svg role=\"img\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" font-size=\"9\" "
      "font-family=\"sans-serif\"><title>errors of {2}</title>",
      width, kHeight + 16, escape_markup(d.output));
  for (std::size_t i = 0; i < bins.size(); ++i) {
    const double h = static_cast<double>(bins[i]) / most * (kHeight - 14);
    const int x = static_cast<int>(i) * kBar;
    svg += fmt::format("<rect x=\"{}\" y=\"{:.1f}\" width=\"{}\" height=\"{:.1f}\" fill=\"#3a6ea5\"/>", x + 2,
                       kHeight - h, kBar - 4, h);
    if (bins[i] > 0)
      svg += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"middle\" fill=\"currentColor\">{}</text>",
                         x + kBar / 2, kHeight - h - 3, bins[i]);
    const std::string label = i + 1 == bins.size() ? "∞" : fmt::format("1e{}", kLow + static_cast<int>(i));
    if (i % 2 == 0 || i + 1 == bins.size())  // every other one, or they touch
      svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" fill=\"currentColor\">{}</text>",
                         x + kBar / 2, kHeight + 12, label);
  }
  return fmt::format("<figure>{}</svg><figcaption>{}: |error| of the wrong elements</figcaption></figure>",
                     svg, escape_markup(d.output));
}

std::string finding_row(const Finding& finding, int number) {
  std::string place;
  if (!finding.location.file.empty())
    place = fmt::format("<br><code class=\"dim\">{}{}</code>",
                        escape_markup(finding.location.file.substr(finding.location.file.rfind('/') + 1)),
                        finding.location.line > 0 ? ":" + std::to_string(finding.location.line) : "");
  return fmt::format(
      "<tr><td>{}</td><td><code>{}</code>{}{}</td><td>{}</td><td>{}<br><span "
      "class=\"fix\">{}</span></td></tr>\n",
      number, escape_markup(name_of(finding.code)),
      finding.argument.empty() ? "" : " <b>" + escape_markup(finding.argument) + "</b>",
      place + (finding.subject == Subject::candidate
                   ? ""
                   : fmt::format("<br>of the {}", name_of(finding.subject))),
      name_of(finding.strength), escape_markup(finding.evidence), escape_markup(finding.fix));
}

/// A path that breaks behind its folders rather than inside of a name.
std::string breaking(const std::string& path) {
  std::string text;
  for (const char c : path) text += c == '/' ? std::string("/<wbr>") : std::string(1, c);
  return text;
}

}  // namespace

std::string candidates_html(const std::vector<Diagnosis>& diagnoses) {
  const auto with = [&](const char* verdict) {
    return std::count_if(diagnoses.begin(), diagnoses.end(),
                         [&](const Diagnosis& each) { return each.verdict() == verdict; });
  };
  std::string html = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width\">"
      "<title>Isomer: candidates</title><style>{}</style></head><body>\n<h1>{} candidate{}: <span "
      "class=\"pass\">{} pass</span>, <span class=\"fail\">{} fail</span>, {} could not be "
      "judged</h1>\n<div class=\"scroll\"><table>"
      "<tr><th>candidate</th><th>op</th><th>verdict</th><th>compile</th><th>call</th><th>exec</th><th>fix "
      "first</th></tr>\n",
      kPageStyle, diagnoses.size(), diagnoses.size() == 1 ? "" : "s", with("pass"), with("fail"),
      with("error"));
  for (std::size_t i = 0; i < diagnoses.size(); ++i) {
    const Diagnosis& d = diagnoses[i];
    html += fmt::format(
        "<tr><td><a href=\"#c{}\">{}</a></td><td>{}</td><td "
        "class=\"{}\">{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
        i, breaking(escape_markup(d.folder.empty() ? d.candidate : d.folder + "/" + d.candidate)),
        d.op.empty() ? "<span class=\"dim\">not known</span>" : escape_markup(d.op), d.verdict(), d.verdict(),
        name_of(d.compile), name_of(d.call), name_of(d.exec),
        d.findings.empty() ? "" : "<code>" + escape_markup(name_of(d.findings.front().code)) + "</code>");
  }
  html += "</table></div>\n";
  for (std::size_t i = 0; i < diagnoses.size(); ++i) {
    const Diagnosis& d = diagnoses[i];
    html +=
        fmt::format("<h2 id=\"c{}\">{} <span class=\"{}\">{}</span></h2>\n", i,
                    breaking(escape_markup(d.folder.empty() ? d.candidate : d.folder + "/" + d.candidate)),
                    d.verdict(), d.verdict());
    if (!d.error.empty()) html += "<p>" + escape_markup(d.error) + "</p>\n";
    if (!d.findings.empty()) {
      html +=
          "<table class=\"findings\"><tr><th></th><th>finding</th><th>strength</th><th>evidence and "
          "fix</th></tr>\n";
      int number = 0;
      for (const Finding& finding : d.findings) html += finding_row(finding, ++number);
      html += "</table>\n";
    }
    if (d.findings.empty() && d.error.empty())
      html += fmt::format("<p class=\"dim\">{} {}, nothing found</p>\n", d.calls,
                          d.calls == 1 ? "call" : "calls");
    bool any = false;
    for (const Diagnosis::Difference& difference : d.differences)
      any = any || std::find(difference.wrong.begin(), difference.wrong.end(), 1) != difference.wrong.end();
    if (any) {
      html += "<div class=\"pictures\">";
      for (const Diagnosis::Difference& difference : d.differences)
        html += grid(difference) + histogram(difference);
      html += "</div>\n";
    }
    for (const std::string& note : d.notes)
      html += "<p class=\"dim\">Note: " + escape_markup(note) + "</p>\n";
    if (i > 0 && !d.folder.empty() && diagnoses[i - 1].folder == d.folder && d.error.empty() &&
        diagnoses[i - 1].error.empty()) {
      const Mended m = mended(diagnoses[i - 1], d);
      const auto list = [](const std::vector<std::string>& codes) {
        std::string text;
        for (const std::string& code : codes) text += (text.empty() ? "" : ", ") + escape_markup(code);
        return text.empty() ? std::string("nothing") : text;
      };
      html +=
          fmt::format("<p>Compared with {}: fixed {}; remaining {}; new {}.</p>\n",
                      escape_markup(diagnoses[i - 1].candidate), list(m.mended), list(m.left), list(m.added));
    }
  }
  return html + "</body></html>\n";
}

}  // namespace isomer::lab
