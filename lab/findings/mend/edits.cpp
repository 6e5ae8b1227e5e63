#include "lab/findings/mend/edits.hpp"

#include "lab/text/pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string_view>

namespace isomer::lab {
namespace {

using SourceLines = std::vector<std::string>;

SourceLines lines_of(const std::string& source) {
  SourceLines lines;
  std::istringstream stream(source);
  for (std::string line; std::getline(stream, line);) lines.push_back(std::move(line));
  return lines;
}

std::string text_of(const SourceLines& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

/// What a line may be written like instead, for a finding of that code and, where one is named, variation.
struct Rule {
  Code code;
  std::string_view variation, wrong, right;
  bool everywhere = false;  ///< all lines at once as well: a base that is wrong here is wrong there
};
constexpr Rule kRules[] = {
    {Code::rounding_mode, "rounding=nearest", R"(\b(?:roundf?|rintf?|nearbyintf?)\s*\()", "truncf(", true},
    {Code::rounding_mode, "rounding=nearest", R"(\bl?lroundf?\s*\()", "(int)truncf("},
    {Code::rounding_mode, "rounding=nearest", R"(__float2int_rn\s*\()", "__float2int_rz("},
    {Code::rounding_mode, "rounding=floor", R"(\bfloorf?\s*\()", "truncf(", true},
    {Code::rounding_mode, "rounding=floor", R"(__float2int_rd\s*\()", "__float2int_rz("},
    {Code::rounding_mode, "rounding=", R"(\b(?:roundf?|truncf?|floorf?)\s*\()", "rintf(", true},
    {Code::clamp, "", R"(-\s*127(\.0*f?)?\b)", "-128$1"},
    {Code::saturation, "max=240", R"(\b240(\.0*)?f?)", "448.0f", true},
    {Code::epsilon, "", R"(\b1e-0?[0-9]+f?)", "1e-4f"},
    {Code::epsilon, "", R"(\b0\.0+1f?)", "1e-4f"},
    {Code::missing_absolute, "", R"(\b(f?maxf?)\(\s*(\w+)\s*,\s*([\w\[\].]+)\s*\))", "$1($2, fabsf($3))"},
    {Code::missing_absolute, "", R"(\b(f?maxf?)\(\s*(\w+)\s*,\s*(\w+(?:<[^<>]*>)?\([^()]*\))\s*\))",
     "$1($2, fabsf($3))"},
    {Code::log_base, "", R"(\b(?:__)?exp2f?\s*\()", "expf(", true},
    {Code::log_base, "", R"(\b(?:__)?log2f?\s*\()", "logf(", true},
    {Code::log_base, "", R"(\b(?:__)?(exp|log)f?\s*\()", "$12f("},
    {Code::approximation, "", R"(\b__(sinf|cosf|expf|logf|tanf)\s*\()", "$1(", true},
    {Code::approximation, "", R"(\b__fdividef\s*\(([^,()]+),([^,()]+)\))", "(($1) / ($2))"},
    {Code::reciprocal_multiply, "", R"(\*\s*\(\s*1(?:\.0*)?f?\s*/\s*(\w+)\s*\))", "/ $1"},
    {Code::reciprocal_multiply, "scale=", R"(\*\s*\(\s*1(?:\.0*)?f?\s*/\s*(\d+(?:\.0*)?f?)\s*\))", "/ $1"},
    {Code::missing_scale, "quotient=x*s", R"((\w+(?:\[[^\]]*\])?)\s*\*\s*(\w*s\w*)\b)", "$1 / $2"},
    {Code::missing_scale, "scale=inverse", R"((\w+(?:\[[^\]]*\])?)\s*/\s*(\w*s\w*)\b)", "$1 * $2"},
    {Code::tail_mask, "", R"((\w+|\([^()]*\))\s*/\s*(\w+)\b)", "($1 + $2 - 1) / $2"},
    {Code::tail_mask, "", R"(\bfloor(f?)\s*\()", "ceil$1("},
    {Code::launch_failed, "", R"((\w+|\([^()]*\))\s*/\s*(\w+)\b)", "($1 + $2 - 1) / $2"},
    {Code::unwritten_output, "", R"((\w+|\([^()]*\))\s*/\s*(\w+)\b)", "($1 + $2 - 1) / $2"},
    {Code::unwritten_output, "", R"(\+=\s*2\b)", "+= 1"},
    {Code::index_overflow, "", R"(\b(\w+)\s*\*\s*(\w+))", "(long long)$1 * $2"},
    {Code::index_overflow, "", R"(\bint\s+(\w+)\s*=)", "long long $1 ="},
    {Code::uninitialised_read, "", R"(^(\s*(?:float|double|int|unsigned|half|__half)\s+\w+);)", "$1 = 0;"},
    {Code::intermediate_precision, "",
     R"(__half2float\(\s*__float2half(?:_rn)?\(([^()]*(?:\([^()]*\)[^()]*)*)\)\s*\))", "($1)"},
    {Code::intermediate_precision, "",
     R"(__bfloat162float\(\s*__float2bfloat16(?:_rn)?\(([^()]*(?:\([^()]*\)[^()]*)*)\)\s*\))", "($1)"},
    {Code::intermediate_precision, "",
     R"(\b(?:const\s+)?(?:__)?(?:half|nv_bfloat16|hip_bfloat16)\s+(\w+)\s*=\s*)", "const float $1 = "},
    {Code::tie_rule, "", R"((==[^&|=]*&&\s*[\w.]+)\s*>\s*)", "$1 < "},
    {Code::tie_rule, "", R"((==[^&|=]*&&\s*[\w.]+)\s*<\s*)", "$1 > "},
    {Code::other_reduction, "",
     R"(\b((?:const\s+)?(?:float|double)\s+(?:\w+\s*=\s*[^,;]+,\s*)*\w+\s*=\s*)-?(?:\d+(?:\.\d*)?(?:e[-+]?\d+)?f?|FLT_MIN|std::numeric_limits<\w+>::min\(\))\s*;)",
     "$1-INFINITY;"},
    {Code::missing_scale, "", R"(/\s*\(\s*([\w*]+)\s*-\s*1(?:\.0*)?f?\s*\))", "/ ($1)"},
    {Code::approximation, "", R"(\bsqrtf?\s*\((\w+)\))", "$1"},
    {Code::head_mapping, "", R"(\b(\w+)\s*%\s*(\w+))", "$1 / ({} / $2)"},
};

/// Comparisons and what they may be off by.
constexpr Rule kBounds[] = {{Code::none, "", R"(<=)", "<"},
                            {Code::none, "", R"(([^-<>=])>([^>=]))", "$1>=$2"},
                            {Code::none, "", R"(([^<>=-])<([^<=]))", "$1<=$2"},
                            {Code::none, "", R"(>=)", ">"}};

/// Names of the whole numbers that functions of the source take, each once.
std::vector<std::string> numbers_in(const std::string& source) {
  static const Pattern number(
      R"([(,]\s*(?:const\s+)?(?:u?int(?:32|64)?(?:_t)?|long|long long|size_t|unsigned|unsigned int)\s+(\w+))");
  std::vector<std::string> names;
  std::size_t from = 0;
  while (const std::optional<Match> match = number.find(source, from)) {
    from = match->end();
    if (std::find(names.begin(), names.end(), (*match)[1]) == names.end()) names.push_back((*match)[1]);
  }
  return names;
}

class Editing {
 public:
  Editing(const Finding& finding, std::string entry, const std::string& source)
      : finding_(finding), entry_(std::move(entry)), source_(source), lines_(lines_of(source)) {
    // Its own line first, then those nearest to it.
    for (std::size_t i = 0; i < lines_.size(); ++i) order_.push_back(i);
    const long own = finding.location.line - 1;
    if (own >= 0)
      std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
        return std::labs(static_cast<long>(a) - own) < std::labs(static_cast<long>(b) - own);
      });
  }

