// Block-scaled products of e4m3 on Hopper. A block owns kTileM × kTileN of c at a time and stays for as many
// tiles as fall to it. Its last kWarpgroups warpgroups multiply, 64 rows each; of the first one, a thread has
// the copy engine bring a and b and a warp brings the scales, one scale block (128 of K) at a time, into
// kStages buffers:
//
//   stage:  a  kTileM × 128 bytes | b  kTileN × 128 bytes | a_s  kTileM floats, b_s  of the tile's two blocks
//   of columns full:   the bytes of a and b have landed, and the 32 lanes' scales     empty: every warp that
//   multiplies has left
//
// wgmma sums a scale block into a temporary of kTileN / kChunks columns, which is then scaled and added to
// the sums in registers (the tensor cores' own sums are too short for all of K); the other warpgroup's
// products run meanwhile. The first chunk of the next tile is issued before a tile is stored, so that the
// tensor cores work while c is rounded and written.
//
// kCluster blocks with tiles of rows beside one another each bring a part of b to all of them. kSplit blocks
// of a cluster divide K; then each hands the others their slices of its columns through their shared memory,
// and adds up its own in the order of the blocks: no memory beside, and the same bits every time.
#include "gpu/device/async_copy.cuh"
#include "gpu/device/overlap.cuh"
#include "gpu/device/sm90/cluster.cuh"
#include "gpu/device/sm90/pipeline.cuh"
#include "gpu/device/sm90/registers.cuh"
#include "gpu/device/sm90/warpgroup_mma.cuh"
#include "ops/fp8_gemm/kernels/sm90_result.cuh"

