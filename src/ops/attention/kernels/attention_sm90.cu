// Attention forward on Hopper, f16 and bf16. A block stays on its multiprocessor and takes tiles of 128
// queries of one head, the longest first.
//
//   warpgroup 0, 40 registers: one thread asks the copy engine for Q, K and V, and finds the next tile
//
//   warpgroups 1 and 2, 232 registers: 64 queries each; S, P and Σ P·v stay in registers
//
// Shared memory: 1 or 2 buffers of Q, 2 stages of K, 2 of V, 64 or 128 columns of out. `full` barriers count
// one arrival and bytes, `empty` barriers the eight warps that work. One pipeline runs over all blocks of all
// tiles, from the last keys to the first: S of the block ahead is issued together with P·V of the block
// behind, and the softmax of the block ahead runs beside P·V, also over the border between two tiles. The two
// warpgroups issue in turn.
#include "gpu/device/async_copy.cuh"
#include "gpu/device/sm90/barrier.cuh"
#include "gpu/device/sm90/pipeline.cuh"
#include "gpu/device/sm90/registers.cuh"
#include "gpu/device/sm90/shared.cuh"
#include "gpu/device/sm90/tensor_copy.cuh"
#include "gpu/device/sm90/warpgroup_mma.cuh"
#include "gpu/device/vector.cuh"
#include "ops/attention/kernels/attention_sm90_pieces.cuh"
#include "ops/attention/kernels/attention_sm90_producer.cuh"
#include "ops/attention/kernels/attention_sm90_repair.cuh"
#include "ops/attention/kernels/attention_sm90_softmax.cuh"
#include "ops/attention/kernels/attention_sm90_turn.cuh"

namespace isomer::device::attention_sm90 {

/// What a warpgroup of 64 queries has in registers, and what it does with it.
struct Work {
  const Parameters& p;
  const Shared& shared;
  const int group;  ///< 0 or 1
  const int warp, lane;
  Pipeline<2> key;           // of the block whose S is next; V is one block behind
  Pipeline<kStagesV> value;  // of turned V, which has stages of its own
  int turn = -1;             // tiles so far: says the buffer of Q and the slot of the description
  const SharedMatrix q_matrix, k_matrix, v_matrix;

  // The tile in work: blocks from n down to begin. Those from clear_begin up to clear_end need no mask;
  // narrow: no key of the first block past kNarrow is seen.
  int n, begin, clear_begin, clear_end;
  bool narrow;
  int high = 0;  ///< key + 1 that the lane's first row sees, not cut to k_len
  int k_len = 0;
  Rows rows;
  f32 s[kKeys / 2], o[kDimV / 2];
  using P = Weights<kKeys, kDepth>;
  P front, back;    ///< P of two successive blocks
  Factors factors;  ///< of e4m3

  ISOMER_DEVICE Work(const Parameters& parameters, const Shared& memory, int which)
      : p(parameters),
        shared(memory),
        group(which),
        warp(static_cast<int>(threadIdx.x / 32 & 3)),
        lane(static_cast<int>(threadIdx.x & 31)),
        q_matrix(SharedMatrix::of(memory.q(0) + static_cast<u32>(which * 64 * 128), 16, 1024)),
        k_matrix(SharedMatrix::of(memory.k(0), 16, 1024)),
        v_matrix(kFp8 ? SharedMatrix::of(memory.v(0), 16, 8 * kKeys, kTurnedSwizzle)
                      : SharedMatrix::of(memory.v(0), kPanelKeys, 1024)) {}

  ISOMER_DEVICE const auto& scale() const { return scale_of<Element>(p, factors); }
  ISOMER_DEVICE bool first_lane() const { return lane == 0; }
  ISOMER_DEVICE bool first_thread() const { return warp == 0 && lane == 0; }

  ISOMER_DEVICE int query() const { return turn & (kQueries - 1); }
  ISOMER_DEVICE u32 slot_of(int its_turn) const {
    return shared.tile(its_turn & (AttentionSm90Layout::kTileSlots - 1));
  }

  /// The lane's first row. Pinned: what comes of it is computed here and does not stay in registers while
  /// blocks go by.
  ISOMER_DEVICE int first_row(const Tile& tile) const {
    u32 thread[1] = {threadIdx.x & 127};
    pin(thread);
    return tile.row0 + group * 64 + static_cast<int>(thread[0] / 32 * 16 + thread[0] % 32 / 4);
  }
  /// Key + 1 that it sees.
  ISOMER_DEVICE int first_high(const Tile& tile) const { return tile.high(p, first_row(tile)); }

