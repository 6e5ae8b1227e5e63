#pragma once

#include <isomer/dtype.hpp>

#include "cpu/target.hpp"

#include <cstddef>
#include <cstdint>

namespace isomer::ops::merge_attention {

/// Rows whose weights are computed together.
inline constexpr std::int64_t kRows = 64;

/// In: the lse of both parts of kRows rows. Out: their normalised weights, 0 for −inf, and the lse of the
/// whole.
struct Weights {
  alignas(64) float a[kRows], b[kRows], lse[kRows];
};

/// out = w_a·a + w_b·b for one row of contiguous elements; a null part is not looked at. out may be a or b.
struct Row {
  DType in_dtype, out_dtype;
  const std::byte *a, *b;
  float weight_a, weight_b;
  std::byte* out;
  std::int64_t count;
};

struct Kernel {
  void (*weigh)(Weights& weights);
  void (*merge)(const Row& row);
};
using KernelFunction = Kernel (*)();
const cpu::PerTarget<KernelFunction>& kernel();

}  // namespace isomer::ops::merge_attention
