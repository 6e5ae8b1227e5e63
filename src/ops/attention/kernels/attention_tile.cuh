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
ISOMER_DEVICE bool is_non_finite(f32 x) { return (bits_of(x) & 0x7f800000u) == 0x7f800000u; }
ISOMER_DEVICE bool is_non_finite(f16 x) { return (x.bits & 0x7c00u) == 0x7c00u; }
ISOMER_DEVICE bool is_non_finite(bf16 x) { return (x.bits & 0x7f80u) == 0x7f80u; }
ISOMER_DEVICE bool is_non_finite(e4m3fn x) { return (x.bits & 0x7fu) == 0x7fu; }

/// To a type that holds every value of T.
template <class To, class T>
struct Widen {
  static ISOMER_DEVICE To of(T x) { return from_f32<To>(to_f32(x)); }
};
template <class T>
struct Widen<T, T> {
  static ISOMER_DEVICE T of(T x) { return x; }
};

#if ISOMER_CUDA_ARCH >= 890
template <>
struct Widen<f16, e4m3fn> {
  static ISOMER_DEVICE f16 of(e4m3fn x) {
    u32 pair;
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(pair) : "h"(static_cast<u16>(x.bits)));
    return f16{static_cast<u16>(pair)};
  }
};
#endif

/// A block of keys or of values, T in memory, as kRows rows of kColumns To, a pitch apart: zero where there
/// is no key and from `columns` up to `padded`; later columns stay as they are. fetch() asks memory for a
/// block that is small enough to wait in registers, put() lays the block down.
template <class T, class To, int kRows, int kColumns, int kThreads, int kPitch, int kMostHeld>
struct KeyTile {
  static constexpr int kVector = sizeof(T) == 1 ? 8 : 16 / static_cast<int>(sizeof(T));
  static constexpr int kStore =
      16 / static_cast<int>(sizeof(To)) < kVector ? 16 / static_cast<int>(sizeof(To)) : kVector;
  static constexpr int kChunks = kColumns / kVector;  // of a row
  static constexpr int kPasses = (kRows * kChunks + kThreads - 1) / kThreads;
  static constexpr int kInFlight = kPasses < kMostHeld ? kPasses : kMostHeld;  // loads of a thread
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
    if (kWaits && vectors) load_held(0, data, places, columns, offset);
  }

  /// True where this thread put down a value that is not finite.
  template <class Offset>
  ISOMER_DEVICE bool put(To* to, const T* data, const KeyPlace* places, int columns, int padded, bool vectors,
                         i64 d_stride, Offset offset) {
    bool non_finite = false;
    if (!vectors) {
      // Lanes run along the keys: those are adjacent in a column-major v.
#pragma unroll 1
      for (int n = static_cast<int>(threadIdx.x); n < kRows * padded; n += kThreads) {
        const int r = n % kRows, c = n / kRows;
        const i64 place = offset(places[r]);
        T x{};
        if (place != kNowhere && c < columns) x = data[place + c * d_stride];
        non_finite |= is_non_finite(x);
        to[r * kPitch + c] = Widen<To, T>::of(x);
      }
      return non_finite;
    }
    if constexpr (kWaits) {
      store_held(0, to, columns, padded, non_finite);
    } else {
#pragma unroll 1
      for (int pass = 0; pass < kPasses; pass += kInFlight) {
        load_held(pass, data, places, columns, offset);
        store_held(pass, to, columns, padded, non_finite);
      }
    }
    return non_finite;
  }

 private:
  template <class Offset>
  ISOMER_DEVICE void load_held(int first, const T* data, const KeyPlace* places, int columns, Offset offset) {
#pragma unroll
    for (int h = 0; h < kInFlight; ++h) {
      if (!inside(first + h, columns)) continue;
      const i64 place = offset(places[row(first + h)]);
      held[h] = Vector<T, kVector>{};
      if (place != kNowhere) held[h] = load<kVector>(data + place + column(first + h));
    }
  }
  ISOMER_DEVICE void store_held(int first, To* to, int columns, int padded, bool& non_finite) {
#pragma unroll
    for (int h = 0; h < kInFlight; ++h) {
      if (!inside(first + h, padded)) continue;
      if (column(first + h) >= columns) held[h] = Vector<T, kVector>{};
      To* at = to + row(first + h) * kPitch + column(first + h);
#pragma unroll
      for (int i = 0; i < kVector; i += kStore) {
        Vector<To, kStore> some;
#pragma unroll
        for (int c = 0; c < kStore; ++c) {
          some.of[c] = Widen<To, T>::of(held[h].of[i + c]);
          non_finite |= is_non_finite(held[h].of[i + c]);
        }
        store<kStore>(at + i, some);
      }
    }
  }
};

