#include "hopper/tensor_map.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "isomer/emulator/tensor_map.hpp"

namespace isomer::emulator {

std::string encode_tensor_map(const TensorMapDescription& from, void* into) {
  constexpr std::uint64_t kMaxSize = std::uint64_t{1} << 32, kMaxStride = std::uint64_t{1} << 40;
  constexpr std::uint32_t kMaxBox = 256;
  if (from.rank < 1 || from.rank > 5) return fmt::format("rank is {}, expected 1 to 5", from.rank);
  if (reinterpret_cast<std::uintptr_t>(from.data) % 16 != 0)
    return fmt::format("the tensor begins at {}, expected a multiple of 16", from.data);
  const unsigned e = from.element_bytes;
  if (e != 1 && e != 2 && e != 4 && e != 8) return fmt::format("elements have {} bytes", e);
  if (from.swizzle_bytes != 0 && from.swizzle_bytes != 32 && from.swizzle_bytes != 64 &&
      from.swizzle_bytes != 128)
    return fmt::format("the swizzle is {} bytes, expected 0, 32, 64 or 128", from.swizzle_bytes);
  for (int i = 0; i < from.rank; ++i) {
    if (from.size[i] == 0 || from.size[i] > kMaxSize)
      return fmt::format("dimension {} has size {}, expected 1 to 2^32", i, from.size[i]);
    if (from.box[i] == 0 || from.box[i] > kMaxBox)
      return fmt::format("dimension {} of the box is {}, expected 1 to 256", i, from.box[i]);
    if (i > 0 && (from.stride_bytes[i] % 16 != 0 || from.stride_bytes[i] >= kMaxStride))
      return fmt::format("dimension {} has a stride of {} bytes, expected a multiple of 16 below 2^40", i,
                         from.stride_bytes[i]);
  }
  const unsigned row = from.box[0] * e;
  if (row % 16 != 0) return fmt::format("a row of the box has {} bytes, expected a multiple of 16", row);
  if (from.swizzle_bytes != 0 && row > static_cast<unsigned>(from.swizzle_bytes))
    return fmt::format("a row of the box has {} bytes, more than the swizzle's {}", row, from.swizzle_bytes);
  hopper::TensorMap map;
  map.magic = hopper::TensorMap::kMagic;
  map.data = static_cast<std::byte*>(const_cast<void*>(from.data));
  map.stride_bytes[0] = e;
  map.rank = static_cast<std::uint8_t>(from.rank);
  map.swizzle = static_cast<std::uint8_t>(from.swizzle_bytes);
  for (int i = 0; i < from.rank; ++i) {
    map.size[i] = from.size[i];
    map.box[i] = from.box[i];
    if (i > 0) map.stride_bytes[i] = from.stride_bytes[i];
  }
  std::memcpy(into, &map, sizeof map);
  return {};
}

namespace hopper {

BoxRow row_of(const TensorMap& map, const int* coordinates, std::size_t row) {
  BoxRow r{row * map.row_bytes(), nullptr, 0, 0};
  std::byte* at = map.data;
  for (int i = 1; i < map.rank; ++i) {
    const std::int64_t index = std::int64_t{coordinates[i]} + static_cast<std::int64_t>(row % map.box[i]);
    row /= map.box[i];
    if (index < 0 || index >= static_cast<std::int64_t>(map.size[i])) return r;
    at += index * static_cast<std::int64_t>(map.stride_bytes[i]);
  }
  const std::int64_t first = coordinates[0], size = static_cast<std::int64_t>(map.size[0]);
  const std::int64_t begin = std::max<std::int64_t>(first, 0), end = std::min(first + map.box[0], size);
  if (begin >= end) return r;
  r.global = at + begin * static_cast<std::int64_t>(map.stride_bytes[0]);
  r.skip = static_cast<std::size_t>(begin - first) * map.stride_bytes[0];
  r.bytes = static_cast<std::size_t>(end - begin) * map.stride_bytes[0];
  return r;
}

}  // namespace hopper
}  // namespace isomer::emulator
