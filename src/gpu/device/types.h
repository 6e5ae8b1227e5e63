// Plain types that host and device share in parameter structs. Includes nothing, so that NVRTC and hipRTC
// take it.
#pragma once

namespace isomer::device {

using i8 = signed char;
using u8 = unsigned char;
using i16 = short;
using u16 = unsigned short;
using i32 = int;
using u32 = unsigned int;
using i64 = long long;
using u64 = unsigned long long;
using f32 = float;
using f64 = double;

/// Storage types: bits and nothing else. Arithmetic is done in f32 (gpu/device/numeric.cuh).
struct f16 {
  u16 bits;
};
struct bf16 {
  u16 bits;
};
struct e4m3fn {
  u8 bits;
};
struct e5m2 {
  u8 bits;
};
struct e4m3fnuz {
  u8 bits;
};
struct e5m2fnuz {
  u8 bits;
};

/// Sizes and strides (in elements) of up to N dimensions, the last innermost; unused ones in front have
/// size 1.
template <int N>
struct Shape {
  i64 size[N];
};
template <int N>
struct Strides {
  i64 of[N];
};

}  // namespace isomer::device
