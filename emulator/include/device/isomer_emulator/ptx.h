// What inline PTX is executed with: the rewriter (src/source/ptx.cpp) turns each instruction into one of these.
// Operands are bits; an instruction's type says what they mean.
#pragma once

#include <limits>
#include <type_traits>

#include "bfloat16.h"
#include "device.h"
#include "fp8.h"
#include "half.h"
#include "hopper.h"

namespace isomer::emulator::ptx {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
using f32 = float;
using f64 = double;
using pred = bool;
struct alignas(16) b128 {
  u64 low, high;
};

/// An operand as the instruction takes it: integers are cut or extended, bits of the same size are kept.
template <class T, class V>
ISOMER_EMULATOR_INLINE T as(const V& v) {
  if constexpr (std::is_pointer_v<V>) {
    return as<T>(reinterpret_cast<u64>(v));
  } else if constexpr (std::is_same_v<T, bool> || std::is_same_v<V, bool> ||
                       (std::is_integral_v<T> && std::is_integral_v<V>) ||
                       (std::is_integral_v<T> && std::is_enum_v<V>)) {
    return static_cast<T>(v);
  } else if constexpr (sizeof(T) == sizeof(V)) {
    T out;
    __builtin_memcpy(static_cast<void*>(&out), &v, sizeof(T));
    return out;
  } else if constexpr (sizeof(T) < sizeof(V)) {
    T out;
    __builtin_memcpy(static_cast<void*>(&out), &v, sizeof(T));
    return out;
  } else {
    T out{};
    __builtin_memcpy(static_cast<void*>(&out), &v, sizeof(V));
    return out;
  }
}
template <class D, class V>
ISOMER_EMULATOR_INLINE void put(D& to, const V& v) {
  to = as<D>(v);
}

// Arithmetic.
template <class T>
ISOMER_EMULATOR_INLINE T mul_hi(T a, T b) {
  using W = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
  return static_cast<T>(static_cast<W>(a) * static_cast<W>(b) >> (8 * sizeof(T)));
}
template <class T>
struct Wide;
template <>
struct Wide<u16> {
  using type = u32;
};
template <>
struct Wide<s16> {
  using type = s32;
};
template <>
struct Wide<u32> {
  using type = u64;
};
template <>
struct Wide<s32> {
  using type = s64;
};
template <class T>
ISOMER_EMULATOR_INLINE typename Wide<T>::type mul_wide(T a, T b) {
  return static_cast<typename Wide<T>::type>(a) * b;
}
template <class T>
ISOMER_EMULATOR_INLINE T fma(T a, T b, T c) {
  return std::fma(a, b, c);
}
template <class T>
ISOMER_EMULATOR_INLINE T absolute(T a) {
  return a < 0 ? static_cast<T>(-a) : a;
}
template <class T>
ISOMER_EMULATOR_INLINE T least(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return std::fmin(a, b);
  return b < a ? b : a;
}
template <class T>
ISOMER_EMULATOR_INLINE T greatest(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return std::fmax(a, b);
  return a < b ? b : a;
}
/// Shifts by the width or more leave zeros, or the sign.
template <class T>
ISOMER_EMULATOR_INLINE T shl(T a, u32 by) {
  return by >= 8 * sizeof(T) ? T(0) : static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) << by);
}
template <class T>
ISOMER_EMULATOR_INLINE T shr(T a, u32 by) {
  const u32 most = 8 * sizeof(T) - 1;
  if (by > most) return std::is_signed_v<T> && a < 0 ? T(-1) : T(0);
  return static_cast<T>(a >> by);
}
ISOMER_EMULATOR_INLINE u32 shf_l(u32 a, u32 b, u32 by, bool wrap) {
  by = wrap ? by & 31 : by > 32 ? 32 : by;
  return static_cast<u32>(((u64{b} << 32 | a) << by) >> 32);
}
ISOMER_EMULATOR_INLINE u32 shf_r(u32 a, u32 b, u32 by, bool wrap) {
  by = wrap ? by & 31 : by > 32 ? 32 : by;
  return static_cast<u32>((u64{b} << 32 | a) >> by);
}
ISOMER_EMULATOR_INLINE u32 lop3(u32 a, u32 b, u32 c, u32 table) {
  u32 out = 0;
  for (u32 row = 0; row < 8; ++row) {
    if ((table >> row) & 1) out |= (row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c);
  }
  return out;
}
ISOMER_EMULATOR_INLINE u32 prmt(u32 a, u32 b, u32 selector) {
  const u64 all = u64{b} << 32 | a;
  u32 out = 0;
  for (u32 i = 0; i < 4; ++i) {
    const u32 s = selector >> (4 * i) & 15;
    u32 byte = static_cast<u32>(all >> (8 * (s & 7))) & 255;
    if (s & 8) byte = byte & 128 ? 255 : 0;
    out |= byte << (8 * i);
  }
  return out;
}
template <class T>
ISOMER_EMULATOR_INLINE u32 popc(T a) {
  return static_cast<u32>(__builtin_popcountll(static_cast<std::make_unsigned_t<T>>(a)));
}
template <class T>
ISOMER_EMULATOR_INLINE u32 clz(T a) {
  return a == 0 ? 8 * sizeof(T)
                : static_cast<u32>(__builtin_clzll(static_cast<std::make_unsigned_t<T>>(a))) - (64 - 8 * sizeof(T));
}
template <class T>
ISOMER_EMULATOR_INLINE u32 bfind(T a) {
  const T v = a < 0 ? static_cast<T>(~a) : a;
  return v == 0 ? ~0u : static_cast<u32>(8 * sizeof(T) - 1) - clz(v);
}
template <class T>
ISOMER_EMULATOR_INLINE T brev(T a) {
  T out = 0;
  for (u32 i = 0; i < 8 * sizeof(T); ++i) out = static_cast<T>(out << 1 | (a >> i & 1));
  return out;
}
template <class T>
ISOMER_EMULATOR_INLINE T bfe(T a, u32 at, u32 count) {
  at &= 255, count &= 255;
  const u32 bits = 8 * sizeof(T);
  if (count == 0) return 0;
  const u32 sign_at = at + count - 1 < bits - 1 ? at + count - 1 : bits - 1;
  const bool sign = std::is_signed_v<T> && (a >> sign_at & 1);
  T out = 0;
  for (u32 i = 0; i < bits; ++i) {
    const bool bit = i < count && at + i < bits ? (a >> (at + i) & 1) != 0 : sign;
    out = static_cast<T>(out | static_cast<T>(static_cast<std::make_unsigned_t<T>>(bit) << i));
  }
  return out;
}
template <class T>
ISOMER_EMULATOR_INLINE T bfi(T a, T b, u32 at, u32 count) {
  at &= 255, count &= 255;
  T out = b;
  for (u32 i = 0; i < count && at + i < 8 * sizeof(T); ++i) {
    const T bit = static_cast<T>(T(1) << (at + i));
    out = static_cast<T>(a >> i & 1 ? out | bit : out & ~bit);
  }
  return out;
}
template <class T>
ISOMER_EMULATOR_INLINE T negative(T a) {
  return static_cast<T>(-a);
}
/// A conversion with the rounding that the instruction names: 'n', 'z', 'm' (down) or 'p' (up).
template <class D, class S>
ISOMER_EMULATOR_INLINE D cvt(S v, char rounding) {
  if constexpr (std::is_integral_v<D> && std::is_floating_point_v<S>) {
    const double whole = rounding == 'n'   ? std::nearbyint(static_cast<double>(v))
                         : rounding == 'm' ? std::floor(static_cast<double>(v))
                         : rounding == 'p' ? std::ceil(static_cast<double>(v))
                                           : std::trunc(static_cast<double>(v));
    if (whole != whole) return 0;
    constexpr double least = static_cast<double>(std::numeric_limits<D>::min()),
                     most = static_cast<double>(std::numeric_limits<D>::max());
    return whole <= least ? std::numeric_limits<D>::min()
           : whole >= most ? std::numeric_limits<D>::max()
                           : static_cast<D>(whole);
  } else if constexpr (std::is_same_v<D, float> && std::is_same_v<S, double>) {
    return rounding == 'z'   ? __double2float_rz(v)
           : rounding == 'm' ? __double2float_rd(v)
           : rounding == 'p' ? __double2float_ru(v)
                             : static_cast<float>(v);
  } else if constexpr (std::is_floating_point_v<D> && std::is_same_v<D, S>) {
    return rounding == 'i'   ? std::nearbyint(v)
           : rounding == 'z' ? std::trunc(v)
           : rounding == 'm' ? std::floor(v)
           : rounding == 'p' ? std::ceil(v)
                             : v;
  } else {
    return static_cast<D>(v);
  }
}
ISOMER_EMULATOR_INLINE u16 f16_of(float v) { return __half(v).bits; }
ISOMER_EMULATOR_INLINE float of_f16(u16 v) { return decode16<Float16Format>(v); }
ISOMER_EMULATOR_INLINE u16 bf16_of(float v) { return __nv_bfloat16(v).bits; }
ISOMER_EMULATOR_INLINE float of_bf16(u16 v) { return as<float>(u32{v} << 16); }

