#include "lab/report/difference_html.hpp"

#include "lab/diff/time_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace isomer::lab {
namespace {

constexpr std::size_t kShown = 1500;
constexpr double kWidth = 1180, kLane = 46, kLeft = 30;

constexpr const char* kStyle =
    "body{font:14px/1.45 system-ui,sans-serif;margin:2em auto;max-width:1240px;color:#222}"
    "h1{font-size:20px}h2{font-size:16px;margin-top:2em}code{font:12px "
    "ui-monospace,monospace;overflow-wrap:anywhere}"
    "table{border-collapse:collapse;margin:.3em 0 1.2em 1em}td,th{padding:2px 14px 2px "
    "0;text-align:left;vertical-align:"
    "top;font:12px ui-monospace,monospace}th{color:#777;font-weight:normal}"
    ".kind{display:inline-block;min-width:6.5em;padding:1px 8px;border-radius:3px;color:#fff;font-size:12px}"
    ".note{color:#666}rect:hover{stroke:#000}svg{background:#fafafa;border:1px solid #e4e4e4}";

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

const char* colour(Pair::Kind kind) {
  switch (kind) {
    case Pair::Kind::same:
      return "#b9c3cc";
    case Pair::Kind::variant:
      return "#c0392b";
    case Pair::Kind::geometry:
      return "#d35400";
    case Pair::Kind::arguments:
      return "#b7950b";
    case Pair::Kind::code:
      return "#7d3c98";
    case Pair::Kind::count:
      return "#2471a3";
    case Pair::Kind::metric:
      return "#5d6d7e";
    case Pair::Kind::time:
      return "#148f77";
  }
  return "";
}

constexpr const char* kOnlyHere = "#222222";

std::string badge(const char* text, const std::string& fill) {
  // What is the same is pale, so that it does not draw the eye.
  const char* const ink = fill == colour(Pair::Kind::same) ? ";color:#222" : "";
  return fmt::format("<span class=\"kind\" style=\"background:{}{}\">{}</span>", fill, ink, text);
}

/// The most important kind of each kernel's pairs, by its name on that side.
std::map<std::string, Pair::Kind> kinds(const DiffResult& result, std::string Pair::*side) {
  std::map<std::string, Pair::Kind> all;
  for (const Pair& pair : result.pairs) {
    const auto [entry, is_new] = all.emplace(pair.*side, pair.kind);
    const bool more =
        entry->second == Pair::Kind::same || (pair.kind != Pair::Kind::same && pair.kind < entry->second);
    if (!is_new && more) entry->second = pair.kind;
  }
  return all;
}

/// Widths of the launches that are shown: medians, or all alike where there is no time.
std::vector<double> widths(const GroupedCapture& capture) {
  std::vector<double> medians;
  double least = 0;
  for (const LaunchGroup& group : capture.groups) {
    medians.push_back(group.median_ns());
    if (medians.back() > 0) least = least == 0 ? medians.back() : std::min(least, medians.back());
  }
  std::vector<double> all;
  for (std::size_t i = 0; i < std::min(capture.sequence.size(), kShown); ++i) {
    const double median = medians[capture.sequence[i]];
    all.push_back(median > 0 ? median : std::max(least, 1.0));
  }
  return all;
}

std::string lane(const GroupedCapture& capture, const std::map<std::string, Pair::Kind>& kinds,
                 const char* name, double top, double scale) {
  std::string svg =
      fmt::format("<text x=\"8\" y=\"{:.0f}\" font-size=\"15\">{}</text>", top + kLane / 2 + 5, name);
  double x = kLeft;
  const std::vector<double> all = widths(capture);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const LaunchGroup& group = capture.groups[capture.sequence[i]];
    const auto kind = kinds.find(group.name.text);
    const double width = all[i] * scale;
    const std::string time =
        group.timed > 0 ? fmt::format(", median {:.2f} µs", group.median_ns() / 1e3) : std::string();
    svg += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.0f}\" width=\"{:.2f}\" height=\"{:.0f}\" fill=\"{}\"><title>{}: {} grid "
        "{} block {}"
        "{}</title></rect>\n",
        x, top, std::max(width - 0.4, 0.3), kLane, kind == kinds.end() ? kOnlyHere : colour(kind->second),
        i + 1, escaped(group.name.text.substr(0, 400)), triple_text(group.first.grid),
        triple_text(group.first.block), time);
    x += width;
  }
  return svg;
}

std::string picture(const DiffResult& result, const GroupedCapture& a, const GroupedCapture& b) {
  const auto sum = [](const GroupedCapture& capture) {
    double total = 0;
    for (const double width : widths(capture)) total += width;
    return total;
  };
  const double longest = std::max({sum(a), sum(b), 1.0}), scale = (kWidth - kLeft - 10) / longest;
  return fmt::format("<svg width=\"{:.0f}\" height=\"{:.0f}\" viewBox=\"0 0 {:.0f} {:.0f}\">\n", kWidth,
                     2 * kLane + 34, kWidth, 2 * kLane + 34) +
         lane(a, kinds(result, &Pair::a), "A", 10, scale) +
         lane(b, kinds(result, &Pair::b), "B", kLane + 24, scale) + "</svg>\n";
}

