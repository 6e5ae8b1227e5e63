#include "lab/evidence/edits/places.hpp"
#include "lab/evidence/edits/well_formed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace isomer::lab {
namespace {

constexpr std::size_t kBefore = 160;  ///< tokens in which a value was read that is to be kept
constexpr std::size_t kMostKept = 3;  ///< edits of each kind behind or before one statement

/// `T v = a[e];`
struct Read {
  std::string name, memory;
  std::size_t at;
};

class Carried {
 public:
  explicit Carried(EditPlaces& places) : places_(places), tokens_(places.tokens()) {}

  void add() {
    find_reads();
    for (std::size_t i = 1; i < tokens_.size(); ++i) {
      if (!places_.functions().starts_statement(i) || !places_.open_statement(i) || !is_assignment(i))
        continue;
      std::size_t end = i;
      while (end < tokens_.size() && !tokens_.is(end, ";") && !tokens_.is(end, "}"))
        end = tokens_.behind(end);
      if (!tokens_.is(end, ";")) continue;
      add_kept(i, end);
      add_guards(i, end);
    }
  }

 private:
  /// An element or a variable that is given another value; no declaration.
  bool is_assignment(std::size_t i) const {
    if (places_.functions().named(i) == nullptr || places_.functions().begins_declaration(i)) return false;
    std::size_t at = i + 1;
    while (tokens_.is(at, "[") && tokens_[at].partner > at) at = tokens_[at].partner + 1;
    return tokens_.text(at).ends_with('=') && !tokens_.is(at, "==");
  }

  void find_reads() {
    for (std::size_t i = 0; i + 4 < tokens_.size(); ++i) {
      if (!places_.functions().is_declared_here(i) || !tokens_.is(i + 1, "=") || !tokens_.is_name(i + 2) ||
          !tokens_.is(i + 3, "[") || !tokens_.is(tokens_[i + 3].partner + 1, ";"))
        continue;
      reads_.push_back({std::string(tokens_.text(i)), std::string(tokens_.text(i + 2)), i});
    }
    for (std::size_t i = 1; i + 3 < tokens_.size(); ++i)
      if (places_.functions().starts_statement(i) && tokens_.is_name(i) && tokens_.is(i + 1, "[") &&
          tokens_.is(tokens_[i + 1].partner + 1, "="))
        written_.emplace(std::string(tokens_.text(i)), std::string(tokens_.text(i, tokens_[i + 1].partner)));
  }

  bool is_in_scope(std::size_t declared, std::size_t at) const {
    const std::vector<const CppVariable*> scope = places_.functions().in_scope(at);
    return std::any_of(scope.begin(), scope.end(),
                       [&](const CppVariable* each) { return each->declared == declared; });
  }

  /// What was read and compared is kept as well: `best[tid] = other;` behind the statement.
  void add_kept(std::size_t first, std::size_t end) {
    std::string list;
    std::size_t count = 0;
    for (const Read& each : reads_) {
      if (each.at > first || first - each.at > kBefore || count >= kMostKept ||
          each.memory == tokens_.text(first) || !is_in_scope(each.at, first))
        continue;
      for (const auto& [memory, target] : written_) {
        const CppVariable* kept = places_.functions().named_as(first, memory);
        if (memory != each.memory || count >= kMostKept || kept == nullptr ||
            kept->type.starts_with("const "))
          continue;
        const std::string text = fmt::format("{} = {};", target, each.name);
        if (!is_well_formed(places_, first, end, text)) continue;
        const int edit = places_.add({{end, end, "; " + text}}, Code::missing_term, 2);
        list += fmt::format(" if (isomer_edits::chosen({})) {}", edit, text);
        ++count;
      }
    }
    if (!list.empty() && !tokens_.is(end + 1, "else")) places_.surround(end, end, "", list);
  }

  /// A statement that is left out where a count is beyond a size: `if (rank < k)` before it.
  void add_guards(std::size_t first, std::size_t end) {
    const bool alone = tokens_.is(first - 1, ";") || tokens_.is(first - 1, "{") || tokens_.is(first - 1, "}");
    if (!alone || tokens_.is(end + 1, "else")) return;
    const auto [counts, sizes] = places_.functions().counts_and_sizes(first);
    std::string list;
    std::size_t count = 0;
    for (const std::string& each : counts) {
      if (count++ >= kMostKept) break;
      std::size_t parameters = 0;
      for (const std::string& size : sizes) {
        if (parameters++ >= kMostKept || size == each) continue;
        const std::string guard = fmt::format("if ({} < {}) ", each, size);
        const int edit =
            places_.add({{first, first, guard + std::string(tokens_.text(first))}}, Code::missing_term, 3);
        list += fmt::format("if (!isomer_edits::chosen({}) || {} < {}) ", edit, each, size);
      }
    }
    if (!list.empty()) places_.surround(first, end, list, "");
  }

  EditPlaces& places_;
  const CppTokens& tokens_;
  std::vector<Read> reads_;
  std::set<std::pair<std::string, std::string>> written_;
};

}  // namespace

void add_carried(EditPlaces& places) { Carried(places).add(); }

}  // namespace isomer::lab
