#pragma once

#include "oracle/oracle.hpp"

namespace isomer::ops::flash_decode {

core::Oracle oracle();
std::vector<core::Original> originals();
void reference(const core::Call& call, const core::Variations& vary, core::Expected& expected);
const std::vector<core::Variation>& variations();

namespace stage1 {
core::Oracle oracle();
std::vector<core::Original> originals();
void reference(const core::Call& call, const core::Variations& vary, core::Expected& expected);
const std::vector<core::Variation>& variations();
}  // namespace stage1

namespace stage2 {
core::Oracle oracle();
std::vector<core::Original> originals();
void reference(const core::Call& call, const core::Variations& vary, core::Expected& expected);
const std::vector<core::Variation>& variations();
}  // namespace stage2

}  // namespace isomer::ops::flash_decode
