#include "lab/evidence/edits/values.hpp"

#include "lab/evidence/edits/well_formed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace isomer::lab {
namespace {

constexpr std::size_t kLongest = 80;  ///< tokens of a value, and of a statement
constexpr std::size_t kMostTexts = 56;

/// The tokens as one line, with those parts in place of their own.
std::string on_one_line(const CppTokens& tokens, std::size_t first, std::size_t last,
                        const std::vector<EditPlaces::Part>& parts) {
  std::string text;
  for (std::size_t i = first; i <= last; ++i) {
    if (i > first && tokens[i].begin > tokens[i - 1].end && !text.empty()) text += ' ';
    const auto part = std::find_if(parts.begin(), parts.end(),
                                   [&](const EditPlaces::Part& each) { return each.first == i; });
    if (part == parts.end()) {
      text += tokens.text(i);
      continue;
    }
    text += part->text;
    i = part->last;
  }
  return text;
}

/// Whether each bracket that opens in it closes there, and each choice has two ways.
bool is_closed(std::string_view text) {
  std::string open;
  int choices = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '?') ++choices;
    if (c == ':' && (i == 0 || text[i - 1] != ':') && (i + 1 == text.size() || text[i + 1] != ':')) --choices;
    if (c == '(' || c == '[' || c == '{') open += c;
    if (c != ')' && c != ']' && c != '}') continue;
    if (open.empty() || open.back() != (c == ')' ? '(' : c == ']' ? '[' : '{')) return false;
    open.pop_back();
  }
  return open.empty() && choices == 0;
}

SourceValue::Kind kind_of(const std::string& type) {
  if (is_real_type(type)) return SourceValue::Kind::real;
  if (is_whole_type(type)) return SourceValue::Kind::whole;
  return type.find('*') != std::string::npos ? SourceValue::Kind::memory : SourceValue::Kind::other;
}

/// `std::max` takes no two types; another variable may have another one.
std::string of_any_types(std::string text) {
  for (const auto& [own, any] : {std::pair{"std::max(", "isomer_edits::larger_of("},
                                 std::pair{"std::min(", "isomer_edits::smaller_of("}})
    for (std::size_t at = text.find(own); at != std::string::npos; at = text.find(own, at + 1)) {
      const std::size_t open = at + std::string_view(own).size();
      if (open < text.size() && text[open] == '{') continue;
      text.replace(at, open - at, any);
    }
  return text;
}

class Values {
 public:
  explicit Values(const EditPlaces& places) : places_(places), tokens_(places.tokens()) {}

  std::vector<SourceValue> all() && {
    for (std::size_t i = 1; i < tokens_.size(); ++i) {
      if (places_.functions().begins_declaration(i))
        add_declaration(i);
      else if (places_.functions().starts_statement(i))
        add_statement(i);
      if (tokens_.is(i, "for") && tokens_.is(i + 1, "(")) add_bound(i + 1);
    }
    return std::move(list_);
  }

 private:
  void add(SourceValue value) {
    if (value.first > value.last || value.last - value.first > kLongest || value.last >= tokens_.size() ||
        !places_.open_rewrites(value.first) || !places_.open_rewrites(value.last))
      return;
    for (std::size_t i = value.first; i <= value.last; ++i)
      if (tokens_.is(i, "{") || tokens_.is(i, ";") || tokens_.is(i, "<<<") || tokens_.is(i, "=") ||
          tokens_[i].kind == CppToken::Kind::quoted)
        return;
    list_.push_back(std::move(value));
  }

