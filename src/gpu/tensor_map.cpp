#include "gpu/tensor_map.hpp"

#include "core/sentence.hpp"

namespace isomer::gpu {

std::string tensor_map_fault(const TensorMap& map, const void* address) {
  using core::say;
  const auto element = static_cast<std::uint64_t>(size_of(map.element));
  if (element != 1 && map.element != DType::f16 && map.element != DType::bf16 && map.element != DType::f32)
    return say("needs f32, f16, bf16 or elements of one byte, got ", name_of(map.element));
  if (map.rank < 1 || map.rank > 5) return say("needs 1 to 5 dimensions, got ", map.rank);
  if (reinterpret_cast<std::uintptr_t>(address) % 16 != 0)
    return "needs an address that is a multiple of 16 bytes";
  for (std::size_t d = 0; d < static_cast<std::size_t>(map.rank); ++d) {
    if (map.size[d] < 1 || map.size[d] > std::uint64_t{1} << 32)
      return say("needs sizes from 1 to 2^32, got ", map.size[d], " in dimension ", d);
    if (map.box[d] < 1 || map.box[d] > 256)
      return say("needs tiles of 1 to 256 elements a dimension, got ", map.box[d], " in dimension ", d);
    if (d > 0 && (map.stride_bytes[d] % 16 != 0 || map.stride_bytes[d] >= std::uint64_t{1} << 40))
      return say("needs strides that are multiples of 16 bytes below 2^40, got ", map.stride_bytes[d],
                 " in dimension ", d);
  }
  const std::uint64_t row = map.box[0] * element;
  if (row % 16 != 0) return say("needs rows of tiles that are multiples of 16 bytes, got ", row);
  if (map.swizzle_bytes != 0 && map.swizzle_bytes != 32 && map.swizzle_bytes != 64 &&
      map.swizzle_bytes != 128)
    return say("needs a swizzle of 0, 32, 64 or 128 bytes, got ", map.swizzle_bytes);
  if (map.swizzle_bytes != 0 && row > static_cast<std::uint64_t>(map.swizzle_bytes))
    return say("needs rows of tiles no longer than the swizzle's ", map.swizzle_bytes, " bytes, got ", row);
  if (map.promotion_bytes != 0 && map.promotion_bytes != 64 && map.promotion_bytes != 128 &&
      map.promotion_bytes != 256)
    return say("needs a promotion of 0, 64, 128 or 256 bytes, got ", map.promotion_bytes);
  return {};
}

}  // namespace isomer::gpu
