#pragma once

#include "oracle/oracle.hpp"

namespace isomer::ops::flash_decode {

oracle::Oracle oracle();
std::vector<oracle::Original> originals();
void reference(const core::Call& call, const oracle::Variations& vary, oracle::Expected& expected);
const std::vector<oracle::Variation>& variations();

namespace stage1 {
oracle::Oracle oracle();
std::vector<oracle::Original> originals();
void reference(const core::Call& call, const oracle::Variations& vary, oracle::Expected& expected);
const std::vector<oracle::Variation>& variations();
}  // namespace stage1

namespace stage2 {
oracle::Oracle oracle();
std::vector<oracle::Original> originals();
void reference(const core::Call& call, const oracle::Variations& vary, oracle::Expected& expected);
const std::vector<oracle::Variation>& variations();
}  // namespace stage2

}  // namespace isomer::ops::flash_decode