  /// Waits for the next tile; false where there is none.
  ISOMER_DEVICE bool fetch() {
    ++turn;
    shared.q_full()[query()].wait(static_cast<u32>(turn / kQueries & 1));
    u32 front_words[4];
    load_shared(slot_of(turn), front_words);
    Tile tile;
    // From a shuffle the compiler knows that loop bounds are the same in the whole warp.
    tile.row0 = shuffle(static_cast<int>(front_words[0]), 0);
    if (tile.row0 < 0) return false;
    tile.q_len = shuffle(static_cast<int>(front_words[1]), 0);
    tile.k_len = shuffle(static_cast<int>(front_words[2]), 0);
    if constexpr (kPieces) {
      u32 piece[4];
      load_shared(slot_of(turn) + 32, piece);
      tile.shift = shuffle(static_cast<int>(piece[0]), 0);
      tile.first = shuffle(static_cast<int>(piece[1]), 0);
      if constexpr (kFp8) {
        factors = get_factors(slot_of(turn), p);
      }
    }
    const Blocks range = blocks_of<kKeys>(p, tile);
    begin = range.begin;
    n = range.end - 1;
    if constexpr (!kReread) {
      k_len = tile.k_len;
      high = first_high(tile);
    }
    const int row0 = tile.row0 + group * 64;
    clear_end = most(least(tile.high(p, row0), tile.k_len), 0) / kKeys;
    clear_begin = most((most(tile.low(p, row0 + 63), 0) + kKeys - 1) / kKeys, begin);
    narrow = kNarrow < kKeys && least(tile.high(p, row0 + 63), tile.k_len) - n * kKeys <= kNarrow;
    return true;
  }

  ISOMER_DEVICE void wait_k() { shared.k_full()[key.stage].wait(key.phase); }
  /// Of the block behind.
  ISOMER_DEVICE void wait_v() {
    if constexpr (kFp8)
      shared.v_full()[value.stage].wait(value.phase);
    else
      shared.v_full()[key.stage ^ 1].wait(key.phase ^ (key.stage == 0));
  }
  ISOMER_DEVICE void free_k() {
    if (first_lane()) shared.k_empty()[key.stage].arrive();
    key.advance();
  }
  ISOMER_DEVICE void free_v(int stage) {
    if (first_lane()) shared.v_empty()[kFp8 ? value.stage : stage].arrive();
    if constexpr (kFp8) value.advance();
  }
  /// After the last S of the tile.
  ISOMER_DEVICE void free_q() {
    if (first_lane()) shared.q_empty()[query()].arrive();
  }

