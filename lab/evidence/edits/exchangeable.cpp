#include "lab/evidence/edits/exchangeable.hpp"

#include "lab/evidence/edits/alike.hpp"
#include "lab/evidence/edits/operands.hpp"
#include "lab/evidence/edits/places.hpp"
#include "lab/evidence/edits/values.hpp"
#include "lab/text/pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <utility>

namespace isomer::lab {
namespace {

/// Before the source's first word, and before what that stands between `#if` and `#endif` of: there a header
/// can be included that everything behind may use.
std::size_t behind_headers(std::string_view source, std::size_t first_word) {
  std::size_t outermost = source.rfind('\n', first_word) + 1;
  std::vector<std::size_t> open;
  for (std::size_t at = 0; at < first_word;) {
    const std::size_t end = std::min(source.find('\n', at), source.size());
    const std::string line = without_spaces(source.substr(at, end - at));
    const std::size_t word = line.rfind('#', 0) == 0 ? line.find_first_not_of(" \t", 1) : std::string::npos;
    if (word != std::string::npos && line.compare(word, 2, "if") == 0) open.push_back(at);
    if (word != std::string::npos && line.compare(word, 5, "endif") == 0 && !open.empty()) open.pop_back();
    at = end + 1;
  }
  if (!open.empty()) outermost = open.front();
  return outermost;
}

}  // namespace

std::string without_spaces(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t"), last = line.find_last_not_of(" \t\r");
  return first == std::string_view::npos ? std::string() : std::string(line.substr(first, last + 1 - first));
}

EditPlaces::EditPlaces(const std::string& source, const CppTokens& tokens, const CppFunctions& functions,
                       const RefusedEdits& refused, const OfLabel& label)
    : source_(source),
      tokens_(tokens),
      functions_(functions),
      refused_(refused),
      label_(label),
      absent_(label.numbers, tokens),
      structs_(tokens, functions),
      chooses_(tokens.size()),
      constant_(tokens.size()),
      referred_(tokens.size()) {
  find_choices();
  find_constant();
  find_references();
}

void EditPlaces::find_references() {
  std::map<std::string_view, std::set<std::size_t>> taken;  // by the function's name: places of its arguments
  const auto arguments = [&](std::size_t open, const auto& each) {
    std::size_t place = 0, first = open + 1;
    for (std::size_t i = first; i <= tokens_[open].partner; i = tokens_.behind(i)) {
      if (i != tokens_[open].partner && !tokens_.is(i, ",")) continue;
      each(place++, first, i);
      first = i + 1;
      if (i == tokens_[open].partner) break;
    }
  };
  for (std::size_t i = 1; i + 1 < tokens_.size(); ++i) {
    if (!tokens_.is(i, "(") || !tokens_.is_name(i - 1) || !tokens_.is(tokens_[i].partner + 1, "{") ||
        tokens_.is(i - 1, "if") || tokens_.is(i - 1, "while") || tokens_.is(i - 1, "for") ||
        tokens_.is(i - 1, "switch") || tokens_.is(i - 1, "catch"))
      continue;
    arguments(i, [&](std::size_t place, std::size_t first, std::size_t end) {
      bool refers = false, constant = false;
      for (std::size_t k = first; k < end; ++k) {
        refers = refers || tokens_.is(k, "&");
        constant = constant || tokens_.is(k, "const");
      }
      if (refers && !constant) taken[tokens_.text(i - 1)].insert(place);
    });
  }
  for (std::size_t i = 0; i + 1 < tokens_.size(); ++i) {
    if (!tokens_.is_name(i)) continue;
    const auto found = taken.find(tokens_.text(i));
    if (found == taken.end()) continue;
    std::size_t open = i + 1;
    if (begins_arguments(tokens_, open))
      while (open < tokens_.size() && !tokens_.is(open, "(")) ++open;
    if (!tokens_.is(open, "(")) continue;
    arguments(open, [&](std::size_t place, std::size_t first, std::size_t end) {
      for (std::size_t k = first; k < end && found->second.count(place) > 0; ++k) referred_[k] = true;
    });
  }
}

void EditPlaces::find_constant() {
  for (std::size_t i = 0; i + 2 < tokens_.size(); ++i) {
    std::size_t open = i + 1;
    if (tokens_.is(i, "if") && tokens_.is(open, "constexpr")) ++open;
    if (!tokens_.is(open, "(") || (open == i + 1 && !tokens_.is(i, "static_assert"))) continue;
    for (std::size_t k = i; k <= tokens_[open].partner && k < constant_.size(); ++k) constant_[k] = true;
  }
  // What a template is given: `const int threads = 128;` of kernel<threads>.
  std::set<std::string_view> given;
  for (std::size_t i = 2; i + 1 < tokens_.size(); ++i) {
    const bool first = tokens_.is(i - 1, "<") && tokens_.is_name(i - 2), last = tokens_.is(i + 1, ">");
    if (tokens_.is_name(i) &&
        ((first && (last || tokens_.is(i + 1, ","))) || (last && tokens_.is(i - 1, ","))))
      given.insert(tokens_.text(i));
  }
  for (std::size_t i = 0; i + 3 < tokens_.size(); ++i) {
    if (!tokens_.is(i, "const") || !tokens_.is_name(i + 1) || !tokens_.is(i + 3, "=") ||
        given.count(tokens_.text(i + 2)) == 0)
      continue;
    for (std::size_t k = i; k < constant_.size() && !tokens_.is(k, ";"); ++k) constant_[k] = true;
  }
}

void EditPlaces::find_choices() {
  const auto mark = [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i <= last && i < chooses_.size(); ++i) chooses_[i] = true;
  };
  const auto launches = [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i)
      if (tokens_.is(i, "<<<") || tokens_.text(i).find("LaunchKernel") != std::string_view::npos) return true;
    return false;
  };
  // `if (cols % 4 == 0)`, by a number that is given: whole vectors are read, or they are not.
  const auto asks_a_size = [&](std::size_t open) {
    for (std::size_t k = open + 1; k < tokens_[open].partner; ++k) {
      const bool rest =
          tokens_.is(k, "%") || (tokens_.is(k, "&") && (tokens_.is(k + 1, "1") || tokens_.is(k + 1, "3") ||
                                                        tokens_.is(k + 1, "7") || tokens_.is(k + 1, "15")));
      if (!rest || !tokens_.is_name(k - 1) || tokens_[k + 1].kind != CppToken::Kind::number) continue;
      const std::size_t name = tokens_.is(k - 2, ".") || tokens_.is(k - 2, "->") ? k - 3 : k - 1;
      const CppVariable* variable = functions_.named(name);
      if (variable != nullptr && functions_.is_parameter(*variable)) return true;
    }
    return false;
  };
  std::set<std::string_view> asked;  // functions that a choice calls
  const auto end_of_statement = [&](std::size_t i) {
    while (i < tokens_.size() && !tokens_.is(i, ";") && !tokens_.is(i, "{")) i = tokens_.behind(i);
    return tokens_.is(i, "{") ? tokens_.behind(i) : i + 1;
  };
  for (std::size_t i = 1; i + 1 < tokens_.size(); ++i) {
    if (tokens_.is(i, "if") && tokens_.is(i + 1, "(")) {
      const std::size_t close = tokens_[i + 1].partner, end = end_of_statement(close + 1);
      if (launches(close, end) || asks_a_size(i + 1)) mark(i + 1, close);
    }
    // How many threads a block has, which a kernel that has a fault of its own may be right without.
    if (tokens_.is(i, "<<<")) {
      std::size_t k = i + 1;
      while (k < tokens_.size() && !tokens_.is(k, ",") && !tokens_.is(k, ">>>")) k = tokens_.behind(k);
      if (k + 1 < tokens_.size() && tokens_.is(k, ",") && tokens_[k + 1].kind == CppToken::Kind::number)
        mark(k + 1, k + 1);
    }
    // What a condition asks that launches.
    if (tokens_.is(i, "if") && tokens_.is(i + 1, "(") && chooses_[i + 1])
      for (std::size_t k = i + 2; k < tokens_[i + 1].partner; ++k)
        if (tokens_.is_name(k) && tokens_.is(k + 1, "(")) asked.insert(tokens_.text(k));
    // `const bool vector = n % 4 == 0;`, `return address % sizeof(float4) == 0;`
    if ((tokens_.is(i, "%") || tokens_.is(i, "&")) && functions_.in_body(i)) {
      std::size_t first = i, last = i;
      while (first > 0 && !tokens_.is(first - 1, ";") && !tokens_.is(first - 1, "{") &&
             !tokens_.is(first - 1, "}"))
        --first;
      while (last < tokens_.size() && !tokens_.is(last, ";") && !tokens_.is(last, "{")) ++last;
      bool is_bool = false, is_size = false, is_address = false;
      for (std::size_t k = first; k < last; ++k) {
        is_bool = is_bool || tokens_.is(k, "bool");
        is_size =
            is_size || tokens_.is(k, "sizeof") || tokens_.is(k, "alignof") || tokens_.is(k, "uintptr_t");
        is_address = is_address || tokens_.is(k, "uintptr_t");
      }
      if (tokens_.is(i, "%") ? is_bool || is_size : is_address) mark(first, last);
    }
  }
  find_threads();
  for (std::size_t i = 1; i + 1 < tokens_.size(); ++i)
    if (tokens_.is(i, "(") && asked.count(tokens_.text(i - 1)) > 0 && tokens_.is(tokens_[i].partner + 1, "{"))
      mark(tokens_[i].partner + 1, tokens_[tokens_[i].partner + 1].partner);
}