// Memory. `.shared` takes 32-bit addresses of the block's shared memory, any other space a pointer.
template <class T>
ISOMER_EMULATOR_INLINE T* at(bool shared, u64 address) {
  if (shared && address < (u64{1} << 24))
    return static_cast<T*>(isomer_emulator_shared_at(static_cast<unsigned>(address), sizeof(T)));
  if (shared && address < (u64{1} << 29))
    return static_cast<T*>(isomer_emulator_shared_in(static_cast<unsigned>(address >> 24) - 1,
                                                     static_cast<unsigned>(address & 0xffffff), sizeof(T)));
  return reinterpret_cast<T*>(address);
}
enum class Order { plain, is_volatile, relaxed, ordered };
template <class T, Order O>
ISOMER_EMULATOR_INLINE T load(bool shared, u64 address) {
  T* p = at<T>(shared, address);
  if constexpr (O == Order::is_volatile) return *static_cast<volatile T*>(p);
  if constexpr (O == Order::plain) return *p;
  T out;
  patience();
  __atomic_load(p, &out, O == Order::ordered ? __ATOMIC_ACQUIRE : __ATOMIC_RELAXED);
  return out;
}
template <class T, Order O>
ISOMER_EMULATOR_INLINE void store(bool shared, u64 address, T v) {
  T* p = at<T>(shared, address);
  if constexpr (O == Order::is_volatile) {
    *static_cast<volatile T*>(p) = v;
  } else if constexpr (O == Order::plain) {
    *p = v;
  } else {
    __atomic_store(p, &v, O == Order::ordered ? __ATOMIC_RELEASE : __ATOMIC_RELAXED);
  }
}
template <class T, int N>
struct alignas(sizeof(T) * N) Several {
  T v[N];
};
/// The parts of a register that is taken apart.
template <std::size_t Bytes>
struct PartOf;
template <>
struct PartOf<1> {
  using type = u8;
};
template <>
struct PartOf<2> {
  using type = u16;
};
template <>
struct PartOf<4> {
  using type = u32;
};
template <>
struct PartOf<8> {
  using type = u64;
};
template <class T, int N>
using isomer_part_t = typename PartOf<sizeof(T) / N>::type;
template <class T, int N>
ISOMER_EMULATOR_INLINE Several<T, N> load_several(bool shared, u64 address) {
  return *at<Several<T, N>>(shared, address);
}
template <class T, int N>
ISOMER_EMULATOR_INLINE void store_several(bool shared, u64 address, const Several<T, N>& v) {
  *at<Several<T, N>>(shared, address) = v;
}
/// Of sixteen, eight or four bytes; what lies behind `from_bytes` is zeros.
template <int Bytes>
ISOMER_EMULATOR_INLINE void copy_to_shared(u64 to, u64 from, u32 from_bytes) {
  struct Whole {
    u8 bytes[Bytes];
  };
  isomer_emulator_copy_begins(at<Whole>(true, to), reinterpret_cast<const void*>(from), Bytes, from_bytes);
}

