#include "lab/evidence/edits/places.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>

namespace isomer::lab {
namespace {

/// Statements that may have been meant as another one of their kind: how a loop goes on, a sum in memory that
/// many threads add to, and memory of PyTorch that has to begin as zeros.
class Ways {
 public:
  explicit Ways(EditPlaces& places) : places_(places), tokens_(places.tokens()) {}

  void add() {
    for (std::size_t i = 1; i + 1 < tokens_.size(); ++i) {
      add_jump(i);
      if (places_.functions().starts_statement(i)) add_sum(i);
      add_zeros(i);
      add_cleared(i);
    }
  }

 private:
  /// Whether the token stands in a loop of its function, and in no `switch` within it.
  bool is_in_loop(std::size_t at) const {
    const std::size_t body = places_.functions().body_of(at);
    for (std::size_t i = at; body != 0 && i-- > body + 1;) {
      if ((tokens_.is(i, "}") || tokens_.is(i, ")")) && tokens_[i].partner > 0 && tokens_[i].partner < i) {
        // What ends before it, unless it is the head of what it stands in.
        const std::size_t open = tokens_[i].partner;
        const bool head =
            tokens_.is(i, ")") && !tokens_.is(i + 1, ";") && (i + 1 == at || tokens_.is(i + 1, "if"));
        if (head && (tokens_.is(open - 1, "for") || tokens_.is(open - 1, "while"))) return true;
        i = open;
        continue;
      }
      if (!tokens_.is(i, "{") || tokens_[i].partner < at || !tokens_.is(i - 1, ")")) continue;
      const std::size_t word = tokens_[i - 1].partner - 1;
      if (tokens_.is(word, "switch")) return false;
      if (tokens_.is(word, "for") || tokens_.is(word, "while")) return true;
    }
    return false;
  }

  bool returns_nothing(std::size_t at) const {
    for (std::size_t i = places_.functions().body_of(at);
         i-- > 0 && !tokens_.is(i, ";") && !tokens_.is(i, "}");)
      if (tokens_.is(i, "void")) return true;
    return false;
  }

  void add_jump(std::size_t at) {
    if (!tokens_.is(at + 1, ";") || !places_.open_statement(at) || !places_.open_statement(at + 1)) return;
    std::string chosen;
    const auto put = [&](const char* other, int rank) {
      const int edit = places_.add({{at, at, other}}, Code::wrong_expression, rank);
      chosen += fmt::format("if (isomer_edits::chosen({})) {}; ", edit, other);
    };
    const bool stops = tokens_.is(at, "break"), goes_on = tokens_.is(at, "continue"),
               ends = tokens_.is(at, "return");
    if ((!stops && !goes_on && !ends) || !is_in_loop(at)) return;
    if (!goes_on) put("continue", 1);
    if (!stops) put("break", 2);
    if (!ends && returns_nothing(at)) put("return", 3);
    places_.surround(at, at + 1, "{ " + chosen, " }");
  }

  /// `sums[i] += v;` of memory that other threads add to as well.
  void add_sum(std::size_t first) {
    std::size_t at = first, end = first;
    while (end < tokens_.size() && !tokens_.is(end, ";") && !tokens_.is(end, "{") && !tokens_.is(end, "}"))
      end = tokens_.behind(end);
    if (!tokens_.is(end, ";") || !places_.open_statement(first) || !places_.open_statement(end)) return;
    while (at < end && !tokens_.is(at, "+=")) at = tokens_.behind(at);
    if (at >= end) return;
    const bool pointed = tokens_.is(first, "*");
    const CppVariable* memory = places_.functions().named(pointed ? first + 1 : first);
    if (memory == nullptr || (memory->type.find('*') == std::string::npos && !memory->shared)) return;
    if (!pointed && !tokens_.is(first + 1, "[")) return;
    const std::string element(tokens_.text(first, at - 1)), value(tokens_.text(at + 1, end - 1));
    const int edit =
        places_.add({{first, end - 1, fmt::format("atomicAdd(&{}, {})", element, value)}}, Code::race, 1);
    places_.surround(
        first, end,
        fmt::format("{{ if (isomer_edits::chosen({})) isomer_edits::add_at(&({}), {}, [](auto* to, auto "
                    "more) -> decltype(void(atomicAdd(to, more))) {{ atomicAdd(to, more); }}); else ",
                    edit, element, value),
        " }");
  }

  /// `torch::zeros` where the source leaves memory as it is.
  void add_zeros(std::size_t at) {
    constexpr std::array<std::string_view, 3> kNames = {"empty", "empty_like", "new_empty"};
    constexpr std::array<std::string_view, 3> kZeros = {"zeros", "zeros_like", "new_zeros"};
    if (!tokens_.is(at + 1, "(") || tokens_[at + 1].partner <= at + 1 || !places_.open_rewrites(at)) return;
    for (std::size_t k = 0; k < kNames.size(); ++k) {
      if (!tokens_.is(at, kNames[k])) continue;
      std::size_t first = at;
      const bool member = tokens_.is(at - 1, ".");
      if (member && at > 1 && tokens_.is_name(at - 2)) first = at - 2;
      if (!member && at > 1 && tokens_.is(at - 1, "::") && tokens_.is_name(at - 2)) first = at - 2;
      const std::size_t last = tokens_[at + 1].partner;
      if (first == at || tokens_[first].line != tokens_[last].line) return;
      const std::string zeros = std::string(tokens_.text(first, at - 1)) + std::string(kZeros[k]);
      const int edit = places_.add({{first, at, zeros}}, Code::uninitialised_read, 1);
      places_.surround(
          first, last,
          fmt::format("(isomer_edits::chosen({}) ? {}{} : ", edit, zeros, tokens_.text(at + 1, last)), ")");
    }
  }

  /// Of memory that is cleared only the first part.
  void add_cleared(std::size_t at) {
    if (!tokens_.is_name(at) || !tokens_.is(at + 1, "(") || !places_.open_rewrites(at) ||
        tokens_.text(at).find("Memset") == std::string_view::npos)
      return;
    const std::size_t close = tokens_[at + 1].partner;
    std::vector<std::size_t> commas;
    for (std::size_t i = at + 2; i < close; i = tokens_.behind(i))
      if (tokens_.is(i, ",")) commas.push_back(i);
    if (commas.size() < 2) return;
    const std::size_t first = commas[1] + 1, last = (commas.size() > 2 ? commas[2] : close) - 1;
    if (first > last || !places_.open_rewrites(first) || !places_.open_rewrites(last)) return;
    std::string chosen;
    for (const int times : {2, 4}) {
      const int edit = places_.add({{first, last, fmt::format("{} * {}", times, tokens_.text(first, last))}},
                                   Code::uninitialised_read, 1);
      chosen += fmt::format("isomer_edits::chosen({}) ? {} : ", edit, times);
    }
    places_.surround(first, last, fmt::format("(({}1) * (", chosen), "))");
  }

  EditPlaces& places_;
  const CppTokens& tokens_;
};

}  // namespace

void add_ways(EditPlaces& places) { Ways(places).add(); }

}  // namespace isomer::lab
