// Attention of up to kHeads query heads of one kv head over one block of tokens, 16-bit, by tensor cores.
//
// A warp takes tiles of 16 tokens, warps in turn, and reads K and V from memory straight into the fragments
// of
//   Sᵀ (16 tokens × 8 heads) = K (16 × D) · Qᵀ,   Oᵀ (D × 8 heads) += Vᵀ (D × 16) · Pᵀ
// as gpu/device/row_fragments.cuh lays them out, g = lane / 4 and t = lane % 4.
// Pᵀ is Sᵀ with its 8 × 8 quarters transposed. Each warp has its own running maximum; they meet in shared
// memory.
//
//   slots of tile i+2 | K of tile i+1, loaded once Sᵀ of tile i is made | V of tile i+1, once Oᵀ has tile i
//
// A tile is 64·D bytes: 8 KB of a warp under way at D = 128.
#include "gpu/device/overlap.cuh"
#include "gpu/device/portable.cuh"
#include "gpu/device/row_fragments.cuh"
#include "ops/flash_decode/kernels/combine.cuh"
#include "ops/flash_decode/kernels/tables.cuh"

namespace isomer::device {

using Element = ISOMER_ELEMENT;
constexpr int kThreads = ISOMER_THREADS, kHeads = ISOMER_HEADS, kResident = ISOMER_RESIDENT;
constexpr int kHeadDim = ISOMER_HEAD_DIM;       // D, rounded up
constexpr bool kVectors = ISOMER_VECTORS != 0;  // rows are contiguous and aligned to 16 bytes
constexpr int kLanes = 32;                      // of a fragment
constexpr int kWarps = kThreads / kLanes;
constexpr int kColumns = kHeads / 8;    // of fragments: 8 heads each
constexpr int kSteps = kHeadDim / 32;   // 16 bytes of a row of K in each of 4 lanes
constexpr int kChunks = kHeadDim / 64;  // 16 bytes of a row of V in each of 8 lanes
constexpr int kTile = 16;               // tokens
// Whether a lane has registers for K and V of a tile at once; else V is loaded when K has been used, and both
// are cleared before, so that neither lives longer than its use.
constexpr bool kAhead = kHeadDim < 256;
static_assert(kWarpSize == kLanes && kHeads % 8 == 0 && kHeadDim % 64 == 0);

/// Piece i of a lane's part of a row, where there is one: pieces lie kStep elements apart.
template <int kStep>
ISOMER_DEVICE void load_piece(Words& into, const Element* row, i64 inner, int i, int pieces) {
  if constexpr (kVectors)
    load_words_below(into, row + i * kStep, i, pieces);
  else if (i < pieces)
    into = gather_words(row + i * kStep * inner, inner);
}

extern "C" __global__ void __launch_bounds__(kThreads, kResident)
    isomer_flash_decode_stage1_mma(const FlashDecodeStage1Parameters p) {
  __shared__ Partials<kWarps, kHeads, kHeadDim> partials;
  wait_for_previous();
  const int g = lane() / 4, t = lane() % 4;
  const int kv = static_cast<int>(blockIdx.x) / p.chunks;
  const int first_head = (static_cast<int>(blockIdx.x) - kv * p.chunks) * kHeads;  // in the group
  const int heads = p.group - first_head < kHeads ? p.group - first_head : kHeads;
  const i64 head = static_cast<i64>(kv) * p.group + first_head;
  // This lane's first piece of a row, and how many it has below D.
  const Element* keys = static_cast<const Element*>(p.k) + kv * p.k_head + 8 * t * p.k_inner;
  const Element* values = static_cast<const Element*>(p.v) + kv * p.v_head + 8 * g * p.v_inner;
  const int key_pieces = (p.head_dim - 8 * t + 31) / 32, value_pieces = (p.head_dim - 8 * g + 63) / 64;

  for (i64 b = blockIdx.z; b < p.batch; b += gridDim.z) {
    const i64 length = length_of(p, b);
    const i32* tokens = tokens_of(p, b);
    for (i64 j = blockIdx.y; j < p.blocks; j += gridDim.y) {
      const i64 begin = j * p.block_seq;
      if (begin >= length) break;
      const i64 count = length - begin < p.block_seq ? length - begin : p.block_seq;
      const i32* block_tokens = tokens == nullptr ? nullptr : tokens + begin * p.token_step;

      i64 tile = warp() * kTile;
      int slots = slot_of(p, block_tokens, tile + lane() % kTile, count);
      int slots_ahead = slot_of(p, block_tokens, tile + kWarps * kTile + lane() % kTile, count);
      // Zero beyond D, for good.
      Words q[kColumns][kSteps] = {}, k[2][kSteps] = {}, v[4][kChunks] = {};
#pragma unroll
      for (int n = 0; n < kColumns; ++n) {
        const int h = n * 8 + g;
        const Element* row =
            static_cast<const Element*>(p.q) + b * p.q_batch + (head + h) * p.q_head + 8 * t * p.q_inner;
#pragma unroll
        for (int i = 0; i < kSteps; ++i)
          load_piece<32>(q[n][i], row, p.q_inner, i, h < heads ? key_pieces : 0);
      }
      bool exists[2];
      const auto load_keys = [&] {
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          const int slot = shuffle(slots, g + 8 * r);
          const Element* row = keys + slot * p.k_slot;
          exists[r] = slot >= 0;
#pragma unroll
          for (int i = 0; i < kSteps; ++i) {
            if constexpr (!kAhead) k[r][i] = Words{};
            load_piece<32>(k[r][i], row, p.k_inner, i, slot >= 0 ? key_pieces : 0);
          }
        }
      };
      const auto load_values = [&] {
#pragma unroll
        for (int r = 0; r < 4; ++r) {
          const int slot = shuffle(slots, 2 * t + r % 2 + r / 2 * 8);
          const Element* row = values + slot * p.v_slot;
          // A weight of 0 does not undo an infinity that an earlier tile left here.
          if (!kAhead || slot < 0) {
#pragma unroll
            for (int i = 0; i < kChunks; ++i) v[r][i] = Words{};
          }
#pragma unroll
          for (int i = 0; i < kChunks; ++i)
            load_piece<64>(v[r][i], row, p.v_inner, i, slot >= 0 ? value_pieces : 0);
        }
      };
      load_keys();
      if constexpr (kAhead) load_values();

      // Of heads 2t and 2t + 1 of each column of fragments; sums of this lane's tokens only.
      f32 largest[kColumns][2], sum[kColumns][2];
      f32 out[kColumns][kChunks][4][4];
#pragma unroll
      for (int n = 0; n < kColumns; ++n) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          largest[n][e] = -infinity();
          sum[n][e] = 0.0f;
        }
#pragma unroll
        for (int i = 0; i < kChunks * 16; ++i) out[n][i / 16][i / 4 % 4][i % 4] = 0.0f;
      }