void EditPlaces::find_threads() {
  std::set<std::string_view> threads;  // variables of how many threads a block has
  for (std::size_t i = 1; i + 1 < tokens_.size(); ++i) {
    if (!tokens_.is(i, "<<<")) continue;
    std::size_t k = i + 1;
    while (k < tokens_.size() && !tokens_.is(k, ",") && !tokens_.is(k, ">>>")) k = tokens_.behind(k);
    if (tokens_.is(k, ",") && tokens_.is_name(k + 1) && (tokens_.is(k + 2, ",") || tokens_.is(k + 2, ">>>")))
      threads.insert(tokens_.text(k + 1));
  }
  const auto body = [&](std::size_t i) { return functions_.in_body(i) || functions_.is_declared_here(i); };
  // `dim3 block(threads, 1);`
  for (std::size_t i = 1; i + 1 < tokens_.size(); ++i)
    if (threads.count(tokens_.text(i)) > 0 && tokens_.is(i - 1, "dim3") && tokens_.is(i + 1, "("))
      for (std::size_t k = i + 2; k < tokens_[i + 1].partner; ++k)
        if (functions_.named(k) != nullptr) threads.insert(tokens_.text(k));
  for (std::size_t i = 1; i + 1 < tokens_.size(); ++i) {
    if (threads.count(tokens_.text(i)) == 0 || !body(i) || tokens_.is(i - 1, ".") ||
        !tokens_.text(i + 1).ends_with('=') || tokens_.is(i + 1, "=="))
      continue;
    for (std::size_t k = i; k < tokens_.size() && !tokens_.is(k, ";"); ++k) chooses_[k] = true;
  }
}

