// Block-scaled products of e4m3 on Hopper. A block owns kTileM × kTileN of c at a time and stays for as many
// tiles as fall to it. Its last kWarpgroups warpgroups multiply, 64 rows each; of the first one, a thread has
// the copy engine bring a and b, one scale block (128 of K) at a time, and a warp brings the scales, one or
// four blocks of K at a time, so far ahead as there is room:
//
//   stage:  a  kTileM × 128 bytes | b  kTileN × 128 bytes
//     full: the bytes have landed         empty: every warp that multiplies, of all the cluster, has left
//   slot:   a_s  kTileM rows × 1 or 4 floats | b_s  of the tile's blocks of columns × 1 or 4 floats
//     brought: the 32 lanes' copies are done         read: every warp that multiplies has left
//   c, in parts of a chunk's columns for each warpgroup that multiplies; another warp stores them
//     written: by the warpgroup's four warps         stored: its bulk copies have read it
//
// wgmma sums a scale block into a temporary of kTileN / kChunks columns, which is then scaled and added to
// the sums in registers (the tensor cores' own sums are too short for all of K); the other warpgroup's
// products run meanwhile. A chunk of c is rounded and stored when the next one's last products, or the next
// tile's first ones, are on the tensor cores.
//
// kCluster blocks with tiles of rows beside one another each bring a part of b to all of them. kSplit blocks
// of a cluster divide K; then each hands the others their slices of its columns through their shared memory,
// and adds up its own in the order of the blocks: no memory beside, and the same bits every time.
#include "gpu/device/overlap.cuh"
#include "gpu/device/sm90/cluster.cuh"
#include "gpu/device/sm90/registers.cuh"
#include "gpu/device/sm90/warpgroup_mma.cuh"
#include "ops/fp8_gemm/kernels/sm90_bring.cuh"

namespace isomer::device {

using sm90::SharedMatrix;

/// Two warpgroups take turns at the tensor cores: one may issue when half of the other's products are done,
/// so that one multiplies while the other promotes. Left alone they may fall into step, share the tensor
/// cores and promote together, for a seventh of the speed. Two chunks to a block of K keep them apart by
/// themselves, and turns cost 1 to 3 %; with 64 columns most of a block of K is waiting for its own products,
/// and turns cost 3 to 26 %.
constexpr bool kTurns = kWarpgroups == 2 && kChunks == 1 && kTileN > 64;

/// With one chunk the next products' descriptors are computed beside the promotion, not behind the turn.
constexpr bool kPointsEarly = kChunks == 1;

/// Behind a block's last tile the products of whatever the next stage holds are issued too, and nobody looks
/// at them: a branch round them would make the compiler wait for all products in front of every store. The
/// emulator, which knows no such compiler, reports them.
constexpr bool kIssueBehindLast = ISOMER_SM90;

/// The start waits for shared memory alone, not for the L2 cache: 0.1 to 0.6 µs of a single launch. Blocks of
/// larger clusters lose by it where launches follow one another.
constexpr bool kBeginsLightly = kCluster == 1 && kSplit <= 2;

/// Every block of K waits for its slot, though the first one of a slot would do: with two chunks a branch
/// round the wait costs 6 % of the speed. The emulator takes a second wait for a mistake.
constexpr bool kWaitsAgain = ISOMER_SM90 && kChunks == 2;

/// Whether a warpgroup's rows of a tile are stored by bulk copies: they write all rows, so those past an
/// expert's count must not be among them.
ISOMER_DEVICE bool stored_by_copies(const Sm90Tile& tile, int warpgroup) {
  return kLayout != GemmRows::masked || tile.row + warpgroup * 64 + 64 <= tile.end;
}

/// One thread: the results of warpgroup `number`, of every tile.
ISOMER_DEVICE void store_results(const Fp8GemmSm90Parameters& p, const Memory& memory, Tiles tiles, u32 rank,
                                 int number) {
  constexpr int kPanels = kOwnColumns / Panels::kWidth / kParts;
  if constexpr (kCluster == 1) sm90::prefetch(p.c);
  u32 phase = 0;
  Sm90Tile tile;
  while (tiles.next(tile)) {
    if (!stored_by_copies(tile, number)) continue;
    const i32 row = tile.row + number * 64, column = tile.column + (kSplit > 1 ? rank : 0) * kOwnColumns,
              entry = kLayout == GemmRows::masked ? tile.expert : 0;
#pragma unroll 1
    for (int part = 0; part < kParts; ++part) {
      memory.written[number * kParts + part].wait(phase);
#pragma unroll 1
      for (int i = part * kPanels; row < tile.end && i < (part + 1) * kPanels; ++i)
        memory.panels(number).store(p.c, i, column, row, entry);
      sm90::wait_stores_read<0>();
      memory.stored[number * kParts + part].arrive();
    }
    phase ^= 1;
  }
  sm90::wait_stores<0>();
}

/// sum += temporary, scaled. The tile begins kOffset columns behind a multiple of 128.
template <int kOffset>
ISOMER_DEVICE void promote(int chunk, const f32 (&temporary)[kChunk / 2],
                           const f32 (&scale)[kScaleColumns][2], f32 (&sum)[kChunk / 2]) {
  const int change =
      (kScaleBlock - kOffset - chunk * kChunk) / 8;  // columns / 8 before the next block of b_s
#pragma unroll
  for (int j = 0; j < kChunk / 8; ++j)
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const f32 s = scale[j < change ? 0 : kScaleColumns == 2 || j < change + kScaleBlock / 8 ? 1 : 2][e / 2];
      sum[4 * j + e] = fmaf(s, temporary[4 * j + e], sum[4 * j + e]);
    }
}

