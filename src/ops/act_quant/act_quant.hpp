#pragma once

#include <isomer/act_quant.hpp>

#include "core/registry.hpp"

namespace isomer::ops::act_quant {

const core::Contract& contract();
core::Call bind(const ActQuantArgs& args, const ActQuantOptions& options);
std::vector<std::unique_ptr<const core::Implementation>> cpu();
std::vector<std::unique_ptr<const core::Implementation>> gpu();

}  // namespace isomer::ops::act_quant