bool EditPlaces::open_object(std::size_t token) const {
  const auto found = refused_.lines.find(tokens_[token].line);
  return functions_.in_body(token) && !constant_[token] &&
         (found == refused_.lines.end() || found->second != LeftAlone::all);
}

bool EditPlaces::open(std::size_t token) const {
  const auto found = refused_.lines.find(tokens_[token].line);
  return can_be_edited(token) && (found == refused_.lines.end() || found->second != LeftAlone::all);
}

bool EditPlaces::open_statement(std::size_t token) const {
  const auto found = refused_.lines.find(tokens_[token].line);
  return can_be_edited(token) && (found == refused_.lines.end() || found->second == LeftAlone::rewrites);
}

bool EditPlaces::open_rewrites(std::size_t token) const {
  return can_be_edited(token) && refused_.lines.count(tokens_[token].line) == 0;
}

std::optional<std::string> EditPlaces::line_with(const std::vector<Part>& parts) const {
  const std::size_t begin = tokens_[parts.front().first].begin;
  const std::size_t from = source_.rfind('\n', begin) + 1,
                    to = std::min(source_.find('\n', begin), source_.size());
  std::string line;
  std::size_t at = from;
  for (const Part& part : parts) {
    const std::size_t first = tokens_[part.first].begin, last = tokens_[part.last].end;
    if (first < at || last > to) return std::nullopt;
    line += source_.substr(at, first - at) + part.text;
    at = last;
  }
  line = without_spaces(line + source_.substr(at, to - at));
  return line.empty() ? ";" : line;
}

