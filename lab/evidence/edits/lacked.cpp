#include "lab/evidence/edits/lacked.hpp"

#include "lab/evidence/edits/operands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace isomer::lab {
namespace {

class LackedParts {
 public:
  LackedParts(const EditPlaces& places, ChangedValues& changed)
      : places_(places), tokens_(places.tokens()), changed_(changed) {}

  void add(const SourceValue& value) {
    if (value.kind == SourceValue::Kind::real || value.kind == SourceValue::Kind::other) {
      add_factors(value);
      add_beginning(value);
    }
    if (value.kind == SourceValue::Kind::whole || value.kind == SourceValue::Kind::memory) add_offsets(value);
    add_lists(value);
  }

 private:
  static constexpr std::size_t kMostNames = 5, kMostLists = 3, kLongestIndex = 7;

  std::string text(std::size_t first, std::size_t last) const {
    return std::string(tokens_.text(first, last));
  }

  bool names(std::size_t first, std::size_t last, std::string_view name) const {
    for (std::size_t i = first; i <= last; ++i)
      if (tokens_.is(i, name)) return true;
    return false;
  }

  /// Real variables that may be a factor of what stands there: those that nothing reads first.
  std::vector<std::pair<std::string, bool>> factors_for(const SourceValue& value, std::size_t first,
                                                        std::size_t last) const {
    std::vector<std::pair<std::string, bool>> unread, read;
    const std::vector<const CppVariable*> scope = places_.functions().in_scope(value.first);
    for (auto it = scope.rbegin(); it != scope.rend(); ++it) {
      const CppVariable& each = **it;
      if (!is_real_type(each.type) || each.declared >= value.statement || each.name == value.name) continue;
      // As a factor of its own argument it is likely what the whole is divided by.
      if (names(first, last, each.name) && !tokens_.is(last, ")")) continue;
      if (!places_.functions().is_used(each))
        unread.emplace_back(each.name, true);
      else
        read.emplace_back(each.name, false);
    }
    // Those first that the value has elsewhere.
    std::stable_sort(read.begin(), read.end(), [&](const auto& a, const auto& b) {
      return names(value.first, value.last, a.first) && !names(value.first, value.last, b.first);
    });
    if (read.size() > kMostNames) read.resize(kMostNames);
    for (const CppMember& each : places_.structs().in_scope(value.first))
      if (is_real_type(each.type) && !names(first, last, each.text) && read.size() < 2 * kMostNames)
        (each.used ? read : unread).emplace_back(each.text, !each.used);
    unread.insert(unread.end(), read.begin(), read.end());
    if (unread.size() > 2 * kMostNames) unread.resize(2 * kMostNames);
    return unread;
  }

  bool is_sum(std::size_t i, std::size_t first) const {
    return (tokens_.is(i, "+") || tokens_.is(i, "-")) && i > first && ends_value(places_, i - 1);
  }

  /// Whether it is a number of a variable, of memory or of a function, and no whole number alone.
  bool is_real_part(std::size_t first, std::size_t last) const {
    if (first > last || tokens_[first].kind == CppToken::Kind::number) return false;
    bool real = false;
    for (std::size_t i = first; i <= last; ++i) {
      if (tokens_.is(i, "?") || tokens_.is(i, ",") || tokens_.is(i, "&&") || tokens_.is(i, "||") ||
          tokens_.is(i, "<") || tokens_.is(i, "=="))
        return false;
      const CppVariable* named = places_.functions().named(i);
      real = real || (named != nullptr && (is_real_type(named->type) || is_memory_of_reals(named->type)));
      real = real || (tokens_.is_name(i) && named == nullptr && tokens_.is(i + 1, "("));
      if ((tokens_.is(i, "(") || tokens_.is(i, "[")) && tokens_[i].partner > i) i = tokens_[i].partner;
    }
    return real;
  }
  static bool is_memory_of_reals(const std::string& type) {
    return type.find_first_of("*[") != std::string::npos &&
           (type.find("float") != std::string::npos || type.find("double") != std::string::npos);
  }