/// The query rows of a tile. Row r of a unit is query r / unit_heads of head unit·unit_heads + r %
/// unit_heads.
struct QueryTile {
  Count first;       ///< row of the unit
  int rows;          ///< of the tile
  Count first_head;  ///< unit·unit_heads
  Divisor unit_heads;

  ISOMER_DEVICE Count query(int r) const { return kPlain ? 0 : quotient_of(first + r, unit_heads); }
  ISOMER_DEVICE Count head(int r) const {
    return first_head + (first + r) - query(r) * static_cast<Count>(unit_heads.value);
  }
};

/// Lays the tile's queries down as To, rotated where asked: zero past the tile's rows and past head_dim up to
/// `padded`.
template <class T, class To, int kRows, int kThreads, int kPitch>
ISOMER_DEVICE void put_queries(const AttentionParameters& p, const AttentionEntry& e, const QueryTile& tile,
                               int padded, To* to) {
  constexpr int kVector = sizeof(T) == 1 ? 8 : 16 / static_cast<int>(sizeof(T));
  const int step = p.q_vectors && !p.rotary_cos ? kVector : 1;
  const int chunks = padded / step;
  // Without a mask a query has no place of its own: all stand where the new keys begin.
  const bool masked = p.window_left >= 0 || p.window_right >= 0 || p.chunk > 0;
#pragma unroll 1
  for (int n = static_cast<int>(threadIdx.x); n < kRows * chunks; n += kThreads) {
    const int r = n / chunks, c = n % chunks * step;
    To* at = to + r * kPitch + c;
    if (r >= tile.rows || c >= p.head_dim) {
      for (int i = 0; i < step; ++i) at[i] = To{};
      continue;
    }
    const i64 i = tile.query(r);
    const T* row = attention::at<const T>(p.q, e.q_outer, e.q_row + i, tile.head(r));
    if (step == kVector) {
      const Vector<T, kVector> in = load<kVector>(row + c);
#pragma unroll
      for (int k = 0; k < kVector; ++k) at[k] = Widen<To, T>::of(in.of[k]);
    } else if (p.rotary_cos) {
      *at = from_f32<To>(rotated(p, row, c, e.position + (masked ? i : 0)));
    } else {
      *at = Widen<To, T>::of(row[c]);
    }
  }
}

/// The tile's rows of qv as kRows rows of `columns` To, a pitch apart: zero where there is no row.
template <class T, class To, int kRows, int kThreads, int kPitch>
ISOMER_DEVICE void put_qv(const AttentionRows& qv, const AttentionEntry& e, const QueryTile& tile,
                          int columns, To* to) {
#pragma unroll 1
  for (int n = static_cast<int>(threadIdx.x); n < kRows * columns; n += kThreads) {
    const int r = n / columns, c = n % columns;
    To x{};
    if (r < tile.rows)
      x = Widen<To, T>::of(at<const T>(qv, e.q_outer, e.q_row + tile.query(r), tile.head(r))[c]);
    to[r * kPitch + c] = x;
  }
}

/// What one block does at a time: the query rows of a tile against the keys of one part of their entry. One
/// thread makes it in shared memory.
struct Task {
  bool exists;
  Count b, part;
  AttentionEntry entry;
  QueryTile tile;
  AttentionKeys keys;  ///< that some row sees
  Count begin;         ///< of their first block
  Count head_kv;
  f32 factor;  ///< multiplies q·k, before the softcap or for exponents of 2

