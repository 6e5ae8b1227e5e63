#pragma once

#include "lab/findings/finding.hpp"

#include <isomer/tensor.hpp>

#include <string>
#include <vector>

namespace isomer::lab {

/// One output of a recorded call and what a candidate gives for it.
struct Compared {
  std::string name;
  Tensor want;
  std::vector<double> got;    ///< row-major, as many as the reference has
  Tensor before;              ///< of an argument that is written, as it was given; otherwise undefined
  double rtol = 0, atol = 0;  ///< 0: by the dtype, and by the size of the row
};

/// Within `bound` of each other; NaN for NaN, infinity for the same infinity.
bool is_close(double want, double got, double bound);

/// The way in which an answer of an unknown op is wrong: permuted axes, a wrong end, elements as they were, a
/// constant ratio, f16 instead of f32, a step beside; `unexplained`, with where and how much, where it is
/// none of these. Empty code where nothing is wrong.
Finding pattern_of(const Compared& compared);
/// The reference's elements one place beside, along one or both of the last two dimensions; `want` and
/// `bounds` are the reference's elements and how far each may be off. Empty code where they are not.
Finding shifted_answer(const Compared& compared, const std::vector<double>& want,
                       const std::vector<double>& bounds);

}  // namespace isomer::lab