int EditPlaces::add(std::vector<Part> parts, Code code, int rank) {
  std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.first < b.first; });
  const int number = next_++;
  // Another way that is right too mends nothing of this one.
  constexpr int kLast = 6;
  const bool chooses =
      std::all_of(parts.begin(), parts.end(), [&](const Part& each) { return chooses_[each.first]; });
  if (chooses) rank += kLast;
  std::vector<EditedLine> lines;
  for (std::size_t i = 0; i < parts.size();) {
    const int line = tokens_[parts[i].first].line;
    std::vector<Part> own;
    for (; i < parts.size() && tokens_[parts[i].first].line == line; ++i) own.push_back(parts[i]);
    const std::size_t first = own.front().first;
    const auto was = line_with({{first, first, std::string(tokens_.text(first))}}), becomes = line_with(own);
    if (!was || !becomes || *was == *becomes) return number;
    lines.push_back({line, *was, *becomes});
  }
  Exchange edit = {number, {number},          lines.front().line,    code,
                   rank,   lines.front().was, lines.front().becomes, {}};
  edit.also.assign(lines.begin() + 1, lines.end());
  edit.chooses = chooses;
  edits_.push_back(std::move(edit));
  return number;
}

void EditPlaces::surround(std::size_t first, std::size_t last, const std::string& before,
                          const std::string& behind) {
  rounds_.push_back({first, last, before, behind});
}

Exchangeable EditPlaces::whole() && {
  Exchangeable made;
  // Of what begins or ends with the same token the longer stands outside.
  std::map<std::size_t, std::string> before, behind;
  std::stable_sort(rounds_.begin(), rounds_.end(),
                   [](const Round& a, const Round& b) { return a.last - a.first < b.last - b.first; });
  for (const Round& each : rounds_) {
    before[each.first] = each.before + before[each.first];
    behind[each.last] += each.behind;
  }
  std::size_t at = 0;
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    made.source += source_.substr(at, tokens_[i].begin - at);
    if (const auto found = before.find(i); found != before.end()) made.source += found->second;
    std::string own(tokens_.text(i));
    if (const auto found = replaced_.find(i); found != replaced_.end()) own = found->second;
    if (const auto found = alternatives_.find(i); found != alternatives_.end()) {
      for (const auto& [number, text] : found->second)
        own = fmt::format("isomer_edits::either({}, {}, {})", number, text, own);
    }
    made.source += own;
    if (const auto found = behind.find(i); found != behind.end()) made.source += found->second;
    at = tokens_[i].end;
  }
  made.source += source_.substr(at);
  made.edits = std::move(edits_);
  made.values = std::move(values_);
  if (!made.edits.empty()) {
    // Not before the source's own headers, so that those that are precompiled serve.
    const std::size_t place = behind_headers(source_, tokens_[0].begin);
    const auto line = std::count(source_.begin(), source_.begin() + static_cast<std::ptrdiff_t>(place), '\n');
    made.source.insert(place, fmt::format("#include \"isomer_emulator/edits.h\"\n#line {}\n", line + 1));
    // On a line that the source does not have.
    made.source += fmt::format(
        "{}namespace {{ const int isomer_edits_values[] = {{{}-1}}; [[maybe_unused]] const bool "
        "isomer_edits_known = "
        "(isomer_emulator_edit_values = isomer_edits_values, true); }}",
        made.source.ends_with('\n') ? "" : "\n", unedited_);
  }
  std::stable_sort(made.edits.begin(), made.edits.end(),
                   [](const Exchange& a, const Exchange& b) { return a.rank < b.rank; });
  // One line may come about in several ways.
  std::set<std::string> known;
  std::erase_if(made.edits, [&](const Exchange& each) {
    std::string whole = fmt::format("{} {}", each.line, each.becomes);
    for (const EditedLine& other : each.also) whole += fmt::format("\n{} {}", other.line, other.becomes);
    return !known.insert(std::move(whole)).second;
  });
  add_alike(made.edits, next_);
  return made;
}

