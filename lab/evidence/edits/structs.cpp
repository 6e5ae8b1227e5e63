#include "lab/evidence/edits/structs.hpp"

#include <algorithm>

namespace isomer::lab {
namespace {

constexpr int kDeepest = 2;  ///< structures in each other
constexpr std::size_t kMostFields = 40;

/// A type's name without what is written round it.
std::string bare(const std::string& type) {
  std::string name = type.starts_with("const ") ? type.substr(6) : type;
  const std::size_t end = name.find_first_of(" <*[");
  return end == std::string::npos ? name : name.substr(0, end);
}

}  // namespace

CppStructs::CppStructs(const CppTokens& tokens, const CppFunctions& functions)
    : tokens_(tokens), functions_(functions) {
  for (std::size_t i = 0; i + 3 < tokens.size(); ++i)
    if (tokens.is(i, "struct") || tokens.is(i, "class")) find(i);
}

void CppStructs::find(std::size_t word) {
  std::size_t open = word + 1;
  std::string name;
  while (open < tokens_.size() && open < word + 12 && !tokens_.is(open, "{") && !tokens_.is(open, ";") &&
         !tokens_.is(open, "(") && !tokens_.is(open, ",") && !tokens_.is(open, ">")) {
    if (tokens_.is_name(open) && name.empty() && !tokens_.is(open, "alignas")) name = tokens_.text(open);
    ++open;
  }
  if (!tokens_.is(open, "{") || tokens_[open].partner <= open) return;
  const std::size_t close = tokens_[open].partner;
  // `typedef struct {…} Name;`
  if (word > 0 && tokens_.is(word - 1, "typedef") && tokens_.is_name(close + 1))
    name = tokens_.text(close + 1);
  if (name.empty()) return;
  std::vector<Field> fields;
  for (std::size_t first = open + 1; first < close;) {
    std::size_t end = first;
    while (end < close && !tokens_.is(end, ";") && !tokens_.is(end, "{")) end = tokens_.behind(end);
    if (tokens_.is(end, "{") && end < close) {
      // A function, or a first value in braces.
      bool calls = false;
      for (std::size_t i = first; i < end; ++i) calls = calls || tokens_.is(i, "(");
      if (!calls) add_fields(first, end, fields);
      end = tokens_[end].partner;
      if (tokens_.is(end + 1, ";")) ++end;
    } else {
      add_fields(first, end, fields);
    }
    first = end + 1;
  }
  if (fields.size() <= kMostFields) structs_[name] = std::move(fields);
}

void CppStructs::add_fields(std::size_t first, std::size_t last, std::vector<Field>& fields) const {
  for (std::size_t i = first; i < last; ++i)
    if (tokens_.is(i, "(") || tokens_.is(i, "static") || tokens_.is(i, "using") || tokens_.is(i, "friend") ||
        tokens_.is(i, "template") || tokens_.is(i, "typedef") || tokens_.is(i, "constexpr"))
      return;
  while (first < last && (tokens_.is(first, "public") || tokens_.is(first, "private"))) first += 2;
  std::size_t name = first;
  while (name + 1 < last && !tokens_.is(name + 1, ",") && !tokens_.is(name + 1, ";") &&
         !tokens_.is(name + 1, "=") && !tokens_.is(name + 1, "[") && !tokens_.is(name + 1, "{"))
    ++name;
  if (name == first || name >= last || !tokens_.is_name(name)) return;
  std::string type;
  for (std::size_t i = first; i < name; ++i) {
    if (tokens_.is(i, "__restrict__") || tokens_.is(i, "__restrict")) continue;
    if (tokens_.is(i, "const") && i + 2 >= name) continue;  // of a number
    type += std::string(tokens_.text(i)) + " ";
  }
  while (name < last && tokens_.is_name(name)) {
    std::size_t end = name + 1;
    std::string extents;
    while (tokens_.is(end, "[") && tokens_[end].partner > end) {
      extents += std::string(tokens_.text(end, tokens_[end].partner));
      end = tokens_[end].partner + 1;
    }
    fields.push_back({std::string(tokens_.text(name)), type + extents});
    while (end < last && !tokens_.is(end, ",")) end = tokens_.behind(end);
    if (end >= last) return;
    name = end + 1;
    while (tokens_.is(name, "*")) ++name;
  }
}

bool CppStructs::is_used(const std::string& name, std::size_t token) const {
  const std::size_t body = functions_.body_of(token);
  for (std::size_t i = body; body != 0 && i < tokens_[body].partner; ++i)
    if (tokens_.is(i, name) && (tokens_.is(i - 1, ".") || tokens_.is(i - 1, "->"))) return true;
  return false;
}

void CppStructs::append(const std::string& base, const std::string& type, std::size_t token, int depth,
                        std::vector<CppMember>& list) const {
  const auto found = structs_.find(bare(type));
  if (found == structs_.end() || type.find('[') != std::string::npos) return;
  const std::string access = type.find('*') == std::string::npos ? "." : "->";
  for (const Field& each : found->second) {
    const std::string text = base + access + each.name;
    if (depth < kDeepest && structs_.count(bare(each.type)) > 0)
      append(text, each.type, token, depth + 1, list);
    else
      list.push_back({text, each.type, is_used(each.name, token)});
  }
}

std::vector<CppMember> CppStructs::in_scope(std::size_t token) const {
  std::vector<CppMember> list;
  if (structs_.empty()) return list;
  for (const CppVariable* each : functions_.in_scope(token))
    if (each->declared + 1 < token) append(each->name, each->type, token, 0, list);
  return list;
}

std::vector<CppMember> CppStructs::of(std::size_t token) const {
  std::vector<CppMember> list;
  const CppVariable* named = structs_.empty() ? nullptr : functions_.named(token);
  if (named != nullptr) append(named->name, named->type, token, 0, list);
  return list;
}

std::size_t CppStructs::end_of(std::size_t token) const {
  std::size_t end = token;
  while ((tokens_.is(end + 1, ".") || tokens_.is(end + 1, "->")) && tokens_.is_name(end + 2) &&
         !tokens_.is(end + 3, "("))
    end += 2;
  return end;
}

}  // namespace isomer::lab
