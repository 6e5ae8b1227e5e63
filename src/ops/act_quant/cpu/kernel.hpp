#pragma once

#include <isomer/act_quant.hpp>

#include "cpu/target.hpp"

namespace isomer::ops::act_quant {

/// Adjacent blocks of one row; s_stride in elements.
struct Blocks {
  const void* x = nullptr;
  void* y = nullptr;
  float* s = nullptr;
  std::int64_t s_stride = 1;
  std::int64_t count = 0;
};

using BlocksFunction = void (*)(DType dtype, const Blocks& blocks, const ActQuantOptions& options);
const cpu::PerTarget<BlocksFunction>& blocks_function();

}  // namespace isomer::ops::act_quant
