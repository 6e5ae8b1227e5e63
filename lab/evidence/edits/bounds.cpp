#include "lab/evidence/edits/operands.hpp"
#include "lab/evidence/edits/places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace isomer::lab {
namespace {

class Bounds {
 public:
  explicit Bounds(EditPlaces& places) : places_(places), tokens_(places.tokens()) {
    for (std::size_t i = 0; i < tokens_.size(); ++i) shares_ = shares_ || tokens_.is(i, "__shared__");
  }

  void add() {
    for (std::size_t i = 0; i < tokens_.size(); ++i)
      if (tokens_.is(i, "if") || tokens_.is(i, "for") || tokens_.is(i, "while")) add_bound(i);
    for (std::size_t i = 0; i < tokens_.size(); ++i) add_side(i);
    for (std::size_t i = 0; i < tokens_.size(); ++i)
      if (tokens_.is(i, ";") || (tokens_.is(i, "}") && tokens_[i].partner > 0)) add_statement(i);
  }

 private:
  bool open(std::size_t first, std::size_t last) const {
    return places_.open_statement(first) && places_.open_statement(last);
  }

  /// Whole numbers that count or address there, and sizes that may bound them.
  std::vector<std::pair<std::string, std::string>> bounds_at(std::size_t at, std::size_t most) const {
    constexpr std::size_t kCounts = 3, kSizes = 4;
    auto [counts, sizes] = places_.functions().counts_and_sizes(at);
    counts.resize(std::min(counts.size(), kCounts));
    sizes.resize(std::min(sizes.size(), kSizes));
    const std::size_t plain = sizes.size();
    for (std::size_t a = 0; a < plain && plain <= 3; ++a)
      for (std::size_t b = a + 1; b < plain; ++b) sizes.push_back(sizes[b] + " * " + sizes[a]);
    std::vector<std::pair<std::string, std::string>> list;
    for (const std::string& count : counts)
      for (const std::string& size : sizes)
        if (list.size() < most) list.emplace_back(count, size);
    return list;
  }

  /// What lies beyond one of two sides, of two numbers that count there: the two that are declared last.
  std::vector<std::string> beyond_two(std::size_t at) const {
    constexpr std::size_t kSides = 4;
    auto [counts, sizes] = places_.functions().counts_and_sizes(at);
    for (const CppMember& each : places_.structs().in_scope(at))
      if (is_whole_type(each.type)) sizes.push_back(each.text);
    if (counts.size() < 2) return {};
    // Those first that are called like what counts along them.
    const auto nearest = [&, &all = sizes](const std::string& count) {
      std::vector<std::string> list = all;
      std::stable_sort(list.begin(), list.end(), [&](const std::string& a, const std::string& b) {
        return side_of(a) == side_of(count) && side_of(b) != side_of(count);
      });
      list.resize(std::min(list.size(), kSides));
      return list;
    };
    std::vector<std::string> list;
    for (const std::string& one : nearest(counts[0]))
      for (const std::string& other : nearest(counts[1]))
        if (one != other)
          list.push_back(fmt::format("{} >= {} || {} >= {}", counts[0], one, counts[1], other));
    return list;
  }

  /// Which side of a picture or a matrix a name is of: 'w' or 'h', as its letters say; 0: they say nothing.
  static char side_of(const std::string& name) {
    const std::size_t member = name.find_last_of(".>");
    const std::string own = member == std::string::npos ? name : name.substr(member + 1);
    const auto has = [&](const char* word) { return own.find(word) != std::string::npos; };
    if (has("row") || has("eight")) return 'h';
    if (has("col") || has("idth")) return 'w';
    for (const char letter : {own.front(), own.back()}) {
      if (letter == 'w' || letter == 'W' || letter == 'x') return 'w';
      if (letter == 'h' || letter == 'H' || letter == 'y') return 'h';
    }
    return 0;
  }

