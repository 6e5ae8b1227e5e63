#pragma once

#include <isomer/quantize_copy_kv.hpp>

#include "core/registry.hpp"

namespace isomer::ops::quantize_copy_kv {

const core::Contract& contract();
core::Call bind(const QuantizeCopyKvArgs& args, const QuantizeCopyKvOptions& options);
std::vector<std::unique_ptr<const core::Implementation>> cpu();
std::vector<std::unique_ptr<const core::Implementation>> gpu();

}  // namespace isomer::ops::quantize_copy_kv
