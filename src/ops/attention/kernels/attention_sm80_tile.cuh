// What a block of the mma.sync kernel works on, and how q, k and v come into its shared memory.
#pragma once

#include "gpu/device/async_copy.cuh"
#include "gpu/device/mma.cuh"
#include "gpu/device/portable.cuh"
#include "ops/attention/kernels/attention_sm80.h"
#include "ops/attention/kernels/attention_tile.cuh"

namespace isomer::device::attention_sm80 {

using Element = ISOMER_ELEMENT;
using Parameters = AttentionSm80Parameters;

constexpr int kDim = ISOMER_HEAD_DIM, kDimV = ISOMER_HEAD_DIM_V;
constexpr int kRows = ISOMER_BLOCK_M, kKeys = ISOMER_BLOCK_N;
constexpr int kWarps = ISOMER_WARPS, kThreads = kWarps * 32;
constexpr int kStages = ISOMER_STAGES, kResident = ISOMER_RESIDENT;
constexpr bool kSoftcap = ISOMER_SOFTCAP, kPages = ISOMER_PAGES;
/// Head dimensions are less than the tile's.
constexpr bool kPadded = ISOMER_PADDED;

constexpr int kM = kRows / kWarps / 16;  // fragments of 16 rows of a warp
constexpr int kN = kKeys / 8;            // and of 8 keys of S
constexpr AttentionSm80Layout kLayout(kDim, kDimV, kRows, kKeys, kStages, kWarps, kPages);
static_assert(kWarpSize == 32 && kRows == kM * kWarps * 16 && kM <= 2 && kKeys % 32 == 0);
static_assert(kDim % 16 == 0 && kDimV % 16 == 0 && kDimV <= kDim && (kStages == 1 || kStages == 2));

/// One thread makes it in shared memory.
struct Work : attention::Task {
  /// The head of the task's keys: key `begin`, or with pages the head of the first row.
  const Element *k, *v;
};
static_assert(sizeof(Work) <= AttentionSm80Layout::kTaskBytes);

/// Where row r has the piece of 16 bytes at `piece`, rows `pitch` bytes apart: eight rows of the same piece
/// lie in different banks.
ISOMER_DEVICE int piece_at(int r, int piece, int pitch) { return r * pitch + ((piece ^ (r & 7)) << 4); }

struct Limits {
  i32 low, high;  ///< keys [low, high) from the task's begin on that a row sees
};

/// What a warp's rows see between them, in keys from the task's begin on.
struct WarpLimits {
  int low, high;              ///< some row sees keys of [low, high)
  int clear_low, clear_high;  ///< every row sees all of [clear_low, clear_high)
};

/// The block's shared memory.
struct Shared {
  u8* base;