namespace isomer::device {

using sm90::Barrier;
using sm90::SharedMatrix;

constexpr int kTileM = ISOMER_TILE_M, kTileN = ISOMER_TILE_N, kChunks = ISOMER_CHUNKS;
constexpr int kStages = ISOMER_STAGES, kCluster = ISOMER_CLUSTER, kSplit = ISOMER_SPLIT;
constexpr GemmRows kLayout = GemmRows::ISOMER_ROWS;
constexpr bool kBulkStore = ISOMER_BULK_STORE, kTerms = ISOMER_TERMS;
constexpr int kScalesAtOnce = ISOMER_SCALES;
using Element = ISOMER_C;

constexpr int kWarpgroups = kTileM / 64, kChunk = kTileN / kChunks, kThreads = 128 * (kWarpgroups + 1);
constexpr u32 kBytesA = kTileM * 128, kBytesB = kTileN * 128;
// Scales of a for so many blocks of K at once (1 or 4), in as many slots as the stages can meet and one that
// is being filled.
constexpr int kSlots = sm90_slots(kStages, kScalesAtOnce);
constexpr u32 kBytesScales = kTileM * kScalesAtOnce * 4, kBytesColumns = 16;
constexpr int kOwnColumns = kTileN / kSplit;  // of the tile, that this block stores
using Panels = Sm90Panels<kOwnColumns>;
constexpr u32 kBytesC = kBulkStore ? kWarpgroups * Panels::kBytes : 0;
constexpr u32 kBytesParts = kSplit > 1 ? kTileM* kTileN * 4 : 0;  // sums that this block is handed
// 384 threads begin with 168 registers each; 256 have all they can use.
constexpr bool kShareRegisters = kWarpgroups == 2;
constexpr int kCopyRegisters = 40, kSumRegisters = 232;

static_assert(kTileM == 64 || kTileM == 128);
static_assert(kTileN == 64 || kTileN == 128 || kTileN == 192 || kTileN == 256,
              "a tile meets two blocks of b_s at most");
static_assert(kCluster == 1 || kSplit == 1);
static_assert(kCluster == 1 || kLayout == GemmRows::single, "a cluster has one expert");
static_assert(kStages * (kBytesA + kBytesB + kBytesColumns + 2 * Barrier::kBytes) + kBytesC + kBytesParts +
                  kSlots * kBytesScales ==
              sm90_fixed_bytes(kTileM, kTileN, kSplit, kBulkStore) +
                  sm90_staged_bytes(kTileM, kTileN, kStages, kScalesAtOnce));
static_assert(kOwnColumns % 16 == 0 && kOwnColumns * kSplit == kTileN);

/// Two warpgroups take turns at the tensor cores: one may issue when half of the other's products are done,
/// so that one multiplies while the other promotes. Left alone they may fall into step, share the tensor
/// cores and promote together, for a seventh of the speed. Two chunks to a block of K keep them apart by
/// themselves, and turns cost 1 to 3 %.
constexpr bool kTurns = kWarpgroups == 2 && kChunks == 1;

/// Behind a block's last tile the products of whatever the next stage holds are issued too, and nobody looks
/// at them: a branch round them would make the compiler wait for all products in front of every store. The
/// emulator, which knows no such compiler, reports them.
constexpr bool kIssueBehindLast = ISOMER_SM90;

/// Where everything lies in shared memory.
struct Memory {
  u32 a, b, c, parts, scales, columns;
  Barrier full, empty;
  ISOMER_DEVICE explicit Memory(u32 base)
      : a(base),
        b(a + kStages * kBytesA),
        c(b + kStages * kBytesB),
        parts(c + kBytesC),
        scales(parts + kBytesParts),
        columns(scales + kSlots * kBytesScales),
        full{columns + kStages * kBytesColumns},
        empty{full.at + kStages * Barrier::kBytes} {}
};

using Tiles = Sm90Tiles<kLayout, kTileM, kTileN, kCluster>;

/// The blocks of K [first, end) of this block.
struct Depth {
  i32 first, end;
};

/// Whether the scales of a for block `block` begin a new slot; `first` of a tile's.
ISOMER_DEVICE bool begins_slot(i32 block, bool first) {
  return kScalesAtOnce == 1 || first || block % kScalesAtOnce == 0;
}

/// One thread: a and b of every tile.
ISOMER_DEVICE void bring_operands(const Fp8GemmSm90Parameters& p, const Memory& memory, Tiles tiles,
                                  Depth depth, u32 rank) {
  const sm90::Keep keep = p.b_once ? sm90::Keep::briefly : sm90::Keep::normal;
  sm90::Pipeline<kStages> ring;
  Sm90Tile tile;
  while (tiles.next(tile)) {
    const i32 entry = kLayout == GemmRows::masked ? tile.expert : 0;
#pragma unroll 1
    for (i32 block = depth.first; block < depth.end; ++block, ring.advance()) {
      const Barrier full = memory.full[ring.stage];
      memory.empty[ring.stage].wait(ring.phase ^ 1);
      full.arrive_expect(kBytesA + kBytesB);
      sm90::load<3>(p.a, {{block * kScaleBlock, tile.row, entry}},
                    memory.a + static_cast<u32>(ring.stage) * kBytesA, full);
      const u32 b = memory.b + static_cast<u32>(ring.stage) * kBytesB;
      if constexpr (kCluster == 1)
        sm90::load<3>(p.b, {{block * kScaleBlock, tile.column, tile.expert}}, b, full, keep);
      else
        sm90::load_multicast<3>(
            p.b,
            {{block * kScaleBlock, tile.column + static_cast<i32>(rank) * (kTileN / kCluster), tile.expert}},
            b + rank * (kBytesB / kCluster), full, (1 << kCluster) - 1, keep);
    }
  }
}

/// One warp: the scales of every tile. Of a, four blocks of a row at once where they lie so, else one by one,
/// whatever their strides are.
ISOMER_DEVICE void bring_scales(const Fp8GemmSm90Parameters& p, u8* base, const Memory& memory, Tiles tiles,
                                Depth depth) {
  constexpr int kCopies = kTileM / 32, kBytes = 4 * kScalesAtOnce;
  const Fp8GemmParameters& g = p.gemm;
  sm90::Pipeline<kStages> ring;
  int slot = kSlots - 1;
  Sm90Tile tile;
  while (tiles.next(tile)) {
    const f32* a_s[kCopies];
#pragma unroll
    for (int i = 0; i < kCopies;
         ++i) {  // rows behind the last may have any scales: their sums are not stored
      const i32 row = tile.row + i * 32 + lane(), last = tile.end - 1;
      a_s[i] = g.a_s + row_offset(g, g.a_s_rows, tile.expert, row < last ? row : last);
    }
    const i32 last = static_cast<i32>((g.columns - 1) / kScaleBlock),
              column = tile.column / kScaleBlock + lane();
    const f32* const b_s = g.b_s + tile.expert * g.b_s_expert + (column < last ? column : last) * g.b_s_row;
#pragma unroll 1
    for (i32 block = depth.first; block < depth.end; ++block, ring.advance()) {
      memory.empty[ring.stage].wait(ring.phase ^ 1);
      if (begins_slot(block, block == depth.first)) {
        slot = slot + 1 == kSlots ? 0 : slot + 1;
        u8* const to =
            base + (memory.scales - memory.a) + static_cast<u32>(slot) * kBytesScales + lane() * kBytes;
        const i64 from = block / kScalesAtOnce * kScalesAtOnce * g.a_s_block;
#pragma unroll
        for (int j = 0; j < kCopies; ++j) copy_async<kBytes>(to + j * 32 * kBytes, a_s[j] + from, kBytes);
      }
      if (lane() < 2)
        copy_async<4>(
            base + (memory.columns - memory.a) + static_cast<u32>(ring.stage) * kBytesColumns + lane() * 4,
            b_s + block * g.b_s_block, 4);
      memory.full[ring.stage].arrive_behind_copies();
    }
  }
}

/// sum += temporary, scaled. The tile begins kOffset columns behind a multiple of 128.
template <int kOffset>
ISOMER_DEVICE void promote(int chunk, const f32 (&temporary)[kChunk / 2], const f32 (&scale)[2][2],
                           f32 (&sum)[kChunk / 2]) {
  const int change =
      (kScaleBlock - kOffset - chunk * kChunk) / 8;  // columns / 8 before the next block of b_s
#pragma unroll
  for (int j = 0; j < kChunk / 8; ++j)
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const f32 s = scale[j < change ? 0 : 1][e / 2];
      sum[4 * j + e] = fmaf(s, temporary[4 * j + e], sum[4 * j + e]);
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
    memory_.full[ring_.stage].wait(ring_.phase);
    issue(0);
    pass_turn();
    for (bool more = true; more; tile = next) {
      more = tiles.next(next);
#pragma unroll
      for (int c = 0; c < kChunks; ++c)
#pragma unroll
        for (int i = 0; i < kChunk / 2; ++i) sum_[c][i] = 0;
      if constexpr (kSplit == 1) {
#pragma unroll 1
        for (i32 block = depth.first; block < depth.end; ++block)
          multiply<true>(tile, block, block == depth.first, block + 1 == depth.end,
                         more || block + 1 < depth.end);
        finish<kTileN>(tile, tile.column, &sum_[0]);
      } else {
#pragma unroll 1
        for (i32 block = depth.first; block + 1 < depth.end; ++block)
          multiply<true>(tile, block, block == depth.first, false, true);
        multiply<false>(tile, depth.end - 1, depth.end - 1 == depth.first, true, false);
        add_up(tile, rank);
      }
    }
    sm90::warpgroup_wait<0>();
    if (kTurns && number_ == 0) sm90::sync_threads<256>(kTurn + 0);
    if (kBulkStore && threadIdx.x % 128 == 0) sm90::wait_stores<0>();
  }