// Barriers in shared memory. Which phase an arrival belongs to is all that its state has to say.
ISOMER_EMULATOR_INLINE u32 in_shared(u64 address) {
  return address < (u64{1} << 24) ? static_cast<u32>(address)
                                  : isomer_emulator_shared_address(reinterpret_cast<const void*>(address));
}
/// The address of the same place in another block of the cluster.
ISOMER_EMULATOR_INLINE u32 in_block(u32 address, u32 rank) { return (address & 0xffffff) | (rank + 1) << 24; }
ISOMER_EMULATOR_INLINE void arrived_in(void* at, u32 count) {
  const u64 address = reinterpret_cast<u64>(at);
  if (address < (u64{1} << 24) || address >= (u64{1} << 29))
    return isomer_emulator_barrier_arrive(in_shared(address), count, 0);
  for (u32 i = 0; i < count; ++i)
    isomer_emulator_barrier_arrive_in(static_cast<unsigned>(address >> 24) - 1,
                                      static_cast<unsigned>(address & 0xffffff));
}
ISOMER_EMULATOR_INLINE u64 arrived(u32 barrier, u32 count, u32 bytes) {
  const u64 parity = isomer_emulator_barrier_parity(barrier);
  isomer_emulator_barrier_arrive(barrier, count, bytes);
  return parity;
}
ISOMER_EMULATOR_INLINE u64 dropped(u32 barrier, u32 count) {
  const u64 parity = isomer_emulator_barrier_parity(barrier);
  isomer_emulator_barrier_drop(barrier, count);
  return parity;
}
/// Behind all copies that the thread has begun.
ISOMER_EMULATOR_INLINE void arrived_behind(u32 barrier) {
  isomer_emulator_copies_wait_for_all();
  isomer_emulator_barrier_arrive(barrier, 1, 0);
}
/// The same, and not among those that were counted on.
ISOMER_EMULATOR_INLINE void arrived_beside(u32 barrier) {
  isomer_emulator_barrier_expect(barrier, 1);
  arrived_behind(barrier);
}
/// Whether that phase is over; true in the end, unless the thread would only look.
ISOMER_EMULATOR_INLINE bool waited(u32 barrier, u32 parity, bool only_look) {
  return isomer_emulator_barrier_wait(barrier, parity, only_look) != 0;
}

