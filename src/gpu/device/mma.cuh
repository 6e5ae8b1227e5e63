// Products of small matrices by a warp of 32 lanes, on the tensor cores from sm_80 on. Elsewhere the same
// fragments move by shuffles and are multiplied one by one: slow, and with the same layout, so that a kernel
// written on them runs anywhere with 32 lanes. g = lane / 4 and t = lane % 4 below.
#pragma once

#include "gpu/device/numeric.cuh"
#include "gpu/device/pairs.cuh"
#include "gpu/device/platform.cuh"
#include "gpu/device/vector.cuh"

namespace isomer::device {

#if !(ISOMER_CUDA_ARCH >= 800)
namespace portable {

/// The words of another lane.
template <int N>
ISOMER_DEVICE Vector<u32, N> words_of(const u32 (&words)[N], int from) {
  Vector<u32, N> theirs;
#if defined(ISOMER_EMULATED)
  copy_bytes(&theirs, words, sizeof theirs);
  return shuffle(theirs, from);
#else
#pragma unroll
  for (int i = 0; i < N; ++i) theirs.of[i] = shuffle(words[i], from);
  return theirs;
#endif
}

template <class T>
ISOMER_DEVICE f32 low_half(u32 pair) {
  return to_f32(T{static_cast<u16>(pair)});
}
template <class T>
ISOMER_DEVICE f32 high_half(u32 pair) {
  return to_f32(T{static_cast<u16>(pair >> 16)});
}

/// sum + the products of one row of a and one column of b, two of each word.
template <class T>
ISOMER_DEVICE f32 dot(f32 sum, u32 a, u32 b) {
  return fmaf(high_half<T>(a), high_half<T>(b), fmaf(low_half<T>(a), low_half<T>(b), sum));
}

/// The definition of multiply_add below.
template <class T>
ISOMER_DEVICE void multiply_add(f32 (&d)[4], const u32 (&a)[4], const u32 (&b)[2]) {
  const int g = lane() / 4, t = lane() % 4;
#pragma unroll
  for (int from = 0; from < 4; ++from) {
    const Vector<u32, 4> rows = words_of(a, 4 * g + from);
    const Vector<u32, 2> left = words_of(b, 4 * (2 * t) + from);
    const Vector<u32, 2> right = words_of(b, 4 * (2 * t + 1) + from);
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      d[0] = dot<T>(d[0], rows.of[2 * k], left.of[k]);
      d[1] = dot<T>(d[1], rows.of[2 * k], right.of[k]);
      d[2] = dot<T>(d[2], rows.of[2 * k + 1], left.of[k]);
      d[3] = dot<T>(d[3], rows.of[2 * k + 1], right.of[k]);
    }
  }
}

}  // namespace portable
#endif

/// Loads four 8×8 matrices of 16-bit elements from shared memory: lane l gives the address of row l % 8 of
/// matrix l / 8, 16 bytes, aligned; to[i] is bytes 4t…4t+3 of row g of matrix i.
ISOMER_DEVICE void load_matrices(u32 (&to)[4], const void* row) {
#if ISOMER_CUDA_ARCH >= 800
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(static_cast<u32>(__cvta_generic_to_shared(row)))
               : "memory");
#else
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const u64 theirs = shuffle(reinterpret_cast<u64>(row), 8 * i + lane() / 4);
    to[i] = reinterpret_cast<const u32*>(theirs)[lane() % 4];
  }
#endif
}

/// The same with each matrix transposed: to[i] is elements (2t, g) and (2t+1, g) of matrix i.
ISOMER_DEVICE void load_matrices_transposed(u32 (&to)[4], const void* row) {
#if ISOMER_CUDA_ARCH >= 800
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(static_cast<u32>(__cvta_generic_to_shared(row)))
               : "memory");
#else
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    to[i] = 0;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const u64 theirs = shuffle(reinterpret_cast<u64>(row), 8 * i + lane() % 4 * 2 + half);
      to[i] |= static_cast<u32>(reinterpret_cast<const u16*>(theirs)[lane() / 4]) << 16 * half;
    }
  }
#endif
}

/// d += a·b with factors of type T, f16 or bf16, and f32 sums: a 16×16, b 16×8, d 16×8. a[0] is row g,
/// columns 2t and 2t+1; a[1] row g+8; a[2] and a[3] those 8 columns on. b[0] is column g, rows 2t and 2t+1;
/// b[1] 8 rows on. d[0] and d[1] are row g, columns 2t and 2t+1; d[2] and d[3] row g+8. Every lane of the
/// warp takes part.
template <class T>
ISOMER_DEVICE void multiply_add(f32 (&d)[4], const u32 (&a)[4], const u32 (&b)[2]);

