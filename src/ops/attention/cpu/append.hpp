#pragma once

#include "ops/attention/cpu/tile.hpp"

namespace isomer {
class Executor;
}

namespace isomer::ops::attention {

/// Rotates the first rotary_dim elements of a row, in pairs (x, y) → (x·cos − y·sin, y·cos + x·sin), each
/// product and sum rounded to f32. `tables` has room for 2·head_dim floats.
void rotate(const Geometry& geometry, const Kernels& kernels, std::int64_t position, float* row,
            float* tables);

/// Writes every new key, rotated where asked, and every new value into its slot.
void append(const TileContext& context, std::byte* scratch, Executor& executor);

/// Tasks of append: batch entries × kv heads × chunks of new keys, at most.
std::int64_t append_tasks(const Geometry& geometry);

}  // namespace isomer::ops::attention
