// Tiles of q, k and v on their way from memory through registers into shared memory.
#pragma once

#include "ops/attention/kernels/attention_entry.cuh"

namespace isomer::device::attention {

/// Not an element offset of any tensor: there is no such key.
constexpr i64 kNowhere = static_cast<i64>(1ull << 63);

/// Where a key of the block lies: element offsets into k and v, without the head's.
struct KeyPlace {
  i64 k, v;
};

/// Where the keys of a block that begins at `begin` lie; those outside of [keys.lo, keys.hi) are nowhere.
template <int kKeys, int kThreads>
ISOMER_DEVICE void locate(const AttentionParameters& p, const AttentionEntry& e, const AttentionKeys& keys,
                          i64 begin, KeyPlace* places) {
  for (int r = static_cast<int>(threadIdx.x); r < kKeys; r += kThreads) {
    const i64 j = begin + r;
    KeyPlace found{kNowhere, kNowhere};
    if (j >= keys.lo && j < keys.hi) {
      const AttentionPlace place = place_of(p, e, j);
      if (place.outer >= 0)
        found = {place.outer * p.k.outer_stride + place.row * p.k.row_stride,
                 place.outer * p.v.outer_stride + place.row * p.v.row_stride};
    }
    places[r] = found;
  }
}

/// Not finite: it would turn a weight of 0 into NaN.
ISOMER_DEVICE bool is_wild(f32 x) { return (bits_of(x) & 0x7f800000u) == 0x7f800000u; }

/// A block of keys or of values as kRows rows of kColumns f32, a pitch apart, zero where there is no key;
/// columns past `columns` stay as they are. fetch() asks memory for a block that is small enough to wait in
/// registers, put() lays the block down.
template <class T, int kRows, int kColumns, int kThreads, int kPitch>
struct KeyTile {
  static constexpr int kVector = sizeof(T) == 1 ? 8 : 16 / static_cast<int>(sizeof(T));
  static constexpr int kChunks = kColumns / kVector;  // of a row
  static constexpr int kPasses = (kRows * kChunks + kThreads - 1) / kThreads;
  static constexpr int kInFlight = kPasses < 4 ? kPasses : 4;  // loads of a thread
  static constexpr bool kWaits = kPasses == kInFlight;
  Vector<T, kVector> held[kInFlight];

  static ISOMER_DEVICE int row(int pass) {
    return (static_cast<int>(threadIdx.x) + pass * kThreads) / kChunks;
  }
  static ISOMER_DEVICE int column(int pass) {
    return (static_cast<int>(threadIdx.x) + pass * kThreads) % kChunks * kVector;
  }
  static ISOMER_DEVICE bool inside(int pass, int columns) {
    return (kRows * kChunks % (kThreads * kInFlight) == 0 || row(pass) < kRows) && column(pass) < columns;
  }

  /// `data` is the head's first element; offset(place) is KeyPlace's for this tensor.
  template <class Offset>
  ISOMER_DEVICE void fetch(const T* data, const KeyPlace* places, int columns, bool vectors, Offset offset) {
    if (kWaits && vectors) ask(0, data, places, columns, offset);
  }

  /// True where this thread put down a value that is not finite.
  template <class Offset>
  ISOMER_DEVICE bool put(f32* to, const T* data, const KeyPlace* places, int columns, bool vectors,
                         i64 d_stride, Offset offset) {
    bool wild = false;
    if (!vectors) {
      // Lanes run along the keys: those are adjacent in a column-major v.
#pragma unroll 1
      for (int n = static_cast<int>(threadIdx.x); n < kRows * columns; n += kThreads) {
        const int r = n % kRows, c = n / kRows;
        const i64 place = offset(places[r]);
        const f32 x = place == kNowhere ? 0.0f : to_f32(data[place + c * d_stride]);
        wild |= is_wild(x);
        to[r * kPitch + c] = x;
      }
      return wild;
    }
    if constexpr (kWaits) {
      lay(0, to, columns, wild);
    } else {
#pragma unroll 1
      for (int pass = 0; pass < kPasses; pass += kInFlight) {
        ask(pass, data, places, columns, offset);
        lay(pass, to, columns, wild);
      }
    }
    return wild;
  }

 private:
  template <class Offset>
  ISOMER_DEVICE void ask(int first, const T* data, const KeyPlace* places, int columns, Offset offset) {
#pragma unroll
    for (int h = 0; h < kInFlight; ++h) {
      if (!inside(first + h, columns)) continue;
      const i64 place = offset(places[row(first + h)]);
      held[h] = Vector<T, kVector>{};
      if (place != kNowhere) held[h] = load<kVector>(data + place + column(first + h));
    }
  }
  ISOMER_DEVICE void lay(int first, f32* to, int columns, bool& wild) const {
#pragma unroll
    for (int h = 0; h < kInFlight; ++h) {
      if (!inside(first + h, columns)) continue;
      f32* at = to + row(first + h) * kPitch + column(first + h);
#pragma unroll
      for (int i = 0; i < kVector; i += 4) {
        Vector<f32, 4> four;
#pragma unroll
        for (int c = 0; c < 4; ++c) {
          four.of[c] = to_f32(held[h].of[i + c]);
          wild |= is_wild(four.of[c]);
        }
        store<4>(at + i, four);
      }
    }
  }
};

/// The query rows of a tile. Row r of a unit is query r / unit_heads of head unit·unit_heads + r %
/// unit_heads.
struct QueryTile {
  i64 first;       ///< row of the unit
  int rows;        ///< of the tile
  i64 first_head;  ///< unit·unit_heads
  i32 unit_heads;

  ISOMER_DEVICE i64 query(int r) const { return unit_heads == 1 ? first + r : (first + r) / unit_heads; }
  ISOMER_DEVICE i64 head(int r) const {
    return unit_heads == 1 ? first_head : first_head + (first + r) % unit_heads;
  }
};

/// Lays the tile's queries down as f32, rotated where asked; rows past the tile's are 0.
template <class T, int kRows, int kThreads, int kPitch>
ISOMER_DEVICE void put_queries(const AttentionParameters& p, const AttentionEntry& e, const QueryTile& tile,
                               f32* to) {
  constexpr int kVector = 16 / static_cast<int>(sizeof(T));
  const int step = p.q_vectors && !p.rotary_cos ? kVector : 1;
  const int chunks = p.head_dim / step;
  for (int n = static_cast<int>(threadIdx.x); n < kRows * chunks; n += kThreads) {
    const int r = n / chunks, c = n % chunks * step;
    f32* at = to + r * kPitch + c;
    if (r >= tile.rows) {
      for (int i = 0; i < step; ++i) at[i] = 0.0f;
      continue;
    }
    const i64 i = tile.query(r);
    const T* row = attention::at<const T>(p.q, e.q_outer, e.q_row + i, tile.head(r));
    if (step == kVector) {
      const Vector<T, kVector> in = load<kVector>(row + c);
#pragma unroll
      for (int k = 0; k < kVector; ++k) at[k] = to_f32(in.of[k]);
    } else if (p.rotary_cos) {
      // Without a mask a query has no place of its own: all stand where the new keys begin.
      const bool masked = p.window_left >= 0 || p.window_right >= 0;
      *at = rotated(p, row, c, e.position + (masked ? i : 0));
    } else {
      *at = to_f32(row[c]);
    }
  }
}

}  // namespace isomer::device::attention
