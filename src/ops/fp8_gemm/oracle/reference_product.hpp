#pragma once

#include <isomer/tensor.hpp>

#include "ops/fp8_gemm/fp8_gemm.hpp"
#include "oracle/part_of_threads.hpp"
#include "oracle/variation.hpp"

#include <cstdint>
#include <memory>
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
  /// The same rows with another b.
  Product with(const Tensor& b, const Tensor& b_s) const;
  Element operator()(std::int64_t row, std::int64_t column) const;

 private:
  using Elements = std::vector<double>;  ///< row-major
  void take(const Tensor& b, const Tensor& b_s);
  /// Of a·b over elements of K.
  struct Sums {
    double signed_sum = 0;
    double magnitude = 0;  ///< Σ|a·b|
  };
  /// Adds a[a_first + k]·b[b_first + k·b_step] for k below `count`.
  void add_products(std::int64_t a_first, std::int64_t b_first, std::int64_t b_step, std::int64_t count,
                    Sums& sums) const;
  /// Where the scale of a row or column for element k of the sum is taken from, row-major.
  std::int64_t a_scale_at(std::int64_t row, std::int64_t k) const;
  std::int64_t b_scale_at(std::int64_t column, std::int64_t k) const;
  /// The scales' column for element k, as the variations have it.
  std::int64_t block_of(std::int64_t k, int moved) const;

  oracle::Variations vary_;
  // What is asked for every element of c.
  bool narrow_in_block_, narrow_across_blocks_, transposed_, a_s_ignored_, b_s_ignored_, short_sums_;
  oracle::PartOfThreads of_k_;  ///< elements of K that are summed
  std::int64_t whole_k_ = 0;    ///< those behind so many are not
  bool sum_carried_, tail_dropped_, tail_unmasked_, tail_stale_;
  int a_s_moved_ = 0, b_s_moved_ = 0;  ///< blocks of K by which their scales are taken too late
  DType accumulator_;                  ///< of the two that are narrow
  std::int64_t rows_, columns_, depth_, blocks_, b_s_rows_;
  std::int64_t b_width_ = kScaleBlock;  ///< columns of b that are taken to share a row of scales
  std::int64_t step_ = kScaleBlock;     ///< elements of K that are taken to share a scale
  std::int64_t pitch_;                  ///< scales that are taken to be in a row
  std::shared_ptr<const Elements> a_, a_s_;
  Elements b_, b_s_;
};

/// Puts value + bias + addend and its bound into `c`, one of the outputs of `expected`.
struct Epilogue {
  Tensor bias;    ///< [N], or undefined
  Tensor addend;  ///< of c's shape, or undefined
  const oracle::Variations& vary;
  /// The value and bound of c's element `flat`, in that column.
  std::pair<double, double> operator()(const Element& product, DType c_type, std::size_t flat,
                                       std::int64_t column) const;
};

/// The variations of one product, which both ops have.
const std::vector<oracle::Variation>& product_variations();

}  // namespace isomer::ops::fp8_gemm
