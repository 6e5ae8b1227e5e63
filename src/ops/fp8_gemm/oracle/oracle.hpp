#pragma once

#include "oracle/oracle.hpp"

#include <string>
#include <vector>

namespace isomer::ops::fp8_gemm {

core::Oracle oracle();
std::vector<core::Original> originals();
void reference(const core::Call& call, const core::Variations& vary, core::Expected& expected);
const std::vector<core::Variation>& variations();

core::Oracle grouped_oracle();
std::vector<core::Original> grouped_originals();
void grouped_reference(const core::Call& call, const core::Variations& vary, core::Expected& expected);
const std::vector<core::Variation>& grouped_variations();

}  // namespace isomer::ops::fp8_gemm