template <>
ISOMER_DEVICE void multiply_add<f16>(f32 (&d)[4], const u32 (&a)[4], const u32 (&b)[2]) {
#if ISOMER_CUDA_ARCH >= 800
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, "
      "%1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
  portable::multiply_add<f16>(d, a, b);
#endif
}
template <>
ISOMER_DEVICE void multiply_add<bf16>(f32 (&d)[4], const u32 (&a)[4], const u32 (&b)[2]) {
#if ISOMER_CUDA_ARCH >= 800
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
  portable::multiply_add<bf16>(d, a, b);
#endif
}

/// An 8×8 matrix of 16-bit elements transposed: a lane has row g, columns 2t and 2t+1. Every lane of the warp
/// takes part.
ISOMER_DEVICE u32 transpose_8x8(u32 pair) {
#if ISOMER_CUDA_ARCH >= 750
  u32 transposed;
  asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(transposed) : "r"(pair));
  return transposed;
#else
  const int g = lane() / 4, t = lane() % 4;
  const u32 low = shuffle(pair, 4 * (2 * t) + g / 2), high = shuffle(pair, 4 * (2 * t + 1) + g / 2);
  const int shift = g % 2 * 16;
  return (low >> shift & 0xffffu) | (high >> shift & 0xffffu) << 16;
#endif
}

/// The low, or the high, halves of two words.
ISOMER_DEVICE u32 lows_of(u32 first, u32 second) { return (first & 0xffffu) | second << 16; }
ISOMER_DEVICE u32 highs_of(u32 first, u32 second) { return first >> 16 | (second & 0xffff0000u); }

/// The low, or the high, two bytes of two words, by turns: a byte of the first before its like of the second.
ISOMER_DEVICE u32 low_bytes_of(u32 first, u32 second) {
#if ISOMER_CUDA_ARCH
  return __byte_perm(first, second, 0x5140);
#else
  return (first & 0xffu) | (second & 0xffu) << 8 | (first & 0xff00u) << 8 | (second & 0xff00u) << 16;
#endif
}
ISOMER_DEVICE u32 high_bytes_of(u32 first, u32 second) {
#if ISOMER_CUDA_ARCH
  return __byte_perm(first, second, 0x7362);
#else
  return low_bytes_of(first >> 16, second >> 16);
#endif
}

/// Two values as one word, the first in its low half, each rounded to T.
template <class T>
ISOMER_DEVICE u32 pack(f32 first, f32 second) {
  if constexpr (Pair<T>::kTogether)
    return Pair<T>::of(first, second);
  else
    return static_cast<u32>(from_f32<T>(first).bits) | static_cast<u32>(from_f32<T>(second).bits) << 16;
}

/// Four adjacent e4m3fn as f16, exactly: bytes 0 and 1 in `low`, 2 and 3 in `high`.
ISOMER_DEVICE void e4m3fn_to_f16(u32 four, u32& low, u32& high) {
#if ISOMER_CUDA_ARCH >= 890
  asm("{\n.reg .b16 l, h;\nmov.b32 {l, h}, %2;\ncvt.rn.f16x2.e4m3x2 %0, l;\ncvt.rn.f16x2.e4m3x2 %1, h;\n}"
      : "=r"(low), "=r"(high)
      : "r"(four));
#elif ISOMER_CUDA_ARCH >= 800
  const u32 pairs[2] = {__byte_perm(four, 0, 0x1404),
                        __byte_perm(four, 0, 0x3424)};  // each code atop 16 bits
  u32 f16s[2];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    // Exponent and mantissa moved to where f16 has them, then scaled by the difference of the biases, 2^8:
    // exact.
    const u32 moved = (pairs[i] & 0x80008000u) | (pairs[i] & 0x7f007f00u) >> 1;
    asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(f16s[i]) : "r"(moved), "r"(0x5c005c00u));
    const u32 nan = ((pairs[i] & 0x7f007f00u) + 0x01000100u) & 0x80008000u;  // where all seven bits are set
    f16s[i] |= nan - (nan >> 6);
  }
  low = f16s[0];
  high = f16s[1];
#else
  u32 half[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) half[i] = from_f32<f16>(to_f32(e4m3fn{static_cast<u8>(four >> 8 * i)})).bits;
  low = half[0] | half[1] << 16;
  high = half[2] | half[3] << 16;
#endif
}

/// The same as bf16 for T bf16, else as f16; exactly, too.
template <class T>
ISOMER_DEVICE void e4m3fn_to(u32 four, u32& low, u32& high) {
  e4m3fn_to_f16(four, low, high);
}
template <>
ISOMER_DEVICE void e4m3fn_to<bf16>(u32 four, u32& low, u32& high) {
  e4m3fn_to_f16(four, low, high);
  const auto wide = [](u32 half) { return to_f32(f16{static_cast<u16>(half)}); };
  low = pack<bf16>(wide(low), wide(low >> 16));
  high = pack<bf16>(wide(high), wide(high >> 16));
}

}  // namespace isomer::device
