#include "lab/evidence/edits/places.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace isomer::lab {
namespace {

/// What a host function asks tensors of PyTorch for: a size where a stride was meant, and two dimensions of a
/// list in each other's place.
class Tensors {
 public:
  explicit Tensors(EditPlaces& places) : places_(places), tokens_(places.tokens()) {}

  void add() {
    for (std::size_t i = 2; i + 2 < tokens_.size(); ++i) {
      add_size(i);
      if (tokens_.is(i, "{") && (tokens_.is(i - 1, "(") || tokens_.is(i - 1, ","))) add_list(i);
    }
  }

 private:
  /// `x.size(1)` for `x.stride(1)`.
  void add_size(std::size_t at) {
    const bool size = tokens_.is(at, "size"), stride = tokens_.is(at, "stride");
    if ((!size && !stride) || !tokens_.is(at - 1, ".") || !tokens_.is_name(at - 2) ||
        !tokens_.is(at + 1, "(") || (tokens_.is(at - 3, ".") || tokens_.is(at - 3, "->")))
      return;
    const std::size_t close = tokens_[at + 1].partner;
    if (close <= at + 2 || !places_.open_rewrites(at - 2) || !places_.open_rewrites(close) ||
        tokens_[at - 2].line != tokens_[close].line)
      return;
    const std::string other =
        fmt::format("{}.{}{}", tokens_.text(at - 2), size ? "stride" : "size", tokens_.text(at + 1, close));
    const int edit = places_.add({{at, at, size ? "stride" : "size"}}, Code::wrong_expression, 2);
    places_.surround(at - 2, close, fmt::format("(isomer_edits::chosen({}) ? {} : ", edit, other), ")");
  }

  /// `x.permute({0, 2, 1, 3})`: two of its numbers.
  void add_list(std::size_t open) {
    constexpr std::size_t kMost = 6;
    const std::size_t close = tokens_[open].partner;
    std::vector<std::size_t> numbers;
    for (std::size_t i = open + 1; i < close; i += 2) {
      if (tokens_[i].kind != CppToken::Kind::number || (!tokens_.is(i + 1, ",") && i + 1 != close)) return;
      numbers.push_back(i);
    }
    if (numbers.size() < 2 || numbers.size() > kMost) return;
    for (std::size_t a = 0; a < numbers.size(); ++a)
      for (std::size_t b = a + 1; b < numbers.size(); ++b) exchange(numbers[a], numbers[b]);
  }

  void exchange(std::size_t a, std::size_t b) {
    if (!places_.open(a) || !places_.open(b)) return;
    const std::string one(tokens_.text(a)), other(tokens_.text(b));
    if (one == other) return;
    const int edit = places_.add({{a, a, other}, {b, b, one}}, Code::layout_convention, 1);
    places_.surround(a, a, fmt::format("isomer_edits::swapped({}, ", edit), ", " + other + ")");
    places_.surround(b, b, fmt::format("isomer_edits::swapped({}, ", edit), ", " + one + ")");
  }

  EditPlaces& places_;
  const CppTokens& tokens_;
};

}  // namespace

void add_tensors(EditPlaces& places) { Tensors(places).add(); }

}  // namespace isomer::lab
