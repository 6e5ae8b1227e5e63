// Sixteen bytes of a row in four registers: 16-bit elements stay packed, two to a word, until they are used.
#pragma once

#include "gpu/device/numeric.cuh"

namespace isomer::device {

struct alignas(16) Words {
  u32 of[4];
};
/// Eight bytes of a row, alike.
struct alignas(8) HalfWords {
  u32 of[2];
};

/// Loads where index < end and leaves `into` as it is elsewhere, without a branch. For rows that lie anywhere
/// and are read once: they do not stay in L1, and what is next to them is not fetched along.
ISOMER_DEVICE void load_words_below(Words& into, const void* from, int index, int end) {
#if ISOMER_CUDA_ARCH
  asm volatile(
      "{\n"
      " .reg .pred p;\n"
      " setp.lt.s32 p, %5, %6;\n"
      " @p ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];\n"
      "}"
      : "+r"(into.of[0]), "+r"(into.of[1]), "+r"(into.of[2]), "+r"(into.of[3])
      : "l"(from), "r"(index), "r"(end));
#else
  if (index < end) into = *static_cast<const Words*>(from);
#endif
}
ISOMER_DEVICE void load_words_below(HalfWords& into, const void* from, int index, int end) {
#if ISOMER_CUDA_ARCH
  asm volatile(
      "{\n"
      " .reg .pred p;\n"
      " setp.lt.s32 p, %3, %4;\n"
      " @p ld.global.nc.L1::no_allocate.v2.u32 {%0, %1}, [%2];\n"
      "}"
      : "+r"(into.of[0]), "+r"(into.of[1])
      : "l"(from), "r"(index), "r"(end));
#else
  if (index < end) into = *static_cast<const HalfWords*>(from);
#endif
}
/// The first `count` elements that lie `step` elements apart, and 0 for the rest.
template <class T>
ISOMER_DEVICE Words gather_words(const T* from, i64 step, int count = 16 / sizeof(T)) {
  T elements[16 / sizeof(T)] = {};
#pragma unroll
  for (int i = 0; i < static_cast<int>(16 / sizeof(T)); ++i)
    if (i < count) elements[i] = from[i * step];
  Words words;
  copy_bytes(&words, elements, 16);
  return words;
}

/// The elements of a word, the first one in its low bits.
ISOMER_DEVICE void unpack(u32 word, f32 (&x)[1], const f32*) { x[0] = f32_of(word); }
ISOMER_DEVICE void unpack(u32 word, f32 (&x)[2], const bf16*) {
  x[0] = f32_of(word << 16);
  x[1] = f32_of(word & 0xffff0000u);
}
ISOMER_DEVICE void unpack(u32 word, f32 (&x)[2], const f16*) {
  x[0] = to_f32(f16{static_cast<u16>(word & 0xffffu)});
  x[1] = to_f32(f16{static_cast<u16>(word >> 16)});
}

/// All elements of `words`, of type T.
template <class T>
ISOMER_DEVICE void unpack(const Words& words, f32 (&x)[16 / sizeof(T)]) {
  constexpr int kPerWord = 4 / sizeof(T);
#pragma unroll
  for (int w = 0; w < 4; ++w) {
    f32 some[kPerWord];
    unpack(words.of[w], some, static_cast<const T*>(0));
#pragma unroll
    for (int i = 0; i < kPerWord; ++i) x[w * kPerWord + i] = some[i];
  }
}

}  // namespace isomer::device