      for (; tile < count; tile += kWarps * kTile) {
        f32 s[kColumns][4];
#pragma unroll
        for (int n = 0; n < kColumns; ++n) {
#pragma unroll
          for (int i = 0; i < 4; ++i) s[n][i] = 0.0f;
          add_products<Element>(s[n], k, q[n]);
#pragma unroll
          for (int i = 0; i < 4; ++i) s[n][i] = exists[i / 2] ? s[n][i] * p.scale_log2 : -infinity();
        }
        if constexpr (!kAhead) load_values();
        slots = slots_ahead;
        slots_ahead = slot_of(p, block_tokens, tile + 2 * kWarps * kTile + lane() % kTile, count);
        if constexpr (kAhead) load_keys();

        u32 weights[kColumns][2];
#pragma unroll
        for (int n = 0; n < kColumns; ++n) {
          f32 now[2], factor[2];
#pragma unroll
          for (int e = 0; e < 2; ++e) {
            now[e] = s[n][e] > s[n][e + 2] ? s[n][e] : s[n][e + 2];
            now[e] = largest[n][e] > now[e] ? largest[n][e] : now[e];
#pragma unroll
            for (int mask = 4; mask < kLanes; mask *= 2) {
              const f32 other = shuffle_xor(now[e], mask);
              now[e] = other > now[e] ? other : now[e];
            }
            factor[e] = now[e] == largest[n][e] ? 1.0f : exp2_fast(largest[n][e] - now[e]);
            largest[n][e] = now[e];
            sum[n][e] *= factor[e];
          }
          // A new maximum is rare after the first tokens.
          if (factor[0] != 1.0f || factor[1] != 1.0f) {
#pragma unroll
            for (int i = 0; i < kChunks * 16; ++i) out[n][i / 16][i / 4 % 4][i % 4] *= factor[i % 2];
          }
          const f32 origin[2] = {origin_of(now[0]), origin_of(now[1])};
#pragma unroll
          for (int i = 0; i < 4; ++i) {
            s[n][i] = exp2_fast(s[n][i] - origin[i % 2]);
            sum[n][i % 2] += s[n][i];
          }
          weights[n][0] = weights_of<Element>(s[n][0], s[n][1]);
          weights[n][1] = weights_of<Element>(s[n][2], s[n][3]);
        }
        add_rows<Element>(out, v, weights);
        if constexpr (kAhead)
          load_values();
        else
          load_keys();
      }
      let_next_begin();

#pragma unroll
      for (int n = 0; n < kColumns; ++n) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const int h = n * 8 + 2 * t + e;
#pragma unroll
          for (int mask = 4; mask < kLanes; mask *= 2) sum[n][e] += shuffle_xor(sum[n][e], mask);
          if (g == 0) {
            partials.largest[warp()][h] = largest[n][e];
            partials.sum[warp()][h] = sum[n][e];
          }
#pragma unroll
          for (int i = 0; i < kChunks; ++i)
#pragma unroll
            for (int w = 0; w < 4; ++w) {
              const int d = 64 * i + 8 * g + 2 * w;
              partials.out[warp()][h][d] = out[n][i][w][e];
              partials.out[warp()][h][d + 1] = out[n][i][w][e + 2];
            }
        }
      }
      __syncthreads();
      combine<kThreads>(p, partials, b, j, head, heads);
      __syncthreads();
    }
  }
}

}  // namespace isomer::device
