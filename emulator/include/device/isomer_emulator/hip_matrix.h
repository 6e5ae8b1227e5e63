// AMD's matrix instructions by the compiler's own names: MFMA of one block, and WMMA of RDNA 3 and 4. Sums
// are in order of k, where the hardware's order is its own. Which lane holds which element is as the
// instruction sets say. Included by hip_builtins.h.
#pragma once

namespace isomer::emulator::matrix {

// How the numbers of an operand are stored.
struct Half {
  static constexpr unsigned bytes = 2;
  static float value(const unsigned char* at) {
    __half h;
    __builtin_memcpy(&h, at, 2);
    return float(h);
  }
};
struct Bfloat {
  static constexpr unsigned bytes = 2;
  static float value(const unsigned char* at) {
    __hip_bfloat16 h;
    __builtin_memcpy(static_cast<void*>(&h), at, 2);
    return float(h);
  }
};
template <class T>
struct Plain {
  static constexpr unsigned bytes = sizeof(T);
  static T value(const unsigned char* at) {
    T x;
    __builtin_memcpy(&x, at, sizeof(T));
    return x;
  }
};

/// Where a lane's elements are: of the factors by row (or column) and k, of the sums by row and column.
struct Mfma {
  static constexpr unsigned lanes = 64;
  template <int M, int K>
  static unsigned row(unsigned lane) {
    return lane % M;
  }
  template <int M, int K>
  static unsigned k(unsigned lane, unsigned i) {
    return lane / M * (K * M / 64) + i;
  }
  template <int M, class Sum>
  static unsigned sum_row(unsigned lane, unsigned i) {
    if (sizeof(Sum) == 8) return 4 * i + lane / 16;
    return (M == 32 ? 8 * (i / 4) : 0) + 4 * (lane / M) + i % 4;
  }
};
/// RDNA 3: both halves of the wave hold the factors, and rows of the sums alternate.
template <unsigned Lanes>
struct Wmma {
  static constexpr unsigned lanes = Lanes;
  template <int M, int K>
  static unsigned row(unsigned lane) {
    return lane % 16;
  }
  template <int M, int K>
  static unsigned k(unsigned, unsigned i) {
    return i;
  }
  template <int M, class Sum>
  static unsigned sum_row(unsigned lane, unsigned i) {
    return Lanes / 16 * i + lane / 16;
  }
};
/// RDNA 4: each lane holds its part of k and eight neighbouring rows.
struct Wmma12 {
  static constexpr unsigned lanes = 32;
  template <int M, int K>
  static unsigned row(unsigned lane) {
    return lane % 16;
  }
  template <int M, int K>
  static unsigned k(unsigned lane, unsigned i) {
    return lane / 16 * (K / 2) + i;
  }
  template <int M, class Sum>
  static unsigned sum_row(unsigned lane, unsigned i) {
    return lane / 16 * 8 + i;
  }
};

// The operands lie on the first lane's stack, which belongs to no buffer: the watch has nothing to see there.
#define ISOMER_EMULATOR_UNSEEN __attribute__((no_sanitize("thread"), noinline))
template <class Layout, class Sum, int M, int K>
struct Operands {
  Sum a[M * K], b[M * K];
  template <class StoredA, class StoredB>
  ISOMER_EMULATOR_UNSEEN void put(const unsigned char* mine_a, const unsigned char* mine_b, unsigned count,
                                  unsigned lane) {
    for (unsigned i = 0; i < count; ++i) {
      const unsigned at = Layout::template row<M, K>(lane) * K + Layout::template k<M, K>(lane, i);
      a[at] = static_cast<Sum>(StoredA::value(mine_a + i * StoredA::bytes));
      b[at] = static_cast<Sum>(StoredB::value(mine_b + i * StoredB::bytes));
    }
  }
  ISOMER_EMULATOR_UNSEEN void multiply(Sum* sums, unsigned count, unsigned lane) const {
    for (unsigned i = 0; i < count; ++i) {
      const unsigned row = Layout::template sum_row<M, Sum>(lane, i), column = lane % M;
      for (unsigned k = 0; k < K; ++k) sums[i] += a[row * K + k] * b[column * K + k];
    }
  }
};
#undef ISOMER_EMULATOR_UNSEEN

/// d = a · b + c for the numbers that one lane holds of each.
template <class Layout, class StoredA, class StoredB, class Sum, int M, int K, class A, class B>
ISOMER_EMULATOR_INLINE void multiply(const A& a, const B& b, Sum* sums, unsigned count) {
  static_assert(ISOMER_EMULATOR_LANES == Layout::lanes,
                "this instruction is one of a wave of another size: run it with --lanes 32 or --lanes 64");
  using Both = Operands<Layout, Sum, M, K>;
  Both own;
  auto* const together =
      reinterpret_cast<Both*>(shuffled(kAllLanes, reinterpret_cast<std::uintptr_t>(&own), 0u));
  const unsigned lane = isomer_emulator_lane();
  unsigned char mine_a[sizeof(A)], mine_b[sizeof(B)];
  __builtin_memcpy(mine_a, &a, sizeof(A));
  __builtin_memcpy(mine_b, &b, sizeof(B));
  together->template put<StoredA, StoredB>(mine_a, mine_b, sizeof(A) / StoredA::bytes, lane);
  isomer_emulator_vote(kAllLanes, 1);
  together->multiply(sums, count, lane);
  isomer_emulator_vote(kAllLanes, 1);  // the first lane keeps the operands until all are done
}

template <int M, int K, class Stored, class Sum, int Broadcast, int Block, int Pattern, class A, class B,
          class C>
ISOMER_EMULATOR_INLINE C mfma(A a, B b, C c) {
  static_assert(Broadcast == 0 && Block == 0 && Pattern == 0,
                "no block of an operand is broadcast or permuted");
  static_assert(sizeof(A) == K * M / 64 * Stored::bytes && sizeof(B) == sizeof(A) &&
                    sizeof(C) == M * M / 64 * sizeof(Sum),
                "the operands are of the instruction's size");
  Sum sums[M * M / 64];
  __builtin_memcpy(sums, &c, sizeof sums);
  multiply<Mfma, Stored, Stored, Sum, M, K>(a, b, sums, M * M / 64);
  __builtin_memcpy(static_cast<void*>(&c), sums, sizeof sums);
  return c;
}
template <class Layout, class StoredA, class StoredB, class Sum, class A, class B, class C>
ISOMER_EMULATOR_INLINE C wmma(const A& a, const B& b, C c) {
  constexpr unsigned count = 256 / Layout::lanes;
  static_assert(sizeof(C) == count * sizeof(Sum), "the sums are of the instruction's size");
  Sum sums[count];
  __builtin_memcpy(sums, &c, sizeof sums);
  multiply<Layout, StoredA, StoredB, Sum, 16, 16>(a, b, sums, count);
  __builtin_memcpy(static_cast<void*>(&c), sums, sizeof sums);
  return c;
}
/// Sums of sixteen bits: `stride` 2 and the half of a register that `high` names, or one behind the other.
template <class Layout, class Stored, class Number, class A, class B, class C>
ISOMER_EMULATOR_INLINE C wmma_16(const A& a, const B& b, C c, unsigned stride, unsigned high) {
  constexpr unsigned count = 256 / Layout::lanes;
  Number stored[sizeof(C) / 2];
  __builtin_memcpy(static_cast<void*>(stored), &c, sizeof(C));
  float sums[count];
  for (unsigned i = 0; i < count; ++i) sums[i] = float(stored[i * stride + high]);
  multiply<Layout, Stored, Stored, float, 16, 16>(a, b, sums, count);
  for (unsigned i = 0; i < count; ++i) stored[i * stride + high] = Number(sums[i]);
  __builtin_memcpy(static_cast<void*>(&c), static_cast<const void*>(stored), sizeof(C));
  return c;
}
/// Bytes whose signs are said one by one, as numbers of 32 bits.
template <class Layout, class A, class B, class C>
ISOMER_EMULATOR_INLINE C wmma_bytes(bool a_signed, const A& a, bool b_signed, const B& b, C c) {
  using S = Plain<signed char>;
  using U = Plain<unsigned char>;
  if (a_signed) return b_signed ? wmma<Layout, S, S, int>(a, b, c) : wmma<Layout, S, U, int>(a, b, c);
  return b_signed ? wmma<Layout, U, S, int>(a, b, c) : wmma<Layout, U, U, int>(a, b, c);
}

}  // namespace isomer::emulator::matrix