  void put_factors(const SourceValue& value, std::size_t first, std::size_t last) {
    if (!is_real_part(first, last)) return;
    bool sum = false;
    for (std::size_t i = first + 1; i <= last; i = tokens_.behind(i)) sum = sum || is_sum(i, first);
    const std::string own = sum ? "(" + text(first, last) + ")" : text(first, last);
    for (const auto& [name, unread] : factors_for(value, first, last))
      for (const char op : {'*', '/'})
        if (op == '/' || !names(first, last, name))
          changed_.add(value, {{first, last, fmt::format("{} {} {}", own, op, name)}}, Code::missing_scale,
                       unread ? 1 : 4);
  }

  /// Of each term but a single one, and of both ways of a choice.
  void add_factors(const SourceValue& value) {
    std::size_t begin = value.first;
    std::vector<std::pair<std::size_t, std::size_t>> parts;
    bool more = false;
    for (std::size_t i = value.first; i <= value.last; i = tokens_.behind(i)) {
      const bool way = tokens_.is(i, "?") || tokens_.is(i, ":");
      if (!way && !is_sum(i, value.first)) continue;
      more = true;
      if (!tokens_.is(i, "?") && begin < i) parts.emplace_back(begin, i - 1);
      begin = i + 1;
    }
    // What is passed may be a product that lacks one factor more.
    if ((!more && value.target != "argument") || begin > value.last) return;
    parts.emplace_back(begin, value.last);
    for (const auto& [first, last] : parts) put_factors(value, first, last);
  }

  /// `row * cols` as `(row + shift) * cols`, of parameters that nothing else reads, or few others do.
  void add_offsets(const SourceValue& value) {
    constexpr std::size_t kMost = 2;
    for (std::size_t i = value.first; i < value.last; ++i) {
      const CppVariable* own = places_.functions().named(i);
      if (own == nullptr || !is_whole_type(own->type) || !tokens_.is(i + 1, "*") ||
          (i > value.first && (tokens_.is(i - 1, "*") || tokens_.is(i - 1, "/") || tokens_.is(i - 1, "%"))))
        continue;
      std::size_t count = 0;
      for (const CppVariable* each : places_.functions().in_scope(value.first)) {
        if (!is_whole_type(each->type) || !places_.functions().is_parameter(*each) || each == own ||
            names(value.first, value.last, each->name))
          continue;
        const bool unread = !places_.functions().is_used(*each);
        if (!unread && count++ >= kMost) continue;
        for (const char op : {'+', '-'})
          changed_.add(value, {{i, i, fmt::format("({} {} {})", text(i, i), op, each->name)}},
                       Code::missing_term, unread ? 1 : 4);
      }
    }
  }

  /// `x[i]` as `x[order[i]]`, of lists of whole numbers in memory.
  void add_lists(const SourceValue& value) {
    std::vector<std::string> lists;
    for (const CppVariable* each : places_.functions().in_scope(value.first))
      if (each->declared < value.statement && is_list(each->type) &&
          !names(value.first, value.last, each->name))
        lists.push_back(each->name);
    std::stable_sort(lists.begin(), lists.end(), [&](const std::string& a, const std::string& b) {
      return is_unread(value, a) && !is_unread(value, b);
    });
    if (lists.size() > kMostLists) lists.resize(kMostLists);
    const auto put = [&](std::size_t first, std::size_t last) {
      if (first > last || last - first >= kLongestIndex || tokens_[first].kind == CppToken::Kind::number)
        return;
      for (const std::string& list : lists)
        changed_.add(value, {{first, last, fmt::format("{}[{}]", list, text(first, last))}},
                     Code::ignores_index, is_unread(value, list) ? 1 : 3);
    };
    if (value.target == "index") put(value.first, value.last);
    for (std::size_t i = value.first; i <= value.last; ++i)
      if (tokens_.is(i, "[") && tokens_[i].partner > i && tokens_[i].partner <= value.last)
        put(i + 1, tokens_[i].partner - 1);
  }
  static bool is_list(const std::string& type) {
    return type.find('*') != std::string::npos && type.find("char") == std::string::npos &&
           (type.find("int") != std::string::npos || type.find("long") != std::string::npos) &&
           type.find("int8") == std::string::npos;
  }
  bool is_unread(const SourceValue& value, const std::string& name) const {
    const CppVariable* named = nullptr;
    for (const CppVariable* each : places_.functions().in_scope(value.first))
      if (each->name == name) named = each;
    return named != nullptr && !places_.functions().is_used(*named);
  }

