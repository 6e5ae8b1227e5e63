#pragma once

#include <isomer/tensor.hpp>

#include <array>
#include <cstdint>
#include <span>

namespace isomer::core {

/// Several views of one shape with as few dimensions as possible: dimensions of size 1 go, the rest are
/// ordered by the first view's strides, outermost first, and neighbours that every view steps through as
/// through one are joined.
struct Joined {
  static constexpr int kViews = 6;
  /// All tensors have the same shape.
  explicit Joined(std::span<const Tensor* const> views);

  int views = 0;
  int dims = 0;  ///< 0 for a single element and for an empty shape
  std::int64_t elements = 0;
  std::array<std::int64_t, Tensor::kMaxRank> sizes{};
  std::array<std::array<std::int64_t, Tensor::kMaxRank>, kViews> strides{};  ///< in elements, by view
};

}  // namespace isomer::core
