#include "lab/evidence/edits/places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>
#include <string_view>
#include <utility>

namespace isomer::lab {
namespace {

/// A statement that ends with a semicolon and declares nothing, and what it names.
struct Simple {
  std::size_t first, last;  ///< tokens, the semicolon the last
  std::set<std::string> names;
  bool waits = false;  ///< for other threads
};

class Rounds {
 public:
  explicit Rounds(EditPlaces& places) : places_(places), tokens_(places.tokens()) {}

  void add() {
    exchange_statements();
    for (std::size_t i = 0; i + 1 < tokens_.size(); ++i)
      if (tokens_.is(i, "for") || tokens_.is(i, "while")) add_loop(i);
  }

 private:
  /// The statement that begins there, of no token where it is another.
  Simple simple_at(std::size_t first) const {
    constexpr std::array<std::string_view, 11> kNone = {
        "if", "for", "while", "do", "return", "break", "continue", "else", "switch", "case", "{"};
    Simple simple{first, 0, {}, false};
    std::size_t begin = first;
    if ((tokens_.is(first, "if") || tokens_.is(first, "for")) && tokens_.is(first + 1, "(") &&
        tokens_[first + 1].partner > first)
      begin = tokens_[first + 1].partner + 1;
    if (!places_.functions().starts_statement(first) || places_.functions().begins_declaration(first) ||
        !places_.open_rewrites(first) || !places_.functions().starts_statement(begin) ||
        std::find(kNone.begin(), kNone.end(), tokens_.text(begin)) != kNone.end())
      return simple;
    std::size_t end = begin;
    while (end < tokens_.size() && !tokens_.is(end, ";") && !tokens_.is(end, "{") && !tokens_.is(end, "}"))
      end = tokens_.behind(end);
    if (!tokens_.is(end, ";") || !places_.open_rewrites(end) || tokens_.is(end + 1, "else")) return simple;
    for (std::size_t i = first; i < end; ++i) {
      if (tokens_.is(i, "{") || tokens_.is(i, "<<<")) return simple;
      if (places_.functions().named(i) != nullptr) simple.names.insert(std::string(tokens_.text(i)));
    }
    simple.waits = tokens_.text(first).starts_with("__sync");
    simple.last = end;
    return simple;
  }

  /// Statements that follow each other, and of which one needs what the other does, in another order.
  void exchange_statements() {
    constexpr std::size_t kMost = 8;
    for (std::size_t i = 1; i < tokens_.size(); ++i) {
      // Not of a condition or a loop alone.
      if (!tokens_.is(i - 1, ";") && !tokens_.is(i - 1, "{") && !tokens_.is(i - 1, "}")) continue;
      std::vector<Simple> run;
      for (std::size_t at = i; run.size() < kMost;) {
        Simple next = simple_at(at);
        if (next.last == 0) break;
        at = next.last + 1;
        run.push_back(std::move(next));
      }
      if (run.size() < 2) continue;
      exchange(run);
      i = run.back().last;
    }
  }

  std::string text(const Simple& each) const {
    std::string words;
    for (std::size_t i = each.first; i <= each.last; ++i)
      words +=
          (i > each.first && tokens_[i].begin > tokens_[i - 1].end ? " " : "") + std::string(tokens_.text(i));
    return words;
  }

  /// One of them in another place.
  void exchange(const std::vector<Simple>& run) {
    std::string before;
    for (std::size_t from = 0; from < run.size(); ++from)
      for (std::size_t to = 0; to < run.size(); ++to) {
        if (from == to || from == to + 1) continue;  // the one before it, behind it, is the same
        const Simple& moved = run[from];
        bool linked = false, waits = moved.waits;
        for (std::size_t k = std::min(from, to); k <= std::max(from, to); ++k) {
          linked = linked || (k != from && (moved.waits != run[k].waits || shares(moved, run[k])));
          waits = waits || run[k].waits;
        }
        if (!linked) continue;
        std::vector<const Simple*> order;
        for (const Simple& each : run) order.push_back(&each);
        order.erase(order.begin() + static_cast<std::ptrdiff_t>(from));
        order.insert(order.begin() + static_cast<std::ptrdiff_t>(to), &moved);
        std::vector<EditPlaces::Part> parts;
        for (std::size_t k = std::min(from, to); k <= std::max(from, to); ++k)
          parts.push_back({run[k].first, run[k].last, text(*order[k])});
        const int edit = places_.add(std::move(parts), waits ? Code::missing_barrier : Code::wrong_expression,
                                     from + 1 == to ? 3 : 4);
        before += fmt::format("if (isomer_edits::chosen({})) {{", edit);
        for (const Simple* each : order) before += " " + text(*each);
        before += " } else ";
      }
    if (!before.empty()) places_.surround(run.front().first, run.back().last, before + "{ ", " }");
  }