  /// A first value of what becomes a minimum or maximum later on.
  void add_beginning(const SourceValue& value) {
    if (value.name.empty() || value.kind != SourceValue::Kind::real || value.last > value.first + 1) return;
    constexpr std::size_t kFar = 400;
    for (std::size_t i = value.last + 1; i + 3 < tokens_.size() && i < value.last + kFar; ++i) {
      if (!tokens_.is(i, value.name) || !tokens_.is(i + 1, "=") || !tokens_.is(i + 3, "(")) continue;
      const bool least = tokens_.is(i + 2, "fminf") || tokens_.is(i + 2, "min") || tokens_.is(i + 2, "fmin");
      const bool most = tokens_.is(i + 2, "fmaxf") || tokens_.is(i + 2, "max") || tokens_.is(i + 2, "fmax");
      if (!least && !most) continue;
      if (text(value.first, value.last).find("INFINITY") == std::string::npos)
        changed_.add(value, {{value.first, value.last, least ? "INFINITY" : "-INFINITY"}},
                     Code::other_reduction, 2);
      return;
    }
  }

  const EditPlaces& places_;
  const CppTokens& tokens_;
  ChangedValues& changed_;
};

/// `out[a] = x[b]` as `out[b] = x[a]`: two whole numbers in each other's place in all of a statement.
void exchange_in_statements(const EditPlaces& places, const std::vector<SourceValue>& values,
                            ChangedValues& changed) {
  constexpr std::size_t kMost = 5;
  for (std::size_t v = 0; v < values.size();) {
    std::size_t end = v;
    while (end < values.size() && values[end].statement == values[v].statement) ++end;
    std::vector<const CppVariable*> names;
    for (std::size_t k = v; k < end; ++k)
      for (const CppVariable* each : places.functions().named_in(values[k].first, values[k].last))
        if (is_whole_type(each->type) && std::find(names.begin(), names.end(), each) == names.end())
          names.push_back(each);
    if (end - v > 1 && names.size() <= kMost)
      for (std::size_t a = 0; a < names.size(); ++a)
        for (std::size_t b = a + 1; b < names.size(); ++b) {
          std::vector<std::pair<SourceValue, std::vector<EditPlaces::Part>>> both;
          for (std::size_t k = v; k < end; ++k) {
            std::vector<EditPlaces::Part> parts;
            for (std::size_t i = values[k].first; i <= values[k].last; ++i) {
              const CppVariable* named = places.functions().named(i);
              if (named == names[a] || named == names[b])
                parts.push_back({i, i, named == names[a] ? names[b]->name : names[a]->name});
            }
            if (!parts.empty()) both.emplace_back(values[k], std::move(parts));
          }
          if (both.size() > 1) changed.add(both, Code::argument_order, 2);
        }
    v = end;
  }
}

}  // namespace

void add_lacked(const EditPlaces& places, const std::vector<SourceValue>& values, ChangedValues& changed) {
  LackedParts parts(places, changed);
  for (const SourceValue& value : values) parts.add(value);
  exchange_in_statements(places, values, changed);
}

}  // namespace isomer::lab
