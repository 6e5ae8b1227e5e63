#pragma once

#include "gpu/plan.hpp"
#include "ops/attention/contract/geometry.hpp"
#include "ops/attention/gpu/sm90_tiling.hpp"
#include "ops/attention/kernels/attention_sm90.h"

namespace isomer::ops::attention {

/// What every Hopper kernel is given, but for the addresses.
device::AttentionSm90Parameters sm90_parameters_of(const Geometry& geometry, const Sm90Tiling& tiling);
/// Those of a call that the parameters were made for.
void set_sm90_addresses(device::AttentionSm90Parameters& parameters, const AttentionArgs& args);

/// Panels of 128 bytes and `rows` rows of (column, row, head, outer).
gpu::TensorMap map_of(const RowView& view, std::int64_t columns, std::int64_t heads, int rows);
/// Rows of several heads of one kv head: (column, head of the unit, row, unit, outer).
gpu::TensorMap map_of_units(const RowView& view, std::int64_t columns, const Sm90Tiling& tiling);

}  // namespace isomer::ops::attention
