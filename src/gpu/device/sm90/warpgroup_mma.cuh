// Products by a warpgroup, four successive warps of which the first is a multiple of four: d += a·b with a
// 64×k, b k×N and d in f32 registers. b lies in shared memory, a there or in registers. They run beside the
// threads: a warp fences, issues products, ends the group and waits for it; until then it neither reads nor
// writes d, a's registers or what b lies in.
#pragma once

#include "gpu/device/sm90/arch.cuh"

namespace isomer::device::sm90 {

/// How 16-byte chunks of rows change places in shared memory, as the copy engine put them. A pattern repeats
/// every eight rows of so many bytes, and its first row is at a multiple of all of them.
enum class Swizzle : u64 { none = 0, bytes_128 = 1, bytes_64 = 2, bytes_32 = 3 };

/// A matrix of 16-byte chunks in shared memory, as the tensor cores are told of it. Where its k elements are
/// adjacent: `stride` bytes lie between groups of eight rows, and `leading` is not looked at with a swizzle.
/// Where its rows or columns are adjacent (transposed): `leading` bytes lie between panels of as many
/// elements as the swizzle has, `stride` between groups of eight k.
struct SharedMatrix {
  u64 bits;

  static ISOMER_DEVICE SharedMatrix of(u32 at, u32 leading, u32 stride,
                                       Swizzle swizzle = Swizzle::bytes_128) {
    return {static_cast<u64>((at & 0x3ffff) >> 4) | static_cast<u64>(leading >> 4) << 16 |
            static_cast<u64>(stride >> 4) << 32 | static_cast<u64>(swizzle) << 62};
  }
  /// The one that begins so many bytes on, a multiple of 16.
  ISOMER_DEVICE SharedMatrix operator+(u32 bytes) const { return {bits + (bytes >> 4)}; }
};

/// In front of the first product, and wherever the threads touched d or a's registers since the last.
ISOMER_DEVICE void warpgroup_fence() {
#if ISOMER_SM90
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#elif defined(ISOMER_EMULATED)
  isomer_emulator_product_fence();
#endif
}
/// Ends a group of products.
ISOMER_DEVICE void warpgroup_commit() {
#if ISOMER_SM90
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#elif defined(ISOMER_EMULATED)
  isomer_emulator_product_commit();
#endif
}
/// Until at most kGroups groups of this warp are under way. It says nothing about the warpgroup's other
/// warps.
template <int kGroups>
ISOMER_DEVICE void warpgroup_wait() {
#if ISOMER_SM90
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kGroups) : "memory");
#elif defined(ISOMER_EMULATED)
  isomer_emulator_product_wait(kGroups);
#endif
}

/// No use of these registers moves across this point, for which no instruction is needed. Behind a wait, and
/// in front of the fence of what the threads wrote: the compiler does not know that products run beside it.
template <int N>
ISOMER_DEVICE void pin(f32 (&registers)[N]) {
#if ISOMER_SM90
#pragma unroll
  for (int i = 0; i < N; ++i) asm volatile("" : "+f"(registers[i])::"memory");
#endif
}
template <int N>
ISOMER_DEVICE void pin(u32 (&registers)[N]) {
#if ISOMER_SM90
#pragma unroll
  for (int i = 0; i < N; ++i) asm volatile("" : "+r"(registers[i])::"memory");
#endif
}

/// What is derived from it stays behind this point: no loop keeps its sums in registers from turn to turn.
ISOMER_DEVICE void pin(SharedMatrix& matrix) {
#if ISOMER_SM90
  asm volatile("" : "+l"(matrix.bits)::"memory");
#endif
}

/// Elements of a product of T along k.
template <class T>
constexpr int kProductDepth = 32 / static_cast<int>(sizeof(T));

template <class T>
constexpr int kElementKind = -1;
template <>
constexpr int kElementKind<f16> = 0;
template <>
constexpr int kElementKind<bf16> = 1;
template <>
constexpr int kElementKind<e4m3fn> = 2;

