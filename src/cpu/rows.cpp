#include "cpu/rows.hpp"

#include <algorithm>

namespace isomer::cpu {

Rows::Rows(std::span<const Tensor* const> views) : views_(static_cast<int>(views.size())) {
  std::copy(views.begin(), views.end(), tensors_.begin());
  const Tensor& lead = *views[0];
  if (lead.empty()) return;
  std::array<int, Tensor::kMaxRank> order{};
  int dims = 0;
  for (int i = 0; i < lead.rank; ++i)
    if (lead.size(i) > 1) order[static_cast<std::size_t>(dims++)] = i;
  std::stable_sort(order.begin(), order.begin() + dims,
                   [&](int a, int b) { return std::abs(lead.stride(a)) > std::abs(lead.stride(b)); });
  // Outermost first; a dimension joins the one before it where every view steps through both as through one.
  for (int k = 0; k < dims; ++k) {
    const int dim = order[static_cast<std::size_t>(k)];
    bool joins = dims_ > 0;
    for (int v = 0; v < views_ && joins; ++v)
      joins = strides_[static_cast<std::size_t>(v)][static_cast<std::size_t>(dims_ - 1)] ==
              tensors_[static_cast<std::size_t>(v)]->stride(dim) * lead.size(dim);
    if (!joins) sizes_[static_cast<std::size_t>(dims_++)] = 1;
    const auto at = static_cast<std::size_t>(dims_ - 1);
    sizes_[at] *= lead.size(dim);
    for (int v = 0; v < views_; ++v)
      strides_[static_cast<std::size_t>(v)][at] = tensors_[static_cast<std::size_t>(v)]->stride(dim);
  }
  count_ = 1;
  length_ = 1;
  inner_.fill(1);
  if (dims_ == 0) return;
  --dims_;
  const auto last = static_cast<std::size_t>(dims_);
  length_ = sizes_[last];
  for (int v = 0; v < views_; ++v)
    inner_[static_cast<std::size_t>(v)] = strides_[static_cast<std::size_t>(v)][last];
  for (int i = 0; i < dims_; ++i) count_ *= sizes_[static_cast<std::size_t>(i)];
}

std::byte* Rows::row(int view, std::int64_t index) const {
  const auto v = static_cast<std::size_t>(view);
  std::int64_t offset = 0;
  for (int i = dims_ - 1; i >= 0; --i) {
    const auto at = static_cast<std::size_t>(i);
    offset += index % sizes_[at] * strides_[v][at];
    index /= sizes_[at];
  }
  return static_cast<std::byte*>(tensors_[v]->data) + offset * size_of(tensors_[v]->dtype);
}

}  // namespace isomer::cpu