  /// S = Q·Kᵀ of a whole block or a narrow one.
  template <int N>
  ISOMER_DEVICE void issue_s(f32 (&x)[N]) {
    SharedMatrix q = q_matrix + static_cast<u32>(query() * kLayout.q_bytes);
    SharedMatrix k = k_matrix + static_cast<u32>(key.stage * kLayout.k_bytes);
    if constexpr (kDim > 192 || kFp8) {  // their sums are more than there are registers for
      pin(q);
      pin(k);
    }
    warpgroup_fence();
#pragma unroll
    for (int d = 0; d < kDim / kDepth; ++d)
      multiply_add<Element, 2 * N>(x, q + static_cast<u32>(d / 4 * kPanelQ + d % 4 * 32),
                                   k + static_cast<u32>(d / 4 * kPanelKeys + d % 4 * 32), d != 0);
    warpgroup_commit();
  }
  /// Σ P·v of a whole block or a narrow one.
  template <int kCount>
  ISOMER_DEVICE void issue_o(const P& weights) {
    const SharedMatrix v =
        v_matrix + static_cast<u32>((kFp8 ? value.stage : key.stage ^ 1) * kLayout.v_bytes);
    warpgroup_fence();
#pragma unroll
    for (int k = 0; k < kCount / kDepth; ++k)
      multiply_add<Element, kDimV, !kFp8>(o, weights.of[k],
                                          v + static_cast<u32>(k * (kFp8 ? kDepth : 16 * 128)), true);
    warpgroup_commit();
  }
  ISOMER_DEVICE void issue_o(const P& weights, bool only_narrow) {
    if (kNarrow < kKeys &&
        only_narrow) {  // a fence of its own: one that the compiler adds in a branch serialises every product
      issue_o<kNarrow>(weights);
      return;
    }
    issue_o<kKeys>(weights);
  }
  /// Zeros for those rows of block `behind` of V that hold none of the tile's keys: slots that are not used
  /// may hold a NaN, and a NaN times a weight of 0 is one. The first warpgroup does it, in its turn, for
  /// both. True where it has waited for the block.
  ISOMER_DEVICE bool clear_unused_values(int its_turn, int behind) {
    if (group != 0) return false;
    const Tile tile = get_tile(slot_of(its_turn));
    const int used = most(tile.k_len - behind * kKeys, 0), before = behind == 0 ? tile.first : 0;
    if (used >= kKeys && before == 0) return false;
    wait_v();
    const u32 v = shared.v(key.stage ^ 1), zeros[4] = {};
#pragma unroll 1
    for (int i = static_cast<int>(threadIdx.x & 127); i < kKeys * 8; i += 128) {  // 16 bytes each
      if (i / 8 >= before && i / 8 < used) continue;
#pragma unroll
      for (int panel = 0; panel < AttentionSm90Layout::panels(kDimV); ++panel)
        store_shared(v + static_cast<u32>(panel * kPanelKeys + i * 16), zeros);
    }
    fence_async_shared();
    sync_threads<128>(3);
    return true;
  }
  /// S of the block ahead and Σ P·v of block `behind` of its tile, when it is this warpgroup's turn. Returns
  /// with S.
  template <int N>
  ISOMER_DEVICE void issue_both(f32 (&x)[N], const P& weights, bool only_narrow, int its_turn, int behind) {
    wait_k();
    sync_threads<256>(1 + group);
    bool waited = false;
    if constexpr (kPieces) {
      if (!kFp8 && (its_turn != turn || behind >= clear_end)) waited = clear_unused_values(its_turn, behind);
    }
    issue_s(x);
    if (!waited) wait_v();
    issue_o(weights, only_narrow);
    arrive_threads<256>(2 - group);
    warpgroup_wait<1>();
    pin(x);
    free_k();
  }

  template <int N>
  ISOMER_DEVICE void cap(f32 (&x)[N]) const {
    if constexpr (kFp8) {
      if (factors.descale != 1.0f) {
#pragma unroll
        for (int i = 0; i < N; ++i) x[i] *= factors.descale;
      }
    }
    if constexpr (kSoftcap) {
#pragma unroll
      for (int i = 0; i < N; ++i) x[i] = tanhf(x[i] * p.cap);
    }
  }
  template <int N>
  ISOMER_DEVICE void mask(f32 (&x)[N]) const {
    if constexpr (kPieces) {
      const Tile tile = get_tile(slot_of(turn));
      const int row = first_row(tile), from = n * kKeys + lane % 4 * 2;
      mask_from(x, least(tile.high(p, row), tile.k_len) - from,
                least(tile.high(p, row + 8), tile.k_len) - from);
      if (n < clear_begin) mask_below(x, tile.low(p, row) - from, tile.low(p, row + 8) - from);
      return;
    }
    int its_high = high, its_len = k_len;
    if constexpr (kReread) {
      const Tile tile = get_tile(slot_of(turn));
      its_high = first_high(tile);
      its_len = tile.k_len;
    }
    const int first = n * kKeys + lane % 4 * 2;
    mask_from(x, least(its_high, its_len) - first, least(its_high + 8, its_len) - first);
    if (n < clear_begin) {
      const int low = its_high - 1 - p.right - p.left;
      mask_below(x, low - first, low + 8 - first);
    }
  }
  ISOMER_DEVICE bool is_clear() const { return n >= clear_begin && n < clear_end; }

