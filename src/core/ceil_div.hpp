#pragma once

#include <concepts>
#include <type_traits>

namespace isomer::core {

/// a / b rounded up, b positive; never overflows.
template <std::integral A, std::integral B>
constexpr std::common_type_t<A, B> ceil_div(A a, B b) {
  using Integer = std::common_type_t<A, B>;
  const auto whole = static_cast<Integer>(a), part = static_cast<Integer>(b);
  return whole / part + (whole % part > 0);
}

/// The smallest multiple of `step` that is not below a.
template <std::integral A, std::integral B>
constexpr std::common_type_t<A, B> align_up(A a, B step) {
  return ceil_div(a, step) * static_cast<std::common_type_t<A, B>>(step);
}

/// What workspaces and buffers are aligned to, in bytes: a cache line.
inline constexpr int kAlignment = 64;

}  // namespace isomer::core