#define ISOMER_R4 "%0, %1, %2, %3"
#define ISOMER_R8 ISOMER_R4 ", %4, %5, %6, %7"
#define ISOMER_R12 ISOMER_R8 ", %8, %9, %10, %11"
#define ISOMER_R16 ISOMER_R12 ", %12, %13, %14, %15"
#define ISOMER_R20 ISOMER_R16 ", %16, %17, %18, %19"
#define ISOMER_R24 ISOMER_R20 ", %20, %21, %22, %23"
#define ISOMER_R28 ISOMER_R24 ", %24, %25, %26, %27"
#define ISOMER_R32 ISOMER_R28 ", %28, %29, %30, %31"
#define ISOMER_R40 ISOMER_R32 ", %32, %33, %34, %35, %36, %37, %38, %39"
#define ISOMER_R48 ISOMER_R40 ", %40, %41, %42, %43, %44, %45, %46, %47"
#define ISOMER_R56 ISOMER_R48 ", %48, %49, %50, %51, %52, %53, %54, %55"
#define ISOMER_R64 ISOMER_R56 ", %56, %57, %58, %59, %60, %61, %62, %63"
#define ISOMER_R72 ISOMER_R64 ", %64, %65, %66, %67, %68, %69, %70, %71"
#define ISOMER_R80 ISOMER_R72 ", %72, %73, %74, %75, %76, %77, %78, %79"
#define ISOMER_R88 ISOMER_R80 ", %80, %81, %82, %83, %84, %85, %86, %87"
#define ISOMER_R96 ISOMER_R88 ", %88, %89, %90, %91, %92, %93, %94, %95"
#define ISOMER_R104 ISOMER_R96 ", %96, %97, %98, %99, %100, %101, %102, %103"
#define ISOMER_R112 ISOMER_R104 ", %104, %105, %106, %107, %108, %109, %110, %111"
#define ISOMER_R120 ISOMER_R112 ", %112, %113, %114, %115, %116, %117, %118, %119"
#define ISOMER_R128 ISOMER_R120 ", %120, %121, %122, %123, %124, %125, %126, %127"
#define ISOMER_D4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define ISOMER_D8(i) ISOMER_D4(i), ISOMER_D4(i + 4)
#define ISOMER_D16(i) ISOMER_D8(i), ISOMER_D8(i + 8)
#define ISOMER_D32(i) ISOMER_D16(i), ISOMER_D16(i + 16)
#define ISOMER_D64(i) ISOMER_D32(i), ISOMER_D32(i + 32)

// N, the registers of d as text, the numbers of the operands behind them, d as operands.
#define ISOMER_SHAPES(X)                                                                                \
  X(8, ISOMER_R4, 4, 5, 6, 7, 8, 9, 10, ISOMER_D4(0))                                                   \
  X(16, ISOMER_R8, 8, 9, 10, 11, 12, 13, 14, ISOMER_D8(0))                                              \
  X(24, ISOMER_R12, 12, 13, 14, 15, 16, 17, 18, ISOMER_D8(0), ISOMER_D4(8))                             \
  X(32, ISOMER_R16, 16, 17, 18, 19, 20, 21, 22, ISOMER_D16(0))                                          \
  X(40, ISOMER_R20, 20, 21, 22, 23, 24, 25, 26, ISOMER_D16(0), ISOMER_D4(16))                           \
  X(48, ISOMER_R24, 24, 25, 26, 27, 28, 29, 30, ISOMER_D16(0), ISOMER_D8(16))                           \
  X(56, ISOMER_R28, 28, 29, 30, 31, 32, 33, 34, ISOMER_D16(0), ISOMER_D8(16), ISOMER_D4(24))            \
  X(64, ISOMER_R32, 32, 33, 34, 35, 36, 37, 38, ISOMER_D32(0))                                          \
  X(80, ISOMER_R40, 40, 41, 42, 43, 44, 45, 46, ISOMER_D32(0), ISOMER_D8(32))                           \
  X(96, ISOMER_R48, 48, 49, 50, 51, 52, 53, 54, ISOMER_D32(0), ISOMER_D16(32))                          \
  X(112, ISOMER_R56, 56, 57, 58, 59, 60, 61, 62, ISOMER_D32(0), ISOMER_D16(32), ISOMER_D8(48))          \
  X(128, ISOMER_R64, 64, 65, 66, 67, 68, 69, 70, ISOMER_D64(0))                                         \
  X(144, ISOMER_R72, 72, 73, 74, 75, 76, 77, 78, ISOMER_D64(0), ISOMER_D8(64))                          \
  X(160, ISOMER_R80, 80, 81, 82, 83, 84, 85, 86, ISOMER_D64(0), ISOMER_D16(64))                         \
  X(176, ISOMER_R88, 88, 89, 90, 91, 92, 93, 94, ISOMER_D64(0), ISOMER_D16(64), ISOMER_D8(80))          \
  X(192, ISOMER_R96, 96, 97, 98, 99, 100, 101, 102, ISOMER_D64(0), ISOMER_D32(64))                      \
  X(208, ISOMER_R104, 104, 105, 106, 107, 108, 109, 110, ISOMER_D64(0), ISOMER_D32(64), ISOMER_D8(96))  \
  X(224, ISOMER_R112, 112, 113, 114, 115, 116, 117, 118, ISOMER_D64(0), ISOMER_D32(64), ISOMER_D16(96)) \
  X(240, ISOMER_R120, 120, 121, 122, 123, 124, 125, 126, ISOMER_D64(0), ISOMER_D32(64), ISOMER_D16(96), \
    ISOMER_D8(112))                                                                                     \
  X(256, ISOMER_R128, 128, 129, 130, 131, 132, 133, 134, ISOMER_D64(0), ISOMER_D64(64))

#define ISOMER_PRODUCT(N, K, type, R, a, b, p, end)                                                        \
  "{\n.reg .pred p;\nsetp.ne.b32 p, %" #p ", 0;\nwgmma.mma_async.sync.aligned.m64n" #N "k" #K ".f32." type \
  "." type " {" R "}, " a ", %" #b ", p, 1, 1" end ";\n}"

