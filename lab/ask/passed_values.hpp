#pragma once

#include "lab/ask/trial.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace isomer::lab {

/// Each element of a tensor, by its number in row-major order.
template <class Visit>
void each_offset(const Tensor& tensor, Visit visit) {
  const std::int64_t count = tensor.numel();
  for (std::int64_t flat = 0; flat < count; ++flat) {
    std::int64_t offset = 0, index = flat;
    for (int d = tensor.rank - 1; d >= 0; --d) {
      offset += index % tensor.size(d) * tensor.stride(d);
      index /= tensor.size(d);
    }
    visit(flat, static_cast<std::byte*>(tensor.data) + offset * size_of(tensor.dtype));
  }
}

/// The same memory with trailing dimensions of size 1 dropped or added, and its axes reordered.
Tensor reshaped(Tensor tensor, int drop, bool inner, const std::vector<int>& axes);

}  // namespace isomer::lab
