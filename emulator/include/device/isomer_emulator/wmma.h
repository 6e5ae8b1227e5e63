// nvcuda::wmma: matrices spread over a warp. Which lane holds which element is nobody's business, as on the
// device.
#pragma once

#include "bfloat16.h"
#include "half.h"

namespace isomer::emulator::wmma {

constexpr unsigned kLanes = 32;

/// Each lane holds elements that follow one another, counted along rows.
template <class T, int Rows, int Columns>
struct Spread {
  static_assert(warpSize == 32, "a fragment of wmma is spread over 32 lanes");
  static constexpr int rows = Rows, columns = Columns, num_elements = Rows * Columns / 32;
  T x[num_elements];
  static unsigned element(unsigned i, unsigned lane) { return lane * num_elements + i; }
};

// The operands lie on the first lane's stack, which belongs to no buffer: the watch has nothing to see there.
#define ISOMER_EMULATOR_UNSEEN __attribute__((no_sanitize("thread"), noinline))
template <class Number, int M, int N, int K>
struct Operands {
  static constexpr unsigned kOfA = M * K / kLanes, kOfB = K * N / kLanes, kSums = M * N / kLanes;
  static_assert(N % kSums == 0, "a lane's sums lie in one row");
  Number a[M * K], b[K * N];
  ISOMER_EMULATOR_UNSEEN void put(const Number* mine_a, const Number* mine_b, unsigned lane) {
    for (unsigned i = 0; i < kOfA; ++i) a[lane * kOfA + i] = mine_a[i];
    for (unsigned i = 0; i < kOfB; ++i) b[lane * kOfB + i] = mine_b[i];
  }
  /// Adds to one lane's elements, in order of k.
  __attribute__((optimize("O3"))) ISOMER_EMULATOR_UNSEEN void multiply(Number* sums, unsigned lane) const {
    const Number* const row = a + lane * kSums / N * K;
    const Number* const columns = b + lane * kSums % N;
    Number mine[kSums];
    for (unsigned i = 0; i < kSums; ++i) mine[i] = sums[i];
    for (unsigned k = 0; k < K; ++k)
      for (unsigned i = 0; i < kSums; ++i) mine[i] += row[k] * columns[k * N + i];
    for (unsigned i = 0; i < kSums; ++i) sums[i] = mine[i];
  }
};
#undef ISOMER_EMULATOR_UNSEEN

template <class T>
struct NumberOf {
  using type = float;
};
template <>
struct NumberOf<int> {
  using type = int;
};
template <>
struct NumberOf<double> {
  using type = double;
};

inline float tf32(float v) {
  unsigned bits;
  __builtin_memcpy(&bits, &v, 4);
  bits &= 0xffffe000u;
  __builtin_memcpy(&v, &bits, 4);
  return v;
}

}  // namespace isomer::emulator::wmma

namespace nvcuda::wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32;
}

/// The shapes and types that there are; others are an incomplete type.
template <class Use, int M, int N, int K, class T, class Layout = void>
struct fragment;

#define ISOMER_EMULATOR_OPERANDS(T, STORED, M, N, K)                                             \
  template <class Layout>                                                                        \
  struct fragment<matrix_a, M, N, K, T, Layout> : isomer::emulator::wmma::Spread<STORED, M, K> { \
    using element_type = STORED;                                                                 \
    using storage_element_type = STORED;                                                         \
  };                                                                                             \
  template <class Layout>                                                                        \
  struct fragment<matrix_b, M, N, K, T, Layout> : isomer::emulator::wmma::Spread<STORED, K, N> { \
    using element_type = STORED;                                                                 \
    using storage_element_type = STORED;                                                         \
  };
#define ISOMER_EMULATOR_SUMS(T, M, N, K)                                               \
  template <>                                                                          \
  struct fragment<accumulator, M, N, K, T> : isomer::emulator::wmma::Spread<T, M, N> { \
    using element_type = T;                                                            \
    using storage_element_type = T;                                                    \
  };
#define ISOMER_EMULATOR_SHAPE(M, N, K)                            \
  ISOMER_EMULATOR_OPERANDS(__half, __half, M, N, K)               \
  ISOMER_EMULATOR_OPERANDS(__nv_bfloat16, __nv_bfloat16, M, N, K) \
  ISOMER_EMULATOR_OPERANDS(signed char, signed char, M, N, K)     \
  ISOMER_EMULATOR_OPERANDS(unsigned char, unsigned char, M, N, K) \
  ISOMER_EMULATOR_SUMS(__half, M, N, K)                           \
  ISOMER_EMULATOR_SUMS(float, M, N, K)                            \
  ISOMER_EMULATOR_SUMS(int, M, N, K)
