#pragma once

#include "oracle/oracle.hpp"

#include <string>
#include <vector>

/// The inputs that the cases of both ops are made of.
namespace isomer::ops::fp8_gemm {

/// Fields of both schemas after the sizes: type of c, layouts, values, scales, bias, addend.
std::vector<oracle::Field> operand_fields(std::vector<oracle::Field> sizes);

/// The layout of a, b and c: those with a contiguous last dimension.
const std::vector<std::string>& operand_layouts();

/// An e4m3fn operand in the case's layout, with the values of `regime`.
Tensor make_operand(const oracle::Case& c, oracle::Problem& problem, const std::string& name,
                    const std::vector<std::int64_t>& shape, const std::string& regime);

/// Scales of that shape, the last two dimensions stored by `order`: row_major, column_major, padded
/// (column-major, columns 4 floats more than their length apart) or inner (row-major, every second float).
/// `kind` gives their values.
Tensor make_scales(oracle::Problem& problem, const std::string& name, const std::vector<std::int64_t>& shape,
                   const std::string& order, const std::string& kind, double factor);

/// c, bias and addend of the case.
struct Outputs {
  Tensor c, bias, addend;
};
Outputs make_outputs(const oracle::Case& c, oracle::Problem& problem, const std::vector<std::int64_t>& shape,
                     const std::vector<std::int64_t>& bias_shape);

/// Coverage cells of those fields.
std::vector<std::string> operand_features(const oracle::Case& c);

/// The list without repetitions.
std::vector<oracle::Case> distinct(const std::vector<oracle::Case>& list);

}  // namespace isomer::ops::fp8_gemm