/// The same of a tile that begins kFrom columns behind a multiple of 128, or any multiple of 16 below kEnd.
template <int kFrom, int kEnd>
ISOMER_DEVICE void promote_from(int offset, int chunk, const f32 (&temporary)[kChunk / 2],
                                const f32 (&scale)[kScaleColumns][2], f32 (&sum)[kChunk / 2]) {
  if constexpr (kEnd - kFrom == 16) {
    promote<kFrom>(chunk, temporary, scale, sum);
  } else {
    constexpr int kMiddle = (kFrom + kEnd) / 2;
    if (offset < kMiddle)
      promote_from<kFrom, kMiddle>(offset, chunk, temporary, scale, sum);
    else
      promote_from<kMiddle, kEnd>(offset, chunk, temporary, scale, sum);
  }
}

/// A warpgroup that multiplies: `number` of kWarpgroups.
class Multiplier {
 public:
  ISOMER_DEVICE Multiplier(const Fp8GemmSm90Parameters& p, const Memory& memory, int number)
      : p_(p),
        memory_(memory),
        a_(SharedMatrix::of(memory.a + static_cast<u32>(number) * 64 * 128, 16, 1024)),
        b_(SharedMatrix::of(memory.b, 16, 1024)),
        scales_(memory.scales +
                static_cast<u32>(number * 64 + warp() % 4 * 16 + lane() / 4) * (4 * kScalesAtOnce)),
        number_(number) {}

  ISOMER_DEVICE void run(Tiles tiles, Depth depth, u32 rank) {
    Sm90Tile tile, next;
    if (!tiles.next(tile)) return;
    if (kTurns && number_ == 1) sm90::arrive_threads<256>(kTurn + 0);
    if (kClearsRows && p_.rows_brought < kTileM) clear_rows();
    point();
    memory_.full[ring_.stage].wait(ring_.phase);
    issue(0);
    pass_turn();
#pragma unroll
    for (int c = 0; c < kChunks; ++c) clear(c);
    for (bool more = true; more; tile = next) {
#pragma unroll 1
      for (i32 block = depth.first; block + 1 < depth.end; ++block)
        multiply<false>(tile, block, block == depth.first, true);
      more = tiles.next(next);  // asked where products are under way
      multiply<true>(tile, depth.end - 1, depth.end - 1 == depth.first, more);
      if constexpr (kSplit > 1) {
        add_up(tile, rank);
        break;  // there is one tile
      }
    }
    sm90::warpgroup_wait<0>();
    if (kTurns && number_ == 0) sm90::sync_threads<256>(kTurn + 0);
  }