  /// Keys that row r sees: none where the tile has no such row.
  ISOMER_DEVICE void seen_by(const AttentionParameters& p, int r, int& lo, int& hi) const {
    AttentionKeys seen{0, 0};
    if (r < tile.rows) {
      const Count i = tile.query(r);
      seen = visible(p, entry, i, i + 1);
      // A block begins before the part where the part does not begin with a block, and ends after it.
      seen.lo = seen.lo > keys.lo ? seen.lo : keys.lo;
      seen.hi = least(seen.hi, keys.hi);
    }
    lo = static_cast<int>(seen.lo);
    hi = static_cast<int>(seen.hi);
  }
};

/// Which rows of an entry a block takes, whatever the entry is.
struct RowsOfBlock {
  Count unit, index;  ///< tile `index` of the unit
  Count head_kv;
};
/// `which` counts the tiles of an entry's units. The last rows first: under a causal mask they see the most
/// keys.
ISOMER_DEVICE RowsOfBlock rows_of_block(const AttentionParameters& p, Count which) {
  const Count unit = quotient_of(which, p.of_tiles);
  return {unit, p.tiles - 1 - (which - unit * p.tiles), quotient_of(unit * p.unit_heads, p.of_group)};
}

/// A tile of rows against the keys [part_begin, part_end).
template <int kRows, int kKeys>
ISOMER_DEVICE Task task_between(const AttentionParameters& p, const RowsOfBlock& rows, Count b,
                                const AttentionEntry& entry, Count part, Count part_begin, Count part_end) {
  Task t{};
  t.b = b;
  t.part = part;
  t.entry = entry;
  const Count rest = t.entry.q_len * p.unit_heads - rows.index * kRows;
  // Parts past the keys have no result.
  t.exists = rest > 0 && ((!kPlain && p.parts == 1) || part_begin < t.entry.k_len);
  if (!t.exists) return t;
  t.tile = {rows.index * kRows, static_cast<int>(least(rest, kRows)),
            static_cast<Count>(rows.unit * p.unit_heads), p.of_unit_heads};
  t.keys = visible(p, t.entry, t.tile.query(0), t.tile.query(t.tile.rows - 1) + 1);
  if (kPlain || p.parts > 1) {
    t.keys.lo = t.keys.lo > part_begin ? t.keys.lo : part_begin;
    t.keys.hi = least(t.keys.hi, part_end);
  }
  // Blocks begin where they would whatever the tile sees: a row's bits do not depend on its neighbours.
  t.begin = part_begin + (t.keys.lo - part_begin) / kKeys * kKeys;
  t.head_kv = rows.head_kv;
  t.factor = p.scale * factor(p.q_descale, t.b, t.head_kv) * factor(p.k_descale, t.b, t.head_kv);
  t.factor = p.softcap > 0 ? t.factor / p.softcap : t.factor * kLog2E;
  return t;
}

/// The task of a block where each entry's keys are divided by itself.
template <int kRows, int kKeys>
ISOMER_DEVICE Task task_of(const AttentionParameters& p, Count work) {
  const Count rest = quotient_of(quotient_of(work, p.of_tiles), p.of_units),
              part = quotient_of(rest, p.of_batch);
  const Count which = work - rest * p.tiles * p.units, b = rest - part * p.batch;
  const AttentionEntry entry = entry_of(p, b);
  const Count size = part_keys(p, entry, kKeys);
  return task_between<kRows, kKeys>(p, rows_of_block(p, which), b, entry, part, part * size,
                                    part * size + size);
}

/// Where row r of the tile has its partial result of the task's part.
ISOMER_DEVICE i64 partial_row(const AttentionParameters& p, const Task& t, int r) {
  return (t.part * p.heads + t.tile.head(r)) * p.partial_rows + t.entry.q_outer * p.q.rows + t.entry.q_row +
         t.tile.query(r);
}

}  // namespace isomer::device::attention
