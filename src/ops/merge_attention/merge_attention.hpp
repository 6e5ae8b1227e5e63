#pragma once

#include <isomer/attention.hpp>

#include "core/registry.hpp"

namespace isomer::ops::merge_attention {

const core::Contract& contract();
core::Call bind(const MergeAttentionArgs& args, const MergeAttentionOptions& options);
std::vector<std::unique_ptr<const core::Implementation>> cpu();
std::vector<std::unique_ptr<const core::Implementation>> gpu();

}  // namespace isomer::ops::merge_attention