 private:
  /// The products of a chunk of the stage at hand.
  ISOMER_DEVICE void issue(int chunk) {
    if constexpr (!kPointsEarly) point();
    const SharedMatrix a = stage_a_, b = stage_b_ + static_cast<u32>(chunk) * kChunk * 128;
    sm90::pin(temporary_);
    if constexpr (kTurns) sm90::sync_threads<256>(kTurn + number_);
    sm90::warpgroup_fence();
#pragma unroll
    for (u32 k = 0; k < 4; ++k) {
      sm90::multiply_add<e4m3fn, kChunk>(temporary_, a + 32 * k, b + 32 * k, k != 0);
      if (kTurns && k == 1) sm90::warpgroup_commit();
    }
    sm90::warpgroup_commit();
  }
  /// Where the operands of the stage at hand lie.
  ISOMER_DEVICE void point() {
    stage_a_ = a_ + static_cast<u32>(ring_.stage) * kBytesA;
    stage_b_ = b_ + static_cast<u32>(ring_.stage) * kBytesB;
  }
  /// Lets the other warpgroup issue.
  ISOMER_DEVICE void pass_turn() const {
    if constexpr (kTurns) sm90::arrive_threads<256>(kTurn + 1 - number_);
  }
  static constexpr int kTurn = 4, kCleared = 6;  // of two barriers each

  /// Zeros for the rows that no copy brings, in every stage, while the first copies are under way. The copy
  /// engine could write them, but takes as long for each as for one that it fetches.
  ISOMER_DEVICE void clear_rows() const {
    constexpr u32 kZeros[4] = {};
    const u32 mine = static_cast<u32>(number_) * 64, first = mine < p_.rows_brought ? p_.rows_brought : mine;
#pragma unroll 1
    for (u32 stage = 0; stage < kStages; ++stage)
      for (u32 at = first * 128 + threadIdx.x % 128 * 16; at < (mine + 64) * 128; at += 128 * 16)
        sm90::store_shared(memory_.a + stage * kBytesA + at, kZeros);
    sm90::fence_async_shared();
    sm90::sync_threads<128>(kCleared + number_);
  }

  /// Block `block` of K, whose first chunk is under way already; then that of the next stage, which is waited
  /// for if `more` comes. kLast of a tile: each chunk is stored behind the issue of the next one's products.
  template <bool kLast>
  ISOMER_DEVICE void multiply(const Sm90Tile& tile, i32 block, bool first, bool more) {
    constexpr bool kStores = kLast && kSplit == 1,
                   kAhead = !kLast || kSplit == 1;  // divided, there is one tile
    const u32 in_slot = static_cast<u32>(block) % kScalesAtOnce,
              slot = slot_ % kSlots * kBytesSlot + in_slot * 4;
    const bool ends_slot = kLast || in_slot == kScalesAtOnce - 1;
    const int number = static_cast<int>(slot_ % kSlots);
    if (kWaitsAgain || first || in_slot == 0) memory_.brought[number].wait(slot_ / kSlots % 2);
    const u32 rows = scales_ + slot, columns = memory_.scales + kBytesRows + slot;
    const f32 upper = sm90::load_shared_f32(rows), lower = sm90::load_shared_f32(rows + 32 * kScalesAtOnce);
    const f32 left = sm90::load_shared_f32(columns),
              right = sm90::load_shared_f32(columns + 4 * kScalesAtOnce);
    f32 scale[kScaleColumns][2] = {{upper * left, lower * left}, {upper * right, lower * right}};
    if constexpr (kScaleColumns == 3) {
      const f32 last = sm90::load_shared_f32(columns + 8 * kScalesAtOnce);
      scale[2][0] = upper * last;
      scale[2][1] = lower * last;
    }
#pragma unroll
    for (int c = 0; c < kChunks; ++c) {
      if (c > 0) issue(c);
      if (kStores && c > 0) finish_chunk(tile, c - 1);
      if (kTurns && (c > 0 || !first)) {
        sm90::warpgroup_wait<1>();
        pass_turn();
      }
      sm90::warpgroup_wait<0>();
      sm90::pin(temporary_);
      if (c == kChunks - 1) {
        leave(ring_.stage, ends_slot);
        ring_.advance();
        if constexpr (kPointsEarly) point();
        if (ends_slot) ++slot_;
      }
      promote_chunk(tile, c, scale);
    }
    if (kAhead && (!kLast || more)) memory_.full[ring_.stage].wait(ring_.phase);
    if (kAhead && (!kLast || kIssueBehindLast || more)) {
      issue(0);
      if (kTurns && kLast) pass_turn();  // the tile is stored before these products are looked at
    }
    if constexpr (kStores) {
      finish_chunk(tile, kChunks - 1);
      end_results(tile);
    }
  }

