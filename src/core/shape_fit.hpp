#pragma once

#include "core/contract.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace isomer::core {

/// "B Sq Hq D" as a rule; symbols that are new are added to `names`. Throws Error internal for a shape that
/// does not parse.
ShapeRule parse_shape(const std::string& text, std::vector<std::string>& names);

/// What the shapes seen so far say: symbols, and the leading dimensions `...`.
class ShapeFit {
 public:
  explicit ShapeFit(const std::vector<std::string>& names)
      : symbols_(names), count_(static_cast<int>(names.size())) {}

  Symbols& symbols() { return symbols_; }

  /// Holds a tensor against its rules and what is known, and learns from it. False where none fits.
  bool take(const Arg& arg, const Tensor& tensor);
  /// Takes the symbols that another knows and this does not.
  void learn_from(const ShapeFit& other);
  /// Whether some rule allows a tensor of that rank.
  static bool allows_rank(const Arg& arg, int rank);
  /// The sizes of a tensor that nobody has seen, by the first rule of which every size is known; false where
  /// there is none.
  bool known(const Arg& arg, Tensor& form) const;
  /// The shape that is known, with the rule: "[2, 4, 16] (B Hq D)". Where nobody says a size, the tensor's
  /// own stands, or the symbol where its rank is another.
  std::string expected(const Arg& arg, const Tensor& tensor) const;

 private:
  bool matches(const ShapeRule& rule, const Tensor& tensor, Symbols& symbols) const;
  std::string text_of(const ShapeRule& rule, const Tensor& tensor) const;

  Symbols symbols_;
  int count_;  ///< of symbols
  bool have_leading_ = false;
  int leading_ = 0;
  std::array<std::int64_t, Tensor::kMaxRank> leading_sizes_{};
};

}  // namespace isomer::core
