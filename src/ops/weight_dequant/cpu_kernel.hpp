#pragma once

#include "cpu/element.hpp"
#include "cpu/target.hpp"

namespace isomer::ops::weight_dequant {

/// Adjacent elements of one row; the first one begins a block.
struct Stretch {
  const cpu::E4M3* x = nullptr;
  const float* s = nullptr;  ///< the scale of the first block, then those of the next
  void* y = nullptr;
  std::int64_t count = 0;
  std::int64_t block_size = 0;
};

using StretchFunction = void (*)(DType y_type, const Stretch& stretch);
const cpu::PerTarget<StretchFunction>& stretch_function();

}  // namespace isomer::ops::weight_dequant
