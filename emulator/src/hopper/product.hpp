// The arithmetic of one product of a warpgroup: operands out of shared memory, as the descriptors say, and a
// sum in f32.
#pragma once

#include <cstddef>
#include <cstdint>

namespace isomer::emulator::hopper {

enum class Element : std::uint8_t { f16, bf16, e4m3, e5m2 };

inline constexpr int kRows = 64;
inline constexpr int kMaxColumns = 256;
inline constexpr int kMaxDepth = 32;

inline int bytes_of(Element e) { return e == Element::e4m3 || e == Element::e5m2 ? 1 : 2; }
inline int depth_of(Element e) { return 32 / bytes_of(e); }

/// A matrix in shared memory as its descriptor says: 64 bits.
struct MatrixDescriptor {
  std::uint32_t start = 0, leading = 0, stride = 0;  ///< bytes
  unsigned swizzle = 0;                              ///< bytes
  unsigned base_offset = 0;
  explicit MatrixDescriptor(std::uint64_t bits);
  /// The address of the 16-byte chunk that holds k bytes 16·chunk… of row (or column) `line`, where the k
  /// elements are adjacent.
  std::uint32_t chunk(int line, int chunk) const;
  /// The address of the 16-byte chunk that holds rows (or columns) 8·chunk… of k element `k`, where these are
  /// adjacent: elements of two bytes.
  std::uint32_t chunk_transposed(int chunk, int k) const;
};

/// to[i] = the i-th of `count` elements at `from`.
void widen(Element element, const std::byte* from, int count, float* to);

/// c (rows of `columns`) += a (rows of `depth`) · b (`depth` rows of `columns`).
void add_product(float* c, const float* a, const float* b, int columns, int depth);

}  // namespace isomer::emulator::hopper
