#pragma once

#include "lab/candidate/value.hpp"
#include "oracle/original.hpp"

#include <cstdint>
#include <vector>

/// The same elements in other places.
namespace isomer::lab {

/// The value's elements in a new storage with those strides, `before` elements in; what lies between is
/// `fill`.
Value relaid(const Value& value, const std::vector<std::int64_t>& strides, std::int64_t before,
             std::uint8_t fill);

/// What a callee sees that takes the storage for a compact tensor of the same shape, from its first byte.
Value flat_view(const Value& value, bool from_begin);

struct Laid {
  const char* how;
  std::vector<std::int64_t> strides;
};

/// Other layouts of a tensor that the original reads so.
std::vector<Laid> layouts(const Tensor& tensor, oracle::Original::Reads reads);

/// Strides of rows that are padded and yet begin at multiples of what a lane can touch at once.
std::vector<std::int64_t> aligned_rows(const Tensor& tensor);

}  // namespace isomer::lab