#define ISOMER_EMULATOR_MFMA(M, K, STORED, SUM, A, B, C, BROADCAST, BLOCK, PATTERN)                       \
  isomer::emulator::matrix::mfma<M, K, isomer::emulator::matrix::STORED, SUM, BROADCAST, BLOCK, PATTERN>( \
      A, B, C)
#define __builtin_amdgcn_mfma_f32_32x32x2f32(...) \
  ISOMER_EMULATOR_MFMA(32, 2, Plain<float>, float, __VA_ARGS__)
#define __builtin_amdgcn_mfma_f32_16x16x4f32(...) \
  ISOMER_EMULATOR_MFMA(16, 4, Plain<float>, float, __VA_ARGS__)
#define __builtin_amdgcn_mfma_f32_32x32x8f16(...) ISOMER_EMULATOR_MFMA(32, 8, Half, float, __VA_ARGS__)
#define __builtin_amdgcn_mfma_f32_16x16x16f16(...) ISOMER_EMULATOR_MFMA(16, 16, Half, float, __VA_ARGS__)
#define __builtin_amdgcn_mfma_f32_32x32x16_f16(...) ISOMER_EMULATOR_MFMA(32, 16, Half, float, __VA_ARGS__)
#define __builtin_amdgcn_mfma_f32_16x16x32_f16(...) ISOMER_EMULATOR_MFMA(16, 32, Half, float, __VA_ARGS__)
#define __builtin_amdgcn_mfma_f32_32x32x4bf16(...) ISOMER_EMULATOR_MFMA(32, 4, Bfloat, float, __VA_ARGS__)
#define __builtin_amdgcn_mfma_f32_16x16x8bf16(...) ISOMER_EMULATOR_MFMA(16, 8, Bfloat, float, __VA_ARGS__)
#define __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(...) ISOMER_EMULATOR_MFMA(32, 8, Bfloat, float, __VA_ARGS__)
#define __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(...) \
  ISOMER_EMULATOR_MFMA(16, 16, Bfloat, float, __VA_ARGS__)
