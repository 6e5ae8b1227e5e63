#include "core/joined.hpp"

#include <algorithm>
#include <cstdlib>

namespace isomer::core {

Joined::Joined(std::span<const Tensor* const> tensors) : views(static_cast<int>(tensors.size())) {
  const Tensor& lead = *tensors[0];
  elements = lead.numel();
  if (elements == 0) return;
  std::array<int, Tensor::kMaxRank> order{};
  int count = 0;
  for (int i = 0; i < lead.rank; ++i)
    if (lead.size(i) > 1) order[static_cast<std::size_t>(count++)] = i;
  std::stable_sort(order.begin(), order.begin() + count,
                   [&](int a, int b) { return std::abs(lead.stride(a)) > std::abs(lead.stride(b)); });
  for (int k = 0; k < count; ++k) {
    const int dim = order[static_cast<std::size_t>(k)];
    bool joins = dims > 0;
    for (std::size_t v = 0; v < tensors.size() && joins; ++v)
      joins = strides[v][static_cast<std::size_t>(dims - 1)] == tensors[v]->stride(dim) * lead.size(dim);
    if (!joins) sizes[static_cast<std::size_t>(dims++)] = 1;
    const auto at = static_cast<std::size_t>(dims - 1);
    sizes[at] *= lead.size(dim);
    for (std::size_t v = 0; v < tensors.size(); ++v) strides[v][at] = tensors[v]->stride(dim);
  }
}

}  // namespace isomer::core
