// Tensor maps: what a bulk copy is told of a tensor and its box. The emulator's own description lies in the
// 128 bytes that a vendor's would.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace isomer::emulator::hopper {

struct TensorMap {
  static constexpr std::uint64_t kMagic = 0x70616d726f736e65ull;
  std::byte* data = nullptr;
  std::uint64_t size[5] = {};          ///< elements, innermost first
  std::uint64_t stride_bytes[5] = {};  ///< [0] is an element's size
  std::uint32_t box[5] = {};
  std::uint8_t rank = 0;
  std::uint8_t swizzle = 0;  ///< bytes: 0, 32, 64, 128
  std::uint64_t unused = 0, magic = 0;

  std::size_t row_bytes() const { return std::size_t{box[0]} * stride_bytes[0]; }
  std::size_t rows() const {
    std::size_t n = 1;
    for (int i = 1; i < rank; ++i) n *= box[i];
    return n;
  }
  std::size_t bytes() const { return row_bytes() * rows(); }
};
static_assert(sizeof(TensorMap) == 128);

/// Where the byte of a tile that lies at `address` without a swizzle lies with it.
constexpr std::uint32_t swizzled(std::uint32_t address, unsigned swizzle_bytes) {
  // Sixteen-byte chunks change places by the number of the 128-byte line.
  const std::uint32_t mask = swizzle_bytes == 0 ? 0 : swizzle_bytes / 16 - 1;
  return address ^ (((address >> 7) & mask) << 4);
}

/// One row of a box: how much of it lies inside of the tensor, and where.
struct BoxRow {
  std::size_t offset;       ///< in the box, bytes
  std::byte* global;        ///< of the first byte inside; null where nothing is
  std::size_t skip, bytes;  ///< in front of what is inside, and inside
};
BoxRow row_of(const TensorMap& map, const int* coordinates, std::size_t row);

}  // namespace isomer::emulator::hopper
