#pragma once

#include <isomer/tensor.hpp>

#include <functional>
#include <string>
#include <vector>

/// The numbers to which kernels reduce a row, and the rows that a tensor can be taken apart into.
namespace isomer::lab {

struct RowNumber {
  const char* said;
  std::function<double(const std::vector<double>&)> of;  ///< of a row that is not empty; may be NaN
};
const std::vector<RowNumber>& row_numbers();

/// Logarithms of one sum to two bases, in either order.
bool is_other_base(const RowNumber& a, const RowNumber& b);

/// A part of each row that a kernel with a wrong bound may take for all of it; empty where it is all of it.
struct RowPart {
  std::string said;
  std::function<std::vector<double>(const std::vector<double>&)> cut;
};
const std::vector<RowPart>& row_parts();
constexpr const char* kWithoutFirst = "all but the first element";  ///< one of them: a loop begins too late

/// One way of taking a tensor apart: along its last dimension, along one of the others, along the last two …,
/// or as a whole. `order`: the place of each element of the rows, one after the other, in row-major order.
struct RowsOf {
  std::string said;
  std::vector<std::vector<double>> rows;
  std::vector<std::size_t> order;
};
constexpr std::size_t kGroupKinds = 6;
/// All ways, always as many; one that the rank does not have, or that is as another, has no rows.
std::vector<RowsOf> groups_of(const Tensor& tensor);

}  // namespace isomer::lab
