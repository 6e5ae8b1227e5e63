#pragma once

#include "oracle/oracle.hpp"

namespace isomer::ops::attention {

oracle::Oracle oracle();
std::vector<oracle::Original> originals();
oracle::Original paged_original();
void reference(const core::Call& call, const oracle::Variations& vary, oracle::Expected& expected);
const std::vector<oracle::Variation>& variations();

}  // namespace isomer::ops::attention
