#pragma once

#include <isomer/silu_mul_quant.hpp>

#include "core/registry.hpp"

#include <cstdint>

namespace isomer::ops::silu_mul_quant {

/// Elements of a row of y that share a scale.
inline constexpr std::int64_t kBlock = 128;

const core::Contract& contract();
core::Call bind(const SiluMulQuantArgs& args, const SiluMulQuantOptions& options);
std::vector<std::unique_ptr<const core::Implementation>> cpu();
std::vector<std::unique_ptr<const core::Implementation>> gpu();

}  // namespace isomer::ops::silu_mul_quant