  /// Elements of memory that nothing of the function reads: with some of them there may be nothing to do.
  std::vector<std::string> unused_elements(std::size_t at) const {
    std::vector<std::string> indices, elements;
    const std::vector<const CppVariable*> scope = places_.functions().in_scope(at);
    for (auto it = scope.rbegin(); it != scope.rend() && indices.size() < 3; ++it)
      if (is_whole_type((*it)->type) && (*it)->declared + 1 < at) indices.push_back((*it)->name);
    for (const CppVariable* each : scope) {
      const bool whole = each->type.find("int") != std::string::npos ||
                         each->type.find("long") != std::string::npos ||
                         each->type.find("bool") != std::string::npos;
      if (!whole || each->type.find('*') == std::string::npos || places_.functions().is_used(*each) ||
          !places_.functions().is_parameter(*each))
        continue;
      for (const std::string& index : indices) elements.push_back(fmt::format("{}[{}]", each->name, index));
    }
    return elements;
  }

  /// Options that the function is given and does not read.
  std::vector<std::string> unused_flags(std::size_t at) const {
    std::vector<std::string> flags;
    for (const CppVariable* each : places_.functions().in_scope(at))
      if ((each->type == "bool " || each->type == "const bool ") && !places_.functions().is_used(*each) &&
          places_.functions().is_parameter(*each))
        flags.push_back(each->name);
    return flags;
  }

  /// A condition with one bound more.
  void add_bound(std::size_t at) {
    if (!tokens_.is(at + 1, "(") || tokens_[at + 1].partner <= at + 2) return;
    std::size_t first = at + 2, last = tokens_[at + 1].partner - 1;
    if (tokens_.is(at, "for")) {
      while (first < last && !tokens_.is(first, ";")) ++first;
      std::size_t end = ++first;
      while (end < last && !tokens_.is(end, ";")) ++end;
      if (!tokens_.is(end, ";") || end == first) return;
      last = end - 1;
    }
    if (!open(first, last)) return;
    const std::string own(tokens_.text(first, last));
    bool either = false;
    for (std::size_t i = first; i <= last; i = tokens_.behind(i)) either = either || tokens_.is(i, "||");
    std::string list;
    for (const std::string& flag : unused_flags(first)) {
      const std::string whole = either ? "(" + own + ")" : own;
      const int edit =
          places_.add({{first, last, fmt::format("{} && {}", flag, whole)}}, Code::ignores_argument, 0);
      places_.add({{first, last, fmt::format("!{} && {}", flag, whole)}}, Code::ignores_argument, 0);
      list += fmt::format(" && (!isomer_edits::chosen({0}) || {2}) && (!isomer_edits::chosen({1}) || !{2})",
                          edit, edit + 1, flag);
    }
    for (const auto& [count, size] : bounds_at(first, 6)) {
      const int edit = places_.add(
          {{first, last, fmt::format("{} && {} < {}", either ? "(" + own + ")" : own, count, size)}},
          Code::tail_mask, 2);
      list += fmt::format(" && (!isomer_edits::chosen({}) || {} < {})", edit, count, size);
    }
    if (!list.empty()) places_.surround(first, last, "(bool(", ")" + list + ")");
  }

  /// `n < length` as `n < start + length`, of a condition that is no loop's.
  void add_side(std::size_t at) {
    constexpr std::size_t kMost = 5;
    if (!tokens_.is(at, "<") && !tokens_.is(at, ">=") && !tokens_.is(at, "<=") && !tokens_.is(at, ">"))
      return;
    const CppVariable* side = places_.functions().named(at + 1);
    if (side == nullptr || !is_whole_type(side->type) || !open(at + 1, at + 1) || at == 0 ||
        !ends_value(places_, at - 1))
      return;
    const std::string_view behind = tokens_.text(at + 2);
    if (behind != ")" && behind != "&&" && behind != "||" && behind != "?" && behind != ";") return;
    std::vector<std::string> names;
    const std::vector<const CppVariable*> scope = places_.functions().in_scope(at);
    for (auto it = scope.rbegin(); it != scope.rend() && names.size() < kMost; ++it)
      if (is_whole_type((*it)->type) && (*it)->declared + 1 < at && (*it)->name != side->name &&
          !tokens_.is(at - 1, (*it)->name))
        names.push_back((*it)->name);
    if (names.empty()) return;
    const int number = places_.next();
    std::string list;
    for (const std::string& each : names) {
      places_.add({{at + 1, at + 1, fmt::format("{} + {}", tokens_.text(at + 1), each)}}, Code::missing_term,
                  4);
      list += ", " + each;
    }
    places_.surround(at + 1, at + 1, fmt::format("isomer_edits::joined<'+'>({}, ", number), list + ")");
  }

