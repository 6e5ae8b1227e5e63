#pragma once

#include "oracle/oracle.hpp"

#include <string>
#include <vector>

namespace isomer::ops::fp8_gemm {

oracle::Oracle oracle();
std::vector<oracle::Original> originals();
void reference(const core::Call& call, const oracle::Variations& vary, oracle::Expected& expected);
const std::vector<oracle::Variation>& variations();

oracle::Oracle grouped_oracle();
std::vector<oracle::Original> grouped_originals();
void grouped_reference(const core::Call& call, const oracle::Variations& vary, oracle::Expected& expected);
const std::vector<oracle::Variation>& grouped_variations();

oracle::Oracle linear_oracle();
void linear_reference(const core::Call& call, const oracle::Variations& vary, oracle::Expected& expected);
const std::vector<oracle::Variation>& linear_variations();

}  // namespace isomer::ops::fp8_gemm
