#include "cpu/rows.hpp"

#include <algorithm>

namespace isomer::cpu {

Rows::Rows(std::span<const Tensor* const> views) : joined_(views) {
  std::copy(views.begin(), views.end(), tensors_.begin());
  if (joined_.elements == 0) return;
  count_ = 1;
  length_ = 1;
  inner_.fill(1);
  if (joined_.dims == 0) return;
  dims_ = joined_.dims - 1;
  const auto last = static_cast<std::size_t>(dims_);
  length_ = joined_.sizes[last];
  for (std::size_t v = 0; v < views.size(); ++v) inner_[v] = joined_.strides[v][last];
  for (int i = 0; i < dims_; ++i) count_ *= joined_.sizes[static_cast<std::size_t>(i)];
}

std::byte* Rows::row(int view, std::int64_t index) const {
  const auto v = static_cast<std::size_t>(view);
  std::int64_t offset = 0;
  for (int i = dims_ - 1; i >= 0; --i) {
    const auto at = static_cast<std::size_t>(i);
    offset += index % joined_.sizes[at] * joined_.strides[v][at];
    index /= joined_.sizes[at];
  }
  return static_cast<std::byte*>(tensors_[v]->data) + offset * size_of(tensors_[v]->dtype);
}

}  // namespace isomer::cpu
