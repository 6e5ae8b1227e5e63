// The way out of a tile: Σ P·v divided by the sums of its rows, lse, and rows whose Σ P·v is not finite,
// summed again.
#pragma once

#include "ops/attention/kernels/attention_result.cuh"
#include "ops/attention/kernels/attention_sm80_softmax.cuh"

namespace isomer::device::attention_sm80 {

ISOMER_DEVICE bool is_finite(f32 x) { return (bits_of(x) & 0x7f800000u) != 0x7f800000u; }

/// Σ P·v·factor of row `row` of the tile, key by key, where weights of 0 count for nothing whatever they
/// meet: handed to put(column, …). Every lane of the warp takes part and has the same arguments.
template <class Put>
ISOMER_DEVICE void sum_again(const Parameters& p, const Work& t, const Scale& scale, Limits limits, int row,
                             f32 reference, f32 factor, Put put) {
  constexpr int kColumns = (kDimV + 31) / 32;  // of a lane
  const Element* q =
      attention::at<const Element>(p.q, t.entry.q_outer, t.entry.q_row + t.tile.query(row), t.tile.head(row));
  f32 sums[kColumns] = {};
#pragma unroll 1
  for (int key = limits.low; key < limits.high; ++key) {
    const AttentionPlace place = attention::place_of(p, t.entry, t.begin + key);
    if (place.outer < 0) continue;
    const Element* k = attention::at<const Element>(p.k, place.outer, place.row, t.head_kv);
    f32 s = 0.0f;
    for (int d = lane(); d < p.head_dim; d += 32) s = fmaf(to_f32(q[d]), to_f32(k[d]), s);
    s = sum_lanes(s);
    if constexpr (kSoftcap) s = tanhf(s * scale.cap);
    const f32 weight = exp2_fast((s - reference) * scale.log2) * factor;
    if (weight == 0.0f) continue;
    const Element* v = attention::at<const Element>(p.v, place.outer, place.row, t.head_kv);
#pragma unroll
    for (int i = 0; i < kColumns; ++i)
      if (const int column = lane() + 32 * i; column < p.head_dim_v)
        sums[i] = fmaf(weight, to_f32(v[column]), sums[i]);
  }
#pragma unroll
  for (int i = 0; i < kColumns; ++i)
    if (const int column = lane() + 32 * i; column < p.head_dim_v) put(column, sums[i]);
}

/// Of the lane's two rows of each fragment those whose Σ P·v is not finite although their weights are: a
/// value that is not finite met a weight of 0, or a sum ran over before it was divided. Bit 2m + r.
ISOMER_DEVICE u32 broken_rows(const Work& t, const State& state, const f32 (&sum)[kM][2]) {
  u32 broken = 0;
#pragma unroll
  for (int m = 0; m < kM; ++m)
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      f32 all[2] = {};
#pragma unroll
      for (int u = 0; u < kDimV / 8; ++u) {
        all[0] += state.o[m][u][2 * r];
        all[1] += state.o[m][u][2 * r + 1];
      }
      const f32 total = sum_lanes<4>(all[0] + all[1]);
      const bool is = !is_finite(total) && is_finite(sum[m][r]) && is_finite(state.reference[m][r]) &&
                      row_of(m, r) < t.tile.rows;
      if (is) broken |= 1u << (2 * m + r);
    }
  return broken;
}

/// Of each broken row of the warp again(row, sum, reference).
template <class Again>
ISOMER_DEVICE void for_broken_rows(u32 broken, const f32 (&sum)[kM][2], const State& state, Again again) {
  if (!any_lane(broken != 0)) return;
  warp_barrier();  // other lanes have written these rows
#pragma unroll 1
  for (int i = 0; i < 16 * kM; ++i) {
    const int which = i / 16 * 2 + i / 8 % 2;
    f32 its_sum = 0.0f, its_reference = 0.0f;
#pragma unroll
    for (int m = 0; m < kM; ++m)
#pragma unroll
      for (int r = 0; r < 2; ++r)
        if (which == 2 * m + r) {
          its_sum = sum[m][r];
          its_reference = state.reference[m][r];
        }
    its_sum = shuffle(its_sum, 4 * (i % 8));
    its_reference = shuffle(its_reference, 4 * (i % 8));
    if ((shuffle(broken, 4 * (i % 8)) >> which & 1) != 0) again(first_row() + i, its_sum, its_reference);
  }
}