  ISOMER_DEVICE u8* q() const { return base; }
  ISOMER_DEVICE u8* k(int stage) const { return base + kLayout.k + stage * kLayout.k_bytes; }
  ISOMER_DEVICE u8* v(int stage) const { return base + kLayout.v + stage * kLayout.v_bytes; }
  ISOMER_DEVICE Limits* limits() const { return reinterpret_cast<Limits*>(base + kLayout.limits); }
  ISOMER_DEVICE Work& work() const { return *reinterpret_cast<Work*>(base + kLayout.task); }
  ISOMER_DEVICE WarpLimits& seen() const {
    return reinterpret_cast<WarpLimits*>(base +
                                         kLayout.seen)[computed_here(static_cast<int>(threadIdx.x)) / 32];
  }
  /// Of each key whether the page table names no page for it.
  ISOMER_DEVICE u32* lost(int stage) const {
    return reinterpret_cast<u32*>(base + kLayout.lost) + stage * kKeys;
  }
};

ISOMER_DEVICE int first_row() { return computed_here(static_cast<int>(threadIdx.x)) / 32 * 16 * kM; }
/// Of the lane's rows in the tile the one of fragment m, half r.
ISOMER_DEVICE int row_of(int m, int r) { return first_row() + 16 * m + 8 * r + lane() / 4; }

/// What block `number` of the launch does. Counted in 32 bits: whatever waits for it waits for a chain of
/// these.
ISOMER_DEVICE Work work_of(const Parameters& p, u32 number) {
  Work t{};
  if (p.parts > 1) {
    const u32 entire = quotient_of(number, p.of_parts);
    t.part = number - entire * static_cast<u32>(p.parts);
    number = entire;
  }
  const u32 of_section = static_cast<u32>(p.of_section.value), tiles = static_cast<u32>(p.tiles);
  const u32 first = quotient_of(number, p.of_section_tiles) * of_section;
  const u32 rest = number - first * tiles, left = static_cast<u32>(p.units * p.batch) - first;
  const u32 together = of_section < left ? of_section : left;
  const u32 turn = together == of_section ? quotient_of(rest, p.of_section) : rest / together;
  const u32 unit = first + rest - turn * together, b = quotient_of(unit, p.of_units);
  t.b = b;
  t.entry = attention::entry_of(p, b);
  const i64 row = static_cast<i64>(tiles - 1 - turn) * kRows, rows = t.entry.q_len * p.unit_heads - row;
  i64 part_begin = 0, part_end = t.entry.k_len;
  if (p.parts > 1) {
    const i64 size = attention::part_keys(p, t.entry, kKeys);
    part_begin = t.part * size;
    part_end = part_begin + size;
  }
  // Parts past the keys have no result.
  t.exists = rows > 0 && (p.parts == 1 || part_begin < t.entry.k_len);
  if (!t.exists) return t;
  const u32 head = (unit - b * static_cast<u32>(p.units)) * static_cast<u32>(p.unit_heads);
  t.tile = {row, static_cast<int>(least(rows, kRows)), head, p.of_unit_heads};
  t.head_kv = quotient_of(head, p.of_group);
  t.keys = p.unit_heads == 1
               ? attention::visible(p, t.entry, row, row + t.tile.rows)
               : attention::visible(p, t.entry, t.tile.query(0), t.tile.query(t.tile.rows - 1) + 1);
  if (p.parts > 1) {
    t.keys.lo = t.keys.lo > part_begin ? t.keys.lo : part_begin;
    t.keys.hi = least(t.keys.hi, part_end);
  }
  // Blocks begin where they would whatever the tile sees.
  t.begin = part_begin + static_cast<i64>(static_cast<u32>(t.keys.lo - part_begin) / kKeys * kKeys);
  t.factor = p.softcap > 0 ? p.scale / p.softcap : p.scale * kLog2E;
  const i64 outer = kPages ? 0 : t.entry.kv_outer, first_row = kPages ? 0 : t.entry.first_slot + t.begin;
  t.k = attention::at<const Element>(p.k, outer, first_row, t.head_kv);
  t.v = attention::at<const Element>(p.v, outer, first_row, t.head_kv);
  return t;
}

/// Head and query of row r, without a division where heads do not share the tile.
ISOMER_DEVICE i64 head_of(const Parameters& p, const Work& t, int r) {
  return p.unit_heads == 1 ? t.tile.first_head : t.tile.head(r);
}
ISOMER_DEVICE i64 query_of(const Parameters& p, const Work& t, int r) {
  return p.unit_heads == 1 ? t.tile.first + r : t.tile.query(r);
}

/// Where rows of the tile lie in q or out.
struct RowPlaces {
  const Parameters& p;
  const Work& t;
  const AttentionRows& rows;
  Element* first;  ///< where heads do not share the tile, its first row

