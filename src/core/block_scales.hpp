#pragma once

#include "isomer/act_quant.hpp"

#include <optional>
#include <string>

/// What every op that quantises by block says of its scales `s` [..., blocks] and their floor.
namespace isomer::core {

/// The sentence where `s` does not lie as `layout` says.
std::optional<std::string> broken_scale_strides(const Tensor& s, ScaleLayout layout);

/// The sentence where the least amax of a block is none.
std::optional<std::string> broken_amax_floor(float amax_floor);

/// Strides of scales that the library lays out itself: in columns, each begins at a multiple of 4.
void lay_out_scales(Tensor& s, ScaleLayout layout);

}  // namespace isomer::core
