// One batch entry's lengths and places, from device data. Whatever that data holds, no place is outside of
// its tensor: lengths are cut to what the tensors have, and a page or a cache row that does not exist is no
// key.
#pragma once

#include "gpu/device/exponential.cuh"
#include "gpu/device/portable.cuh"
#include "ops/attention/kernels/attention.h"

namespace isomer::device {

ISOMER_DEVICE Count least(Count a, Count b) { return a < b ? a : b; }
ISOMER_DEVICE Count clamp(Count x, Count low, Count high) { return x < low ? low : x > high ? high : x; }

struct AttentionEntry {
  Count q_outer, q_row, q_len;  ///< query i is row (q_outer, q_row + i) of q, out and lse
  Count kv_outer;               ///< cache row, or row of the page table
  Count first_slot, k_len;      ///< key j lies in slot first_slot + j; the appended ones are the last new_len
  Count new_outer, new_row, new_len;
  Count position;  ///< rotary position and slot of the first appended key
};

/// Keys [lo, hi), lo <= hi.
struct AttentionKeys {
  Count lo, hi;
};

/// Row of k and v; outer is −1 where there is none.
struct AttentionPlace {
  Count outer, row;
};

namespace attention {

/// [begin, end) of entry b among `rows`.
struct Rows {
  Count begin, length;
};
ISOMER_DEVICE Rows rows_of(const i32* cu, Count b, Count rows) {
  const Count begin = clamp(cu[b], 0, rows);
  return {begin, clamp(cu[b + 1], begin, rows) - begin};
}

ISOMER_DEVICE AttentionEntry entry_of(const AttentionParameters& p, Count b) {
  AttentionEntry e{};
  Rows q{0, kPlain ? 1 : static_cast<Count>(p.q.rows)};
  if (p.cu_seqlens_q) q = rows_of(p.cu_seqlens_q, b, p.q.rows);
  e.q_outer = p.cu_seqlens_q ? 0 : b;
  e.q_row = q.begin;
  e.q_len = p.seqused_q ? clamp(p.seqused_q[b], 0, q.length) : q.length;

  Rows slots{0, static_cast<Count>(p.page_table ? p.max_pages * p.page_size : p.k.rows)};
  if (p.cu_seqlens_k) slots = rows_of(p.cu_seqlens_k, b, p.k.rows);
  e.kv_outer = p.cu_seqlens_k ? 0 : p.kv_batch_idx ? p.kv_batch_idx[b] : b;
  if (e.kv_outer < 0 || e.kv_outer >= (p.page_table ? p.table_rows : p.k.outers)) slots.length = 0;
  Count length = p.seqused_k ? clamp(p.seqused_k[b], 0, slots.length) : slots.length;
  if (p.cache_seqlens) {
    Rows added{0, static_cast<Count>(p.k_new.rows)};
    if (p.cu_seqlens_k_new) added = rows_of(p.cu_seqlens_k_new, b, p.k_new.rows);
    e.new_outer = p.cu_seqlens_k_new ? 0 : b;
    e.new_row = added.begin;
    e.position = clamp(p.cache_seqlens[b], 0, slots.length);
    e.new_len = least(added.length, slots.length - e.position);
    length = e.position + e.new_len;
  }
  const Count padding = p.leftpad_k ? clamp(p.leftpad_k[b], 0, length - e.new_len) : 0;
  e.first_slot = slots.begin + padding;
  e.k_len = length - padding;
  return e;
}

/// Of key j, 0 <= j < k_len: what the page table says, which may be no page. Reads one entry of it.
ISOMER_DEVICE AttentionPlace entry_place_of(const AttentionParameters& p, const AttentionEntry& e, Count j) {
  const Count slot = e.first_slot + j;
  if (!p.page_table) return {e.kv_outer, slot};
  const u32 column = static_cast<u32>(slot) / p.page_size;
  return {p.page_table[e.kv_outer * p.page_table_stride + column],
          static_cast<Count>(static_cast<u32>(slot) - column * p.page_size)};
}
/// The same, nowhere where there is no such page.
ISOMER_DEVICE AttentionPlace place_of(const AttentionParameters& p, const AttentionEntry& e, Count j) {
  AttentionPlace place = entry_place_of(p, e, j);
  if (place.outer >= p.k.outers) place.outer = -1;
  return place;
}

/// Where the chunk of a place begins, which may lie before the first key.
ISOMER_DEVICE Count chunk_begin(const AttentionParameters& p, Count place) {
  const Count rest = place % p.chunk;
  return place - (rest < 0 ? rest + p.chunk : rest);
}

/// What queries [first, last) see between them.
ISOMER_DEVICE AttentionKeys visible(const AttentionParameters& p, const AttentionEntry& e, Count first,
                                    Count last) {
  const Count shift = e.k_len - e.q_len;
  AttentionKeys keys{0, e.k_len};
  if (p.window_left >= 0) keys.lo = clamp(first + shift - p.window_left, 0, e.k_len);
  if (p.window_right >= 0) keys.hi = clamp(last + shift + p.window_right, 0, e.k_len);
  if (p.chunk > 0) {
    const Count low = chunk_begin(p, first + shift), high = chunk_begin(p, last - 1 + shift) + p.chunk;
    keys.lo = low > keys.lo ? least(low, e.k_len) : keys.lo;
    keys.hi = least(keys.hi, high > 0 ? high : 0);
  }
  if (keys.hi < keys.lo) keys.hi = keys.lo;
  return keys;
}

/// Keys of one part of the entry: whole blocks where the number of parts is given.
ISOMER_DEVICE Count part_keys(const AttentionParameters& p, const AttentionEntry& e, Count block) {
  if (p.split_size > 0) return p.split_size;
  const Count blocks = (e.k_len + block - 1) / block;
  return quotient_of(blocks + p.parts - 1, p.of_parts) * block;
}

ISOMER_DEVICE f32 factor(const AttentionFactors& factors, i64 b, i64 head) {
  return factors.data ? factors.data[b * factors.entry_stride + head * factors.head_stride] : 1.0f;
}

ISOMER_DEVICE f32 read(const void* data, AttentionWide type, i64 at) {
  if (type == AttentionWide::f32) return static_cast<const f32*>(data)[at];
  if (type == AttentionWide::f16) return to_f32(static_cast<const f16*>(data)[at]);
  return to_f32(static_cast<const bf16*>(data)[at]);
}

template <class T>
ISOMER_DEVICE T* at(const AttentionRows& rows, i64 outer, i64 row, i64 head) {
  return static_cast<T*>(rows.data) +
         (outer * rows.outer_stride + row * rows.row_stride + head * rows.head_stride);
}

/// Element d of a row of T after the rotary embedding, in f32. Any d; those past rotary_dim stay.
template <class T>
ISOMER_DEVICE f32 turned(const AttentionParameters& p, const T* row, int d, i64 position) {
  const f32 x = to_f32(row[d]);
  if (d >= p.rotary_dim) return x;
  const int pairs = p.rotary_dim / 2;
  const bool second = p.rotary_interleaved ? d % 2 != 0 : d >= pairs;
  const int distance = p.rotary_interleaved ? 1 : pairs;
  const int pair = p.rotary_interleaved ? d / 2 : second ? d - pairs : d;
  const f32 other = to_f32(row[second ? d - distance : d + distance]);
  const i64 line = least(position, p.positions - 1);
  const f32 cos = read(p.rotary_cos, p.rotary_type, line * p.cos_stride + pair);
  const f32 sin = read(p.rotary_sin, p.rotary_type, line * p.sin_stride + pair);
  return second ? x * cos + other * sin : x * cos - other * sin;
}

/// The same rounded to T.
template <class T>
ISOMER_DEVICE f32 rotated(const AttentionParameters& p, const T* row, int d, i64 position) {
  return to_f32(from_f32<T>(turned(p, row, d, position)));
}

}  // namespace attention
}  // namespace isomer::device
