#pragma once

#include "gpu/facts.hpp"
#include "gpu/plan.hpp"
#include "ops/attention/contract/geometry.hpp"

#include <cstdint>

namespace isomer::ops::attention {

/// The launches around attention itself, for every implementation on a GPU. They take
/// device::AttentionParameters where nothing else is said.

/// Whether the call has keys to append.
bool appends(const Geometry& geometry);
/// Writes k_new and v_new into the cache, rotated where the call says so: attention_append.cu.
gpu::Step append_step(const Geometry& geometry);
/// Writes q, rotated, into rows of its own: attention_rotate.cu, which takes
/// device::AttentionRotateParameters.
gpu::Step rotate_step(const Geometry& geometry);
/// Those rows: compact but for what rounds a row up to 16 bytes.
RowView turned_queries(const Geometry& geometry);
/// Merges the partial results of parts whose blocks take block_n keys at a time: attention_combine.cu.
/// `parts` is how many a row is expected to have.
gpu::Step combine_step(const Geometry& geometry, const gpu::Facts& facts, int head_dim_v, int block_n,
                       std::int64_t parts);

}  // namespace isomer::ops::attention