  /// One block: S of it, Σ P·v of the block behind with `in`, and its own P into `out`.
  ISOMER_DEVICE void step(bool clear, P& in, P& out, bool only_narrow) {
    issue_both(s, in, only_narrow, turn, n + 1);
    if (n == begin) free_q();
    cap(s);
    if (!clear) mask(s);
    const bool grown = softmax<Element>(scale(), s, rows, out);
    warpgroup_wait<0>();
    pin(o);
    if (grown) {
      // A use of `in` behind the wait. The compiler takes a's registers for free once a product is issued;
      // without this it gives them to `out`, sees that they are still read, and serialises.
      u32 x = 0;
#pragma unroll
      for (int i = 0; i < P::kWords; ++i) x ^= in.word(i);
      if (threadIdx.x == 128) store_shared(shared.scratch(), x);
    }
    free_v(key.stage);  // K has gone on since
    if (grown) {
#pragma unroll
      for (int j = 0; j < kDimV / 8; ++j) {
        o[4 * j] *= rows.factor[0];
        o[4 * j + 1] *= rows.factor[0];
        o[4 * j + 2] *= rows.factor[1];
        o[4 * j + 3] *= rows.factor[1];
      }
      pin(o);
    }
  }
  /// All blocks of a tile but the first; its last P is left in `front`.
  ISOMER_DEVICE void other_blocks() {
    bool only_narrow = narrow;
    for (--n; n >= begin;) {
      if (only_narrow || !is_clear() || ((n - clear_begin) & 1) == 0) {
        step(is_clear(), front, back, only_narrow);
#pragma unroll
        for (int i = 0; i < P::kWords; ++i) front.word(i) = back.word(i);
        front.pin();
        only_narrow = false;
        --n;
      } else {  // two at a time: P changes places with no move
        do {
          step(true, front, back, false);
          --n;
          back.pin();
          step(true, back, front, false);
          --n;
          front.pin();
        } while (n > clear_begin);
      }
    }
    narrow = only_narrow;
  }
  /// A tile's first block once S is there: x becomes P.
  template <int N>
  ISOMER_DEVICE void first_block(f32 (&x)[N]) {
    if (n == begin) free_q();
    cap(x);
    if (!is_clear()) mask(x);
    softmax_first(scale(), x, rows, kFp8 ? kShift : 0.0f);
  }
  ISOMER_DEVICE void clear_out() {
#pragma unroll
    for (int i = 0; i < kDimV / 2; ++i) o[i] = 0.0f;
    pin(o);
  }
  /// Two widths of the first block, two paths up to P: accumulators of different shapes must not meet.
  template <class Body>
  ISOMER_DEVICE void by_width(Body&& body) {
    if (kNarrow < kKeys && narrow) {
      f32 x[kNarrow / 2];
      body(x);
    } else {
      body(s);
    }
  }

