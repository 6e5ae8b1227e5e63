#pragma once

#include <isomer/tensor.hpp>

#include "ops/fp8_gemm/fp8_gemm.hpp"
#include "oracle/variation.hpp"

#include <cstdint>
#include <vector>

namespace isomer::ops::fp8_gemm {

/// An element of c before bias and addend, in f64, and what its tolerance is made of.
struct Element {
  double value = 0;
  double magnitude = 0;  ///< Σ_kb |a_s·b_s|·Σ|a·b|
  double underflow = 0;  ///< what f32 may lose below its smallest number
  bool unknown = false;  ///< a variation takes a scale from beyond the matrix: nobody knows what lies there
};

/// The product of one matrix a with one matrix b, element by element: the definition.
class Product {
 public:
  /// a and a_s with any leading dimensions (their rows are counted through), b [N, K], b_s [ceil(N/128),
  /// ceil(K/128)].
  Product(const Tensor& a, const Tensor& a_s, const Tensor& b, const Tensor& b_s,
          const oracle::Variations& vary);
  Element operator()(std::int64_t row, std::int64_t column) const;

 private:
  /// Where the scale of a row or column for element k of the sum is taken from, row-major.
  std::int64_t a_scale_at(std::int64_t row, std::int64_t k) const;
  std::int64_t b_scale_at(std::int64_t column, std::int64_t k) const;
  /// The scales' column for element k, as the variations have it.
  std::int64_t block_of(std::int64_t k) const;

  oracle::Variations vary_;
  std::int64_t rows_, columns_, depth_, blocks_, b_s_rows_;
  std::int64_t b_width_ = kScaleBlock;     ///< columns of b that are taken to share a row of scales
  std::int64_t step_ = kScaleBlock;        ///< elements of K that are taken to share a scale
  std::int64_t pitch_;                     ///< scales that are taken to be in a row
  std::vector<double> a_, a_s_, b_, b_s_;  ///< row-major
};

/// Puts value + bias + addend and its bound into `c`, one of the outputs of `expected`.
struct Epilogue {
  Tensor bias;    ///< [N], or undefined
  Tensor addend;  ///< of c's shape, or undefined
  oracle::Variations vary;
  /// The value and bound of c's element `flat`, in that column.
  std::pair<double, double> operator()(const Element& product, DType c_type, std::size_t flat,
                                       std::int64_t column) const;
};

/// The variations of one product, which both ops have.
const std::vector<oracle::Variation>& product_variations();

}  // namespace isomer::ops::fp8_gemm
