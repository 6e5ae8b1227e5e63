#pragma once

#include <isomer/bundle.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace isomer::lab {

/// One tensor that both files have.
struct TensorDifference {
  std::string name, dtype_a, dtype_b, shape_a, shape_b;
  bool comparable = false;                              ///< same shape
  std::uint64_t elements = 0, unequal = 0, beyond = 0;  ///< beyond the tolerance
  double tolerance = 0;
  double max_abs = 0, max_rel = 0;
  std::uint64_t max_ulp = 0;  ///< steps of the type; 0 where the types differ
  std::string where;          ///< index of the first element that is beyond, else of the worst
  double a = 0, b = 0;        ///< there
  bool same() const { return comparable && dtype_a == dtype_b && beyond == 0; }
};

struct TensorDiff {
  std::vector<TensorDifference> tensors;  ///< in the order of A
  std::vector<std::string> only_a, only_b;
  bool same() const;
};

/// Tensors of one name, element by element. An element is beyond the tolerance where its values lie further
/// apart than tolerance × max(1, the larger magnitude); NaN equals NaN, and an infinity only itself. Without
/// a tolerance: 1e-3 for f16, 1e-2 for FP8 and bf16, 1e-5 for f32, 1e-12 for f64, 0 for integers.
TensorDiff diff_tensors(const Bundle& a, const Bundle& b, std::optional<double> tolerance);

}  // namespace isomer::lab