// Warps.
ISOMER_EMULATOR_INLINE u32 shfl(char mode, u32 value, u32 lane_or_mask, u32 clamp, u32 mask, bool& in_range) {
  const u32 lane = isomer_emulator_lane(), segments = clamp >> 8 & 31, bound = clamp & 31;
  const u32 low = lane & segments, high = low | (bound & ~segments), b = lane_or_mask & 31;
  u32 source = mode == 'u' ? lane - b : mode == 'd' ? lane + b : mode == 'b' ? lane ^ b : low | (b & ~segments);
  in_range = mode == 'u' ? static_cast<s32>(source) >= static_cast<s32>(high) : source <= high;
  if (!in_range) source = lane;
  return shuffled(named(mask), value, source);
}
/// Four, two or one matrices of 8×8 16-bit elements, whose rows the lanes name.
template <int Count, bool Transposed>
ISOMER_EMULATOR_INLINE Several<u32, Count> ldmatrix(u64 address) {
  Several<u32, Count> out;
  const u32 lane = isomer_emulator_lane();
  for (u32 i = 0; i < Count; ++i) {
    if constexpr (Transposed) {
      const u64 even = shuffled(kAllLanes, address, 8 * i + 2 * (lane % 4)),
                odd = shuffled(kAllLanes, address, 8 * i + 2 * (lane % 4) + 1);
      out.v[i] = *at<u16>(true, even + 2 * (lane / 4)) | u32{*at<u16>(true, odd + 2 * (lane / 4))} << 16;
    } else {
      const u64 row = shuffled(kAllLanes, address, 8 * i + lane / 4);
      out.v[i] = *at<u32>(true, row + 4 * (lane % 4));
    }
  }
  return out;
}
/// Stores such matrices.
template <int Count, bool Transposed>
ISOMER_EMULATOR_INLINE void stmatrix(u64 address, const Several<u32, Count>& from) {
  const u32 lane = isomer_emulator_lane();
  for (u32 i = 0; i < Count; ++i) {
    if constexpr (Transposed) {
      const u64 even = shuffled(kAllLanes, address, 8 * i + 2 * (lane % 4)),
                odd = shuffled(kAllLanes, address, 8 * i + 2 * (lane % 4) + 1);
      *at<u16>(true, even + 2 * (lane / 4)) = static_cast<u16>(from.v[i]);
      *at<u16>(true, odd + 2 * (lane / 4)) = static_cast<u16>(from.v[i] >> 16);
    } else {
      const u64 row = shuffled(kAllLanes, address, 8 * i + lane / 4);
      *at<u32>(true, row + 4 * (lane % 4)) = from.v[i];
    }
  }
}
/// Accumulators of a warpgroup's product as the array that they are.
template <int N>
ISOMER_EMULATOR_INLINE float* adjacent(void* const (&registers)[N]) {
  auto* const first = static_cast<float*>(registers[0]);
  for (int i = 1; i < N; ++i)
    if (registers[i] != first + i) isomer_emulator_product_scattered();
  return first;
}
struct F16 {
  u16 bits;
  operator float() const { return of_f16(bits); }
};
struct Bf16 {
  u16 bits;
  operator float() const { return of_bf16(bits); }
};
struct E4m3Bits {
  std::uint8_t bits;
  operator float() const { return decode8<E4m3>(bits); }
};
struct E5m2Bits {
  std::uint8_t bits;
  operator float() const { return decode8<E5m2>(bits); }
};
/// The nineteen upper bits of an f32.
struct Tf32 {
  u32 bits;
  operator float() const { return as<float>(bits & 0xffffe000u); }
};
/// d[16×8] = a[16×k] · b[k×8] + c, spread over the warp as mma.sync has it: a lane holds two rows eight apart and
/// two columns; a register of a or b holds as many elements of one row or column as fit. Of eight rows a lane holds
/// one: it has two sums.
template <class A, class B, class C, int RegistersA, bool Saturates, int Sums>
ISOMER_EMULATOR_INLINE void mma(C (&d)[Sums], const u32* a, const u32* b, const C (&c)[Sums]) {
  constexpr int kPer = 4 / sizeof(A), kRows = Sums / 2, kHalves = RegistersA / kRows;
  const u32 lane = isomer_emulator_lane(), row = lane / 4 * 4, column = lane % 4 * 8;
  Several<u32, 4> mine_a{}, mine_b{};
  for (int i = 0; i < RegistersA; ++i) mine_a.v[i] = a[i];
  for (int i = 0; i < kHalves; ++i) mine_b.v[i] = b[i];
  Several<u32, 4> rows[4], columns[2][4];
  for (u32 t = 0; t < 4; ++t) {
    rows[t] = shuffled(kAllLanes, mine_a, row + t);
    columns[0][t] = shuffled(kAllLanes, mine_b, column + t);
    columns[1][t] = shuffled(kAllLanes, mine_b, column + 4 + t);
  }
  using Sum = std::conditional_t<!std::is_integral_v<C>, float, std::conditional_t<Saturates, s64, C>>;
  for (int i = 0; i < Sums; ++i) {
    Sum sum = static_cast<Sum>(c[i]);
    for (int half = 0; half < kHalves; ++half) {
      for (int t = 0; t < 4; ++t) {
        A left[kPer];
        B right[kPer];
        __builtin_memcpy(static_cast<void*>(left), &rows[t].v[kRows * half + i / 2], 4);
        __builtin_memcpy(static_cast<void*>(right), &columns[i % 2][t].v[half], 4);
        for (int e = 0; e < kPer; ++e) sum += static_cast<Sum>(left[e]) * static_cast<Sum>(right[e]);
      }
    }
    if constexpr (Saturates) sum = sum < INT32_MIN ? INT32_MIN : sum > INT32_MAX ? INT32_MAX : sum;
    d[i] = static_cast<C>(sum);
  }
}

}  // namespace isomer::emulator::ptx
