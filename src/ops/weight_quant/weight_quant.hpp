#pragma once

#include <isomer/weight_quant.hpp>

#include "core/registry.hpp"

namespace isomer::ops::weight_quant {

const core::Contract& contract();
core::Call bind(const WeightQuantArgs& args, const WeightQuantOptions& options);
std::vector<std::unique_ptr<const core::Implementation>> cpu();
std::vector<std::unique_ptr<const core::Implementation>> gpu();

}  // namespace isomer::ops::weight_quant
