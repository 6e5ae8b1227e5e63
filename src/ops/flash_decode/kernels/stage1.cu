// Attention of up to kHeads query heads of one kv head over one block of tokens, in f32.
//
// A warp takes tiles of as many tokens as it has lanes, warps in turn; kLanes lanes share a row of K and of
// V, 16 bytes each (kParts times where a row is wider), so that a warp reads kRows tokens at a time, each row
// once for all heads. Lanes of a row have the queries and the accumulators of their elements in registers,
// and each row of lanes its own running maximum and sum; they are merged at the end, within the warp by
// shuffles, between warps in shared memory.
//
//   slots of tile i+1 ──┐ (a tile ahead)
//   K rows of batch i+1 ─┴─ loaded while batch i weighs V;  V rows of i+1 while its logits are made
//
// A batch is kUnroll × kRows tokens: 2·kUnroll·kParts loads of 16 bytes are under way in each lane.
#include "gpu/device/overlap.cuh"
#include "gpu/device/words.cuh"
#include "ops/flash_decode/kernels/combine.cuh"
#include "ops/flash_decode/kernels/tables.cuh"

namespace isomer::device {

using Element = ISOMER_ELEMENT;
constexpr int kThreads = ISOMER_THREADS, kHeads = ISOMER_HEADS, kUnroll = ISOMER_UNROLL,
              kResident = ISOMER_RESIDENT;
constexpr int kHeadDim = ISOMER_HEAD_DIM;       // D, rounded up
constexpr bool kVectors = ISOMER_VECTORS != 0;  // rows are contiguous and aligned to 16 bytes
constexpr int kVector = 16 / sizeof(Element);
constexpr int kLanes = kHeadDim / kVector < 32 ? kHeadDim / kVector : 32;
constexpr int kParts = kHeadDim / kVector / kLanes;
constexpr int kElements = kParts * kVector;  // of a row in one lane
constexpr int kRows = kWarpSize / kLanes;
constexpr int kWarps = kThreads / kWarpSize;
constexpr int kTile = kWarpSize;          // tokens
constexpr int kBatch = kUnroll * kRows;   // tokens
constexpr int kBatches = kTile / kBatch;  // of a tile
static_assert(kTile % kBatch == 0);

/// A lane's pieces of one row, as many as there are; `row` is where the first one lies.
ISOMER_DEVICE void load_row(Words (&into)[kParts], const Element* row, i64 inner, int pieces) {
#pragma unroll
  for (int part = 0; part < kParts; ++part) {
    if constexpr (kVectors)
      load_words_below(into[part], row + part * kLanes * kVector, part, pieces);
    else if (part < pieces)
      into[part] = gather_words(row + part * kLanes * kVector * inner, inner);
  }
}

ISOMER_DEVICE void unpack_row(const Words (&words)[kParts], f32 (&x)[kElements]) {
#pragma unroll
  for (int part = 0; part < kParts; ++part) {
    f32 some[kVector];
    unpack<Element>(words[part], some);
#pragma unroll
    for (int i = 0; i < kVector; ++i) x[part * kVector + i] = some[i];
  }
}

/// What one row of lanes knows of the tokens that it has seen. Logits carry the factor log2(e).
struct State {
  f32 largest[kHeads], sum[kHeads];
  f32 out[kHeads][kElements];
};

/// Adds rows of lanes to each other; afterwards all have the sums.
ISOMER_DEVICE void merge_rows(State& state) {
#pragma unroll
  for (int h = 0; h < kHeads; ++h) {
    f32 largest = state.largest[h];
#pragma unroll
    for (int mask = kLanes; mask < kWarpSize; mask *= 2) {
      const f32 other = shuffle_xor(largest, mask);
      largest = other > largest ? other : largest;
    }
    const f32 factor = share_of(state.largest[h], largest);
    state.largest[h] = largest;
    state.sum[h] *= factor;
#pragma unroll
    for (int i = 0; i < kElements; ++i) state.out[h][i] *= factor;
#pragma unroll
    for (int mask = kLanes; mask < kWarpSize; mask *= 2) {
      state.sum[h] += shuffle_xor(state.sum[h], mask);
#pragma unroll
      for (int i = 0; i < kElements; ++i) state.out[h][i] += shuffle_xor(state.out[h][i], mask);
    }
  }
}

extern "C" __global__ void __launch_bounds__(kThreads, resident_blocks(kThreads, kResident))
    isomer_flash_decode_stage1(const FlashDecodeStage1Parameters p) {
  __shared__ Partials<kWarps, kHeads, kHeadDim> partials;
  wait_for_previous();
  const int sub = lane() % kLanes, row = lane() / kLanes;
  const int kv = static_cast<int>(blockIdx.x) / p.chunks;
  const int first_head = (static_cast<int>(blockIdx.x) - kv * p.chunks) * kHeads;  // in the group
  const int heads = p.group - first_head < kHeads ? p.group - first_head : kHeads;
  const i64 head = static_cast<i64>(kv) * p.group + first_head;
  // This lane's first piece of a row, and how many it has below D.
  const Element* keys = static_cast<const Element*>(p.k) + kv * p.k_head + sub * kVector * p.k_inner;
  const Element* values = static_cast<const Element*>(p.v) + kv * p.v_head + sub * kVector * p.v_inner;
  const int pieces = (p.head_dim - sub * kVector + kLanes * kVector - 1) / (kLanes * kVector);

  for (i64 b = blockIdx.z; b < p.batch; b += gridDim.z) {
    const i64 length = length_of(p, b);
    const i32* tokens = tokens_of(p, b);
    for (i64 j = blockIdx.y; j < p.blocks; j += gridDim.y) {
      const i64 begin = j * p.block_seq;
      if (begin >= length) break;
      const i64 count = length - begin < p.block_seq ? length - begin : p.block_seq;
      const i32* block_tokens = tokens == nullptr ? nullptr : tokens + begin * p.token_step;

      // Batches of this warp: all of its tiles, the last one as far as there are tokens.
      i64 tile = warp() * kTile;
      int slots = slot_of(p, block_tokens, tile + lane(), count);
      int slots_ahead = slot_of(p, block_tokens, tile + kWarps * kTile + lane(), count);
      f32 q[kHeads][kElements];
      Words packed[kHeads][kParts] = {};
#pragma unroll
      for (int h = 0; h < kHeads; ++h)
        load_row(packed[h],
                 static_cast<const Element*>(p.q) + b * p.q_batch + (head + h) * p.q_head +
                     sub * kVector * p.q_inner,
                 p.q_inner, h < heads ? pieces : 0);
#pragma unroll
      for (int h = 0; h < kHeads; ++h) unpack_row(packed[h], q[h]);
      State state;
#pragma unroll
      for (int h = 0; h < kHeads; ++h) {
        state.largest[h] = -infinity();
        state.sum[h] = 0.0f;
#pragma unroll
        for (int i = 0; i < kElements; ++i) state.out[h][i] = 0.0f;
      }

      int batch = 0;  // of the tile
      int slot[kUnroll];
      Words k[kUnroll][kParts] = {}, v[kUnroll][kParts] = {};  // zero beyond D, for good
      const auto find = [&] {
#pragma unroll
        for (int u = 0; u < kUnroll; ++u) slot[u] = shuffle(slots, batch * kBatch + u * kRows + row);
      };
      const auto load_keys = [&] {
#pragma unroll
        for (int u = 0; u < kUnroll; ++u)
          load_row(k[u], keys + slot[u] * p.k_slot, p.k_inner, slot[u] >= 0 ? pieces : 0);
      };
      const auto load_values = [&] {
#pragma unroll
        for (int u = 0; u < kUnroll; ++u) {
          // A weight of 0 does not undo an infinity that an earlier batch left here.
          if (slot[u] < 0) {
#pragma unroll
            for (int part = 0; part < kParts; ++part) v[u][part] = Words{};
          }
          load_row(v[u], values + slot[u] * p.v_slot, p.v_inner, slot[u] >= 0 ? pieces : 0);
        }
      };
      bool more = tile < count;
      if (more) {
        find();
        load_keys();
        load_values();
      }
      while (more) {
        f32 s[kUnroll][kHeads];
#pragma unroll
        for (int u = 0; u < kUnroll; ++u) {
          f32 x[kElements];
          unpack_row(k[u], x);
#pragma unroll
          for (int h = 0; h < kHeads; ++h) {
            f32 dot = q[h][0] * x[0];
#pragma unroll
            for (int i = 1; i < kElements; ++i) dot += q[h][i] * x[i];
            s[u][h] = dot;
          }
        }
        bool exists[kUnroll];
#pragma unroll
        for (int u = 0; u < kUnroll; ++u) exists[u] = slot[u] >= 0;

        if (++batch == kBatches) {
          batch = 0;
          tile += kWarps * kTile;
          slots = slots_ahead;
          slots_ahead = slot_of(p, block_tokens, tile + kWarps * kTile + lane(), count);
        }
        more = tile + batch * kBatch < count;
        if (more) {
          find();
          load_keys();
        }

#pragma unroll
        for (int h = 0; h < kHeads; ++h) {
          f32 largest = state.largest[h];
#pragma unroll
          for (int u = 0; u < kUnroll; ++u) {
            const f32 dot = sum_lanes<kLanes>(s[u][h]);
            s[u][h] = exists[u] ? dot * p.scale_log2 : -infinity();
            largest = s[u][h] > largest ? s[u][h] : largest;
          }
          // A new maximum is rare after the first tokens.
          if (largest != state.largest[h]) {
            const f32 factor = exp2_fast(state.largest[h] - largest);
            state.largest[h] = largest;
            state.sum[h] *= factor;
#pragma unroll
            for (int i = 0; i < kElements; ++i) state.out[h][i] *= factor;
          }
          const f32 origin = origin_of(largest);
#pragma unroll
          for (int u = 0; u < kUnroll; ++u) {
            s[u][h] = exp2_fast(s[u][h] - origin);
            state.sum[h] += s[u][h];
          }
        }
#pragma unroll
        for (int u = 0; u < kUnroll; ++u) {
          f32 x[kElements];
          unpack_row(v[u], x);
#pragma unroll
          for (int h = 0; h < kHeads; ++h)
#pragma unroll
            for (int i = 0; i < kElements; ++i) state.out[h][i] += s[u][h] * x[i];
        }
        if (more) load_values();
      }

      let_next_begin();
      merge_rows(state);
      if (row == 0) {
#pragma unroll
        for (int h = 0; h < kHeads; ++h) {
          if (sub == 0) {
            partials.largest[warp()][h] = state.largest[h];
            partials.sum[warp()][h] = state.sum[h];
          }
#pragma unroll
          for (int i = 0; i < kElements; ++i)
            partials.out[warp()][h][((i / kVector) * kLanes + sub) * kVector + i % kVector] = state.out[h][i];
        }
      }
      __syncthreads();
      combine<kThreads>(p, partials, b, j, head, heads);
      __syncthreads();
    }
  }
}

}  // namespace isomer::device