#define __builtin_amdgcn_mfma_f32_32x32x16_bf16(...) ISOMER_EMULATOR_MFMA(32, 16, Bfloat, float, __VA_ARGS__)
#define __builtin_amdgcn_mfma_f32_16x16x32_bf16(...) ISOMER_EMULATOR_MFMA(16, 32, Bfloat, float, __VA_ARGS__)
#define __builtin_amdgcn_mfma_f64_16x16x4f64(...) \
  ISOMER_EMULATOR_MFMA(16, 4, Plain<double>, double, __VA_ARGS__)
#define __builtin_amdgcn_mfma_i32_32x32x8i8(...) \
  ISOMER_EMULATOR_MFMA(32, 8, Plain<signed char>, int, __VA_ARGS__)
#define __builtin_amdgcn_mfma_i32_16x16x16i8(...) \
  ISOMER_EMULATOR_MFMA(16, 16, Plain<signed char>, int, __VA_ARGS__)
#define __builtin_amdgcn_mfma_i32_32x32x16_i8(...) \
  ISOMER_EMULATOR_MFMA(32, 16, Plain<signed char>, int, __VA_ARGS__)
#define __builtin_amdgcn_mfma_i32_16x16x32_i8(...) \
  ISOMER_EMULATOR_MFMA(16, 32, Plain<signed char>, int, __VA_ARGS__)

#define ISOMER_EMULATOR_WMMA(LAYOUT, STORED, A, B, C)                                                \
  isomer::emulator::matrix::wmma<isomer::emulator::matrix::LAYOUT, isomer::emulator::matrix::STORED, \
                                 isomer::emulator::matrix::STORED, float>(A, B, C)
#define ISOMER_EMULATOR_WMMA_16(LAYOUT, STORED, NUMBER, A, B, C, STRIDE, HIGH)                          \
  isomer::emulator::matrix::wmma_16<isomer::emulator::matrix::LAYOUT, isomer::emulator::matrix::STORED, \
                                    NUMBER>(A, B, C, STRIDE, HIGH)
#define __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(A, B, C) ISOMER_EMULATOR_WMMA(Wmma<32>, Half, A, B, C)
#define __builtin_amdgcn_wmma_f32_16x16x16_f16_w64(A, B, C) ISOMER_EMULATOR_WMMA(Wmma<64>, Half, A, B, C)
#define __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32(A, B, C) ISOMER_EMULATOR_WMMA(Wmma<32>, Bfloat, A, B, C)
#define __builtin_amdgcn_wmma_f32_16x16x16_bf16_w64(A, B, C) ISOMER_EMULATOR_WMMA(Wmma<64>, Bfloat, A, B, C)
#define __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(A, B, C) ISOMER_EMULATOR_WMMA(Wmma12, Half, A, B, C)
#define __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32_gfx12(A, B, C) \
  ISOMER_EMULATOR_WMMA(Wmma12, Bfloat, A, B, C)
#define __builtin_amdgcn_wmma_f16_16x16x16_f16_w32(A, B, C, HIGH) \
  ISOMER_EMULATOR_WMMA_16(Wmma<32>, Half, __half, A, B, C, 2, (HIGH) ? 1 : 0)
#define __builtin_amdgcn_wmma_f16_16x16x16_f16_w64(A, B, C, HIGH) \
  ISOMER_EMULATOR_WMMA_16(Wmma<64>, Half, __half, A, B, C, 2, (HIGH) ? 1 : 0)
#define __builtin_amdgcn_wmma_bf16_16x16x16_bf16_w32(A, B, C, HIGH) \
  ISOMER_EMULATOR_WMMA_16(Wmma<32>, Bfloat, __hip_bfloat16, A, B, C, 2, (HIGH) ? 1 : 0)
#define __builtin_amdgcn_wmma_f16_16x16x16_f16_w32_gfx12(A, B, C) \
  ISOMER_EMULATOR_WMMA_16(Wmma12, Half, __half, A, B, C, 1, 0)
#define __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32(A_SIGNED, A, B_SIGNED, B, C, CLAMP) \
  isomer::emulator::matrix::wmma_bytes<isomer::emulator::matrix::Wmma<32>>(A_SIGNED, A, B_SIGNED, B, C)
#define __builtin_amdgcn_wmma_i32_16x16x16_iu8_w64(A_SIGNED, A, B_SIGNED, B, C, CLAMP) \
  isomer::emulator::matrix::wmma_bytes<isomer::emulator::matrix::Wmma<64>>(A_SIGNED, A, B_SIGNED, B, C)