  void add_declaration(std::size_t first) {
    const bool loop = tokens_.is(first - 1, "(");
    std::size_t at = first;
    std::string type;
    bool pointer = false;
    for (; at < tokens_.size() && at - first < 16 && !places_.functions().is_declared_here(at); ++at) {
      if (tokens_.is(at, "&")) return;
      if (is_number_word(tokens_.text(at)) || tokens_.is(at, "const"))
        type += tokens_.is(at, "const") && type.empty() ? "" : std::string(tokens_.text(at)) + " ";
      pointer = pointer || tokens_.is(at, "*");
    }
    if (at >= tokens_.size() || !places_.functions().is_declared_here(at)) return;
    if (pointer) type = std::string(tokens_.text(first, at - 1));
    // A template's argument, or another name of a type.
    const CppVariable* declared = places_.functions().declared_at(at);
    if (type.empty() && declared != nullptr) type = declared->type;
    for (std::size_t end = at; end < tokens_.size() && end - first < 4 * kLongest;) {
      const std::string name(tokens_.text(at));
      while (end < tokens_.size() && !tokens_.is(end, ",") && !tokens_.is(end, ";"))
        end = tokens_.behind(end);
      if (tokens_.is(at + 1, "="))
        add({pointer ? SourceValue::Kind::memory : kind_of(type), first, at + 2, end - 1, type, name, loop});
      if (!tokens_.is(end, ",")) return;
      at = ++end;
    }
  }

  /// What the number of a loop is less than.
  void add_bound(std::size_t open) {
    const std::size_t close = tokens_[open].partner;
    std::size_t at = open + 1;
    while (at < close && !tokens_.is(at, ";")) at = tokens_.behind(at);
    if (at >= close || !tokens_.is_name(at + 1) || !(tokens_.is(at + 2, "<") || tokens_.is(at + 2, "<=")))
      return;
    std::size_t end = at + 3;
    while (end < close && !tokens_.is(end, ";") && !tokens_.is(end, "&&")) end = tokens_.behind(end);
    if (tokens_.is(end, ";")) add({SourceValue::Kind::whole, at, at + 3, end - 1, "bound", "", false});
  }

  /// What is put together for a function: `atomicAdd(sums + row * cols + c, x)`.
  void add_arguments(std::size_t open) {
    const std::size_t close = tokens_[open].partner;
    for (std::size_t first = open + 1, i = first; i <= close; i = tokens_.behind(i)) {
      if (i != close && !tokens_.is(i, ",")) continue;
      bool made = false;
      for (std::size_t k = first + 1; k < i; k = tokens_.behind(k))
        for (const char* each : {"+", "-", "*", "/", "%"}) made = made || tokens_.is(k, each);
      const CppVariable* named = places_.functions().named(first);
      const bool memory = named != nullptr && named->type.find_first_of("*[") != std::string::npos &&
                          !tokens_.is(first + 1, "[");
      if (made && i > first)
        add({memory ? SourceValue::Kind::memory : SourceValue::Kind::other, open - 1, first, i - 1,
             "argument", "", false});
      first = i + 1;
      if (i == close) break;
    }
  }

  void add_statement(std::size_t first) {
    std::size_t end = first;
    while (end < tokens_.size() && end - first < 4 * kLongest && !tokens_.is(end, ";") &&
           !tokens_.is(end, "}"))
      end = tokens_.behind(end);
    if (!tokens_.is(end, ";") || end < first + 2) return;
    if (tokens_.is(first, "return"))
      return add({SourceValue::Kind::other, first, first + 1, end - 1, "", "", false});
    if (tokens_.is_name(first) && tokens_.is(first + 1, "(") && tokens_[first + 1].partner + 1 == end)
      return add_arguments(first + 1);
    const CppVariable* left = places_.functions().named(first);
    std::size_t at = first;
    while (at < end && tokens_.text(at).back() != '=') at = tokens_.behind(at);
    if (left == nullptr || at + 1 >= end || tokens_.is(at, "==")) return;
    const bool element = tokens_.is(first + 1, "["), member = tokens_.is(first + 1, ".");
    std::string type = left->type;
    if (element)
      type = element_of(type);
    else if (member)
      type = "member";
    // What is added to is another matter than what is assigned to.
    const std::string target = tokens_.is(at, "=") ? type : type + std::string(tokens_.text(at));
    for (std::size_t i = first; i < at; i = tokens_.behind(i))
      if (tokens_.is(i, "[") && tokens_[i].partner < at)
        add({SourceValue::Kind::whole, first, i + 1, tokens_[i].partner - 1, "index", "", false});
    add({kind_of(type), first, at + 1, end - 1, target, std::string(tokens_.text(first, at - 1)), false});
  }