  static bool shares(const Simple& one, const Simple& other) {
    return std::any_of(one.names.begin(), one.names.end(),
                       [&](const auto& name) { return other.names.count(name) > 0; });
  }

  /// A number that the loop changes and something declares before it.
  struct Summed {
    std::string name, begins;  ///< its first value; empty where it has none of one word
    std::string type;
    std::size_t declared = 0;
  };

  void add_loop(std::size_t at) {
    constexpr std::size_t kMost = 6;
    if (!tokens_.is(at + 1, "(") || tokens_[at + 1].partner <= at + 1) return;
    const std::size_t open = tokens_[at + 1].partner + 1;
    if (!tokens_.is(open, "{")) return;
    const std::size_t close = tokens_[open].partner;
    if (close <= open || !places_.open_rewrites(open + 1)) return;
    std::vector<Summed> sums;
    bool nested = false;
    for (std::size_t i = open + 1; i < close; ++i) {
      nested = nested || tokens_.is(i, "for") || tokens_.is(i, "while");
      if (!places_.functions().starts_statement(i) || places_.functions().begins_declaration(i)) continue;
      const CppVariable* own = places_.functions().named(i);
      if (own == nullptr || own->declared > at || places_.functions().is_parameter(*own) || own->shared)
        continue;
      const bool array = own->type.find('[') != std::string::npos;
      if (!is_real_type(own->type) && !is_whole_type(own->type) &&
          !(array && own->type.starts_with("float ")))
        continue;
      if (sums.size() < kMost &&
          std::none_of(sums.begin(), sums.end(), [&](const Summed& each) { return each.name == own->name; }))
        sums.push_back({own->name, first_value(*own), own->type, own->declared});
    }
    add_pointers(open, close, at);
    add_state(open, close, at);
    add_before(at, close, sums);
    if (nested) add_first_values(open, objects_of(open, close, at));
    if (sums.empty()) return;
    if (nested) add_first_values(open, sums);
    add_factors(open, close, sums);
  }

  /// What is summed up a second time, or begins anew in each round and not before the loop.
  void add_before(std::size_t at, std::size_t close, const std::vector<Summed>& sums) {
    if (!places_.functions().starts_statement(at) || !places_.open_rewrites(at) ||
        !places_.open_rewrites(close - 1))
      return;
    std::string before;
    const auto put = [&](const std::string& assigned, std::vector<EditPlaces::Part> parts) {
      parts.push_back({at, at, assigned + " " + std::string(tokens_.text(at))});
      const int edit = places_.add(std::move(parts), Code::stale_state, 2);
      before += fmt::format("if (isomer_edits::chosen({})) {} ", edit, assigned);
      return edit;
    };
    for (const Summed& each : sums) {
      bool again = false;
      for (std::size_t i = each.declared; i < at; ++i)
        again = again || tokens_.is(i, "for") || tokens_.is(i, "while");
      if (again && !each.begins.empty()) put(fmt::format("{} = {};", each.name, each.begins), {});
    }
    for (std::size_t i = at; i + 3 < close; ++i) {
      const CppVariable* own = places_.functions().named(i);
      if (own == nullptr || own->declared > at || own->shared || !places_.functions().starts_statement(i) ||
          !tokens_.is(i + 1, "=") || !(is_real_type(own->type) || is_whole_type(own->type)))
        continue;
      const std::size_t value = tokens_.is(i + 2, "-") ? i + 3 : i + 2;
      const bool constant = tokens_[value].kind == CppToken::Kind::number || tokens_.is(value, "INFINITY");
      if (!constant || !tokens_.is(value + 1, ";") || !places_.open_rewrites(i)) continue;
      const std::string assigned(tokens_.text(i, value + 1));
      const int edit = put(assigned, {{i, value + 1, ";"}});
      places_.surround(i, value + 1, fmt::format("if (!isomer_edits::chosen({})) ", edit), "");
    }
    if (!before.empty()) places_.surround(at, close, "{ " + before, " }");
  }

