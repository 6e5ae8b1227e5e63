#pragma once

#include <isomer/export.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace isomer {

/// Element types. e4m3fn and e5m2 are the OCP 8-bit floats; the fnuz forms are AMD's MI300 ones (no inf, no
/// -0).
enum class DType : std::uint8_t {
  none,  ///< an absent tensor
  f64,
  f32,
  f16,
  bf16,
  e4m3fn,
  e5m2,
  e4m3fnuz,
  e5m2fnuz,
  i8,
  i32,
  i64,
  u8,
  i16,
};

inline constexpr int kDTypeCount = 14;  ///< with none

/// Bytes of one element; 0 for none and for what is no DType.
constexpr int size_of(DType type) {
  constexpr int bytes[kDTypeCount] = {0, 8, 4, 2, 2, 1, 1, 1, 1, 1, 4, 8, 1, 2};
  const auto index = static_cast<int>(type);
  return index < kDTypeCount ? bytes[index] : 0;
}

/// "f16"; "unknown" for what is no DType.
constexpr std::string_view name_of(DType type) {
  constexpr std::string_view names[kDTypeCount] = {"none",   "f64",  "f32",      "f16",      "bf16",
                                                   "e4m3fn", "e5m2", "e4m3fnuz", "e5m2fnuz", "i8",
                                                   "i32",    "i64",  "u8",       "i16"};
  const auto index = static_cast<int>(type);
  return index < kDTypeCount ? names[index] : "unknown";
}

/// The type of that name ("f16", "e4m3fn", …); nothing for any other text.
constexpr std::optional<DType> dtype_of(std::string_view name) {
  for (int i = 1; i < kDTypeCount; ++i)
    if (name == name_of(static_cast<DType>(i))) return static_cast<DType>(i);
  return std::nullopt;
}

/// Whether it is a floating-point type of any width.
constexpr bool is_float(DType type) { return type >= DType::f64 && type <= DType::e5m2fnuz; }
/// Whether it is one of the 8-bit floats.
constexpr bool is_fp8(DType type) { return type >= DType::e4m3fn && type <= DType::e5m2fnuz; }

}  // namespace isomer