  /// Behind a statement of a kernel: a thread that has nothing to do ends; and all wait for each other.
  void add_statement(std::size_t at) {
    if (!places_.functions().in_body(at) || !open(at, at) || !places_.functions().starts_statement(at + 1) ||
        tokens_.is(at + 1, "else") || !open(at + 1, at + 1))
      return;
    const bool block = tokens_.is(at, "}");
    if (block && (tokens_.is(at + 1, "while") || !tokens_.is(tokens_[at].partner - 1, ")"))) return;
    const std::size_t body = places_.functions().body_of(at), first = block ? at : begin_of_statement(at);
    if (body == 0 || (first == at && !block) || !open(first, first)) return;
    const bool kernel = is_called("__global__", body);
    if (!kernel && !is_called("__device__", body)) return;
    std::string list;
    if (places_.functions().begins_declaration(first)) {
      if (!kernel) return;
      const bool counts = declares_whole(first);
      for (const auto& [count, size] : bounds_at(at + 1, 6)) {
        const int edit =
            places_.add({{at, at, fmt::format("; if ({} >= {}) return;", count, size)}}, Code::tail_mask, 2);
        list += fmt::format(" if (isomer_edits::chosen({}) && {} >= {}) return;", edit, count, size);
      }
      for (const std::string& beyond : counts ? beyond_two(at + 1) : std::vector<std::string>()) {
        const int edit =
            places_.add({{at, at, fmt::format("; if ({}) return;", beyond)}}, Code::tail_mask, 3);
        list += fmt::format(" if (isomer_edits::chosen({}) && ({})) return;", edit, beyond);
      }
      for (const std::string& element : unused_elements(at + 1))
        for (const char* none : {"< 0", "== 0", "!= 0"}) {
          const int edit = places_.add({{at, at, fmt::format("; if ({} {}) return;", element, none)}},
                                       Code::ignores_argument, 1);
          list += fmt::format(" if (isomer_edits::chosen({}) && {} {}) return;", edit, element, none);
        }
    } else if (shares_) {
      for (const std::string_view wait : {"__syncthreads()", "__syncwarp()"}) {
        const int edit =
            places_.add({{at, at, fmt::format("{} {};", tokens_.text(at), wait)}}, Code::missing_barrier, 0);
        list += fmt::format(" if (isomer_edits::chosen({})) {};", edit, wait);
      }
    }
    if (list.empty()) return;
    // Behind all of a loop whose body has no braces of its own, where other edits put some round it.
    const bool is_body = !block && (tokens_.is(first - 1, ")") || tokens_.is(first - 1, "else"));
    if (is_body)
      places_.surround(at + 1, at + 1, list + " ", "");
    else
      places_.surround(at, at, "", list);
  }

  bool declares_whole(std::size_t first) const {
    for (std::size_t i = first; i < first + 6 && !tokens_.is(i, "=") && !tokens_.is(i, ";"); ++i)
      if (is_whole_type(std::string(tokens_.text(i)) + " ")) return true;
    return false;
  }

  /// The first word of the statement that ends there; the end itself where it is not found.
  std::size_t begin_of_statement(std::size_t end) const {
    for (std::size_t i = end; i-- > 0 && end - i < 200;)
      if (places_.functions().starts_statement(i)) return i;
    return end;
  }

  bool is_called(std::string_view kind, std::size_t body) const {
    for (std::size_t i = body; i-- > 0 && !tokens_.is(i, ";") && !tokens_.is(i, "}");)
      if (tokens_.is(i, kind)) return true;
    return false;
  }

  EditPlaces& places_;
  const CppTokens& tokens_;
  bool shares_ = false;  ///< threads of a block share memory
};

}  // namespace

void add_bounds(EditPlaces& places) { Bounds(places).add(); }

}  // namespace isomer::lab
