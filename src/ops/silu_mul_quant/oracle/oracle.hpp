#pragma once

#include "oracle/oracle.hpp"

namespace isomer::ops::silu_mul_quant {

oracle::Oracle oracle();
std::vector<oracle::Original> originals();
void reference(const core::Call& call, const oracle::Variations& vary, oracle::Expected& expected);
const std::vector<oracle::Variation>& variations();
/// |h| of each block, in the order of s.
std::vector<std::vector<double>> magnitudes(const core::Call& call);

}  // namespace isomer::ops::silu_mul_quant