/// The part's result, for the combine. A row that is summed again is divided by its sum at once.
ISOMER_DEVICE void keep(const Parameters& p, const Work& t, const Shared& shared, const Scale& scale,
                        const State& state, const f32 (&sum)[kM][2], u32 broken) {
#pragma unroll
  for (int m = 0; m < kM; ++m)
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      if (row_of(m, r) >= t.tile.rows) continue;
      const i64 at = attention::partial_row(p, t, row_of(m, r));
#pragma unroll
      for (int u = 0; u < kDimV / 8; ++u) {
        const int column = u * 8 + lane() % 4 * 2;
        if (column < p.head_dim_v)
          store<2>(p.partial_out + at * p.head_dim_v + column,
                   Vector<f32, 2>{{state.o[m][u][2 * r], state.o[m][u][2 * r + 1]}});
      }
      if (lane() % 4 != 0) continue;
      const bool again = (broken >> (2 * m + r) & 1) != 0;
      const f32 base = sum[m][r] == 0.0f ? -infinity() : state.reference[m][r] * scale.log2;
      p.partial_state[at * 2] = again ? base + log2_fast(sum[m][r]) : base;
      p.partial_state[at * 2 + 1] = again ? 1.0f : sum[m][r];
    }
  for_broken_rows(broken, sum, state, [&](int row, f32 its_sum, f32 reference) {
    f32* out = p.partial_out + attention::partial_row(p, t, row) * p.head_dim_v;
    sum_again(p, t, scale, shared.limits()[row], row, reference, 1.0f / its_sum,
              [&](int column, f32 x) { out[column] = x; });
  });
}

/// Out and lse. The warp's rows of out wait where its rows of q were, so that they leave in pieces of 16
/// bytes.
ISOMER_DEVICE void finish(const Parameters& p, const Work& t, const Shared& shared, const Scale& scale,
                          const State& state, const f32 (&sum)[kM][2], u32 broken) {
  u8* q = shared.q();
#pragma unroll
  for (int m = 0; m < kM; ++m)
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int row = row_of(m, r);
      f32 factor = 0.0f;
      if (row < t.tile.rows) {
        const i64 head = head_of(p, t, row);
        const attention::Result result =
            attention::result_of(p, t.b, head, {state.reference[m][r] * scale.log2, sum[m][r]});
        factor = result.factor;
        if (lane() % 4 == 0 && p.lse.data)
          *attention::at<f32>(p.lse, t.entry.q_outer, t.entry.q_row + query_of(p, t, row), head) = result.lse;
      }
#pragma unroll
      for (int u = 0; u < kDimV / 8; ++u) {
        const f32 x = state.o[m][u][2 * r], y = state.o[m][u][2 * r + 1];
        *reinterpret_cast<u32*>(q + piece_at(row, u, kLayout.pitch) + lane() % 4 * 4) =
            pack<Element>(factor == 0.0f ? 0.0f : x * factor, factor == 0.0f ? 0.0f : y * factor);
      }
    }
  for_broken_rows(broken, sum, state, [&](int row, f32 its_sum, f32 reference) {
    const f32 factor =
        attention::result_of(p, t.b, t.tile.head(row), {reference * scale.log2, its_sum}).factor;
    sum_again(p, t, scale, shared.limits()[row], row, reference, factor, [&](int column, f32 x) {
      *reinterpret_cast<Element*>(q + piece_at(row, column / 8, kLayout.pitch) + column % 8 * 2) =
          from_f32<Element>(x);
    });
  });
  warp_barrier();
  constexpr int kPieces = AttentionSm80Layout::panels(kDimV) * 8, kRowsAtOnce = 32 / kPieces;
  const RowPlaces places(p, t, p.out);
#pragma unroll 4
  for (int i = 0; i < 16 * kM; i += kRowsAtOnce) {
    const int line = lane() / kPieces, row = first_row() + i + line, piece = lane() % kPieces;
    if (line >= kRowsAtOnce || row >= t.tile.rows || piece * 8 >= p.head_dim_v) continue;
    store<8>(places.at(row) + piece * 8,
             load<8>(reinterpret_cast<const Element*>(q + piece_at(row, piece, kLayout.pitch))));
  }
}

/// Of a tile that is done. With a row that weighs no key whole.
ISOMER_DEVICE void way_out(const Parameters& p, const Work& t, const Shared& shared, const Scale& scale,
                           const State& state) {
  f32 sum[kM][2];
#pragma unroll
  for (int m = 0; m < kM; ++m)
#pragma unroll
    for (int r = 0; r < 2; ++r) sum[m][r] = sum_lanes<4>(state.sum[m][r]);
  const u32 broken = broken_rows(t, state, sum);
  warp_barrier();  // every lane has read the warp's rows of q
  if (p.parts > 1)
    keep(p, t, shared, scale, state, sum, broken);
  else
    finish(p, t, shared, scale, state, sum, broken);
}

}  // namespace isomer::device::attention_sm80
