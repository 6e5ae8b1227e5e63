#pragma once

#include <isomer/dtype.hpp>

#include "cpu/target.hpp"

#include <cstddef>
#include <cstdint>

namespace isomer::ops::sin {

/// One row: `count` elements of the dtype, strides in elements.
using RowFunction = void (*)(DType dtype, const void* x, std::int64_t x_stride, void* y,
                             std::int64_t y_stride, std::int64_t count);
const cpu::PerTarget<RowFunction>& row_function();

}  // namespace isomer::ops::sin
