#pragma once

#include "oracle/expected.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace isomer::oracle {

/// Of an op that quantises into y by a scale s for each block: marks of the blocks that hold NaN or inf, and
/// of blocks of 0/0, which originals leave open. `block_of` gives the block of y's element i.
template <class BlockOf>
std::vector<std::vector<std::uint8_t>> open_blocks(const Expected& plain, const BlockOf& block_of) {
  const ExpectedTensor &y = plain.tensors[0], &s = plain.tensors[1];
  std::vector<std::vector<std::uint8_t>> marks = {std::vector<std::uint8_t>(y.value.size()),
                                                  std::vector<std::uint8_t>(s.value.size())};
  for (std::size_t block = 0; block < s.value.size(); ++block)
    marks[1][block] = !(std::isfinite(s.value[block]) && s.value[block] > 0);
  for (std::size_t i = 0; i < y.value.size(); ++i) marks[0][i] = marks[1][block_of(i)];
  return marks;
}

}  // namespace isomer::oracle
