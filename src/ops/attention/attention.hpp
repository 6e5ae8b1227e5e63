#pragma once

#include <isomer/attention.hpp>

#include "core/registry.hpp"

namespace isomer::ops::attention {

const core::Contract& contract();
core::Call bind(const AttentionArgs& args, const AttentionOptions& options);
std::vector<std::unique_ptr<const core::Implementation>> cpu();

/// merge_attention, the op that joins results over disjoint key sets.
const core::Contract& merge_contract();
core::Call bind(const MergeAttentionArgs& args, const MergeAttentionOptions& options);
std::vector<std::unique_ptr<const core::Implementation>> merge_cpu();

}  // namespace isomer::ops::attention
