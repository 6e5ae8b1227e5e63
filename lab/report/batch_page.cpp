#include "lab/report/batch_report.hpp"
#include "lab/report/markup.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace isomer::lab {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kBatchStyle = R"css(
body{font:15px/1.45 system-ui,sans-serif;max-width:76rem;margin:2rem auto;padding:0 1rem;color:#1b1f24;background:#fff}
h1{font-size:1.5rem}table{border-collapse:collapse;width:100%}td,th{padding:.3rem .6rem;text-align:left;vertical-align:top;border-bottom:1px solid #e6e9ed;overflow-wrap:anywhere}
th{position:sticky;top:0;background:inherit}form{display:flex;flex-wrap:wrap;gap:.6rem;margin:1rem 0}input,select{font:inherit;padding:.25rem;max-width:20rem}
.pass{color:#116329}.fail{color:#a40e26}.error{color:#7d4e00}.dim{color:#57606a}code{font-family:ui-monospace,monospace;font-size:.92em}
@media (prefers-color-scheme:dark){body{background:#14171a;color:#e2e6ea}td,th{border-color:#2e343a}.pass{color:#5fce7d}.fail{color:#ff8896}.error{color:#e3b25b}.dim{color:#98a2ad}}
)css";

// Rows are drawn a page at a time, and more as the reader comes to the end of them.
constexpr const char* kBatchScript = R"js(
const rows = JSON.parse(document.getElementById("rows").textContent);
const fields = ["verdict", "op", "author", "finding"], form = document.querySelector("form");
const body = document.querySelector("#candidates tbody"), count = document.getElementById("count");
const values = {verdict: r => [r[2]], op: r => [r[3]], author: r => [r[4]], finding: r => r[5]};
for (const field of fields) {
  const found = new Map();
  for (const row of rows) for (const value of new Set(values[field](row))) found.set(value, (found.get(value) || 0) + 1);
  const select = form.elements[field];
  for (const [value, n] of [...found].sort((a, b) => b[1] - a[1])) {
    const option = document.createElement("option");
    option.value = "=" + value;
    option.textContent = (value || "not known") + " (" + n + ")";
    select.append(option);
  }
}
let shown = [], drawn = 0;
const cell = (row, text, className) => {
  const td = row.insertCell();
  td.textContent = text;
  if (className) td.className = className;
};
function draw() {
  for (const end = Math.min(shown.length, drawn + 200); drawn < end; ++drawn) {
    const r = shown[drawn], row = body.insertRow();
    cell(row, r[0] + "/" + r[1]); cell(row, r[2], r[2]); cell(row, r[3]); cell(row, r[4]);
    cell(row, r[5].join(", ")); cell(row, r[6]); cell(row, r[7].toFixed(1));
  }
}
function filter() {
  const words = form.elements.text.value.toLowerCase();
  shown = rows.filter(r => fields.every(f => !form.elements[f].value || values[f](r).includes(form.elements[f].value.slice(1)))
    && (!words || (r[0] + "/" + r[1] + " " + r[6]).toLowerCase().includes(words)));
  body.replaceChildren();
  drawn = 0;
  draw();
  count.textContent = shown.length + " of " + rows.length + " candidates";
}
form.addEventListener("input", filter);
form.addEventListener("submit", e => e.preventDefault());
addEventListener("scroll", () => {
  if (innerHeight + scrollY > document.body.scrollHeight - 800) draw();
});
filter();
)js";

// Inside of a script element nothing may look like its end.
std::string in_script(const std::string& json) {
  std::string text;
  for (const char c : json) text += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return text;
}

}  // namespace

std::string batch_html(const std::vector<Judged>& judged, const Totals& totals) {
  Json rows = Json::array();
  for (const Judged& each : judged) {
    const Diagnosis& d = each.diagnosis;
    Json codes = Json::array();
    std::string first = d.error;
    for (const Finding& finding : d.findings)
      if (finding.subject == Subject::candidate) {
        codes.push_back(name_of(finding.code));
        if (first.empty()) first = finding.evidence;
      }
    for (const std::string& note : d.notes)
      if (note.starts_with("suspicious")) {
        codes.push_back("suspicious");
        if (first.empty()) first = note;
      }
    rows.push_back(
        {d.folder, d.candidate, d.verdict(), d.op, each.author, std::move(codes), first, d.seconds});
  }
  std::string authors;
  for (const auto& [author, list] : totals.pass_at)
    for (const PassAt& at : list)
      authors +=
          fmt::format("<tr><td>{}</td><td>{}</td><td>{:.1f} %</td><td>{}</td></tr>\n",
                      author.empty() ? "not known" : escape_markup(author), at.k, 100 * at.share, at.tasks);
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width\"><title>Isomer: batch</title><style>{}</style></head><body>\n"
      "<h1>{} candidates: <span class=\"pass\">{} pass</span>, <span class=\"fail\">{} fail</span>, "
      "<span class=\"error\">{} could not be judged</span></h1>\n"
      "<table><tr><th>author</th><th>k</th><th>pass@k</th><th>tasks</th></tr>\n{}</table>\n"
      "<form><input name=\"text\" type=\"search\" placeholder=\"path or evidence\" aria-label=\"path or "
      "evidence\">"
      "<select name=\"verdict\" aria-label=\"verdict\"><option value=\"\">every verdict</option></select>"
      "<select name=\"op\" aria-label=\"op\"><option value=\"\">every op</option></select>"
      "<select name=\"author\" aria-label=\"author\"><option value=\"\">every author</option></select>"
      "<select name=\"finding\" aria-label=\"finding\"><option value=\"\">every "
      "finding</option></select></form>\n"
      "<p class=\"dim\" id=\"count\"></p>\n"
      "<table id=\"candidates\"><thead><tr><th>candidate</th><th>verdict</th><th>op</th><th>author</th>"
      "<th>findings</th><th>first evidence</th><th>s</th></tr></thead><tbody></tbody></table>\n"
      "<script type=\"application/json\" id=\"rows\">{}</script>\n<script>{}</script>\n</body></html>\n",
      kBatchStyle, totals.all.all(), totals.all.passed, totals.all.failed, totals.all.errors, authors,
      in_script(rows.dump(-1, ' ', false, Json::error_handler_t::replace)), kBatchScript);
}

}  // namespace isomer::lab
