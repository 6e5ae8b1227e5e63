// What a lane of the decode kernel has of 16 keys: pieces of their rows of K and V as they lie in memory, 16
// bits in q's type or bytes of e4m3fn, which become 16 bits, exactly, on their way into a product. g = lane /
// 4 and t = lane % 4, as in gpu/device/row_fragments.cuh.
#pragma once

#include "gpu/device/row_fragments.cuh"
#include "ops/attention/kernels/attention_non_finite.cuh"
#include "ops/attention/kernels/attention_tile.cuh"

namespace isomer::device::attention {

/// Where the rows of a key begin: element offsets, or for bytes multiples of 16 of them.
template <bool kBytes>
struct RowPlace {
  i64 k, v;
  static constexpr i64 kNone = kNowhere;
  static ISOMER_DEVICE i64 of(i64 elements) { return elements; }
  static ISOMER_DEVICE i64 elements(i64 place) { return place; }
};
template <>
struct RowPlace<true> {
  u32 k, v;
  static constexpr u32 kNone = ~0u;
  static ISOMER_DEVICE u32 of(i64 bytes) { return static_cast<u32>(bytes >> 4); }
  static ISOMER_DEVICE i64 elements(u32 place) { return static_cast<i64>(static_cast<u64>(place) << 4); }
};

/// Of rows g and g + 8 of K pieces of 16 bytes, the lanes of a row one behind the other.
template <class Key, int kDim>
struct KeyRows {
  static constexpr bool kBytes = sizeof(Key) == 1;
  static constexpr int kElements = 16 / static_cast<int>(sizeof(Key)), kPieces = kDim / (4 * kElements);
  Words of[2][kPieces] = {};  // zero beyond D, for good

  /// How many pieces of a row this lane has.
  static ISOMER_DEVICE int pieces(int dim, int t) {
    return (dim - kElements * t + 4 * kElements - 1) / (4 * kElements);
  }
  ISOMER_DEVICE void load(int r, const Key* from, int pieces) {
#pragma unroll
    for (int i = 0; i < kPieces; ++i) load_words_below(of[r][i], from + 4 * kElements * i, i, pieces);
  }
  ISOMER_DEVICE void clear(int r) {
#pragma unroll
    for (int i = 0; i < kPieces; ++i) of[r][i] = Words{};
  }
  /// Where the elements of q lie that belong to words 4i … 4i + 3 of a product's factors.
  static ISOMER_DEVICE int column(int i, int t) {
    constexpr int kOfPiece = kElements / 8;
    return kElements * (t + i / kOfPiece * 4) + i % kOfPiece * 8;
  }
  /// s[n] += K·Qᵀ for the columns n of a lane's q.
  template <class T, int kColumns>
  ISOMER_DEVICE void add_products(f32 (&s)[kColumns][4], const Words (&q)[kColumns][kDim / 32]) const {
    if constexpr (kBytes) {
      add_byte_products<T>(s, of, q);
    } else {
#pragma unroll
      for (int n = 0; n < kColumns; ++n) device::add_products<T>(s[n], of, q[n]);
    }
  }
};

template <int kBytes>
struct PieceOf {
  using Type = Words;
};
template <>
struct PieceOf<8> {
  using Type = HalfWords;
};

/// Of rows 2t, 2t + 1, 2t + 8 and 2t + 9 of V pieces of 16 bytes, or of 8 where a row of bytes has too few of
/// 16 for eight lanes. Of every 64 columns (a chunk) the lane has four pairs.
template <class Key, int kDimV>
struct ValueRows {
  static constexpr bool kBytes = sizeof(Key) == 1;
  static constexpr int kPieceBytes = kBytes && kDimV % 128 != 0 ? 8 : 16, kWords = kPieceBytes / 4,
                       kElements = kPieceBytes / static_cast<int>(sizeof(Key)),
                       kPieces = kDimV / (8 * kElements);
  using Piece = typename PieceOf<kPieceBytes>::Type;
  Piece of[4][kPieces] = {};  // zero beyond Dv, for good

  static ISOMER_DEVICE int pieces(int dim, int g) {
    return (dim - kElements * g + 8 * kElements - 1) / (8 * kElements);
  }
  ISOMER_DEVICE void load(int r, const Key* from, int pieces) {
#pragma unroll
    for (int i = 0; i < kPieces; ++i) load_words_below(of[r][i], from + 8 * kElements * i, i, pieces);
  }
  ISOMER_DEVICE void clear(int r) {
#pragma unroll
    for (int i = 0; i < kPieces; ++i) of[r][i] = Piece{};
  }
  /// The column of the first of a chunk's pairs.
  static ISOMER_DEVICE int column(int chunk, int g) {
    constexpr int kOfPiece = kElements / 8;
    return kElements * (g + chunk / kOfPiece * 8) + chunk % kOfPiece * 8;
  }
  /// A pair of columns as the left factor, of 16 bits (f16 where they are bytes), of a product with weights.
  ISOMER_DEVICE Words factor(int chunk, int pair) const {
    if constexpr (kBytes) {
      constexpr int kOfPiece = kElements / 8;
      const int piece = chunk / kOfPiece, word = chunk % kOfPiece * 2 + pair / 2;
      Words factor;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const u32 first = of[2 * half][piece].of[word], second = of[2 * half + 1][piece].of[word];
        e4m3fn_to_f16(pair % 2 == 0 ? low_bytes_of(first, second) : high_bytes_of(first, second),
                      factor.of[2 * half], factor.of[2 * half + 1]);
      }
      return factor;
    } else {
      return columns_of(of, chunk, pair);
    }
  }

  /// out[n][chunk][pair] += Vᵀ·Pᵀ for the columns n of a lane's weights.
  template <class T, int kColumns>
  ISOMER_DEVICE void add_rows(f32 (&out)[kColumns][kDimV / 64][4][4],
                              const u32 (&weights)[kColumns][2]) const {
#pragma unroll
    for (int i = 0; i < kDimV / 64; ++i)
#pragma unroll
      for (int w = 0; w < 4; ++w) {
        const Words rows = factor(i, w);
#pragma unroll
        for (int n = 0; n < kColumns; ++n) multiply_add<T>(out[n][i][w], rows.of, weights[n]);
      }
  }

  /// Whether an element may not be finite.
  template <class T>
  ISOMER_DEVICE bool any_non_finite() const {
    u32 noted = 0;
#pragma unroll
    for (int r = 0; r < 4; ++r)
#pragma unroll
      for (int i = 0; i < kPieces * kWords; ++i) {
        const u32 word = of[r][i / kWords].of[i % kWords];
        if constexpr (kBytes)
          noted |= non_finite_bytes(word);
        else
          note_non_finite<T>(noted, word);
      }
    return (noted & (kBytes ? 0x80808080u : 0x7fff7fffu)) != 0;
  }
  template <class T>
  ISOMER_DEVICE void make_finite() {
#pragma unroll
    for (int i = 0; i < 4 * kPieces * kWords; ++i) {
      u32& word = of[i / (kPieces * kWords)][i / kWords % kPieces].of[i % kWords];
      if constexpr (kBytes)
        word = finite_bytes_only(word);
      else
        word = finite_only<T>(word);
    }
  }
};

}  // namespace isomer::device::attention
