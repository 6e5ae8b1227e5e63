#pragma once

#include <isomer/weight_dequant.hpp>

#include "core/registry.hpp"

namespace isomer::ops::weight_dequant {

const core::Contract& contract();
core::Call bind(const WeightDequantArgs& args, const WeightDequantOptions& options);
std::vector<std::unique_ptr<const core::Implementation>> cpu();
std::vector<std::unique_ptr<const core::Implementation>> gpu();

}  // namespace isomer::ops::weight_dequant
