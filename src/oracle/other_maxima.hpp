#pragma once

#include "oracle/variation.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

/// Faults of a quantisation that takes another number of a block than its largest magnitude, for the
/// references of the ops that have blocks with a scale.
namespace isomer::oracle {

inline const std::vector<Variation>& other_maxima() {
  static const std::vector<Variation> list = {
      {"amax=sum", "the sum of the values in place of the largest magnitude"},
      {"amax=sum-of-magnitudes", "the sum of the magnitudes in place of the largest one"},
      {"amax=mean-of-magnitudes", "the mean of the magnitudes in place of the largest one"},
      {"amax=root-mean-square", "the root of the mean square in place of the largest magnitude"},
      {"amax=sum-of-squares", "the sum of the squares in place of the largest magnitude"},
      {"amax=square", "the largest square in place of the largest magnitude"},
  };
  return list;
}

/// An op's own variations, and these.
inline std::vector<Variation> with_other_maxima(std::vector<Variation> own) {
  own.insert(own.end(), other_maxima().begin(), other_maxima().end());
  return own;
}

/// What stands for the largest magnitude, and how far f32 sums in another order may be from it.
struct OtherMaximum {
  float value = 0, slack = 0;
  bool overflows = false;  ///< in some order, so that it may be infinite or NaN as well
};

/// None where no such variation is on.
inline std::optional<OtherMaximum> other_maximum(const Variations& vary, std::span<const double> x) {
  const std::string_view how = vary.after("amax=");
  if (how != "square" && !how.starts_with("sum") && how != "mean-of-magnitudes" && how != "root-mean-square")
    return std::nullopt;
  double sum = 0, magnitudes = 0, squares = 0, largest = 0;
  for (const double each : x) {
    sum += each;
    magnitudes += std::fabs(each);
    const auto square = static_cast<double>(static_cast<float>(each * each));
    squares += square;
    largest = std::isnan(square) || std::isnan(largest) ? NAN : std::max(largest, square);
  }
  const auto count = static_cast<double>(std::max<std::size_t>(x.size(), 1));
  constexpr double kOrder = 0x1p-20;  // of a sum of f32 in any order, by its magnitudes
  const auto of = [](double value, double slack) {
    return OtherMaximum{static_cast<float>(value), std::isfinite(slack) ? static_cast<float>(slack) : 0.0f};
  };
  // A sum beyond f32 stays infinite where it is divided by the count.
  const auto in_f32 = [](double value) { return static_cast<double>(static_cast<float>(value)); };
  if (how == "square") return of(largest, 0);
  if (how == "sum") {
    OtherMaximum signed_sum = of(sum, kOrder * magnitudes);
    signed_sum.overflows = std::isinf(in_f32(magnitudes)) && std::isfinite(magnitudes);
    return signed_sum;
  }
  if (how == "sum-of-magnitudes") return of(magnitudes, kOrder * magnitudes);
  if (how == "sum-of-squares") return of(squares, kOrder * squares);
  if (how == "mean-of-magnitudes") return of(in_f32(magnitudes) / count, kOrder * magnitudes / count);
  const double root = std::sqrt(in_f32(squares) / count);
  return of(root, kOrder * root);
}

}  // namespace isomer::oracle