  /// Places in memory, and numbers, that go on with each round as others do.
  void add_pointers(std::size_t open, std::size_t close, std::size_t at) {
    constexpr std::size_t kMost = 4;
    const auto goes_on = [](const CppVariable& each) {
      return each.type.find('*') != std::string::npos || is_whole_type(each.type);
    };
    std::set<std::string> moved, steps;
    std::size_t last = 0;
    for (std::size_t i = open + 1; i < close; ++i) {
      const CppVariable* own = places_.functions().named(i);
      if (own == nullptr || !tokens_.is(i + 1, "+=") || !goes_on(*own) || own->declared > at ||
          !places_.functions().starts_statement(i))
        continue;
      std::size_t end = i + 2;
      while (end < close && !tokens_.is(end, ";")) end = tokens_.behind(end);
      moved.insert(own->name);
      const std::string step(tokens_.text(i + 2, end - 1));
      steps.insert(step);
      if (tokens_[i + 2].kind == CppToken::Kind::number && end == i + 3 && step.size() < 6) {
        const long number = std::strtol(step.c_str(), nullptr, 0);
        steps.insert(std::to_string(number / 2));
        steps.insert(std::to_string(number * 2));
      }
      last = end;
    }
    if (last == 0 || !places_.open_rewrites(last)) return;
    std::set<std::string> others;
    for (std::size_t i = open + 1; i < close; ++i) {
      const CppVariable* own = places_.functions().named(i);
      if (own != nullptr && own->declared < at && goes_on(*own) && !own->shared && !is_constant(*own) &&
          moved.count(own->name) == 0 && others.size() < kMost &&
          (own->type.find('*') != std::string::npos || !places_.functions().is_parameter(*own)))
        others.insert(own->name);
    }
    for (const CppVariable* each : places_.functions().in_scope(last))
      if (is_whole_type(each->type) && places_.functions().is_parameter(*each) && steps.size() < 2 * kMost)
        steps.insert(each->name);
    std::string list;
    for (const std::string& name : others)
      for (const std::string& step : steps) {
        const std::string text = fmt::format("{} += {};", name, step);
        const int edit = places_.add({{last, last, "; " + text}}, Code::missing_term, 2);
        list += fmt::format(" if (isomer_edits::chosen({})) {}", edit, text);
      }
    if (!list.empty()) places_.surround(last, last, "", list);
  }

  static bool is_number(const CppVariable& variable) {
    return is_real_type(variable.type) || is_whole_type(variable.type);
  }
  bool is_constant(const CppVariable& variable) const {
    if (variable.type.find('*') != std::string::npos) return tokens_.is(variable.declared - 1, "const");
    for (std::size_t i = variable.declared; i-- > 0;) {
      if (tokens_.is(i, "const")) return true;
      if (tokens_.is(i, ")") && tokens_[i].partner > 0) {
        i = tokens_[i].partner;
        continue;
      }
      if (tokens_.is(i, ";") || tokens_.is(i, "{") || tokens_.is(i, "}") || tokens_.is(i, "(")) return false;
    }
    return false;
  }

  /// A number of the rounds before that this one renews.
  void add_state(std::size_t open, std::size_t close, std::size_t at) {
    constexpr std::size_t kMost = 4;
    if (!places_.open_rewrites(close - 1) || tokens_[close].line == tokens_[close - 1].line) return;
    std::set<std::string> changed, old, renewed;
    for (std::size_t i = open + 1; i < close; ++i)
      if (places_.functions().named(i) != nullptr && tokens_.text(i + 1).back() == '=' &&
          !tokens_.is(i + 1, "==") && !tokens_.is(i + 1, "<=") && !tokens_.is(i + 1, ">=") &&
          !tokens_.is(i + 1, "!="))
        changed.insert(std::string(tokens_.text(i)));
    for (std::size_t i = open + 1; i < close; ++i) {
      const CppVariable* own = places_.functions().named(i);
      if (own == nullptr || !is_number(*own) || places_.functions().is_parameter(*own)) continue;
      if (own->declared < at && changed.count(own->name) == 0 && !is_constant(*own) && old.size() < kMost)
        old.insert(own->name);
    }
    for (const CppVariable* each : places_.functions().in_scope(close - 1))
      if (is_number(*each) && each->declared > open && each->last >= close && renewed.size() < kMost)
        renewed.insert(each->name);
    std::string list;
    for (const std::string& name : old)
      for (const std::string& value : renewed) {
        const std::string text = fmt::format("{} = {};", name, value);
        const int edit = places_.add({{close, close, text + " }"}}, Code::stale_state, 2);
        list += fmt::format("if (isomer_edits::chosen({})) {} ", edit, text);
      }
    if (!list.empty()) places_.surround(close, close, list, "");
  }