  /// The sums of a tile's rows as factors for Σ P·v; writes lse.
  ISOMER_DEVICE void finish_rows(u32 slot, const Tile& tile, int first, bool writes, const Rows& done,
                                 f32 (&factor)[2]) {
    Factors its{};
    if constexpr (kFp8) its = get_factors(slot, p);
    f32 sink = p.sink && !kPieces ? attention::read(p.sink, p.sink_type, tile.head) * kLog2E : -infinity();
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      if (kPieces && p.sink) {
        const int head = clamp(tile.head_of(p, first + 8 * r), 0, p.heads - 1);
        sink = attention::read(p.sink, p.sink_type, head) * kLog2E;
      }
      f32 sum = done.sum[r] + shuffle_xor(done.sum[r], 1);
      sum += shuffle_xor(sum, 2);
      f32 base = done.reference[r] * (kFp8 ? its.scale_log2 : p.scale_log2), decay = 1.0f;
      if constexpr (kFp8) base -= kShift;
      if (sum == 0.0f) base = -infinity();  // sees no key
      if (p.sink) {
        const f32 joined = fmaxf(base, sink);
        decay = exp2_fast(base - joined);
        sum = sum * decay + exp2_fast(sink - joined);
        base = joined;
      }
      factor[r] = base == -infinity() ? 0.0f : decay * reciprocal_fast(sum);
      if constexpr (kFp8) factor[r] *= its.of_values;
      const int row = first + 8 * r;
      if (writes && row < tile.end(p) && p.lse.data)
        *attention::at<f32>(p.lse, tile.q_outer, tile.q_row + Tile::query_of(p, row), tile.head_of(p, row)) =
            base == -infinity() ? base : (base + log2_fast(sum)) * kLn2;
    }
  }
  /// Not finite where an element of the lane's row is not, or where they are huge.
  ISOMER_DEVICE f32 sum_of_out(int r) const {
    f32 sums[4] = {};
#pragma unroll
    for (int j = 0; j < kDimV / 8; ++j) sums[j % 4] += o[4 * j + 2 * r] + o[4 * j + 2 * r + 1];
    return sums[0] + sums[1] + (sums[2] + sums[3]);
  }
  template <class Put>
  ISOMER_DEVICE void repair_rows(u32 slot, const Tile& tile, int row, const bool (&broken)[2],
                                 const f32 (&max)[2], const f32 (&factor)[2], int first, int columns,
                                 Put put) const {
    if constexpr (kFp8)
      repair<Element, kKeys, kSoftcap>(p, get_factors(slot, p), kShift, tile, row, broken, max, factor, first,
                                       columns, put);
    else
      repair<Element, kKeys, kSoftcap>(p, p, 0.0f, tile, row, broken, max, factor, first, columns, put);
  }
  /// Of a tile that is done: out through shared memory, 128 columns at a time; each warpgroup stores its own
  /// rows.
  ISOMER_DEVICE void store_tile(int its_turn, const Rows& done) {
    const Tile tile = get_tile(slot_of(its_turn));
    // Pinned, like the row above.
    u32 thread[1] = {threadIdx.x & 127};
    pin(thread);
    const u32 warp = thread[0] / 32, lane = thread[0] % 32, line = warp * 16 + lane / 4;
    const int query = tile.row0 + group * 64 + static_cast<int>(line);
    if constexpr (kPieces) {
      if (p.pieces.parts > 1) {
        store_part(slot_of(its_turn), tile, query, static_cast<int>(lane), done);
        return;
      }
    }
    f32 factor[2];
    finish_rows(slot_of(its_turn), tile, query, lane % 4 == 0, done, factor);
    const bool wild = any_lane(!is_finite(sum_of_out(0)) || !is_finite(sum_of_out(1)));
    const int row0 = tile.row0 + group * 64, count = least(tile.end(p) - row0, 64);
    // Without lengths of its own the tensor ends where the queries do, and the copy engine stops there.
    const bool whole = (!kPieces || (kFp8 && p.pieces.pack == 1)) && (!p.lengths || count == 64);
    const u32 slab = shared.out(group);
#pragma unroll
    for (int first = 0; first < kDimV; first += kOutColumns) {
      const int columns = kDimV - first < kOutColumns ? kDimV - first : kOutColumns;
      if (first_thread()) wait_stores_read<0>();
      sync_threads<128>(3 + group);
#pragma unroll
      for (int c = 0; c < columns; c += 16) {
        const int j = (first + c) / 8;
        if constexpr (kFp8) {  // turned: four adjacent columns
#pragma unroll
          for (int r = 0; r < 2; ++r)
            store_shared(
                swizzled_128(slab + static_cast<u32>(c / 64 * 64 * 128), line + static_cast<u32>(8 * r),
                             static_cast<u32>(c % 64 * 2) + lane % 4 * 8),
                pack<OutElement>(o[4 * j + 2 * r] * factor[r], o[4 * j + 4 + 2 * r] * factor[r]),
                pack<OutElement>(o[4 * j + 1 + 2 * r] * factor[r], o[4 * j + 5 + 2 * r] * factor[r]));
          continue;
        }
        const u32 at = swizzled_128(slab + static_cast<u32>(c / 64 * 64 * 128), warp * 16 + lane % 16,
                                    static_cast<u32>(c % 64 * 2) + lane / 16 * 16);
        const u32 words[4] = {pack<OutElement>(o[4 * j] * factor[0], o[4 * j + 1] * factor[0]),
                              pack<OutElement>(o[4 * j + 2] * factor[1], o[4 * j + 3] * factor[1]),
                              pack<OutElement>(o[4 * j + 4] * factor[0], o[4 * j + 5] * factor[0]),
                              pack<OutElement>(o[4 * j + 6] * factor[1], o[4 * j + 7] * factor[1])};
        store_matrices(at, words);
      }
      if (wild) {
        warp_barrier();  // other lanes have written these rows
        bool broken[2];
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          f32 all = sum_of_out(r);
          all += shuffle_xor(all, 1);
          all += shuffle_xor(all, 2);
          broken[r] = static_cast<int>(line) + 8 * r < count && !is_finite(all) && is_finite(factor[r]) &&
                      is_finite(done.reference[r]);
        }
        repair_rows(slot_of(its_turn), tile, query, broken, done.reference, factor, first, columns,
                    [&](int r, int c, f32 a, f32 b) {
                      store_shared(swizzled_128(slab + static_cast<u32>(c / 64 * 64 * 128),
                                                line + static_cast<u32>(8 * r), static_cast<u32>(c % 64 * 2)),
                                   pack<OutElement>(a, b));
                    });
      }
      fence_async_shared();
      sync_threads<128>(3 + group);
      if (whole) {
        if (first_thread()) {
#pragma unroll
          for (int c = 0; c < columns; c += 64)
            store<4>(p.out_map, {{first + c, tile.q_row + row0, tile.head, tile.q_outer}},
                     slab + static_cast<u32>(c * 128));
          end_stores();
        }
      } else {
        store_rows(tile, thread[0], row0, count, first, columns, slab);
      }
    }
  }
  /// The first `count` rows of a slab, 16 bytes at a time.
  ISOMER_DEVICE void store_rows(const Tile& tile, u32 thread, int row0, int count, int first, int columns,
                                u32 slab) {
    const int chunks = columns / 8;
#pragma unroll 1
    for (int i = static_cast<int>(thread); i < count * chunks; i += 128) {
      const int r = i / chunks, c = i - r * chunks;
      if (first + c * 8 >= p.head_dim_v) continue;
      u32 words[4];
      load_shared(swizzled_128(slab + static_cast<u32>(c / 8 * 64 * 128), static_cast<u32>(r),
                               static_cast<u32>(c % 8 * 16)),
                  words);
      Vector<u32, 4> vector{{words[0], words[1], words[2], words[3]}};
      OutElement* to =
          attention::at<OutElement>(p.out, tile.q_outer, tile.q_row + Tile::query_of(p, row0 + r),
                                    tile.head_of(p, row0 + r)) +
          first + c * 8;
      isomer::device::store<4>(reinterpret_cast<u32*>(to), vector);
    }
  }

  /// Of a part of an entry's keys: Σ P·v as it is, and the reference and sum of each row, for the combine.
  ISOMER_DEVICE void store_part(u32 slot, const Tile& tile, int row, int lane, const Rows& done) {
    const f32 undivided[2] = {1.0f, 1.0f};
    f32 scale_log2 = p.scale_log2;
    if constexpr (kFp8) scale_log2 = get_factors(slot, p).scale_log2;
    bool broken[2];
    i64 to[2];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      f32 sum = done.sum[r] + shuffle_xor(done.sum[r], 1);
      sum += shuffle_xor(sum, 2);
      const bool mine = row + 8 * r < tile.end(p);
      const int query = Tile::query_of(p, row + 8 * r), head = tile.head_of(p, row + 8 * r);
      to[r] = (static_cast<i64>(tile.part) * p.heads + head) * p.pieces.partial_rows +
              tile.q_outer * p.q.rows + tile.q_row + query;
      f32 all = sum_of_out(r);
      all += shuffle_xor(all, 1);
      all += shuffle_xor(all, 2);
      broken[r] = mine && !is_finite(all) && is_finite(sum) && is_finite(done.reference[r]);
      if (!mine) continue;
      if (lane % 4 == 0) {
        const Vector<f32, 2> state{
            {sum == 0.0f ? -infinity() : done.reference[r] * scale_log2 - (kFp8 ? kShift : 0.0f), sum}};
        isomer::device::store<2>(p.pieces.partial_state + to[r] * 2, state);
      }
      if constexpr (kFp8) {
#pragma unroll
        for (int j = 0; j < kDimV / 8; j += 2) {
          const int column = 8 * j + lane % 4 * 4, i = 4 * j + 2 * r;
          if (column < p.head_dim_v)
            isomer::device::store<4>(p.pieces.partial_out + to[r] * p.head_dim_v + column,
                                     Vector<f32, 4>{{o[i], o[i + 4], o[i + 1], o[i + 5]}});
        }
        continue;
      }
#pragma unroll
      for (int j = 0; j < kDimV / 8; ++j) {
        const int column = 8 * j + lane % 4 * 2;
        if (column < p.head_dim_v)
          isomer::device::store<2>(p.pieces.partial_out + to[r] * p.head_dim_v + column,
                                   Vector<f32, 2>{{o[4 * j + 2 * r], o[4 * j + 2 * r + 1]}});
      }
    }
    if (!any_lane(broken[0] || broken[1])) return;
    warp_barrier();  // other lanes have written these rows
    repair_rows(
        slot, tile, row, broken, done.reference, undivided, 0, kDimV, [&](int r, int c, f32 a, f32 b) {
          if (c < p.head_dim_v)
            isomer::device::store<2>(p.pieces.partial_out + (r == 0 ? to[0] : to[1]) * p.head_dim_v + c,
                                     Vector<f32, 2>{{a, b}});
        });
  }

  /// S of a tile's first block, by itself, and its P into `front`.
  ISOMER_DEVICE void begin_tile() {
    clear_out();
    wait_k();
    by_width([&](auto& x) {
      issue_s(x);
      warpgroup_wait<0>();
      pin(x);
      free_k();
      first_block(x);
      round_weights<Element>(x, front);
    });
  }
  /// Σ P·v of its last block, by itself.
  ISOMER_DEVICE void end_tile(int its_turn, bool its_narrow, const Rows& its_rows, int its_last) {
    bool waited = false;
    if constexpr (kPieces && !kFp8) {
      sync_threads<256>(1 + group);
      waited = clear_unused_values(its_turn, its_last);
    }
    if (!waited) wait_v();
    issue_o(front, its_narrow);
    if constexpr (kPieces && !kFp8) arrive_threads<256>(2 - group);
    warpgroup_wait<0>();
    pin(o);
    free_v(key.stage ^ 1);
    store_tile(its_turn, its_rows);
  }

  ISOMER_DEVICE void all_tiles() {
    if (group == 1) arrive_threads<256>(1);  // the first warpgroup begins
    if constexpr (kQueries == 1) {
      while (fetch()) {
        begin_tile();
        other_blocks();
        end_tile(turn, narrow, rows, begin);
      }
    } else if (fetch()) {
      begin_tile();
      for (;;) {
        other_blocks();
        const bool done_narrow = narrow;
        const Rows done = rows;
        const int last = begin;
        if (!fetch()) {
          end_tile(turn - 1, done_narrow, done, last);
          break;
        }
        // The border: S of the next tile's first block with Σ P·v of this one's last.
        by_width([&](auto& x) {
          issue_both(x, front, done_narrow, turn - 1, last);
          first_block(x);
          warpgroup_wait<0>();
          pin(o);
          free_v(key.stage);
          store_tile(turn - 1, done);
          clear_out();
          round_weights<Element>(x, front);
        });
      }
    }
    if (group == 0) sync_threads<256>(1);  // both have had as many turns: the one that is left over
    if (first_thread()) wait_stores<0>();
  }
};