ISOMER_EMULATOR_SHAPE(16, 16, 16)
ISOMER_EMULATOR_SHAPE(32, 8, 16)
ISOMER_EMULATOR_SHAPE(8, 32, 16)
ISOMER_EMULATOR_OPERANDS(precision::tf32, float, 16, 16, 8)
ISOMER_EMULATOR_SUMS(float, 16, 16, 8)
ISOMER_EMULATOR_OPERANDS(double, double, 8, 8, 4)
ISOMER_EMULATOR_SUMS(double, 8, 8, 4)
#undef ISOMER_EMULATOR_SHAPE
#undef ISOMER_EMULATOR_SUMS
#undef ISOMER_EMULATOR_OPERANDS

template <class Use, int M, int N, int K, class T, class Layout>
ISOMER_EMULATOR_INLINE void fill_fragment(
    fragment<Use, M, N, K, T, Layout>& f,
    const typename fragment<Use, M, N, K, T, Layout>::storage_element_type& value) {
  for (auto& x : f.x) x = value;
}

}  // namespace nvcuda::wmma

namespace isomer::emulator::wmma {

template <class Fragment, class T>
ISOMER_EMULATOR_INLINE void load(Fragment& f, const T* from, unsigned stride, bool by_rows) {
  const unsigned lane = isomer_emulator_lane();
  for (unsigned i = 0; i < Fragment::num_elements; ++i) {
    const unsigned e = Fragment::element(i, lane), row = e / Fragment::columns, column = e % Fragment::columns;
    f.x[i] = by_rows ? from[row * stride + column] : from[column * stride + row];
  }
}

}  // namespace isomer::emulator::wmma

namespace nvcuda::wmma {

template <class Use, int M, int N, int K, class T, class Layout>
ISOMER_EMULATOR_INLINE void load_matrix_sync(
    fragment<Use, M, N, K, T, Layout>& f,
    const typename fragment<Use, M, N, K, T, Layout>::storage_element_type* from, unsigned stride) {
  static_assert(!std::is_same_v<Use, accumulator>, "the layout of an accumulator has to be said");
  isomer::emulator::wmma::load(f, from, stride, std::is_same_v<Layout, row_major>);
}
template <int M, int N, int K, class T>
ISOMER_EMULATOR_INLINE void load_matrix_sync(fragment<accumulator, M, N, K, T>& f, const T* from,
                                             unsigned stride, layout_t layout) {
  isomer::emulator::wmma::load(f, from, stride, layout == mem_row_major);
}
template <int M, int N, int K, class T>
ISOMER_EMULATOR_INLINE void store_matrix_sync(T* to, const fragment<accumulator, M, N, K, T>& f,
                                              unsigned stride, layout_t layout) {
  const unsigned lane = isomer_emulator_lane();
  for (unsigned i = 0; i < f.num_elements; ++i) {
    const unsigned e = f.element(i, lane), row = e / N, column = e % N;
    to[layout == mem_row_major ? row * stride + column : column * stride + row] = f.x[i];
  }
}
template <int M, int N, int K, class T, class LayoutA, class LayoutB, class C, class D>
ISOMER_EMULATOR_INLINE void mma_sync(fragment<accumulator, M, N, K, D>& d,
                                     const fragment<matrix_a, M, N, K, T, LayoutA>& a,
                                     const fragment<matrix_b, M, N, K, T, LayoutB>& b,
                                     const fragment<accumulator, M, N, K, C>& c, bool = false) {
  using Number = typename isomer::emulator::wmma::NumberOf<C>::type;
  using Operands = isomer::emulator::wmma::Operands<Number, M, N, K>;
  const auto number = [](auto v) {
    if constexpr (std::is_same_v<T, precision::tf32>)
      return isomer::emulator::wmma::tf32(v);
    else
      return static_cast<Number>(v);
  };
  Operands own;
  Number mine_a[a.num_elements], mine_b[b.num_elements], sums[c.num_elements];
  for (int i = 0; i < a.num_elements; ++i) mine_a[i] = number(a.x[i]);
  for (int i = 0; i < b.num_elements; ++i) mine_b[i] = number(b.x[i]);
  for (int i = 0; i < c.num_elements; ++i) sums[i] = static_cast<Number>(c.x[i]);
  auto* const together = reinterpret_cast<Operands*>(
      isomer::emulator::shuffled(isomer::emulator::kAllLanes, reinterpret_cast<std::uintptr_t>(&own), 0u));
  const unsigned lane = isomer_emulator_lane();
  together->put(mine_a, mine_b, lane);
  isomer_emulator_vote(isomer::emulator::kAllLanes, 1);
  together->multiply(sums, lane);
  for (int i = 0; i < d.num_elements; ++i) d.x[i] = static_cast<D>(sums[i]);
  isomer_emulator_vote(isomer::emulator::kAllLanes,
                       1);  // the first lane keeps the operands until all are done
}
ISOMER_EMULATOR_INLINE float __float_to_tf32(float v) {
  unsigned bits;
  __builtin_memcpy(&bits, &v, 4);
  bits += 0x1000u;  // to the nearest, ties away from zero
  __builtin_memcpy(&v, &bits, 4);
  return v != v ? v : isomer::emulator::wmma::tf32(v);
}

}  // namespace nvcuda::wmma