  /// This warp needs the stage no more, nor the slot where that ends.
  ISOMER_DEVICE void leave(int stage, bool ends_slot) const {
    warp_barrier();
    if constexpr (kCluster == 1) {
      if (lane() == 0) memory_.empty[stage].arrive();
    } else {
      if (lane() < kCluster) memory_.empty[stage].arrive_in_having_read(static_cast<u32>(lane()));
    }
    // Every lane for itself, behind its own reads: racecheck does not follow the warp's barrier.
    if (ends_slot) memory_.read[static_cast<int>(slot_ % kSlots)].arrive();
  }

  ISOMER_DEVICE void promote_chunk(const Sm90Tile& tile, int chunk, const f32 (&scale)[kScaleColumns][2]) {
    // A choice for all of a chunk is a branch of the warp; one for every register would cost a fifth of the
    // speed.
    if constexpr (kTileN == 192) {
      if (tile.column % kScaleBlock == 0)
        promote<0>(chunk, temporary_, scale, sum_[chunk]);
      else
        promote<64>(chunk, temporary_, scale, sum_[chunk]);
    } else if constexpr (kTileN == 176) {
      promote_from<0, kScaleBlock>(tile.column % kScaleBlock, chunk, temporary_, scale, sum_[chunk]);
    } else {
      promote<0>(chunk, temporary_, scale, sum_[chunk]);
    }
  }

  /// Ready for the next tile.
  ISOMER_DEVICE void clear(int chunk) {
#pragma unroll
    for (int i = 0; i < kChunk / 2; ++i) sum_[chunk][i] = 0;
  }
  ISOMER_DEVICE void finish_chunk(const Sm90Tile& tile, int chunk) {
    finish(tile, tile.column + chunk * kChunk, chunk, sum_[chunk]);
    clear(chunk);
  }

  /// Rounds 2 · N columns from `column` on, part `part` of a tile, and leaves them to the warp that stores,
  /// or stores them.
  template <int N>
  ISOMER_DEVICE void finish(const Sm90Tile& tile, i32 column, int part, f32 (&sum)[N]) {
    const Fp8GemmParameters& g = p_.gemm;
    const Sm90Rows rows(tile, number_);
    if constexpr (kTerms) add_terms<Element>(g, tile, rows, column, sum);
    if constexpr (kLayout == GemmRows::contiguous) clear_padding(g, rows, sum);
    if constexpr (kBulkStore) {
      if (stored_by_copies(tile, number_)) {
        const Panels panels = memory_.panels(number_);
        const int at = number_ * kParts + part;
        memory_.stored[at].wait(result_phase_ ^ 1);
#pragma unroll
        for (int i = 0; i < N / 8; ++i) panels.template write<Element>(part * (N / 8) + i, &sum[8 * i]);
        sm90::fence_async_shared();
        warp_barrier();
        if (lane() == 0) memory_.written[at].arrive();
        return;
      }
    }
    if constexpr (!kBulkStore || kLayout == GemmRows::masked)
      store_by_threads<Element>(g, tile, rows, column, sum);
  }
  /// Behind the last part of a tile.
  ISOMER_DEVICE void end_results(const Sm90Tile& tile) {
    if (kBulkStore && stored_by_copies(tile, number_)) result_phase_ ^= 1;
  }

  /// Every block of the cluster hands slice q of its registers to block q, which adds up what it was handed.
  ISOMER_DEVICE void add_up(const Sm90Tile& tile, u32 rank) {
    if constexpr (kSplit > 1) {
      constexpr int kOwn = kOwnColumns / 2;
      // As [from][register / 4][thread], 16 bytes each.
      const u32 mine = memory_.parts + (threadIdx.x - 128) * 16;
      constexpr u32 kFour = kWarpgroups * 128 * 16;
      const f32(&all)[kChunks * kChunk / 2] = reinterpret_cast<const f32(&)[kChunks * kChunk / 2]>(sum_);
#pragma unroll
      for (u32 q = 0; q < kSplit; ++q)
#pragma unroll
        for (u32 i = 0; i < kOwn / 4; ++i) {
          const f32* const four = &all[q * kOwn + 4 * i];
          sm90::store_shared_in(q, mine + (rank * (kOwn / 4) + i) * kFour, four[0], four[1], four[2],
                                four[3]);
        }
      sm90::cluster_sync();
      f32 sum[kOwn] = {};
#pragma unroll
      for (u32 q = 0; q < kSplit; ++q)
#pragma unroll
        for (u32 i = 0; i < kOwn / 4; ++i) {
          u32 four[4];
          sm90::load_shared(mine + (q * (kOwn / 4) + i) * kFour, four);
#pragma unroll
          for (int e = 0; e < 4; ++e) sum[4 * i + e] += f32_of(four[e]);
        }
      finish(tile, tile.column + static_cast<i32>(rank) * kOwnColumns, 0, sum);
      end_results(tile);
    }
  }

