// Several adjacent elements as one access.
#pragma once

#include "gpu/device/numeric.cuh"

namespace isomer::device {

/// N adjacent elements, aligned to all of their bytes.
template <class T, int N>
struct alignas(sizeof(T) * N) Vector {
  static_assert((N & (N - 1)) == 0 && sizeof(T) * N <= 16);
  T of[N];
};

/// The address is a multiple of the vector's size.
template <int N, class T>
ISOMER_DEVICE Vector<T, N> load(const T* from) {
  return *reinterpret_cast<const Vector<T, N>*>(from);
}
template <int N, class T>
ISOMER_DEVICE void store(T* to, const Vector<T, N>& vector) {
  *reinterpret_cast<Vector<T, N>*>(to) = vector;
}

/// The same of what the launch does not write. Hints that it is read once (no allocation in L1, 256 bytes at
/// a time into L2) cost an H200 2 to 7 % of its memory rate.
template <int N, class T>
ISOMER_DEVICE Vector<T, N> load_once(const T* from) {
#if ISOMER_CUDA_ARCH
  if constexpr (sizeof(T) * N == 16) {
    u32 w[4];
    asm volatile("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3])
                 : "l"(from));
    Vector<T, N> vector;
    copy_bytes(&vector, w, 16);
    return vector;
  }
#endif
  return load<N>(from);
}

/// For elements that several threads may write, with no order among them: each is left as one of them wrote
/// it. Devices promise that of ordinary writes; the emulator is told by atomic ones that this is no
/// mistake.
template <int N, class T>
ISOMER_DEVICE void store_unordered(T* to, const Vector<T, N>& vector) {
#if defined(ISOMER_EMULATED)
#pragma unroll
  for (int i = 0; i < N; ++i) __atomic_store(to + i, &vector.of[i], __ATOMIC_RELAXED);
#else
  store<N>(to, vector);
#endif
}
template <class T>
ISOMER_DEVICE void store_unordered(T* to, T value) {
#if defined(ISOMER_EMULATED)
  __atomic_store(to, &value, __ATOMIC_RELAXED);
#else
  *to = value;
#endif
}
/// The same, of 2 or 4 bytes, and in L2 it outlasts others: where less than a sector is written memory must
/// be read too, unless the neighbours follow before it leaves.
template <class T>
ISOMER_DEVICE void store_unordered_to_stay(T* to, T value) {
#if ISOMER_CUDA_ARCH >= 800
  u64 policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  if constexpr (sizeof(T) == 2)
    asm volatile("st.global.L2::cache_hint.u16 [%0], %1, %2;" ::"l"(to), "h"(value), "l"(policy) : "memory");
  else
    asm volatile("st.global.L2::cache_hint.u32 [%0], %1, %2;" ::"l"(to), "r"(value), "l"(policy) : "memory");
#else
  store_unordered(to, value);
#endif
}

}  // namespace isomer::device
