#pragma once

#include "core/joined.hpp"

#include <array>
#include <cstdint>
#include <span>

namespace isomer::cpu {

/// Walks several views of one shape row by row: joined as core::Joined joins them, the innermost dimension is
/// the row.
class Rows {
 public:
  static constexpr int kViews = core::Joined::kViews;
  /// All tensors have the same shape.
  explicit Rows(std::span<const Tensor* const> views);

  std::int64_t count() const { return count_; }    ///< rows; 0 for an empty shape
  std::int64_t length() const { return length_; }  ///< elements of a row
  std::int64_t stride(int view) const { return inner_[static_cast<std::size_t>(view)]; }
  /// First element of that row in that view.
  std::byte* row(int view, std::int64_t index) const;

 private:
  core::Joined joined_;
  int dims_ = 0;
  std::int64_t count_ = 0, length_ = 0;
  std::array<std::int64_t, kViews> inner_{};
  std::array<const Tensor*, kViews> tensors_{};
};

}  // namespace isomer::cpu
