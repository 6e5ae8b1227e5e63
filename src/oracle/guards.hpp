#pragma once

#include "oracle/variation.hpp"

#include <string_view>

namespace isomer::oracle {

/// The number that a text begins with: "1e-3", as the names of variations have it. 0 where it is none.
float number_in(std::string_view text);

/// A scale behind the guards that ports put before a division by it, their constants read from the names of
/// the variations: "zero_guard=scale-1e-5" (at least that), "zero_guard=below-1e-3-1" (1 where `most`, the
/// maximum that the scale is made of, is below 1e-3) and "zero_guard=zeros-1" (1 where it is 0).
float guarded(float most, float scale, const Variations& vary);

}  // namespace isomer::oracle