  std::vector<Edit> all() {
    const Code code = finding_.code;
    // With that line every call was right.
    if (!finding_.edited.empty() && finding_.location.line > 0 &&
        static_cast<std::size_t>(finding_.location.line) <= lines_.size())
      take_edited();
    if (code == Code::symbol_name) rename();
    if (code == Code::missing_barrier || code == Code::race) barriers();
    if (code == Code::out_of_bounds_read || code == Code::out_of_bounds_write) {
      compare(8);
      bound();
    }
    if (code == Code::tie_rule) by_rules();  // whichever place is the less, before all comparisons one by one
    if (code == Code::off_by_one || code == Code::tie_rule || code == Code::mask_alignment)
      compare(lines_.size());
    if (code == Code::inverted_condition) negate();
    if (code == Code::empty_input || (code == Code::launch_failed && finding_.no_blocks)) guard_launches();
    if (code == Code::wrong_stream) give_stream();
    if (code != Code::tie_rule) by_rules();
    return std::move(edits_);
  }

 private:
  static constexpr std::size_t kMost = 12;

  void put(std::size_t at, const std::string& line, std::string what) {
    if (edits_.size() >= kMost || lines_[at] == line) return;
    SourceLines changed = lines_;
    changed[at] = line;
    edits_.push_back({static_cast<int>(at) + 1, std::move(what), text_of(changed)});
  }

