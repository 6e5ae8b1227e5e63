// What a call does before it attends: the new keys, rotated where asked, and the new values go into their
// slots, and queries that a kernel copies by whole tiles or pieces (ISOMER_ELEMENT is theirs) are written,
// rotated, into rows of the call's own. A group of lanes has each row of one head. Slots are distinct, so
// that nothing is written twice. Rows of a wider type (ISOMER_ELEMENT_NEW) are divided by the cache's
// descales on their way into it. Rows behind an entry's queries become zeros.
#include "gpu/device/overlap.cuh"
#include "gpu/device/portable.cuh"
#include "ops/attention/kernels/attention_entry.cuh"

namespace isomer::device {

constexpr int kThreads = ISOMER_THREADS, kLanes = 16;
constexpr int kGroups = kThreads / kLanes;
using Element = ISOMER_ELEMENT_KV;
constexpr int kVector = 16 / static_cast<int>(sizeof(Element));
#ifdef ISOMER_ELEMENT_NEW
using New = ISOMER_ELEMENT_NEW;
#else
using New = Element;
#endif
#ifdef ISOMER_ELEMENT
constexpr bool kTurns = true;
using Query = ISOMER_ELEMENT;
using Parameters = AttentionRotateParameters;
#else
constexpr bool kTurns = false;
using Query = Element;
using Parameters = AttentionParameters;
#endif

/// Rotates a row for `write(d, value)`. A lane has several pairs under way: each waits for memory.
template <class T, class Write>
ISOMER_DEVICE void turn_row(const AttentionParameters& p, const T* row, i64 position, int lane, Write write) {
  constexpr int kTogether = 4;
  const int pairs = p.rotary_dim / 2;
  const i64 line = least(position, p.positions - 1);
  for (int begin = lane; begin < pairs; begin += kLanes * kTogether) {
    f32 x[kTogether], y[kTogether], cos[kTogether], sin[kTogether];
#pragma unroll
    for (int u = 0; u < kTogether; ++u) {
      const int pair = begin + u * kLanes;
      if (pair >= pairs) continue;
      x[u] = to_f32(row[p.rotary_interleaved ? 2 * pair : pair]);
      y[u] = to_f32(row[p.rotary_interleaved ? 2 * pair + 1 : pair + pairs]);
      cos[u] = attention::read(p.rotary_cos, p.rotary_type, line * p.cos_stride + pair);
      sin[u] = attention::read(p.rotary_sin, p.rotary_type, line * p.sin_stride + pair);
    }
#pragma unroll
    for (int u = 0; u < kTogether; ++u) {
      const int pair = begin + u * kLanes;
      if (pair >= pairs) continue;
      write(p.rotary_interleaved ? 2 * pair : pair, x[u] * cos[u] - y[u] * sin[u]);
      write(p.rotary_interleaved ? 2 * pair + 1 : pair + pairs, y[u] * cos[u] + x[u] * sin[u]);
    }
  }
  for (int d = p.rotary_dim + lane; d < p.head_dim; d += kLanes) write(d, to_f32(row[d]));
}

/// A row of the new keys or values on its way into the cache, as it is or divided.
ISOMER_DEVICE void put_row(const New* from, Element* to, i64 to_stride, int count, bool vectors, f32 descale,
                           int lane) {
#ifdef ISOMER_ELEMENT_NEW
  for (int d = lane; d < count; d += kLanes) to[d * to_stride] = from_f32<Element>(to_f32(from[d]) / descale);
#else
  if (vectors) {
    for (int d = lane * kVector; d < count; d += kLanes * kVector)
      store<kVector>(to + d, load<kVector>(from + d));
  } else {
    for (int d = lane; d < count; d += kLanes) to[d * to_stride] = from[d];
  }
#endif
}

/// New key and value n of all.
ISOMER_DEVICE void append(const AttentionParameters& p, i64 n, int lane) {
  const i64 row = quotient_of(n, p.of_heads_kv), b = quotient_of(row, p.of_new_rows);
  const i64 head = n - row * p.heads_kv, t = row - b * p.new_rows;
  const AttentionEntry e = attention::entry_of(p, b);
  if (t >= e.new_len) return;
  const AttentionPlace place = attention::place_of(p, e, e.k_len - e.new_len + t);
  if (place.outer < 0) return;
#ifdef ISOMER_ELEMENT_NEW
  const f32 k_descale = attention::factor(p.k_descale, b, head),
            v_descale = attention::factor(p.v_descale, b, head);
#else
  const f32 k_descale = 1.0f, v_descale = 1.0f;
#endif
  const New* from = attention::at<const New>(p.k_new, e.new_outer, e.new_row + t, head);
  Element* to = attention::at<Element>(p.k, place.outer, place.row, head);
  if (p.rotary_cos)
    turn_row(p, from, e.position + t, lane,
             [&](int d, f32 value) { to[d] = from_f32<Element>(value / k_descale); });
  else
    put_row(from, to, 1, p.head_dim, p.k_vectors && p.k_new_vectors, k_descale, lane);
  put_row(attention::at<const New>(p.v_new, e.new_outer, e.new_row + t, head),
          attention::at<Element>(p.v, place.outer, place.row, head), p.v.d_stride, p.head_dim_v,
          p.v_vectors && p.v_new_vectors, v_descale, lane);
}

#ifdef ISOMER_ELEMENT
/// Query row n of all.
ISOMER_DEVICE void turn(const AttentionRotateParameters& p, i64 n, int lane) {
  const bool masked = p.window_left >= 0 || p.window_right >= 0 || p.chunk > 0;
  const i64 row = quotient_of(n, p.of_heads), head = n - row * p.heads;
  const i64 b = quotient_of(row, p.of_seqlen_q), i = row - b * p.seqlen_q;
  const AttentionEntry e = attention::entry_of(p, b);
  if (i >= e.q_len && p.cu_seqlens_q) return;  // another entry's, perhaps
  Query* to = attention::at<Query>(p.turned, e.q_outer, e.q_row + i, head);
  if (i < e.q_len)
    turn_row(p, attention::at<const Query>(p.q, e.q_outer, e.q_row + i, head), e.position + (masked ? i : 0),
             lane, [&](int d, f32 value) { to[d] = from_f32<Query>(value); });
  else
    for (int d = lane; d < p.head_dim; d += kLanes) to[d] = from_f32<Query>(0.0f);
}
#endif

extern "C" __global__ void __launch_bounds__(kThreads, resident_blocks(kThreads, 4))
    isomer_attention_append(const Parameters p) {
  wait_for_previous();
  let_next_begin();
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const i64 appended = p.batch * p.new_rows * p.heads_kv,
            all = appended + (kTurns ? p.batch * p.seqlen_q * p.heads : 0);
  for (i64 n = static_cast<i64>(blockIdx.x) * kGroups + threadIdx.x / kLanes; n < all;
       n += static_cast<i64>(gridDim.x) * kGroups) {
#ifdef ISOMER_ELEMENT
    if (n >= appended) {
      turn(p, n - appended, lane);
      continue;
    }
#endif
    append(p, n, lane);
  }
}

}  // namespace isomer::device