  ISOMER_DEVICE RowPlaces(const Parameters& parameters, const Work& task, const AttentionRows& view)
      : p(parameters), t(task), rows(view), first(nullptr) {
    if (p.unit_heads == 1)
      first = attention::at<Element>(rows, t.entry.q_outer, t.entry.q_row + t.tile.first, t.tile.first_head);
  }
  ISOMER_DEVICE Element* at(int r) const {
    if (p.unit_heads == 1) return first + r * rows.row_stride;
    return attention::at<Element>(rows, t.entry.q_outer, t.entry.q_row + t.tile.query(r), t.tile.head(r));
  }
};

/// Writes down what each of the warp's rows sees, and what they see between them. Rows behind the tile's last
/// are nobody's and see everything.
ISOMER_DEVICE void put_limits(const Parameters& p, const Work& t, const Shared& shared) {
  const int all = static_cast<int>(t.keys.hi - t.begin), row = first_row() + lane() % (16 * kM);
  Limits limits{0, all};
  if (row < t.tile.rows) {
    t.seen_by(p, row, limits.low, limits.high);
    limits.low -= static_cast<int>(t.begin);
    limits.high -= static_cast<int>(t.begin);
    if (limits.low >= limits.high) limits = {all, 0};
  }
  if (lane() < 16 * kM) shared.limits()[row] = limits;
  const bool nobody = row >= t.tile.rows;
  const WarpLimits between = {least_lane(nobody ? all : limits.low), largest_lane(nobody ? 0 : limits.high),
                              largest_lane(limits.low), least_lane(limits.high)};
  if (lane() == 0) shared.seen() = between;
  warp_barrier();
}

/// Of a thread: 16 copies for every tile of 128 rows of 128 columns that may be under way.
constexpr int kCopies =
    (kRows * (kLayout.pitch / 16) + kStages * kKeys * ((kLayout.pitch + kLayout.pitch_v) / 16)) / kThreads;
using Copies = AsyncCopies<kCopies>;

// Eight threads bring a row, each a piece of 16 bytes of every panel.
constexpr int kRowsOfPass = kThreads / 8;
ISOMER_DEVICE int copied_row() { return computed_here(static_cast<int>(threadIdx.x)) / 8; }
ISOMER_DEVICE int copied_piece() { return computed_here(static_cast<int>(threadIdx.x)) % 8; }

/// One row of a tile, of which the first `columns` exist where the row does.
template <int kDims>
ISOMER_DEVICE void copy_row(Copies& copies, u8* to, const Element* row, int columns, bool exists) {
#pragma unroll
  for (int panel = 0; panel < AttentionSm80Layout::panels(kDims); ++panel) {
    const bool valid = exists && ((!kPadded && kDims % 64 == 0) || panel * 64 + copied_piece() * 8 < columns);
    copies.template copy<16>(to + panel * AttentionSm80Layout::kPanelBytes, row + panel * 64, valid ? 16 : 0);
  }
}

ISOMER_DEVICE void copy_queries(Copies& copies, const Parameters& p, const Work& t, const Shared& shared) {
  const RowPlaces places(p, t, p.q);
#pragma unroll
  for (int pass = 0; pass < kRows / kRowsOfPass; ++pass) {
    const int r = copied_row() + pass * kRowsOfPass;
    const bool exists = r < t.tile.rows;
    copy_row<kDim>(copies, shared.q() + piece_at(r, copied_piece(), kLayout.pitch),
                   places.at(exists ? r : 0) + copied_piece() * 8, p.head_dim, exists);
  }
}

/// The block of k or of v that begins at key `begin`, the head of which is `head`. Keys that no row of the
/// tile sees, and those without a page, arrive as zeros; `lost` is told which have no page.
template <int kDims>
ISOMER_DEVICE void copy_keys(Copies& copies, const Parameters& p, const Work& t, const AttentionRows& rows,
                             const Element* head, int columns, int begin, u8* to, u32* lost) {
  constexpr int kPitch = AttentionSm80Layout::panels(kDims) * AttentionSm80Layout::kPanelBytes;
  const int line = copied_row(), first = begin + line;
  const int low = static_cast<int>(t.keys.lo - t.begin), count = static_cast<int>(t.keys.hi - t.keys.lo);
  to += piece_at(line, copied_piece(), kPitch);
  head += copied_piece() * 8;
  const Element* row = head + first * rows.row_stride;
#pragma unroll
  for (int pass = 0; pass < kKeys / kRowsOfPass; ++pass) {
    const int key = first + pass * kRowsOfPass;
    bool exists = static_cast<u32>(key - low) < static_cast<u32>(count);
    if constexpr (kPages) {
      AttentionPlace place{0, 0};
      if (exists) place = attention::place_of(p, t.entry, t.begin + key);
      if (lost != nullptr && copied_piece() == 0) lost[line + pass * kRowsOfPass] = place.outer < 0;
      if (place.outer < 0) {
        place = {0, 0};
        exists = false;
      }
      row = head + place.outer * rows.outer_stride + place.row * rows.row_stride;
    }
    copy_row<kDims>(copies, to + pass * kRowsOfPass * kPitch, row, columns, exists);
    if constexpr (!kPages) row += kRowsOfPass * rows.row_stride;
  }
}

}  // namespace isomer::device::attention_sm80
