#pragma once

#include <isomer/weight_quant.hpp>

#include "cpu/element.hpp"
#include "cpu/target.hpp"

namespace isomer::ops::weight_quant {

/// The elements that share one scale; strides in elements.
struct Block {
  const void* x = nullptr;
  cpu::E4M3* y = nullptr;
  float* s = nullptr;
  std::int64_t rows = 0, columns = 0;
  std::int64_t x_row = 0, y_row = 0;
};

using BlockFunction = void (*)(DType x_type, const Block& block, const WeightQuantOptions& options);
const cpu::PerTarget<BlockFunction>& block_function();

}  // namespace isomer::ops::weight_quant
