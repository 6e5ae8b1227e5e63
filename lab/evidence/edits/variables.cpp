#include "lab/evidence/edits/variables.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace isomer::lab {
namespace {

constexpr std::array<std::string_view, 12> kNoType = {"return", "if",     "else", "for",  "while", "do",
                                                      "goto",   "delete", "new",  "case", "using", "typedef"};
/// Statements in which no expression is exchanged: what they are made of has to be constant.
constexpr std::array<std::string_view, 12> kConstant = {
    "constexpr", "static_assert", "__shared__", "extern", "asm",    "__asm__",
    "using",     "typedef",       "case",       "enum",   "struct", "template"};

template <class List>
bool among(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool is_open(std::string_view word) { return word == "(" || word == "[" || word == "{"; }

}  // namespace

bool is_whole_type(const std::string& type) {
  constexpr std::array<std::string_view, 10> kTypes = {"int ",       "int64_t ",     "int32_t ", "unsigned ",
                                                       "uint32_t ",  "uint64_t ",    "size_t ",  "long ",
                                                       "long long ", "unsigned int "};
  return among(kTypes, type);
}

bool is_real_type(const std::string& type) { return type == "float " || type == "double "; }

bool is_memory_of_numbers(const std::string& type) {
  constexpr std::array<std::string_view, 8> kTypes = {"const float * ", "const double * ", "float * ",
                                                      "double * ",      "const float* ",   "float* ",
                                                      "const int * ",   "const int32_t * "};
  return among(kTypes, type);
}

bool is_number_word(std::string_view word) {
  return word == "float" || word == "double" || word == "auto" || is_whole_type(std::string(word) + " ");
}

CppFunctions::CppFunctions(const CppTokens& tokens)
    : tokens_(tokens),
      in_body_(tokens.size()),
      starts_(tokens.size()),
      declares_(tokens.size()),
      declaration_(tokens.size()),
      parameters_(tokens.size()),
      used_(tokens.size()),
      block_(tokens.size()) {
  find_bodies();
  find_locals();
  leave_out();
  name_types();
  find_used();
}

void CppFunctions::find_used() {
  constexpr std::array<std::string_view, 7> kAssigns = {"=", "+=", "-=", "*=", "/=", "++", "--"};
  for (std::size_t i = 0; i < tokens_.size(); ++i)
    if (in_body_[i] && !declares_[i] && !among(kAssigns, tokens_.text(i + 1)))
      if (const CppVariable* variable = named(i)) used_[variable->declared] = true;
}

/// Names of types that the source gives to real numbers, and those of templates, are what they stand for.
void CppFunctions::name_types() {
  std::vector<std::string> names;
  for (std::size_t i = 0; i + 3 < tokens_.size(); ++i) {
    if (tokens_.is(i, "typedef") && tokens_.is(i + 1, "float") && tokens_.is(i + 3, ";"))
      names.emplace_back(tokens_.text(i + 2));
    if (tokens_.is(i, "using") && tokens_.is(i + 2, "=") &&
        (tokens_.is(i + 3, "float") || is_type_of_sums(i)))
      names.emplace_back(tokens_.text(i + 1));
    if ((tokens_.is(i, "typename") || tokens_.is(i, "class")) && tokens_.is_name(i + 1) &&
        (tokens_.is(i - 1, "<") || tokens_.is(i - 1, ",")) &&
        (tokens_.is(i + 2, ",") || tokens_.is(i + 2, ">")))
      names.emplace_back(tokens_.text(i + 1));
  }
  for (CppVariable& each : variables_)
    for (const std::string& name : names) {
      const std::size_t at = each.type.find(name);
      if (at == std::string::npos || (at > 0 && each.type[at - 1] != ' ') ||
          (at + name.size() < each.type.size() && each.type[at + name.size()] != ' '))
        continue;
      each.type.replace(at, name.size(), "float");
      break;
    }
}

bool CppFunctions::is_type_of_sums(std::size_t word) const {
  for (std::size_t i = word + 3; i < tokens_.size() && !tokens_.is(i, ";"); ++i)
    if (tokens_.is(i, "acc_type") || tokens_.is(i, "opmath_type") || tokens_.is(i, "acc_type_device"))
      return true;
  return false;
}

void CppFunctions::find_bodies() {
  std::vector<std::size_t> open;
  std::size_t body = 0;  // behind this token no body is open
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    block_[i] = open.empty() ? i : open.back();
    if (tokens_.is(i, "}") && !open.empty()) open.pop_back();
    in_body_[i] = i < body;
    if (!tokens_.is(i, "{")) continue;
    const std::size_t end = tokens_[i].partner;
    if (end == 0) return;
    open.push_back(i);
    if (i < body || i == 0) continue;
    std::size_t before = i - 1;
    while (before > 0 && tokens_.is_name(before) &&
           (tokens_.is(before, "const") || tokens_.is(before, "noexcept")))
      --before;
    if (!tokens_.is(before, ")")) continue;
    body = end;
    bodies_.push_back(i);
    find_parameters(tokens_[before].partner, i, end);
  }
}

