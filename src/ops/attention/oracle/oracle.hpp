#pragma once

#include "oracle/oracle.hpp"

namespace isomer::ops::attention {

core::Oracle oracle();
std::vector<core::Original> originals();
void reference(const core::Call& call, const core::Variations& vary, core::Expected& expected);
const std::vector<core::Variation>& variations();

}  // namespace isomer::ops::attention
