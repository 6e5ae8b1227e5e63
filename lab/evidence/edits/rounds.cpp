#include "lab/evidence/edits/places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

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
  std::size_t behind(std::size_t i) const {
    return (tokens_.is(i, "(") || tokens_.is(i, "[") || tokens_.is(i, "{")) && tokens_[i].partner > i
               ? tokens_[i].partner + 1
               : i + 1;
  }

  /// The statement that begins there, of no token where it is another.
  Simple simple_at(std::size_t first) const {
    constexpr std::array<std::string_view, 11> kNone = {
        "if", "for", "while", "do", "return", "break", "continue", "else", "switch", "case", "{"};
    Simple simple{first, 0, {}, false};
    if (!places_.functions().starts_statement(first) || places_.functions().begins_declaration(first) ||
        !places_.open_rewrites(first) ||
        std::find(kNone.begin(), kNone.end(), tokens_.text(first)) != kNone.end())
      return simple;
    std::size_t end = first;
    while (end < tokens_.size() && !tokens_.is(end, ";") && !tokens_.is(end, "{") && !tokens_.is(end, "}"))
      end = behind(end);
    if (!tokens_.is(end, ";") || !places_.open_rewrites(end)) return simple;
    for (std::size_t i = first; i < end; ++i) {
      if (tokens_.is(i, "{") || tokens_.is(i, "<<<")) return simple;
      if (places_.functions().named(i) != nullptr) simple.names.insert(std::string(tokens_.text(i)));
    }
    simple.waits = tokens_.text(first).starts_with("__sync");
    simple.last = end;
    return simple;
  }

  /// Statements that follow each other, and of which one needs what the other does, the other way round.
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

  void exchange(const std::vector<Simple>& run) {
    std::string before;
    for (std::size_t a = 0; a + 1 < run.size(); ++a) {
      const Simple &one = run[a], &other = run[a + 1];
      const bool linked = one.waits != other.waits ||
                          std::any_of(one.names.begin(), one.names.end(),
                                      [&](const auto& name) { return other.names.count(name) > 0; });
      if (!linked) continue;
      const int edit =
          places_.add({{one.first, one.last, text(other)}, {other.first, other.last, text(one)}},
                      one.waits || other.waits ? Code::missing_barrier : Code::wrong_expression, 3);
      before += fmt::format("if (isomer_emulator_edit == {}) {{", edit);
      for (std::size_t k = 0; k < run.size(); ++k)
        before += " " + text(run[k == a ? a + 1 : k == a + 1 ? a : k]);
      before += " } else ";
    }
    if (!before.empty()) places_.surround(run.front().first, run.back().last, before + "{ ", " }");
  }

  /// A number that the loop changes and something declares before it.
  struct Summed {
    std::string name, begins;  ///< its first value; empty where it has none of one word
    std::string type;
  };

  void add_loop(std::size_t at) {
    constexpr std::size_t kMost = 6;
    if (!tokens_.is(at + 1, "(") || tokens_[at + 1].partner <= at + 1) return;
    const std::size_t open = tokens_[at + 1].partner + 1, close = tokens_[open].partner;
    if (!tokens_.is(open, "{") || close <= open || !places_.open_rewrites(open + 1)) return;
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
        sums.push_back({own->name, first_value(*own), own->type});
    }
    if (sums.empty()) return;
    if (nested) add_first_values(open, sums);
    add_factors(open, close, sums);
  }

  std::string first_value(const CppVariable& variable) const {
    const std::size_t at = variable.declared + 1;
    if (!tokens_.is(at, "=")) return {};
    const std::size_t last = tokens_.is(at + 1, "-") ? at + 2 : at + 1;
    const bool ends = tokens_.is(last + 1, ";") || tokens_.is(last + 1, ",");
    return ends ? std::string(tokens_.text(at + 1, last)) : std::string();
  }

  /// What is summed up begins anew with each round.
  void add_first_values(std::size_t open, const std::vector<Summed>& sums) {
    std::string list;
    for (const Summed& each : sums) {
      if (each.begins.empty()) continue;
      const int edit = places_.add({{open, open, fmt::format("{{ {} = {};", each.name, each.begins)}},
                                   Code::stale_state, 2);
      list += fmt::format(" if (isomer_emulator_edit == {}) {} = {};", edit, each.name, each.begins);
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
      while (end < close && !tokens_.is(end, ";")) end = behind(end);
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
        list += fmt::format(" if (isomer_emulator_edit == {}) {}", edit,
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