void CppFunctions::find_parameters(std::size_t open, std::size_t first, std::size_t last) {
  const std::size_t close = tokens_[open].partner;
  std::size_t begin = open + 1;
  int angle = 0;
  for (std::size_t i = open + 1; i <= close && close != 0; ++i) {
    if (is_open(tokens_.text(i)) && tokens_[i].partner > i) i = tokens_[i].partner;
    if (tokens_.is(i, "<")) ++angle;
    if (tokens_.is(i, ">")) --angle;
    if (i != close && (angle > 0 || !tokens_.is(i, ","))) continue;
    std::size_t end = begin;
    while (end < i && !tokens_.is(end, "=")) ++end;
    const std::size_t name = end - 1;
    if (end > begin + 1 && tokens_.is_name(name)) {
      std::string type;
      const bool memory = tokens_.text(begin, name).find('*') != std::string_view::npos;
      for (std::size_t k = begin; k < name; ++k)
        if (!tokens_.is(k, "__restrict__") && !tokens_.is(k, "__restrict") && !tokens_.is(k, "&") &&
            (!tokens_.is(k, "const") ||
             (memory && !tokens_.is(k - 1, "*") && !tokens_.is(k - 1, "__restrict__"))))
          type += std::string(tokens_.text(k)) + " ";
      declares_[name] = parameters_[name] = true;
      variables_.push_back({std::string(tokens_.text(name)), type, name, first, last});
    }
    begin = i + 1;
  }
}

std::size_t CppFunctions::end_of_scope(std::size_t token) const {
  // What the head of a loop declares lives until its end.
  for (std::size_t i = token; i-- > 0 && token - i < 12;) {
    if (tokens_.is(i, ";") || tokens_.is(i, "{") || tokens_.is(i, "}")) break;
    if (!tokens_.is(i, "(") || i == 0 || !tokens_.is(i - 1, "for")) continue;
    std::size_t at = tokens_[i].partner + 1;
    while (at < tokens_.size() && !tokens_.is(at, ";") && !tokens_.is(at, "{"))
      at = tokens_.is(at, "(") && tokens_[at].partner > at ? tokens_[at].partner + 1 : at + 1;
    return tokens_.is(at, "{") ? tokens_[at].partner : at;
  }
  return tokens_[block_[token]].partner;
}

std::size_t CppFunctions::behind_template(std::size_t open) const {
  constexpr std::size_t kLongest = 12;
  if (!tokens_.is(open, "<") || open == 0 || !tokens_.is_name(open - 1)) return open;
  for (std::size_t i = open + 1; i < open + kLongest; ++i) {
    if (tokens_.is(i, ">")) return tokens_.is(i + 1, "::") || tokens_.is(i + 1, "(") ? i + 1 : open;
    if (!tokens_.is_name(i) && !tokens_.is(i, ",") && !tokens_.is(i, "::") && !tokens_.is(i, "*"))
      return open;
  }
  return open;
}