extern "C" __global__ void __launch_bounds__(384, 1)
    isomer_attention_sm90(const __grid_constant__ AttentionSm90Parameters p) {
  extern __shared__ char memory[];
  const Shared shared{(shared_address(memory) + 1023) & ~1023u};
  const int role = shuffle(static_cast<int>(threadIdx.x) / 128, 0);
  if (threadIdx.x == 0) {
    for (int i = 0; i < 2; ++i) {
      for (const Barrier full : {shared.q_full(), shared.k_full()}) full[i].init(1);
      for (const Barrier empty : {shared.q_empty(), shared.k_empty()}) empty[i].init(8);
      if constexpr (kFp8) {
        shared.v_rows_full()[i].init(1);
        shared.v_rows_empty()[i].init(kTurners);
      }
    }
    for (int i = 0; i < kStagesV; ++i) {
      shared.v_full()[i].init(kFp8 ? kTurners : 1);
      shared.v_empty()[i].init(8);
    }
    fence_barriers();
  }
  if constexpr (kPieces) {
    if (p.pieces.tile_rows < kRows) clear_spare_rows(p, shared);
  }
  __syncthreads();
  if (role == 0) {
    keep_registers<kProducerRegisters>();
    if constexpr (kPieces) {
      if (threadIdx.x < 32) {
        produce_pieces(p, shared);
      } else if constexpr (kFp8) {
        turn_values(p, shared, static_cast<int>(threadIdx.x / 32) - 1);
      }
    } else {
      if (threadIdx.x == 0) produce(p, shared);
    }
  } else {
    take_registers<252 - kProducerRegisters / 2>();
    Work work(p, shared, role - 1);
    work.all_tiles();
  }
}

}  // namespace isomer::device::attention_sm90
