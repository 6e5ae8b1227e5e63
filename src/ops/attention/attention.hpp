#pragma once

#include <isomer/attention.hpp>

#include "core/registry.hpp"

namespace isomer::ops::attention {

const core::Contract& contract();
core::Call bind(const AttentionArgs& args, const AttentionOptions& options);
std::vector<std::unique_ptr<const core::Implementation>> cpu();
std::vector<std::unique_ptr<const core::Implementation>> gpu();

}  // namespace isomer::ops::attention