std::size_t CppFunctions::declaration_at(std::size_t start, std::size_t last) {
  std::size_t i = start;
  bool constant = false, shared = false;
  std::string type;
  while (tokens_.is(i, "const") || tokens_.is(i, "static") || tokens_.is(i, "volatile") ||
         among(kConstant, tokens_.text(i))) {
    constant = constant || !tokens_.is(i, "const");
    shared = shared || tokens_.is(i, "__shared__");
    ++i;
  }
  const std::size_t first = i;
  const bool unwritable = first > start && tokens_.is(first - 1, "const");
  if (!tokens_.is_name(i) || among(kNoType, tokens_.text(i))) return 0;
  while (tokens_.is_name(i) && (tokens_.is_name(i + 1) || tokens_.is(i + 1, "::") || tokens_.is(i + 1, "<") ||
                                tokens_.is(i + 1, "*") || tokens_.is(i + 1, "&"))) {
    if (among(kNoType, tokens_.text(i))) return 0;
    if (!tokens_.is(i, "const")) type += std::string(tokens_.text(i)) + " ";
    ++i;
    if (tokens_.is(i, "<")) {
      int depth = 0;
      const std::size_t from = i;
      for (; i < last; ++i) {
        depth += tokens_.is(i, "<") ? 1 : tokens_.is(i, ">") ? -1 : tokens_.is(i, ">>") ? -2 : 0;
        if (tokens_.is(i, ";") || tokens_.is(i, "(") || tokens_.is(i, "&&")) return 0;
        if (depth <= 0) break;
      }
      type += std::string(tokens_.text(from, i));
      ++i;
    }
    while (tokens_.is(i, "::")) ++i;
    while (tokens_.is(i, "*") || tokens_.is(i, "&") || tokens_.is(i, "__restrict__") ||
           (tokens_.is(i, "const") && i > start &&
            (tokens_.is(i - 1, "*") || tokens_.is(i - 1, "__restrict__")))) {
      if (tokens_.is(i, "*")) type += "* ";
      ++i;
    }
  }
  if (i == first || !tokens_.is_name(i)) return 0;
  if (unwritable && type.find('*') != std::string::npos) type = "const " + type;
  constexpr std::array<std::string_view, 7> kBehind = {"=", ";", ",", "[", "(", "{", ":"};
  if (!among(kBehind, tokens_.text(i + 1))) return 0;
  // One declarator behind the other.
  while (tokens_.is_name(i) && i < last) {
    const std::size_t name = i++;
    std::string extents;
    while (tokens_.is(i, "[") && tokens_[i].partner > i) {
      extents += std::string(tokens_.text(i, tokens_[i].partner));
      for (std::size_t k = i; k <= tokens_[i].partner; ++k) in_body_[k] = false;
      i = tokens_[i].partner + 1;
    }
    declares_[name] = true;
    while (i < last && !tokens_.is(i, ",") && !tokens_.is(i, ";") && !tokens_.is(i, ")")) {
      const std::size_t behind = behind_template(i);
      i = behind > i                                           ? behind
          : is_open(tokens_.text(i)) && tokens_[i].partner > i ? tokens_[i].partner + 1
                                                               : i + 1;
    }
    // It has a value behind what it begins with.
    if (!constant || shared)
      variables_.push_back(
          {std::string(tokens_.text(name)), type + extents, name, i, end_of_scope(name), shared});
    if (!tokens_.is(i, ",")) break;
    ++i;
    while (tokens_.is(i, "*")) ++i;
  }
  return i;
}

namespace {

/// Whether a brace opens a list of values, as of `Stats{x, y}`, and no block.
bool opens_values(const CppTokens& tokens, std::size_t open) {
  constexpr std::array<std::string_view, 6> kBlocks = {"else", "do", "try", "const", "noexcept", "override"};
  constexpr std::array<std::string_view, 4> kBefore = {"=", ",", "(", "return"};
  if (open == 0) return false;
  const std::string_view before = tokens.text(open - 1);
  return among(kBefore, before) || (tokens.is_name(open - 1) && !among(kBlocks, before));
}

}  // namespace

void CppFunctions::find_locals() {
  for (std::size_t i = 1; i < tokens_.size(); ++i) {
    if (!in_body_[i]) continue;
    const std::string_view before = tokens_.text(i - 1);
    const bool of_loop = before == "(" && i > 1 && tokens_.is(i - 2, "for");
    const bool behind =
        before == ")" && tokens_[i - 1].partner > 0 &&
        (tokens_.is(tokens_[i - 1].partner - 1, "if") || tokens_.is(tokens_[i - 1].partner - 1, "for") ||
         tokens_.is(tokens_[i - 1].partner - 1, "while"));
    starts_[i] = (before == ";" || before == "{" || before == "}" || before == "else" || behind) &&
                 !(before == "}" && tokens_.is(i, ";"));
    if (before == "{" || before == "}")
      starts_[i] = starts_[i] && !opens_values(tokens_, before == "{" ? i - 1 : tokens_[i - 1].partner);
    // The parts of a loop's head are no statements.
    if (before == ";")
      for (std::size_t k = i - 1, depth = 0; k-- > 0 && !tokens_.is(k, "{") && !tokens_.is(k, "}");) {
        if (tokens_.is(k, ")")) ++depth;
        if (tokens_.is(k, "(") && depth-- == 0) {
          starts_[i] = false;
          break;
        }
      }
    if (starts_[i] || of_loop) declaration_[i] = declaration_at(i, tokens_.size()) != 0;
  }
}