 private:
  /// The products of a chunk of the stage at hand.
  ISOMER_DEVICE void issue(int chunk) {
    const SharedMatrix a = a_ + static_cast<u32>(ring_.stage) * kBytesA;
    const SharedMatrix b =
        b_ + (static_cast<u32>(ring_.stage) * kBytesB + static_cast<u32>(chunk) * kChunk * 128);
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
  /// Lets the other warpgroup issue.
  ISOMER_DEVICE void pass_turn() const {
    if constexpr (kTurns) sm90::arrive_threads<256>(kTurn + 1 - number_);
  }
  static constexpr int kTurn = 4;  // of two barriers

  /// Block `block` of K, whose first chunk is under way already. kAhead: then that of the next stage, which
  /// is waited for if `more` comes.
  template <bool kAhead>
  ISOMER_DEVICE void multiply(const Sm90Tile& tile, i32 block, bool first, bool last, bool more) {
    if (begins_slot(block, first)) slot_ = slot_ + 1 == kSlots ? 0 : slot_ + 1;
    const u32 here =
        scales_ + static_cast<u32>(slot_) * kBytesScales + static_cast<u32>(block) % kScalesAtOnce * 4;
    const u32 columns = memory_.columns + static_cast<u32>(ring_.stage) * kBytesColumns;
    const f32 upper = sm90::load_shared_f32(here), lower = sm90::load_shared_f32(here + 32 * kScalesAtOnce);
    const f32 left = sm90::load_shared_f32(columns), right = sm90::load_shared_f32(columns + 4);
    const f32 scale[2][2] = {{upper * left, lower * left}, {upper * right, lower * right}};
#pragma unroll
    for (int c = 0; c < kChunks; ++c) {
      if (c > 0) issue(c);
      if (kTurns && (c > 0 || !first)) {
        sm90::warpgroup_wait<1>();
        pass_turn();
      }
      sm90::warpgroup_wait<0>();
      sm90::pin(temporary_);
      if (c == kChunks - 1) {
        leave(ring_.stage);
        ring_.advance();
      }
      promote_chunk(tile, c, scale);
    }
    if constexpr (kAhead) {
      if (more) memory_.full[ring_.stage].wait(ring_.phase);
      if (kIssueBehindLast || more) {
        issue(0);
        if (kTurns && last) pass_turn();  // the tile is stored before these products are looked at
      }
    }
  }

  /// This warp needs the stage no more.
  ISOMER_DEVICE void leave(int stage) const {
    warp_barrier();
    if constexpr (kCluster == 1) {
      if (lane() == 0) memory_.empty[stage].arrive();
    } else {
      if (lane() < kCluster) memory_.empty[stage].arrive_in_having_read(static_cast<u32>(lane()));
    }
  }

  ISOMER_DEVICE void promote_chunk(const Sm90Tile& tile, int chunk, const f32 (&scale)[2][2]) {
    // A choice for all of a chunk is a branch of the warp; one for every register would cost a fifth of the
    // speed.
    if constexpr (kTileN == 192) {
      if (tile.column % kScaleBlock == 0)
        promote<0>(chunk, temporary_, scale, sum_[chunk]);
      else
        promote<64>(chunk, temporary_, scale, sum_[chunk]);
    } else {
      promote<0>(chunk, temporary_, scale, sum_[chunk]);
    }
  }

  /// Rounds and stores kColumns columns, from `column` on, in arrays of N registers.
  template <int kColumns, int N>
  ISOMER_DEVICE void finish(const Sm90Tile& tile, i32 column, f32 (*sum)[N]) {
    constexpr int kArrays = kColumns / 2 / N;
    const Fp8GemmParameters& g = p_.gemm;
    const Sm90Rows rows(tile, number_);
    if constexpr (kTerms) {
#pragma unroll
      for (int c = 0; c < kArrays; ++c) add_terms<Element>(g, tile, rows, column + c * 2 * N, sum[c]);
    }
    if constexpr (kLayout == GemmRows::contiguous) {
#pragma unroll
      for (int c = 0; c < kArrays; ++c) clear_padding(g, rows, sum[c]);
    }
    if constexpr (kBulkStore) {
      // A bulk copy writes all rows of the tile, so those past an expert's count must not be among them.
      const i32 first = tile.row + number_ * 64;
      if (kLayout != GemmRows::masked || first + 64 <= tile.end) {
        const Panels panels{memory_.c + static_cast<u32>(number_) * Panels::kBytes};
        const bool leads = threadIdx.x % 128 == 0;
        if (leads) sm90::wait_stores_read<0>();
        sm90::sync_threads<128>(1 + number_);
#pragma unroll
        for (int c = 0; c < kArrays; ++c)
#pragma unroll
          for (int i = 0; i < N / 8; ++i) panels.template write<Element>(c * (N / 8) + i, &sum[c][8 * i]);
        sm90::fence_async_shared();
        sm90::sync_threads<128>(1 + number_);
        if (leads && first < tile.end)
          panels.store(p_.c, column, first, kLayout == GemmRows::masked ? tile.expert : 0);
        return;
      }
    }
    if constexpr (!kBulkStore || kLayout == GemmRows::masked) {
#pragma unroll
      for (int c = 0; c < kArrays; ++c) store_by_threads<Element>(g, tile, rows, column + c * 2 * N, sum[c]);
    }
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
      f32 sum[1][kOwn] = {};
#pragma unroll
      for (u32 q = 0; q < kSplit; ++q)
#pragma unroll
        for (u32 i = 0; i < kOwn / 4; ++i) {
          u32 four[4];
          sm90::load_shared(mine + (q * (kOwn / 4) + i) * kFour, four);
#pragma unroll
          for (int e = 0; e < 4; ++e) sum[0][4 * i + e] += f32_of(four[e]);
        }
      finish<kOwnColumns>(tile, tile.column + static_cast<i32>(rank) * kOwnColumns, &sum[0]);
    }
  }

