#pragma once

#include <isomer/dtype.hpp>

#include "cpu/target.hpp"

#include <cstddef>
#include <cstdint>

namespace isomer::ops::flash_decode {

/// The blocks of one query head. Strides in elements.
struct MergeRow {
  DType mid_dtype, out_dtype;
  std::int64_t blocks, head_dim;
  const std::byte* mid;
  std::int64_t mid_block, mid_inner;
  const float* lse;
  std::int64_t lse_block;
  std::byte* out;
  std::int64_t out_inner;
};

/// out = Σ e^(lse_j − m)·mid_j / Σ e^(lse_j − m); zeros where no block weighs anything.
using MergeFunction = void (*)(const MergeRow& row);
const cpu::PerTarget<MergeFunction>& merge_function();

}  // namespace isomer::ops::flash_decode
