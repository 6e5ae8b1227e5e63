#pragma once

#include "gpu/facts.hpp"
#include "gpu/plan.hpp"
#include "ops/attention/contract/geometry.hpp"

#include <cstddef>
#include <cstdint>

namespace isomer::ops::attention {

/// The launches around attention itself, for every implementation on a GPU. They take
/// device::AttentionParameters where nothing else is said.

/// Whether the call has keys to append.
bool appends(const Geometry& geometry);
/// Writes k_new and v_new into the cache, rotated where the call says so, and with `turns` q, rotated, into
/// rows of its own: attention_append.cu. With queries it takes device::AttentionRotateParameters.
gpu::Step append_step(const Geometry& geometry, const gpu::Facts& facts, bool turns);
/// Those rows: compact but for what rounds a row up to 16 bytes.
RowView turned_queries(const Geometry& geometry);
/// Where they lie in a workspace of which so many bytes are taken, and how many there are.
std::size_t turned_begin(std::size_t workspace_bytes);
std::size_t turned_bytes(const RowView& turned);
/// Merges the partial results of parts whose blocks take block_n keys at a time: attention_combine.cu.
/// `parts` is how many a row is expected to have.
gpu::Step combine_step(const Geometry& geometry, const gpu::Facts& facts, int head_dim_v, int block_n,
                       std::int64_t parts);

}  // namespace isomer::ops::attention
