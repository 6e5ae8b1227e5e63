// Shared memory by address, and the order between its accesses and those of the copy engine and the tensor
// cores.
#pragma once

#include "gpu/device/sm90/arch.cuh"
#include "gpu/device/vector.cuh"

namespace isomer::device::sm90 {

/// The address in shared memory of what lies there.
ISOMER_DEVICE u32 shared_address(const void* at) {
#if ISOMER_SM90
  return static_cast<u32>(__cvta_generic_to_shared(at));
#elif defined(ISOMER_EMULATED)
  return isomer_emulator_shared_address(at);
#else
  return static_cast<u32>(reinterpret_cast<u64>(at));
#endif
}

#if defined(ISOMER_EMULATED)
template <class T>
ISOMER_DEVICE T& shared_at(u32 at) {
  return *static_cast<T*>(isomer_emulator_shared_at(at, sizeof(T)));
}
#endif

ISOMER_DEVICE void store_shared(u32 at, u32 value) {
#if ISOMER_SM90
  asm volatile("st.shared.b32 [%0], %1;" ::"r"(at), "r"(value) : "memory");
#elif defined(ISOMER_EMULATED)
  shared_at<u32>(at) = value;
#endif
}
ISOMER_DEVICE void store_shared(u32 at, u32 first, u32 second) {
#if ISOMER_SM90
  asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(at), "r"(first), "r"(second) : "memory");
#elif defined(ISOMER_EMULATED)
  shared_at<Vector<u32, 2> >(at) = {{first, second}};
#endif
}
ISOMER_DEVICE void store_shared(u32 at, const u32 (&words)[4]) {
#if ISOMER_SM90
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(words[0]), "r"(words[1]),
               "r"(words[2]), "r"(words[3])
               : "memory");
#elif defined(ISOMER_EMULATED)
  shared_at<Vector<u32, 4> >(at) = {{words[0], words[1], words[2], words[3]}};
#endif
}
ISOMER_DEVICE void store_shared(u32 at, f32 value) {
#if ISOMER_SM90
  asm volatile("st.shared.f32 [%0], %1;" ::"r"(at), "f"(value) : "memory");
#elif defined(ISOMER_EMULATED)
  shared_at<f32>(at) = value;
#endif
}

ISOMER_DEVICE u32 load_shared(u32 at) {
  u32 value = 0;
#if ISOMER_SM90
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(value) : "r"(at) : "memory");
#elif defined(ISOMER_EMULATED)
  value = shared_at<u32>(at);
#endif
  return value;
}
ISOMER_DEVICE void load_shared(u32 at, u32& first, u32& second) {
#if ISOMER_SM90
  asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];" : "=r"(first), "=r"(second) : "r"(at) : "memory");
#elif defined(ISOMER_EMULATED)
  const Vector<u32, 2> both = shared_at<Vector<u32, 2> >(at);
  first = both.of[0];
  second = both.of[1];
#endif
}
ISOMER_DEVICE void load_shared(u32 at, u32 (&words)[4]) {
#if ISOMER_SM90
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(at)
               : "memory");
#elif defined(ISOMER_EMULATED)
  const Vector<u32, 4> all = shared_at<Vector<u32, 4> >(at);
#pragma unroll
  for (int i = 0; i < 4; ++i) words[i] = all.of[i];
#endif
}
ISOMER_DEVICE f32 load_shared_f32(u32 at) {
  f32 value = 0;
#if ISOMER_SM90
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(value) : "r"(at) : "memory");
#elif defined(ISOMER_EMULATED)
  value = shared_at<f32>(at);
#endif
  return value;
}

/// Stores four 8×8 matrices of 16-bit elements: lane l gives the address of row l % 8 of matrix l / 8, 16
/// bytes, aligned; words[i] is bytes 4t…4t+3 of row g of matrix i, g = lane / 4, t = lane % 4. Every lane of
/// the warp takes part.
ISOMER_DEVICE void store_matrices(u32 row, const u32 (&words)[4]) {
#if ISOMER_SM90
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(row), "r"(words[0]),
               "r"(words[1]), "r"(words[2]), "r"(words[3])
               : "memory");
#elif defined(ISOMER_EMULATED)
  // Lane l holds the row of which lanes 4·(l % 8)… bring the words.
#pragma unroll
  for (int i = 0; i < 4; ++i) shared_at<u32>(shuffle(row, 8 * i + lane() / 4) + lane() % 4 * 4) = words[i];
#endif
}
/// The same way back.
ISOMER_DEVICE void load_matrices(u32 row, u32 (&words)[4]) {
#if ISOMER_SM90
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(row)
               : "memory");
#elif defined(ISOMER_EMULATED)
#pragma unroll
  for (int i = 0; i < 4; ++i) words[i] = shared_at<u32>(shuffle(row, 8 * i + lane() / 4) + lane() % 4 * 4);
#endif
}

/// The same, each matrix transposed: words[i] of lane l is elements g of rows 2t and 2t + 1.
ISOMER_DEVICE void load_matrices_transposed(u32 row, u32 (&words)[4]) {
#if ISOMER_SM90
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(row)
               : "memory");
#elif defined(ISOMER_EMULATED)
  const u32 g = static_cast<u32>(lane() / 4);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const u32 first = shuffle(row, 8 * i + lane() % 4 * 2), second = shuffle(row, 8 * i + lane() % 4 * 2 + 1);
    words[i] = static_cast<u32>(shared_at<u16>(first + 2 * g)) |
               static_cast<u32>(shared_at<u16>(second + 2 * g)) << 16;
  }
#endif
}

/// Byte `column` of row `row` of a panel of rows of 128 bytes that begins at a multiple of 1024, where the
/// 128-byte swizzle puts it: 16-byte chunks of a row change places by the row's last three bits.
ISOMER_DEVICE u32 swizzled_128(u32 panel, u32 row, u32 column) {
  return panel + row * 128 + (column ^ (row & 7) << 4);
}

/// The same of rows of kBytes, 64 or 128, that begin at a multiple of eight of them.
template <int kBytes>
ISOMER_DEVICE u32 swizzled(u32 panel, u32 row, u32 column) {
  static_assert(kBytes == 64 || kBytes == 128);
  if constexpr (kBytes == 128) return swizzled_128(panel, row, column);
  return panel + row * 64 + (column ^ (row >> 1 & 3) << 4);
}

/// What this thread wrote to shared memory is seen by copies and products that are issued behind the next
/// barrier.
ISOMER_DEVICE void fence_async_shared() {
#if ISOMER_SM90
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#elif defined(ISOMER_EMULATED)
  isomer_emulator_proxy_fence();
#endif
}

}  // namespace isomer::device::sm90
