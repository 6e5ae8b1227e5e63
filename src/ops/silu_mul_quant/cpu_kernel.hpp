#pragma once

#include <isomer/silu_mul_quant.hpp>

#include "cpu/target.hpp"

#include <cstdint>

namespace isomer::ops::silu_mul_quant {

/// Adjacent blocks of one row: `gate` and `factor` are where its halves begin.
struct Blocks {
  const void* gate = nullptr;
  const void* factor = nullptr;
  void* y = nullptr;
  float* s = nullptr;
  std::int64_t s_stride = 1;
  std::int64_t count = 0;
};

using BlocksFunction = void (*)(DType dtype, const Blocks& blocks, const SiluMulQuantOptions& options);
const cpu::PerTarget<BlocksFunction>& blocks_function();

}  // namespace isomer::ops::silu_mul_quant
