#pragma once

#include "oracle/variation.hpp"

#include <string_view>

namespace isomer::oracle {

/// The number that a text begins with: "1e-3", as the names of variations have it. 0 where it is none.
float number_in(std::string_view text);

/// A scale behind the guards that ports put before a division by it, their constants read from the names of
/// the variations: "zero_guard=scale-1e-5" (at least that), "zero_guard=below-1e-3-1" (1 where `most`, the
/// maximum that the scale is made of, is below 1e-3) and "zero_guard=zeros-1" (1 where it is 0). What ports
/// add to a scale is one of them: "added=scale-1e-6".
float guarded(float most, float scale, const Variations& vary);

/// What ports add to a maximum in place of a floor under it: "added=amax-1e-4". 0 where they do not.
float added_to_maximum(const Variations& vary);
/// Whether a port adds something, and so has no floor.
bool adds(const Variations& vary);

}  // namespace isomer::oracle