Exchangeable exchangeable(const std::string& source, const RefusedEdits& refused, const OfLabel& label) {
  const CppTokens tokens(source);
  const CppFunctions functions(tokens);
  EditPlaces places(source, tokens, functions, refused, label);
  add_expressions(places);
  add_names(places);
  add_constants(places);
  add_tables(places);
  add_members(places);
  add_other_members(places);
  add_tensors(places);
  add_pairs(places);
  add_groups(places);
  add_rescaled(places);
  add_counts(places);
  add_levels(places);
  add_order(places);
  add_conditions(places);
  add_insertions(places);
  add_bounds(places);
  add_statements(places);
  add_series(places);
  add_ways(places);
  add_carried(places);
  add_rewrites(places);
  add_rounds(places);
  add_one_more(places);
  places.keep_unedited(values_of(places));
  return std::move(places).whole();
}

namespace {

std::vector<std::string> bounds_in(const std::string& label) {
  static const Pattern bounding("clamp|clip|minimum|maximum|relu|\\bmin\\b|\\bmax\\b");
  static const Pattern number("[^\\w.](\\d+\\.\\d*(e[+-]?\\d+)?|\\d+)");
  constexpr std::size_t kMost = 6;
  std::vector<std::string> bounds = {"0.0f"};
  for (std::size_t at = 0; at < label.size();) {
    const std::size_t end = std::min(label.find('\n', at), label.size());
    const std::string line = label.substr(at, end - at);
    at = end + 1;
    if (!bounding.found_in(line)) continue;
    for (const Match& match : number.all(line)) {
      std::string text = fmt::format("{:.9g}", std::strtod(match[1].c_str(), nullptr));
      if (text.find_first_of(".e") == std::string::npos) text += ".0";
      for (const std::string& each : {text + "f", "-" + text + "f"})
        if (bounds.size() < kMost && text != "0.0" &&
            std::find(bounds.begin(), bounds.end(), each) == bounds.end())
          bounds.push_back(each);
    }
  }
  return bounds;
}

std::vector<std::string> functions_in(const std::string& label) {
  static const Pattern called("\\b(exp|exp2|log|log2|sqrt|rsqrt|tanh|erf|sin|cos|floor)\\(");
  static const Pattern absolute("\\babs\\(");
  std::vector<std::string> functions;
  if (absolute.found_in(label)) functions.push_back("fabsf");
  for (const Match& match : called.all(label))
    if (std::find(functions.begin(), functions.end(), match[1] + "f") == functions.end())
      functions.push_back(match[1] + "f");
  return functions;
}

/// Without comments and what stands in quotes over lines.
std::string code_of(const std::string& label) {
  static const Pattern quoted("(?s)\"\"\".*?\"\"\"|'''.*?'''"), comment("#[^\n]*");
  return comment.replaced(quoted.replaced(label, ""), "");
}

std::vector<std::string> numbers_in(const std::string& code) {
  static const Pattern number("(?:^|[^\\w.])(\\d+\\.?\\d*(?:[eE][-+]?\\d+)?)");
  std::vector<std::string> numbers;
  for (const Match& match : number.all(code)) {
    std::string text = match[1];
    if (text.back() == '.') text += '0';
    if (std::find(numbers.begin(), numbers.end(), text) == numbers.end()) numbers.push_back(text);
  }
  return numbers;
}

std::vector<std::vector<std::string>> lists_in(const std::string& code) {
  static const Pattern list("[\\[(]\\s*(-?\\d[\\w.+-]*(?:\\s*,\\s*-?\\d[\\w.+-]*)+)\\s*,?\\s*[\\])]"),
      element("-?\\d[\\w.+-]*");
  std::vector<std::vector<std::string>> lists;
  for (const Match& match : list.all(code)) {
    const std::string text = match[1];
    std::vector<std::string> elements;
    for (const Match& each : element.all(text)) elements.push_back(each[0]);
    lists.push_back(std::move(elements));
  }
  return lists;
}

}  // namespace

OfLabel of_label(const std::string& label) {
  const std::string code = code_of(label);
  return {bounds_in(label), functions_in(label), numbers_in(code), lists_in(code)};
}

}  // namespace isomer::lab