  std::string first_value(const CppVariable& variable) const {
    const std::size_t at = variable.declared + 1;
    if (!tokens_.is(at, "=")) return {};
    const std::size_t last = tokens_.is(at + 1, "-") ? at + 2 : at + 1;
    const bool ends = tokens_.is(last + 1, ";") || tokens_.is(last + 1, ",");
    return ends ? std::string(tokens_.text(at + 1, last)) : std::string();
  }

  /// Objects of several numbers that are declared before a loop and changed in it, with what they begin with.
  std::vector<Summed> objects_of(std::size_t open, std::size_t close, std::size_t at) const {
    std::vector<Summed> objects;
    for (std::size_t i = open + 1; i < close; ++i) {
      const CppVariable* own = places_.functions().named(i);
      if (own == nullptr || own->declared > at || own->shared || is_number(*own) ||
          places_.functions().is_parameter(*own) || own->type.find_first_of("*[&") != std::string::npos ||
          !tokens_.is(i + 1, ".") || !tokens_.is(i + 3, "=") || !tokens_.is(own->declared + 1, "="))
        continue;
      std::size_t end = own->declared + 2;
      while (end < at && !tokens_.is(end, ";") && !tokens_.is(end, ",")) end = tokens_.behind(end);
      if (end >= at || std::any_of(objects.begin(), objects.end(),
                                   [&](const Summed& each) { return each.name == own->name; }))
        continue;
      std::string begins(tokens_.text(own->declared + 2, end - 1));
      if (begins.front() == '{') begins = own->type + begins;
      objects.push_back({own->name, std::move(begins), own->type, own->declared});
    }
    return objects;
  }

  /// What is summed up begins anew with each round.
  void add_first_values(std::size_t open, const std::vector<Summed>& sums) {
    std::string list;
    for (const Summed& each : sums) {
      if (each.begins.empty()) continue;
      const int edit = places_.add({{open, open, fmt::format("{{ {} = {};", each.name, each.begins)}},
                                   Code::stale_state, 2);
      list += fmt::format(" if (isomer_edits::chosen({})) {} = {};", edit, each.name, each.begins);
    }
    if (!list.empty()) places_.surround(open, open, "", list);
  }

  /// Sums that are multiplied by what a round has found.
  void add_factors(std::size_t open, std::size_t close, const std::vector<Summed>& sums) {
    constexpr int kMost = 24;
    int count = 0;
    for (std::size_t i = open + 1; i < close && count < kMost; ++i) {
      if (!places_.functions().begins_declaration(i) || tokens_.is(i - 1, "(")) continue;
      std::size_t name = i, end = i;
      while (name < close && !places_.functions().is_declared_here(name)) ++name;
      while (end < close && !tokens_.is(end, ";")) end = tokens_.behind(end);
      if (end >= close || !tokens_.is(name + 1, "=") || !places_.open_rewrites(end)) continue;
      const std::string_view value = tokens_.text(name + 1, end - 1),
                             type = tokens_.text(tokens_.is(i, "const") ? i + 1 : i, name - 1);
      if (type != "float" && type != "double") continue;
      const bool exponential = value.find("exp") != std::string_view::npos;
      const std::string factor(tokens_.text(name));
      std::string list;
      for (const Summed& each : sums) {
        if (is_whole_type(each.type)) continue;
        const bool array = each.type.find('[') != std::string::npos;
        const std::string text = array ? fmt::format("for (auto& each : {}) each *= {};", each.name, factor)
                                       : fmt::format("{} *= {};", each.name, factor);
        const int edit =
            places_.add({{end, end, "; " + text}}, exponential ? Code::missing_rescale : Code::missing_scale,
                        exponential ? 0 : 4);
        list += fmt::format(" if (isomer_edits::chosen({})) {}", edit,
                            array ? fmt::format("isomer_edits::scale({}, {});", each.name, factor) : text);
        ++count;
      }
      if (!list.empty()) places_.surround(end, end, "", list);
    }
  }

  EditPlaces& places_;
  const CppTokens& tokens_;
};

}  // namespace

void add_rounds(EditPlaces& places) { Rounds(places).add(); }

}  // namespace isomer::lab
