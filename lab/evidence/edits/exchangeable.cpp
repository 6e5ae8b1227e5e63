#include "lab/evidence/edits/exchangeable.hpp"

#include "lab/evidence/edits/places.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace isomer::lab {
namespace {

std::string without_spaces(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t"), last = line.find_last_not_of(" \t\r");
  return first == std::string_view::npos ? std::string() : std::string(line.substr(first, last + 1 - first));
}

}  // namespace

EditPlaces::EditPlaces(const std::string& source, const CppTokens& tokens, const CppFunctions& functions,
                       const std::map<int, LeftAlone>& lines)
    : source_(source), tokens_(tokens), functions_(functions), lines_(lines) {}

bool EditPlaces::open(std::size_t token) const {
  const auto found = lines_.find(tokens_[token].line);
  return functions_.in_body(token) && (found == lines_.end() || found->second != LeftAlone::all);
}

bool EditPlaces::open_statement(std::size_t token) const {
  return functions_.in_body(token) && lines_.count(tokens_[token].line) == 0;
}

std::string EditPlaces::line_with(const std::vector<Part>& parts) const {
  const std::size_t begin = tokens_[parts.front().first].begin;
  const std::size_t from = source_.rfind('\n', begin) + 1,
                    to = std::min(source_.find('\n', begin), source_.size());
  std::string line;
  std::size_t at = from;
  for (const Part& part : parts) {
    const std::size_t first = tokens_[part.first].begin, last = tokens_[part.last].end;
    if (first < at || last > to) return {};
    line += source_.substr(at, first - at) + part.text;
    at = last;
  }
  return without_spaces(line + source_.substr(at, to - at));
}

int EditPlaces::add(std::vector<Part> parts, Code code, int rank) {
  std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.first < b.first; });
  const std::string becomes = line_with(parts),
                    was = line_with({{parts.front().first, parts.front().first,
                                      std::string(tokens_.text(parts.front().first))}});
  const int number = next_++;
  if (becomes.empty() || becomes == was) return number;
  edits_.push_back({number, tokens_[parts.front().first].line, code, rank, was, becomes});
  return number;
}

void EditPlaces::surround(std::size_t first, std::size_t last, const std::string& before,
                          const std::string& behind) {
  before_[first] = before + before_[first];
  behind_[last] += behind;
}

Exchangeable EditPlaces::whole() && {
  Exchangeable made;
  std::size_t at = 0;
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    made.source += source_.substr(at, tokens_[i].begin - at);
    if (const auto found = before_.find(i); found != before_.end()) made.source += found->second;
    std::string own(tokens_.text(i));
    if (const auto found = replaced_.find(i); found != replaced_.end()) own = found->second;
    if (const auto found = alternatives_.find(i); found != alternatives_.end()) {
      for (const auto& [number, text] : found->second)
        own = fmt::format("isomer_edits::either({}, {}, {})", number, text, own);
    }
    made.source += own;
    if (const auto found = behind_.find(i); found != behind_.end()) made.source += found->second;
    at = tokens_[i].end;
  }
  made.source += source_.substr(at);
  made.edits = std::move(edits_);
  std::stable_sort(made.edits.begin(), made.edits.end(),
                   [](const Exchange& a, const Exchange& b) { return a.rank < b.rank; });
  return made;
}

Exchangeable exchangeable(const std::string& source, const std::map<int, LeftAlone>& lines) {
  const CppTokens tokens(source);
  const CppFunctions functions(tokens);
  EditPlaces places(source, tokens, functions, lines);
  add_expressions(places);
  add_statements(places);
  return std::move(places).whole();
}

}  // namespace isomer::lab
