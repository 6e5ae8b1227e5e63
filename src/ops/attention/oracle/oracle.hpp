#pragma once

#include "oracle/oracle.hpp"

namespace isomer::ops::attention {

oracle::Oracle oracle();
std::vector<oracle::Original> originals();
/// Decode from caches: of keys in pages, and of one row of keys for each entry.
std::vector<oracle::Original> cached_originals();
/// Sequences of other lengths one behind the other.
std::vector<oracle::Original> packed_originals();
/// What a function says of its sizes, or is written for.
std::vector<oracle::Original::Sayable> sayable_sizes();
void reference(const core::Call& call, const oracle::Variations& vary, oracle::Expected& expected);
const std::vector<oracle::Variation>& variations();

}  // namespace isomer::ops::attention