  const Fp8GemmSm90Parameters& p_;
  const Memory memory_;
  const SharedMatrix a_, b_;
  const u32 scales_;
  const int number_;
  sm90::Pipeline<kStages> ring_;
  int slot_ = kSlots - 1;
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
      memory.full[i].init(1 + 32);
      memory.empty[i].init(kWarpgroups * 4 * kCluster);
    }
    sm90::fence_barriers();
  }
  if constexpr (kCluster * kSplit > 1)
    sm90::cluster_sync();
  else
    __syncthreads();
  let_next_begin();
  wait_for_previous();

  constexpr u32 kTogether = kCluster * kSplit;
  const i32 blocks = static_cast<i32>(p.gemm.blocks), part = static_cast<i32>(kSplit > 1 ? rank : 0);
  const Depth depth = {blocks * part / kSplit, blocks * (part + 1) / kSplit};
  const Tiles tiles(p, blockIdx.x / kTogether, gridDim.x / kTogether, kCluster > 1 ? rank : 0);
  if (warpgroup == 0) {
    if constexpr (kShareRegisters) sm90::keep_registers<kCopyRegisters>();
    if (threadIdx.x == 0) bring_operands(p, memory, tiles, depth, rank);
    if (warp() == 1) bring_scales(p, base, memory, tiles, depth);
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
    Multiplier(p, memory, warpgroup - 1).run(tiles, depth, rank);
  }
  if constexpr (kSplit > 1) {
    if (warpgroup == 0) sm90::cluster_sync();  // the one in add_up()
  }
  if constexpr (kCluster > 1) sm90::cluster_sync();  // nobody leaves while another can still reach its memory
}

}  // namespace isomer::device