/// The colours that the picture has.
std::string legend(const DiffResult& result) {
  std::string html = "<p>";
  for (const Pair::Kind kind :
       {Pair::Kind::same, Pair::Kind::variant, Pair::Kind::geometry, Pair::Kind::arguments, Pair::Kind::code,
        Pair::Kind::count, Pair::Kind::metric, Pair::Kind::time})
    if (std::any_of(result.pairs.begin(), result.pairs.end(),
                    [&](const Pair& pair) { return pair.kind == kind; }))
      html += badge(word(kind), colour(kind)) + " ";
  const bool alone = !result.only_a.empty() || !result.only_b.empty();
  return html + (alone ? badge("only here", kOnlyHere) : "") + "</p>\n";
}

std::string side(const char* name, const GroupedCapture& capture) {
  std::string facts;
  for (const auto& [key, value] : capture.about.facts)
    if (!key.starts_with("note ") && key != "tool")
      facts += fmt::format(" · {} {}", escaped(key), escaped(value));
  return fmt::format(
      "<tr><th>{}</th><td>{}</td><td>{} launches, {} of them different{}</td><td>{}</td></tr>\n", name,
      escaped(capture.about.source), capture.launches, capture.groups.size(), facts,
      escaped(capture.about.command));
}

/// Two bars for each kernel or operator, as long as the time that it takes on a side: what differs most
/// first.
std::string time_bars(const std::vector<TimeRow>& rows, const char* title) {
  constexpr std::size_t kRows = 25;
  constexpr double kLongest = 420;
  if (rows.empty()) return {};
  double most = 0;
  for (const TimeRow& row : rows) most = std::max({most, row.a_ns, row.b_ns});
  std::string html = fmt::format("<h2>{}</h2>\n<table>", title);
  const auto bar = [&](const char* side, double time, std::uint64_t launches, const char* fill) {
    return fmt::format(
        "<div><span style=\"display:inline-block;height:9px;width:{:.1f}px;background:{}\"></span> {} "
        "{}</div>",
        most > 0 ? time / most * kLongest : 0, fill, side, launches == 0 ? "–" : escaped(time_words(time)));
  };
  for (std::size_t i = 0; i < std::min(rows.size(), kRows); ++i) {
    const TimeRow& row = rows[i];
    html += fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{}{}</td></tr>\n", escaped(time_words(row.delta_ns(), true)),
        bar("A", row.a_ns, row.launches_a, "#5b7fa6") + bar("B", row.b_ns, row.launches_b, "#c98b4b"),
        escaped(row.name), row.name_b.empty() ? "" : "<br>" + escaped(row.name_b));
  }
  return html + "</table>\n";
}

/// A long name's beginning; all of it where the pointer rests.
std::string short_code(const std::string& name) {
  return fmt::format("<code title=\"{}\">{}</code>", escaped(name), escaped(short_name(name)));
}

std::string pair_html(const Pair& pair) {
  std::string html = fmt::format("<p>{} {}", badge(word(pair.kind), colour(pair.kind)), short_code(pair.a));
  // Where only what was cut differs, the parameters below say it.
  if (short_name(pair.b) != short_name(pair.a))
    html += fmt::format("<br>{} {}", badge("", "#fff"), short_code(pair.b));
  html += "</p>\n<table><tr><th></th><th>A</th><th>B</th></tr>\n";
  const auto cell = [](const std::string& value) {
    return value.empty() ? std::string("–") : escaped(value);
  };
  for (const Difference& each : pair.differences)
    html += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td></tr>\n", escaped(each.name), cell(each.a),
                        cell(each.b));
  return html + "</table>\n";
}

std::string only(const char* name, const std::vector<std::string>& kernels) {
  std::string html;
  for (const std::string& kernel : kernels)
    html += fmt::format("<p>{} <code>{}</code></p>\n", badge(name, kOnlyHere), escaped(kernel));
  return html;
}

}  // namespace

std::string difference_html(const DiffResult& result, const GroupedCapture& a, const GroupedCapture& b) {
  std::string html = fmt::format(
      "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>isomer diff: "
      "{}</title><style>{}</style>\n"
      "<h1>{}</h1>\n",
      result.same() ? "same" : "different", kStyle, result.same() ? "The same" : "Different");
  for (const std::string& sentence : result.verdict) html += "<p>" + escaped(sentence) + "</p>\n";
  html += "<table>" + side("A", a) + side("B", b) +
          "</table>\n<h2>Launches in order, as wide as their median time</h2>\n" + picture(result, a, b) +
          legend(result);
  if (std::max(a.sequence.size(), b.sequence.size()) > kShown)
    html += fmt::format("<p class=\"note\">The first {} launches of each side.</p>\n", kShown);
  const std::string by_kernel = time_bars(result.kernels, "GPU time by kernel, the largest difference first"),
                    by_operator = time_bars(result.operators,
                                            "GPU time by operator or range, the largest difference first");
  // Two machines run other kernels for one operator.
  html += other_architecture(result.totals_a, result.totals_b) ? by_operator + by_kernel
                                                               : by_kernel + by_operator;
  html += "<h2>Differences</h2>\n" + only("only in A", result.only_a) + only("only in B", result.only_b);
  std::vector<const Pair*> pairs;
  for (const Pair& pair : result.pairs)
    if (pair.kind != Pair::Kind::same) pairs.push_back(&pair);
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const Pair* x, const Pair* y) { return x->kind < y->kind; });
  for (const Pair* pair : pairs) html += pair_html(*pair);
  html += fmt::format("<p>{} of {} pairs are the same.</p>\n", result.pairs.size() - pairs.size(),
                      result.pairs.size());
  for (const std::string& note : result.notes) html += "<p class=\"note\">" + escaped(note) + "</p>\n";
  return html + "</html>\n";
}

}  // namespace isomer::lab