  const EditPlaces& places_;
  const CppTokens& tokens_;
  std::vector<SourceValue> list_;
};

}  // namespace

std::string element_of(const std::string& memory) {
  std::string type = memory.starts_with("const ") ? memory.substr(6) : memory;
  const std::size_t end = type.find_first_of("*[");
  if (end != std::string::npos) type.erase(end);
  while (!type.empty() && type.back() == ' ') type.pop_back();
  return type + " ";
}

std::vector<SourceValue> values_of(const EditPlaces& places) { return Values(places).all(); }

void ChangedValues::add(const SourceValue& value, std::vector<EditPlaces::Part> parts, Code code, int rank) {
  wanted_.push_back({{{value, std::move(parts)}}, code, rank});
}

void ChangedValues::add(const Parts& values, Code code, int rank) { wanted_.push_back({values, code, rank}); }

void ChangedValues::write(const Wanted& wanted) {
  std::vector<EditPlaces::Part> all;
  std::vector<std::string> texts;
  for (const auto& [value, parts] : wanted.values) {
    if (texts_[{value.first, value.last}].size() >= kMostTexts) return;
    all.insert(all.end(), parts.begin(), parts.end());
    texts.push_back(on_one_line(places_.tokens(), value.first, value.last, parts));
    if (!is_closed(texts.back()) || places_.is_refused(places_.tokens()[value.first].line, texts.back()) ||
        !is_well_formed(places_, value.first, value.last, texts.back()))
      return;
  }
  const int edit = places_.add(std::move(all), wanted.code, wanted.rank);
  for (std::size_t i = 0; i < wanted.values.size(); ++i) {
    const SourceValue& value = wanted.values[i].first;
    places_.takes(edit, places_.tokens()[value.first].line, texts[i]);
    texts_[{value.first, value.last}].emplace_back(edit, std::move(texts[i]));
  }
}

void ChangedValues::exchange(const SourceValue& one, const SourceValue& other, Code code, int rank) {
  const std::string first = on_one_line(places_.tokens(), one.first, one.last, {}),
                    second = on_one_line(places_.tokens(), other.first, other.last, {});
  add({{one, {{one.first, one.last, second}}}, {other, {{other.first, other.last, first}}}}, code, rank);
}

void ChangedValues::write() {
  std::stable_sort(wanted_.begin(), wanted_.end(),
                   [](const Wanted& a, const Wanted& b) { return a.rank < b.rank; });
  for (const Wanted& each : wanted_) write(each);
  wanted_.clear();
  for (const auto& [range, texts] : texts_) {
    if (texts.empty()) continue;
    const auto [least, most] = std::minmax_element(texts.begin(), texts.end());
    std::string others;
    // Each on a line of its own, so that a compiler that complains says of which.
    for (const auto& [number, text] : texts)
      others +=
          fmt::format("\n#line {}\nif (isomer_edits::chosen({})) return isomer_edits::as(isomer_own, {});",
                      kLineOfValues + number, number, of_any_types(text));
    places_.surround(
        range.first, range.second,
        fmt::format("isomer_edits::instead({}, {}, [&] {{ return ", least->first, most->first),
        fmt::format("; }}, [&](auto& isomer_own) __attribute__((noinline, cold)) -> "
                    "std::decay_t<decltype(isomer_own())> {{{}\n#line {}\nreturn isomer_own(); }})",
                    others, places_.tokens()[range.second].line));
  }
  texts_.clear();
}

}  // namespace isomer::lab
