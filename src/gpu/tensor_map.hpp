#pragma once

#include <isomer/dtype.hpp>

#include <array>
#include <cstdint>

namespace isomer::gpu {

/// How a tile of a tensor is fetched by the bulk copy engine, before a vendor encodes it. Innermost dimension
/// first.
struct TensorMap {
  const void* data = nullptr;  ///< aligned to 16 bytes
  DType element = DType::none;
  int rank = 0;
  std::array<std::uint64_t, 5> size{};
  std::array<std::uint64_t, 5> stride_bytes{};  ///< of dimensions 1…; multiples of 16; [0] is the element
  std::array<std::uint32_t, 5> box{};
  int swizzle_bytes = 0;  ///< 0, 32, 64 or 128
};

}  // namespace isomer::gpu
