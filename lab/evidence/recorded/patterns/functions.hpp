#pragma once

#include "lab/ask/recorded/replayed.hpp"

#include <functional>
#include <string>
#include <vector>

namespace isomer::lab {

/// Pairs of a number and what an answer has for it.
struct Pairs {
  std::vector<double> x, y;
  double rtol = 0;
};
/// A function that fits, and how it is said: one that is known, or two slopes that meet at 0.
struct Fitted {
  std::string said;
  std::function<double(double)> of;
  bool slopes = false;
};
/// The functions that fit, known ones first.
std::vector<Fitted> fitting(const Pairs& pairs);

/// A function of a product of two matrices, and of a vector that is added to its rows: another function, or
/// the vector added behind it. Empty code where it is not.
Finding function_of_products(const Approach& approach, const std::vector<Replayed>& calls,
                             const std::vector<CallOutcome>& outcomes, std::size_t output);

/// An output whose elements are one well-known function of an input's elements in the original, and another
/// in the candidate: the finding that names both, where no other pair fits and where another call, with
/// values that no recorded one has, is answered by that function too. Empty code where it is not so.
Finding function_of_elements(const Approach& approach, const std::vector<Replayed>& calls,
                             const std::vector<CallOutcome>& outcomes, std::size_t output);

}  // namespace isomer::lab
