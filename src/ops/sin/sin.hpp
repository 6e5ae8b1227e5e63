#pragma once

#include <isomer/sin.hpp>

#include "core/registry.hpp"

namespace isomer::ops::sin {

const core::Contract& contract();
core::Call bind(const SinArgs& args, const SinOptions& options);
std::vector<std::unique_ptr<const core::Implementation>> cpu();
std::vector<std::unique_ptr<const core::Implementation>> gpu();

}  // namespace isomer::ops::sin