  const Fp8GemmSm90Parameters& p_;
  const Memory memory_;
  const SharedMatrix a_, b_;
  SharedMatrix stage_a_, stage_b_;
  const u32 scales_;
  const int number_;
  sm90::Pipeline<kStages> ring_;
  u32 slot_ = 0;  // of all that there ever are, in one register
  u32 result_phase_ = 0;
  f32 temporary_[kChunk / 2];
  f32 sum_[kChunks][kChunk / 2];
};

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    isomer_fp8_gemm_sm90(const __grid_constant__ Fp8GemmSm90Parameters p) {
  extern __shared__ __align__(1024) u8 base[];
  const Memory memory(sm90::shared_address(base));
  const int warpgroup = shuffle(static_cast<int>(threadIdx.x) / 128, 0);
  const u32 rank = kCluster * kSplit > 1 ? sm90::cluster_rank() : 0;
  if (threadIdx.x == 0) {
    sm90::prefetch(p.a);
    sm90::prefetch(p.b);
    for (int i = 0; i < kStages; ++i) {
      memory.full[i].init(1);
      memory.empty[i].init(kWarpgroups * 4 * kCluster);
    }
    for (int i = 0; i < kSlots; ++i) {
      memory.brought[i].init(32);
      memory.read[i].init(kWarpgroups * 128);
    }
    for (int i = 0; kBulkStore && i < kWarpgroups * kParts; ++i) {
      memory.written[i].init(4);
      memory.stored[i].init(1);
    }
    sm90::fence_barriers<kBeginsLightly>();
  }
  if constexpr (kCluster * kSplit == 1)
    __syncthreads();
  else if constexpr (kBeginsLightly)
    sm90::cluster_begin();
  else
    sm90::cluster_sync();
  let_next_begin();

  constexpr u32 kTogether = kCluster * kSplit;
  const i32 blocks = static_cast<i32>(p.gemm.blocks), part = static_cast<i32>(kSplit > 1 ? rank : 0);
  const Depth depth = {blocks * part / kSplit, blocks * (part + 1) / kSplit};
  // Each role has its own: what all have would be kept in memory while sums take all registers.
  const auto tiles = [&] {
    return Tiles(p, blockIdx.x / kTogether, gridDim.x / kTogether, kCluster > 1 ? rank : 0);
  };
  if constexpr (kFetchesAhead)
    if (warpgroup == 1) fetch_b_ahead(p, tiles(), depth, static_cast<int>(threadIdx.x) - 128);
  if constexpr (!kBReady) wait_for_previous();
  i32 begun = 0;
  if constexpr (kBReady) {
    if (threadIdx.x == 0) begun = begin_b(p, memory, tiles(), depth, rank);
    wait_for_previous();
  }
  if (warpgroup == 0) {
    if constexpr (kShareRegisters) sm90::keep_registers<kCopyRegisters>();
    if (threadIdx.x == 0) bring_operands(p, memory, tiles(), depth, rank, begun);
    if (warp() == 1) bring_scales(p, base, memory, tiles(), depth);
    warp_barrier();
    if constexpr (kSplit > 1) sm90::cluster_sync();  // the one in add_up()
    if (kBulkStore && lane() == 0 && warp() >= 2 && warp() < 2 + kWarpgroups)
      store_results(p, memory, tiles(), rank, warp() - 2);
    warp_barrier();
  } else {
    if constexpr (kShareRegisters) sm90::take_registers<kSumRegisters>();
    if constexpr (kLayout == GemmRows::contiguous) {
      Sm90Tiles<kLayout, kTileM, kTileN, kCluster, true> padding(p, blockIdx.x, gridDim.x, 0);
      Sm90Tile tile;
      while (padding.next(tile))
        store_padding<Element, kTileM, kTileN, kWarpgroups * 128>(p.gemm, tile,
                                                                  static_cast<int>(threadIdx.x) - 128);
    }
    Multiplier(p, memory, warpgroup - 1).run(tiles(), depth, rank);
  }
  if constexpr (kCluster > 1) sm90::cluster_sync();  // nobody leaves while another can still reach its memory
}

}  // namespace isomer::device
