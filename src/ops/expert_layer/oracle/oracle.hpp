#pragma once

#include "oracle/oracle.hpp"

namespace isomer::ops::expert_layer {

oracle::Oracle oracle();
void reference(const core::Call& call, const oracle::Variations& vary, oracle::Expected& expected);
const std::vector<oracle::Variation>& variations();

}  // namespace isomer::ops::expert_layer
