#pragma once

#include <isomer/expert_layer.hpp>

#include "core/registry.hpp"

#include <cstdint>

namespace isomer::ops::expert_layer {

/// Columns that share a scale, of a, of the weights and of what lies between.
inline constexpr std::int64_t kBlock = 128;

const core::Contract& contract();
core::Call bind(const ExpertLayerArgs& args, const ExpertLayerOptions& options);
/// One for each implementation of grouped_fp8_gemm that `registry` has, with its name: it takes what that
/// takes for both products. The registry keeps what they are made of.
std::vector<std::unique_ptr<const core::Implementation>> implementations(const core::Registry& registry);

}  // namespace isomer::ops::expert_layer
