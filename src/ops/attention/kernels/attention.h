#pragma once

#include "gpu/device/divisor.h"
#include "gpu/device/types.h"

namespace isomer::device {

// A plain call of decode has one query for each entry, the whole heads that a tile has room for, and keys
// from slot 0 on that no mask leaves out, divided over workers. Its kernel is compiled without what it lacks,
// with 32 bits for what counts rows and keys: the code that runs once in a block is what short calls wait
// for. ISOMER_PLAIN is 1 where it has no new keys, and 2 where it has. FIXED(type, name, value) is a member
// that such a kernel knows, and FIXED_ALONE one that it knows without new keys; it keeps its place.
#if defined(ISOMER_PLAIN) && ISOMER_PLAIN
constexpr bool kPlain = true;
using Count = i32;
#define ISOMER_FIXED(type, name, value) \
  static constexpr type name = value;   \
  type name##_in_place
#else
constexpr bool kPlain = false;
using Count = i64;
#define ISOMER_FIXED(type, name, value) type name
#endif
#if defined(ISOMER_PLAIN) && ISOMER_PLAIN == 1
#define ISOMER_FIXED_ALONE ISOMER_FIXED
#else
#define ISOMER_FIXED_ALONE(type, name, value) type name
#endif

/// A tensor as element (outer, row, head, d) at outer·outer_stride + row·row_stride + head·head_stride +
/// d·d_stride, whatever its rank and order; strides in elements. Null where the call has none.
struct AttentionRows {
  void* data;
  i64 outer_stride, row_stride, head_stride;
  i64 d_stride;  ///< 1 but for a column-major v
  i64 outers, rows;
};

/// f32 factors [B, Hkv]; null: all 1.
struct AttentionFactors {
  const f32* data;
  i64 entry_stride, head_stride;
};

/// Types of what is read one element at a time.
enum class AttentionWide : i32 { f32, f16, bf16 };

/// One attention call, for every kernel of it. Lengths and indices that lie on the device are read and
/// clamped there.
struct AttentionParameters {
  // What a block of decode reads before it asks for its first keys lies together: parameters come to a
  // multiprocessor in lines, each of which is waited for.
  i64 batch;
  i64 workers;     ///< of stream-K, which the keys of all entries are divided over; 0: each entry's by
                   ///< themselves
  i64 tiles;       ///< of a unit, at most
  i64 units;       ///< of an entry
  i64 unit_heads;  ///< query heads that share a tile: the group where packed, else 1
  i64 parts;       ///< of an entry's keys, at most
  i64 least_part;  ///< keys of a worker at least
  // What indices are divided by, at least 1 each.
  Divisor of_tiles, of_units, of_group, of_unit_heads;
  Divisor of_workers, of_workers_of_entry, of_whole_parts;  ///< the last: parts less one

  const i32* seqused_k;  ///< [batch] or null, as the next four
  ISOMER_FIXED(const i32*, leftpad_k, nullptr);
  ISOMER_FIXED(const i32*, kv_batch_idx, nullptr);
  ISOMER_FIXED_ALONE(const i32*, cache_seqlens, nullptr);
  ISOMER_FIXED(const i32*, seqused_q, nullptr);
  ISOMER_FIXED(const i32*, cu_seqlens_q, nullptr);  ///< [batch + 1] or null, as the next two
  ISOMER_FIXED(const i32*, cu_seqlens_k, nullptr);
  ISOMER_FIXED(const i32*, cu_seqlens_k_new, nullptr);
  const i32* page_table;  ///< null: not paged
  i64 page_table_stride, table_rows, max_pages;
  u32 page_size;
  ISOMER_FIXED(i32, head_dim, ISOMER_HEAD_DIM);
  ISOMER_FIXED(i32, head_dim_v, ISOMER_HEAD_DIM_V);
  ISOMER_FIXED(i64, window_left, -1);  ///< −1 unbounded
  ISOMER_FIXED(i64, window_right, -1);
  ISOMER_FIXED(i64, chunk, 0);  ///< keys of a chunk; 0 none

  AttentionRows k, v, q, out, lse, k_new, v_new;

  ISOMER_FIXED(const void*, rotary_cos, nullptr);  ///< null: no rotary
  const void* rotary_sin;
  i64 cos_stride, sin_stride, positions;
  i32 rotary_dim, rotary_interleaved;
  AttentionWide rotary_type;

  AttentionFactors q_descale, k_descale, v_descale;
  const void* sink;
  AttentionWide sink_type;

  i64 heads, heads_kv, group;  ///< group: query heads of one kv head
  f32 scale;
  ISOMER_FIXED(f32, softcap, 0);  ///< 0: off
  AttentionWide out_type;         ///< of an e4m3fn q

  // Accesses of 16 bytes (q, k, v, k_new, v_new) or four elements (out) are aligned.
  ISOMER_FIXED(i32, q_vectors, 1);
  i32 k_vectors, v_vectors, out_vectors, k_new_vectors, v_new_vectors;

  i64 split_size;  ///< keys of a part; 0: an entry's keys are divided by `parts`
  i64 seqlen_q;    ///< longest query length

  // Partial results where parts > 1: row r of head h of part s lies at (s·heads + h)·partial_rows + r, r
  // counting the rows of q.
  f32* partial_out;    ///< [parts, heads, partial_rows, head_dim_v]: Σ P·v
  f32* partial_state;  ///< [parts, heads, partial_rows, 2]: the row's maximum times log2 e, and Σ P
  i64 partial_rows;
  /// [batch + 2], where there are workers: tiles of keys of the entries before each, of all, and of a worker.
  i32* division;

  i64 new_rows;  ///< longest number of appended keys

  Divisor of_heads, of_heads_kv, of_batch, of_parts, of_seqlen_q, of_new_rows;
};

/// The same of the launch that rotates queries.
struct AttentionRotateParameters : AttentionParameters {
  AttentionRows turned;
};

/// The same of an int8 cache. Scales are addressed as its rows are; d_stride counts groups of 8 channels and
/// is 0 where a row has one scale.
struct AttentionInt8Parameters : AttentionParameters {
  AttentionRows k_scale, v_scale;
  AttentionWide scale_type;
};

/// The same with queries of v.
struct AttentionQvParameters : AttentionParameters {
  AttentionRows qv;
};

}  // namespace isomer::device