  void by_rules() {
    for (const Rule& rule : kRules) {
      if (rule.code != finding_.code || !finding_.variation.starts_with(rule.variation)) continue;
      const Pattern wrong(rule.wrong);
      std::vector<std::string> forms = {std::string(rule.right)};
      if (rule.right.find("{}") != std::string_view::npos) {
        forms.clear();
        for (const std::string& name : numbers_in(source_))
          forms.push_back(std::string(rule.right).replace(rule.right.find("{}"), 2, name));
      }
      for (const std::string& right : forms) {
        SourceLines every = lines_;
        int count = 0;
        for (const std::size_t at : order_) {
          if (!is_code(lines_[at]) || !wrong.found_in(lines_[at])) continue;
          every[at] = wrong.replaced(lines_[at], right);
          count += every[at] != lines_[at];
        }
        if (rule.everywhere && count > 1 && edits_.size() < kMost)
          edits_.push_back(
              {finding_.location.line,
               fmt::format("{} in place of {} in {} lines", shown(right), shown(rule.wrong), count),
               text_of(every)});
        for (const std::size_t at : order_)
          if (every[at] != lines_[at])
            put(at, every[at], fmt::format("line {}: {}", at + 1, trimmed(every[at])));
      }
    }
  }

  static bool is_code(const std::string& line) {
    const std::size_t first = line.find_first_not_of(" \t");
    return first != std::string::npos && line.compare(first, 1, "#") != 0 &&
           line.compare(first, 2, "//") != 0 && line.find("template") == std::string::npos;
  }

  static std::string trimmed(const std::string& line) {
    const std::size_t first = line.find_first_not_of(" \t");
    return first == std::string::npos ? std::string() : line.substr(first);
  }

  static std::string shown(std::string_view text) { return "'" + std::string(text) + "'"; }

  void take_edited() {
    std::vector<std::pair<int, std::string>> lines = finding_.edited_also;
    lines.insert(lines.begin(), {finding_.location.line, finding_.edited});
    SourceLines made = lines_;
    std::string what;
    for (const auto& [line, text] : lines) {
      if (line < 1 || static_cast<std::size_t>(line) > made.size()) return;
      std::string& own = made[static_cast<std::size_t>(line) - 1];
      own = own.substr(0, std::min(own.find_first_not_of(" \t"), own.size())) + text;
      what += fmt::format("{}line {}: {}", what.empty() ? "" : ", ", line, text);
    }
    edits_.push_back({finding_.location.line, std::move(what), text_of(made)});
  }

  void rename() {
    if (entry_.empty() || finding_.argument.empty()) return;
    const Pattern name("\\b" + literally(entry_) + "\\b");
    edits_.push_back({finding_.location.line, fmt::format("{} is called {}", entry_, finding_.argument),
                      name.replaced(source_, finding_.argument)});
  }

