#include "core/block_scales.hpp"

#include "core/sentence.hpp"

#include <cmath>

namespace isomer::core {

std::optional<std::string> broken_scale_strides(const Tensor& s, ScaleLayout layout) {
  if (s.empty()) return {};
  if (layout == ScaleLayout::row_major) {
    if (s.size(-1) == 1 || s.stride(-1) == 1) return {};
    return say("s has stride ", s.stride(-1),
               " in its last dimension, expected 1 for scale_layout row_major");
  }
  if (s.rank > 1 && s.size(-2) > 1 && s.stride(-2) != 1)
    return say("s has stride ", s.stride(-2),
               " in its last dimension but one, expected 1 for scale_layout column_major");
  if (s.size(-1) > 1 && (s.stride(-1) <= 0 || s.stride(-1) % 4 != 0))
    return say("s has stride ", s.stride(-1),
               " in its last dimension, expected a positive multiple of 4 for scale_layout column_major");
  return {};
}

std::optional<std::string> broken_amax_floor(float amax_floor) {
  if (std::isfinite(amax_floor) && amax_floor >= 0) return {};
  return say("amax_floor is ", amax_floor, ", expected a finite number that is not negative");
}

void lay_out_scales(Tensor& s, ScaleLayout layout) {
  if (s.rank < 2 || layout != ScaleLayout::column_major) return;
  const auto rank = static_cast<std::size_t>(s.rank);
  const std::int64_t column = (s.size(-2) + 3) / 4 * 4;
  s.strides[rank - 2] = 1;
  s.strides[rank - 1] = column;
  std::int64_t stride = column * s.size(-1);
  for (std::size_t d = rank - 2; d-- > 0; stride *= s.shape[d]) s.strides[d] = stride;
}

}  // namespace isomer::core
