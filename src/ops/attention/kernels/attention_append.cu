// Writes the new keys, rotated where asked, and the new values into their slots: a group of lanes for each
// row of one kv head. Slots are distinct, so that nothing is written twice. Rows of a wider type
// (ISOMER_ELEMENT_NEW) are divided by the cache's descales on their way into it.
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

ISOMER_DEVICE void copy_row(const Element* from, Element* to, i64 to_stride, int count, bool vectors,
                            int lane) {
  if (vectors) {
    for (int d = lane * kVector; d < count; d += kLanes * kVector)
      store<kVector>(to + d, load<kVector>(from + d));
  } else {
    for (int d = lane; d < count; d += kLanes) to[d * to_stride] = from[d];
  }
}

ISOMER_DEVICE void quantise_row(const New* from, Element* to, i64 to_stride, int count, f32 descale,
                                int lane) {
  for (int d = lane; d < count; d += kLanes) to[d * to_stride] = from_f32<Element>(to_f32(from[d]) / descale);
}

extern "C" __global__ void __launch_bounds__(kThreads) isomer_attention_append(const AttentionParameters p) {
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const i64 heads = p.heads_kv;
  const i64 all = p.batch * p.new_rows * heads;
  for (i64 n = static_cast<i64>(blockIdx.x) * kGroups + threadIdx.x / kLanes; n < all;
       n += static_cast<i64>(gridDim.x) * kGroups) {
    const i64 head = n % heads, t = n / heads % p.new_rows, b = n / heads / p.new_rows;
    const AttentionEntry e = attention::entry_of(p, b);
    if (t >= e.new_len) continue;
    const AttentionPlace place = attention::place_of(p, e, e.k_len - e.new_len + t);
    if (place.outer < 0) continue;
    const New* from = attention::at<const New>(p.k_new, e.new_outer, e.new_row + t, head);
    Element* to = attention::at<Element>(p.k, place.outer, place.row, head);
#ifdef ISOMER_ELEMENT_NEW
    const f32 descale = attention::factor(p.k_descale, b, head);
    if (p.rotary_cos) {
      for (int d = lane; d < p.head_dim; d += kLanes)
        to[d] = from_f32<Element>(attention::turned(p, from, d, e.position + t) / descale);
    } else {
      quantise_row(from, to, 1, p.head_dim, descale, lane);
    }
    const New* from_v = attention::at<const New>(p.v_new, e.new_outer, e.new_row + t, head);
    Element* to_v = attention::at<Element>(p.v, place.outer, place.row, head);
    quantise_row(from_v, to_v, p.v.d_stride, p.head_dim_v, attention::factor(p.v_descale, b, head), lane);
#else
    if (p.rotary_cos) {
      for (int d = lane; d < p.head_dim; d += kLanes)
        to[d] = from_f32<Element>(attention::rotated(p, from, d, e.position + t));
    } else {
      copy_row(from, to, 1, p.head_dim, p.k_vectors && p.k_new_vectors, lane);
    }
    const New* from_v = attention::at<const New>(p.v_new, e.new_outer, e.new_row + t, head);
    Element* to_v = attention::at<Element>(p.v, place.outer, place.row, head);
    copy_row(from_v, to_v, p.v.d_stride, p.head_dim_v, p.v_vectors && p.v_new_vectors, lane);
#endif
  }
}

}  // namespace isomer::device