  void barriers() {
    const long own = finding_.location.line - 1;
    if (own < 0 || own >= static_cast<long>(lines_.size())) return;
    // Before the access, behind it, and before or behind a loop round it.
    for (const long step : {0L, 1L, -1L, 2L, -2L, 3L}) {
      const long at = own + step;
      if (at < 1 || at > static_cast<long>(lines_.size()) || edits_.size() >= kMost) continue;
      const auto place = static_cast<std::size_t>(at);
      const std::string& before = lines_[place - 1];
      const std::size_t end = before.find_last_not_of(" \t");
      // Where a statement has ended, and none of an if or a loop without braces begins.
      if (end == std::string::npos || std::string_view(";{}").find(before[end]) == std::string_view::npos)
        continue;
      const std::string& next = lines_[std::min(place, lines_.size() - 1)];
      const std::size_t indent = std::min(next.find_first_not_of(" \t"), std::string::npos - 1);
      SourceLines changed = lines_;
      changed.insert(
          changed.begin() + at,
          (indent < next.size() ? next.substr(0, indent) : std::string("  ")) + "__syncthreads();");
      edits_.push_back({static_cast<int>(at) + 1, fmt::format("a __syncthreads() before line {}", at + 1),
                        text_of(changed)});
    }
  }

  /// Comparisons one off, of the lines near the place.
  void compare(std::size_t near) {
    const long own = finding_.location.line - 1;
    for (const std::size_t at : order_) {
      if (own >= 0 && static_cast<std::size_t>(std::labs(static_cast<long>(at) - own)) > near) break;
      // Templates, launches and arrows are no comparisons.
      const std::string& line = lines_[at];
      if (!is_code(line) || (line.find("if") == std::string::npos && line.find("for") == std::string::npos &&
                             line.find("while") == std::string::npos && line.find('?') == std::string::npos))
        continue;
      for (const Rule& bound : kBounds) {
        const std::string changed = Pattern(bound.wrong).replaced(line, bound.right);
        put(at, changed, fmt::format("line {}: {}", at + 1, trimmed(changed)));
      }
    }
  }

  /// A store or load behind a comparison of its index with a number that the function takes.
  void bound() {
    long own = finding_.location.line - 1;
    // Without a place, the first assignment that names the buffer.
    const Pattern named("\\b" + literally(finding_.argument) + "\\[");
    for (std::size_t i = 0; own < 0 && !finding_.argument.empty() && i < lines_.size(); ++i)
      if (lines_[i].find(" = ") != std::string::npos && named.found_in(lines_[i])) own = static_cast<long>(i);
    if (own < 0 || own >= static_cast<long>(lines_.size())) return;
    const auto at = static_cast<std::size_t>(own);
    const std::string& line = lines_[at];
    static const Pattern access(R"(\b(\w+)\[([^\[\]]+)\])");
    const std::size_t indent = line.find_first_not_of(" \t");
    if (indent == std::string::npos || line.find(" = ") == std::string::npos) return;
    bound_threads(at);
    static const Pattern declares(R"(^\s*(?:const\s+)?(?:auto|float|double|int|half|__half)\s)");
    if (declares.found_in(line)) return;
    for (const Match& match : access.all(line)) {
      if (match[1] != finding_.argument && !finding_.argument.empty()) continue;
      for (const std::string& number : numbers_in(source_))
        put(at,
            fmt::format("{}if ({} < {}) {}", line.substr(0, indent), match[2], number, line.substr(indent)),
            fmt::format("line {}: if ({} < {}) before it", at + 1, match[2], number));
    }
  }

