#pragma once

#include "oracle/oracle.hpp"

namespace isomer::ops::weight_quant {

oracle::Oracle oracle();
std::vector<oracle::Original> originals();
void reference(const core::Call& call, const oracle::Variations& vary, oracle::Expected& expected);
const std::vector<oracle::Variation>& variations();

}  // namespace isomer::ops::weight_quant
