#include "lab/evidence/edits/places.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>

namespace isomer::lab {
namespace {

constexpr int kRankOfLevels = 1;

/// An index of several dimensions, `((b * H + h) * T + t) * D + d`: two dimensions beside each other may have
/// changed places, `((b * T + t) * H + h) * D + d`.
class Levels {
 public:
  explicit Levels(EditPlaces& places) : places_(places), tokens_(places.tokens()) {}

  void add() {
    for (std::size_t i = 1; i + 4 < tokens_.size(); ++i)
      if (tokens_.is(i, "(") && places_.open_rewrites(i)) exchange(i);
  }

 private:
  /// `X * A + a` between the tokens: where its `*` and its `+` are.
  struct Level {
    std::size_t times, plus;
  };

  std::optional<Level> level(std::size_t first, std::size_t last) const {
    std::size_t times = 0, plus = 0;
    for (std::size_t i = first; i <= last; i = tokens_.behind(i)) {
      if (tokens_.is(i, "*") && i > first && plus == 0) times = i;
      if (tokens_.is(i, "+") && i > first) {
        if (plus != 0) return std::nullopt;
        plus = i;
      }
      for (const char* other : {"-", "/", "%", "?", ",", "<", ">", "<<", ">>", "&", "|", "="})
        if (tokens_.is(i, other)) return std::nullopt;
    }
    if (times == 0 || plus < times + 2 || plus >= last + 1) return std::nullopt;
    return Level{times, plus};
  }

  /// Behind a name with its members, or a number; the same place where there is none.
  std::size_t behind_operand(std::size_t at) const {
    if (tokens_[at].kind == CppToken::Kind::number) return at + 1;
    if (!tokens_.is_name(at) || tokens_.is(at + 1, "(")) return at;
    ++at;
    while ((tokens_.is(at, ".") || tokens_.is(at, "->")) && tokens_.is_name(at + 1)) at += 2;
    return at;
  }

  void exchange(std::size_t open) {
    const std::size_t close = tokens_[open].partner;
    if (close <= open + 4 || close + 4 >= tokens_.size() || !tokens_.is(close + 1, "*")) return;
    const std::optional<Level> inner = level(open + 1, close - 1);
    if (!inner) return;
    const std::size_t plus = behind_operand(close + 2), end = behind_operand(plus + 1);
    if (plus == close + 2 || !tokens_.is(plus, "+") || end == plus + 1) return;
    // What is divided, or a factor of more, is no whole index.
    for (const char* other : {"*", "/", "%", "(", "["})
      if (tokens_.is(end, other)) return;
    std::size_t first = open;
    if (tokens_.is(open - 1, ")")) {  // of a cast
      first = tokens_[open - 1].partner;
      if (first + 2 != open - 1 || first == 0) return;
    }
    for (const char* other : {"*", "/", "%", "-"})
      if (tokens_.is(first - 1, other)) return;
    if (tokens_.is_name(first - 1) && !tokens_.is(first - 1, "return")) return;
    const auto text = [&](std::size_t from, std::size_t to) { return std::string(tokens_.text(from, to)); };
    const std::string cast = first < open ? text(first, open - 1) : std::string();
    const std::string size = text(inner->times + 1, inner->plus - 1),
                      index = text(inner->plus + 1, close - 1);
    const std::string made = fmt::format("{}({} * {} + {}) * {} + {}", cast, text(open + 1, inner->times - 1),
                                         text(close + 2, plus - 1), text(plus + 1, end - 1), size, index);
    const int edit = places_.add({{first, end - 1, made}}, Code::layout_convention, kRankOfLevels);
    places_.surround(first, end - 1, fmt::format("(isomer_edits::chosen({}) ? ({}) : ", edit, made), ")");
  }

  EditPlaces& places_;
  const CppTokens& tokens_;
};

}  // namespace

void add_levels(EditPlaces& places) { Levels(places).add(); }

}  // namespace isomer::lab