  /// A condition that bounds one index of the threads, and leaves out another.
  void bound_threads(std::size_t at) {
    static const Pattern index(
        R"(\b(?:int|long|unsigned|uint|auto|size_t|u?int(?:32|64)_t)\s+(\w+)\s*=[^;]*threadIdx)");
    static const Pattern condition(R"(^(.*\bif\s*\()(.*)(\)\s*(?:return;|\{)?\s*)$)");
    std::size_t test = at + 1;
    while (test-- > 0 && at - test < 20)
      if (condition.find(lines_[test])) break;
    if (test >= lines_.size() || at - test >= 20) return;
    const std::optional<Match> found = condition.find(lines_[test]);
    if (!found) return;
    const bool leaves = (*found)[3].find("return") != std::string::npos;
    for (const Match& each : index.all(source_))
      for (const std::string& number : numbers_in(source_)) {
        if ((*found)[2].find(each[1]) != std::string::npos || (*found)[2].find(number) != std::string::npos)
          continue;
        put(test,
            fmt::format("{}{} {} {} {} {}{}", (*found)[1], (*found)[2], leaves ? "||" : "&&", each[1],
                        leaves ? ">=" : "<", number, (*found)[3]),
            fmt::format("line {}: {} < {} as well", test + 1, each[1], number));
      }
  }

  void negate() {
    static const Pattern condition(R"(\bif\s*\(([^{};]*)\))");
    for (const std::size_t at : order_)
      if (is_code(lines_[at]))
        put(at, condition.replaced(lines_[at], "if (!($1))"),
            fmt::format("line {}: the condition negated", at + 1));
  }

  /// No launch where the grid has no block.
  void guard_launches() {
    static const Pattern launch(R"(^(\s*)([A-Za-z_][\w:<>, ]*)<<<\s*(\w+)\s*,)");
    for (const std::size_t at : order_) {
      const std::optional<Match> found = launch.find(lines_[at]);
      if (!found) continue;
      const std::string indent = (*found)[1], grid = (*found)[3], rest = lines_[at].substr(indent.size());
      put(at, fmt::format("{}if ({} > 0) {}", indent, grid, rest),
          fmt::format("line {}: if ({} > 0) before the launch", at + 1, grid));
      put(at, fmt::format("{0}if ({1}.x > 0 && {1}.y > 0 && {1}.z > 0) {2}", indent, grid, rest),
          fmt::format("line {}: no launch of a grid without a block", at + 1));
    }
    static const Pattern whole(R"(^(\s*)([A-Za-z_][\w:<>, ]*)<<<)");
    for (const std::size_t at : order_) {
      const std::optional<Match> found = whole.find(lines_[at]);
      if (!found) continue;
      const std::string indent = (*found)[1];
      for (const std::string& number : numbers_in(source_))
        put(at, fmt::format("{}if ({} > 0) {}", indent, number, lines_[at].substr(indent.size())),
            fmt::format("line {}: if ({} > 0) before the launch", at + 1, number));
    }
  }

  void give_stream() {
    static const Pattern parameter(R"(\b(?:cuda|hip)Stream_t\s+(\w+))");
    static const Pattern two(R"(<<<([^,<>]+),([^,<>]+)>>>)"),
        four(R"(<<<([^,<>]+),([^,<>]+),([^,<>]+),\s*0\s*>>>)");
    const std::optional<Match> found = parameter.find(source_);
    const bool hip = source_.find("hip/hip_runtime.h") != std::string::npos;
    const std::string stream = found ? (*found)[1]
                               : hip ? "at::hip::getCurrentHIPStream()"
                                     : "at::cuda::getCurrentCUDAStream()";
    SourceLines changed = lines_;
    for (std::string& line : changed) {
      line = four.replaced(line, "<<<$1,$2,$3, " + stream + ">>>");
      line = two.replaced(line, "<<<$1,$2, 0, " + stream + ">>>");
    }
    if (changed != lines_)
      edits_.push_back({finding_.location.line, "launches on " + stream, text_of(changed)});
  }

  const Finding& finding_;
  std::string entry_;
  const std::string& source_;
  SourceLines lines_;
  std::vector<std::size_t> order_;
  std::vector<Edit> edits_;
};

}  // namespace

std::vector<Edit> edits_for(const Finding& finding, const std::string& entry, const std::string& source) {
  if (finding.subject != Subject::candidate || is_remark(finding)) return {};
  return Editing(finding, entry, source).all();
}

}  // namespace isomer::lab
