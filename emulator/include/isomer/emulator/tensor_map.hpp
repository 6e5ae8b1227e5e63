// How a tile of a tensor is fetched by the bulk copies of Hopper's device words, for kernels on the emulator.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "isomer/emulator/export.hpp"

namespace isomer::emulator {

/// Innermost dimension first.
struct TensorMapDescription {
  const void* data = nullptr;  ///< device memory, aligned to 16 bytes
  unsigned element_bytes = 0;
  int rank = 0;
  std::array<std::uint64_t, 5> size{};
  std::array<std::uint64_t, 5> stride_bytes{};  ///< of dimensions 1…; multiples of 16
  std::array<std::uint32_t, 5> box{};
  int swizzle_bytes = 0;  ///< 0, 32, 64 or 128
};

/// Into 128 bytes. What the hardware would not take is refused: the sentence says what and is empty
/// otherwise.
ISOMER_EMULATOR_EXPORT std::string encode_tensor_map(const TensorMapDescription& from, void* into);

}  // namespace isomer::emulator