/// d += a·b, or d = a·b without `accumulate`; both in shared memory. kTransposedA and kTransposedB: the rows
/// of a, the columns of b are adjacent there and not its k elements (f16 and bf16 only). d[4j] and d[4j + 1]
/// of warp w, lane l are row 16w + l / 4, columns 8j + l % 4 · 2 and the next; d[4j + 2] and d[4j + 3] eight
/// rows on.
template <class T, int N, bool kTransposedA = false, bool kTransposedB = false>
ISOMER_DEVICE void multiply_add(f32 (&d)[N / 2], SharedMatrix a, SharedMatrix b, bool accumulate) {
  constexpr int kKind = kElementKind<T>;
  static_assert(kKind >= 0 && (kKind < 2 || (!kTransposedA && !kTransposedB)));
  const int add = accumulate;
#if ISOMER_SM90
#define ISOMER_SHAPE(kN, R, n0, n1, n2, n3, n4, n5, n6, ...)                                  \
  if constexpr (N == kN && kKind == 0)                                                        \
    asm volatile(ISOMER_PRODUCT(kN, 16, "f16", R, "%" #n0, n1, n2, ", %" #n3 ", %" #n4)       \
                 : __VA_ARGS__                                                                \
                 : "l"(a.bits), "l"(b.bits), "r"(add), "n"(kTransposedA), "n"(kTransposedB)); \
  if constexpr (N == kN && kKind == 1)                                                        \
    asm volatile(ISOMER_PRODUCT(kN, 16, "bf16", R, "%" #n0, n1, n2, ", %" #n3 ", %" #n4)      \
                 : __VA_ARGS__                                                                \
                 : "l"(a.bits), "l"(b.bits), "r"(add), "n"(kTransposedA), "n"(kTransposedB)); \
  if constexpr (N == kN && kKind == 2)                                                        \
    asm volatile(ISOMER_PRODUCT(kN, 32, "e4m3", R, "%" #n0, n1, n2, "")                       \
                 : __VA_ARGS__                                                                \
                 : "l"(a.bits), "l"(b.bits), "r"(add));
  ISOMER_SHAPES(ISOMER_SHAPE)
#undef ISOMER_SHAPE
#elif defined(ISOMER_EMULATED)
  const emulator::ProductRequest request{kKind, N, kTransposedA, kTransposedB, accumulate, a.bits, b.bits};
  isomer_emulator_product(&request, d, nullptr);
#endif
}

/// The same with a in registers: four words of each thread for 16 k elements (32 of e4m3). Of 16-bit types
/// word i is the pair of row 16w + l / 4 + i % 2 · 8, columns l % 4 · 2 + i / 2 · 8 and the next: two
/// successive fragments of d, packed, are such an a.
template <class T, int N, bool kTransposedB = false>
ISOMER_DEVICE void multiply_add(f32 (&d)[N / 2], const u32 (&a)[4], SharedMatrix b, bool accumulate) {
  constexpr int kKind = kElementKind<T>;
  static_assert(kKind >= 0 && (kKind < 2 || !kTransposedB));
  const int add = accumulate;
#if ISOMER_SM90
#define ISOMER_SHAPE(kN, R, n0, n1, n2, n3, n4, n5, n6, ...)                                               \
  if constexpr (N == kN && kKind == 0)                                                                     \
    asm volatile(                                                                                          \
        ISOMER_PRODUCT(kN, 16, "f16", R, "{%" #n0 ", %" #n1 ", %" #n2 ", %" #n3 "}", n4, n5, ", %" #n6)    \
        : __VA_ARGS__                                                                                      \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b.bits), "r"(add), "n"(kTransposedB));           \
  if constexpr (N == kN && kKind == 1)                                                                     \
    asm volatile(                                                                                          \
        ISOMER_PRODUCT(kN, 16, "bf16", R, "{%" #n0 ", %" #n1 ", %" #n2 ", %" #n3 "}", n4, n5, ", %" #n6)   \
        : __VA_ARGS__                                                                                      \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b.bits), "r"(add), "n"(kTransposedB));           \
  if constexpr (N == kN && kKind == 2)                                                                     \
    asm volatile(ISOMER_PRODUCT(kN, 32, "e4m3", R, "{%" #n0 ", %" #n1 ", %" #n2 ", %" #n3 "}", n4, n5, "") \
                 : __VA_ARGS__                                                                             \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b.bits), "r"(add));
  ISOMER_SHAPES(ISOMER_SHAPE)
#undef ISOMER_SHAPE
#elif defined(ISOMER_EMULATED)
  const emulator::ProductRequest request{kKind, N, false, kTransposedB, accumulate, 0, b.bits};
  isomer_emulator_product(&request, d, a);
#endif
}

#undef ISOMER_SHAPES
#undef ISOMER_PRODUCT

}  // namespace isomer::device::sm90
