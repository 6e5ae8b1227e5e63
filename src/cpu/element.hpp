#pragma once

#include <isomer/dtype.hpp>

#include "core/codec.hpp"

#include <cstdint>

namespace isomer::cpu {

/// Storage of the element types that C++ has no type for.
struct F16 {
  std::uint16_t bits;
};
struct BF16 {
  std::uint16_t bits;
};
struct E4M3 {
  std::uint8_t bits;
};

inline float to_f32(float value) { return value; }
inline float to_f32(F16 value) { return core::f16_to_f32(value.bits); }
inline float to_f32(BF16 value) { return core::bf16_to_f32(value.bits); }
inline float to_f32(E4M3 value) { return core::e4m3fn_to_f32(value.bits); }

template <class T>
T from_f32(float value);
template <>
inline float from_f32<float>(float value) {
  return value;
}
template <>
inline F16 from_f32<F16>(float value) {
  return {core::f32_to_f16(value)};
}
template <>
inline BF16 from_f32<BF16>(float value) {
  return {core::f32_to_bf16(value)};
}
template <>
inline E4M3 from_f32<E4M3>(float value) {
  return {core::f32_to_e4m3fn(value)};
}

/// Calls function(T{}) with the storage type of f32, f16, bf16 or e4m3fn.
template <class Function>
decltype(auto) with_element(DType type, Function&& function) {
  switch (type) {
    case DType::f16:
      return function(F16{});
    case DType::bf16:
      return function(BF16{});
    case DType::e4m3fn:
      return function(E4M3{});
    default:
      return function(float{});
  }
}

}  // namespace isomer::cpu