void CppFunctions::leave_out() {
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    if (!in_body_[i]) continue;
    // A whole statement of constants.
    if (starts_[i]) {
      std::size_t words = i;
      while (tokens_.is(words, "static") || tokens_.is(words, "const")) ++words;
      if (among(kConstant, tokens_.text(words)) || among(kConstant, tokens_.text(i)))
        for (std::size_t k = i; k < tokens_.size() && !tokens_.is(k, ";"); ++k) {
          in_body_[k] = false;
          // What stands behind `case 3:` is no constant.
          if (tokens_.is(i, "case") && tokens_.is(k, ":")) break;
        }
    }
    // The arguments of a template: what stands before it is no variable.
    if (tokens_.is(i, "<") && i > 0 && tokens_.is_name(i - 1) && named(i - 1) == nullptr &&
        !(i > 1 && (tokens_.is(i - 2, ".") || tokens_.is(i - 2, "->")))) {
      std::size_t end = i + 1;
      while (end < tokens_.size() && end < i + 24 && !tokens_.is(end, ">") && !tokens_.is(end, ";") &&
             !tokens_.is(end, "<<<"))
        ++end;
      if (tokens_.is(end, ">"))
        for (std::size_t k = i; k <= end; ++k) in_body_[k] = false;
    }
    // What a lambda captures.
    if (tokens_.is(i, "[") && tokens_[i].partner > i && i > 0 && !tokens_.is_name(i - 1) &&
        !tokens_.is(i - 1, "]") && !tokens_.is(i - 1, ")"))
      for (std::size_t k = i; k <= tokens_[i].partner; ++k) in_body_[k] = false;
  }
  // How large an array is, and what that is made of, is known when it is compiled.
  for (std::size_t i = 0; i + 1 < tokens_.size(); ++i) {
    if (!declares_[i]) continue;
    for (std::size_t open = i + 1; tokens_.is(open, "[") && tokens_[open].partner > open;
         open = tokens_[open].partner + 1)
      for (std::size_t k = open; k <= tokens_[open].partner; ++k) {
        in_body_[k] = false;
        const CppVariable* size = named(k);
        if (size == nullptr || parameters_[size->declared]) continue;
        for (std::size_t at = size->declared; at < tokens_.size() && !tokens_.is(at, ";"); ++at)
          in_body_[at] = false;
      }
  }
}

std::size_t CppFunctions::body_of(std::size_t token) const {
  for (const std::size_t each : bodies_)
    if (each < token && token < tokens_[each].partner) return each;
  return 0;
}

const CppVariable* CppFunctions::declared_at(std::size_t token) const {
  for (const CppVariable& each : variables_)
    if (each.declared == token) return &each;
  return nullptr;
}

const CppVariable* CppFunctions::named(std::size_t token) const {
  if (!tokens_.is_name(token)) return nullptr;
  if (token > 0 && (tokens_.is(token - 1, ".") || tokens_.is(token - 1, "->") || tokens_.is(token - 1, "::")))
    return nullptr;
  return named_as(token, tokens_.text(token));
}

const CppVariable* CppFunctions::named_as(std::size_t token, std::string_view name) const {
  const CppVariable* found = nullptr;
  for (const CppVariable& each : variables_)
    if (each.first <= token && token <= each.last && each.name == name &&
        (found == nullptr || each.first >= found->first))
      found = &each;
  return found;
}

std::vector<const CppVariable*> CppFunctions::named_in(std::size_t first, std::size_t last) const {
  std::vector<const CppVariable*> list;
  for (std::size_t i = first; i <= last; ++i)
    if (const CppVariable* each = named(i);
        each != nullptr && std::find(list.begin(), list.end(), each) == list.end())
      list.push_back(each);
  return list;
}

bool CppFunctions::is_any(std::string_view name) const {
  return std::any_of(variables_.begin(), variables_.end(),
                     [&](const CppVariable& each) { return each.name == name; });
}

std::vector<const CppVariable*> CppFunctions::in_scope(std::size_t token, bool with_shared) const {
  std::vector<const CppVariable*> list;
  for (const CppVariable& each : variables_) {
    if (each.first > token || token > each.last) continue;
    std::erase_if(list, [&](const CppVariable* other) { return other->name == each.name; });
    if (with_shared || !each.shared) list.push_back(&each);
  }
  return list;
}

std::pair<std::vector<std::string>, std::vector<std::string>> CppFunctions::counts_and_sizes(
    std::size_t token) const {
  std::vector<std::string> counts, sizes;
  const std::vector<const CppVariable*> scope = in_scope(token);
  for (auto each = scope.rbegin(); each != scope.rend(); ++each)
    if (is_whole_type((*each)->type) && (*each)->declared + 1 < token)
      (is_parameter(**each) ? sizes : counts).push_back((*each)->name);
  return {counts, sizes};
}

}  // namespace isomer::lab
