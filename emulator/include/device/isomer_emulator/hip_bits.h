// AMD's instructions on bits, bytes and small products, by the compiler's own names. Included by
// hip_builtins.h.
#pragma once

namespace isomer::emulator::bits {

/// Bytes 0 to 3 are of b, 4 to 7 of a; 8 to 11 are signs, 12 is zero and all above ones.
ISOMER_EMULATOR_INLINE unsigned permuted(unsigned a, unsigned b, unsigned selectors) {
  const std::uint64_t both = static_cast<std::uint64_t>(a) << 32 | b;
  unsigned out = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned select = selectors >> 8 * i & 0xff;
    const unsigned byte = select < 8     ? static_cast<unsigned>(both >> 8 * select & 0xff)
                          : select < 12  ? (both >> (16 * (select - 8) + 15) & 1 ? 0xffu : 0u)
                          : select == 12 ? 0u
                                         : 0xffu;
    out |= byte << 8 * i;
  }
  return out;
}
ISOMER_EMULATOR_INLINE unsigned field(unsigned value, unsigned at, unsigned width) {
  at &= 31, width &= 31;
  return width == 0 ? 0 : value >> at & ((1u << width) - 1);
}
ISOMER_EMULATOR_INLINE int signed_field(int value, unsigned at, unsigned width) {
  width &= 31;
  const unsigned bits = field(static_cast<unsigned>(value), at, width);
  return width == 0 ? 0 : static_cast<int>(bits << (32 - width)) >> (32 - width);
}
ISOMER_EMULATOR_INLINE unsigned byte_differences(unsigned a, unsigned b, unsigned c) {
  for (int i = 0; i < 32; i += 8) {
    const int d = static_cast<int>(a >> i & 0xff) - static_cast<int>(b >> i & 0xff);
    c += static_cast<unsigned>(d < 0 ? -d : d);
  }
  return c;
}
/// Products of the elements of two words, added to c.
template <class Element, class Sum, class A, class B>
ISOMER_EMULATOR_INLINE Sum dot(A a, B b, Sum c, bool clamp) {
  static_assert(sizeof(A) == 4 && sizeof(B) == 4, "the factors are words of 32 bits");
  constexpr int count = 4 / sizeof(Element);
  Element x[count], y[count];
  __builtin_memcpy(x, &a, 4);
  __builtin_memcpy(y, &b, 4);
  if constexpr (std::is_floating_point_v<Sum>) {
    for (int i = 0; i < count; ++i) c += static_cast<float>(x[i]) * static_cast<float>(y[i]);
    return clamp ? fminf(fmaxf(c, 0.0f), 1.0f) : c;
  } else {
    long long sum = c;
    for (int i = 0; i < count; ++i) sum += static_cast<long long>(x[i]) * y[i];
    if (clamp && sum > std::numeric_limits<Sum>::max()) sum = std::numeric_limits<Sum>::max();
    if (clamp && sum < std::numeric_limits<Sum>::min()) sum = std::numeric_limits<Sum>::min();
    return static_cast<Sum>(sum);
  }
}
ISOMER_EMULATOR_INLINE int mixed_dot(bool a_signed, int a, bool b_signed, int b, int c) {
  for (int i = 0; i < 32; i += 8) {
    const int x = a_signed ? static_cast<signed char>(a >> i) : a >> i & 0xff;
    const int y = b_signed ? static_cast<signed char>(b >> i) : b >> i & 0xff;
    c += x * y;
  }
  return c;
}

}  // namespace isomer::emulator::bits

#define __builtin_amdgcn_perm(A, B, SELECTORS) isomer::emulator::bits::permuted(A, B, SELECTORS)
#define __builtin_amdgcn_alignbit(HIGH, LOW, BY)                                                      \
  static_cast<unsigned>(                                                                              \
      (static_cast<std::uint64_t>(static_cast<unsigned>(HIGH)) << 32 | static_cast<unsigned>(LOW)) >> \
      ((BY)&31))
#define __builtin_amdgcn_alignbyte(HIGH, LOW, BY) __builtin_amdgcn_alignbit(HIGH, LOW, 8 * ((BY)&3))
#define __builtin_amdgcn_ubfe(VALUE, AT, WIDTH) isomer::emulator::bits::field(VALUE, AT, WIDTH)
#define __builtin_amdgcn_sbfe(VALUE, AT, WIDTH) isomer::emulator::bits::signed_field(VALUE, AT, WIDTH)
#define __builtin_amdgcn_sad_u8(A, B, C) isomer::emulator::bits::byte_differences(A, B, C)
#define __builtin_amdgcn_sdot4(A, B, C, CLAMP) isomer::emulator::bits::dot<signed char, int>(A, B, C, CLAMP)
#define __builtin_amdgcn_udot4(A, B, C, CLAMP) \
  isomer::emulator::bits::dot<unsigned char, unsigned>(A, B, C, CLAMP)
#define __builtin_amdgcn_sudot4(A_SIGNED, A, B_SIGNED, B, C, CLAMP) \
  isomer::emulator::bits::mixed_dot(A_SIGNED, A, B_SIGNED, B, C)
#define __builtin_amdgcn_sdot2(A, B, C, CLAMP) isomer::emulator::bits::dot<short, int>(A, B, C, CLAMP)
#define __builtin_amdgcn_udot2(A, B, C, CLAMP) \
  isomer::emulator::bits::dot<unsigned short, unsigned>(A, B, C, CLAMP)
#define __builtin_amdgcn_fdot2(A, B, C, CLAMP) isomer::emulator::bits::dot<__half, float>(A, B, C, CLAMP)
#define __builtin_amdgcn_rcp(X) (1.0 / (X))
#define __builtin_amdgcn_rsq(X) rsqrt(X)
#define __builtin_amdgcn_sqrt(X) sqrt(X)
#define __builtin_amdgcn_fract(X) ((X)-floor(X))
#define __builtin_amdgcn_ldexpf(X, N) ldexpf(X, N)
#define __builtin_amdgcn_ldexp(X, N) ldexp(X, N)
#define __builtin_amdgcn_sinf(X) sinpif(2.0f * (X))
#define __builtin_amdgcn_cosf(X) cospif(2.0f * (X))
#define __builtin_amdgcn_s_memtime() static_cast<unsigned long long>(clock64())
#define __builtin_amdgcn_s_memrealtime() static_cast<unsigned long long>(clock64())
#define __builtin_amdgcn_workgroup_size_x() (blockDim.x)
#define __builtin_amdgcn_workgroup_size_y() (blockDim.y)
#define __builtin_amdgcn_workgroup_size_z() (blockDim.z)
#define __builtin_amdgcn_grid_size_x() (gridDim.x * blockDim.x)
#define __builtin_amdgcn_grid_size_y() (gridDim.y * blockDim.y)
#define __builtin_amdgcn_grid_size_z() (gridDim.z * blockDim.z)
