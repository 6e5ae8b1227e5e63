// What attention's Hopper kernel is asked to do: which tiles, how they fall on multiprocessors, and what is
// refused.
#include "gpu/plan.hpp"
#include "ops/attention/attention.hpp"
#include "ops/attention/gpu/sm90_tiling.hpp"

#include <gtest/gtest.h>

namespace isomer::ops::attention {
namespace {

/// An address that nothing is read from.
void* at(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

const gpu::Facts& hopper() { return *gpu::known_architecture("sm_90a"); }

struct Problem {
  AttentionArgs args;
  AttentionOptions options;

  Problem(std::int64_t b, std::int64_t sq, std::int64_t sk, std::int64_t hq, std::int64_t hkv, std::int64_t d,
          std::int64_t dv, DType dtype = DType::bf16) {
    args.q = Tensor(at(0x100000), dtype, {b, sq, hq, d});
    args.k = Tensor(at(0x200000), dtype, {b, sk, hkv, d});
    args.v = Tensor(at(0x300000), dtype, {b, sk, hkv, dv});
    args.out = Tensor(at(0x400000), dtype, {b, sq, hq, dv});
  }
  /// Tiles of one head, keys together.
  Problem& whole() {
    options.num_splits = 1;
    options.pack_gqa = AttentionOptions::Choice::never;
    return *this;
  }
  Problem& causal() {
    options.causal = true;
    return *this;
  }
  Geometry geometry() const { return Geometry(args, options); }
  std::string refusal() const { return refuse_sm90(geometry(), options, hopper()); }
  Sm90Tiling tiling() const { return tile_up_sm90(geometry(), options, hopper()); }
  double idle() const { return schedule_sm90(tiling()).idle(); }
};

Problem plain() { return Problem(2, 512, 512, 8, 4, 128, 128); }

TEST(AttentionSm90Plan, KeepsAllMultiprocessorsBusyOnEveryShapeThatHasTilesEnough) {
  for (const std::int64_t d : {64, 128, 256})
    for (const std::int64_t s : {512, 1024, 4096, 16384})
      for (const bool causal : {false, true}) {
        Problem p(16384 / s, s, s, 2048 / d, 2048 / d, d, d);
        p.options.causal = causal;
        ASSERT_EQ(p.refusal(), "");
        EXPECT_LE(p.idle(), 0.10) << "d " << d << " s " << s << " causal " << causal;
      }
}

TEST(AttentionSm90Plan, KeepsAllMultiprocessorsBusyOnTheOtherShapesOfTheTable) {
  struct Row {
    std::int64_t b, s, heads, heads_kv, d, dv;
    DType dtype;
  };
  for (const Row row :
       {Row{4, 4096, 16, 16, 128, 128, DType::e4m3fn}, Row{1, 16384, 16, 16, 128, 128, DType::e4m3fn},
        Row{1, 16384, 32, 32, 64, 64, DType::e4m3fn}, Row{1, 16384, 8, 8, 256, 256, DType::e4m3fn},
        Row{4, 4096, 8, 8, 256, 256, DType::e4m3fn}, Row{2, 8192, 64, 8, 128, 128, DType::bf16},
        Row{1, 16384, 10, 10, 192, 128, DType::bf16}, Row{1, 16384, 10, 10, 192, 192, DType::bf16},
        Row{1, 16384, 21, 21, 96, 96, DType::f16}})
    for (const bool causal : {false, true}) {
      Problem p(row.b, row.s, row.s, row.heads, row.heads_kv, row.d, row.dv, row.dtype);
      if (row.dtype == DType::e4m3fn)
        p.args.out = Tensor(at(0x400000), DType::bf16, {row.b, row.s, row.heads, row.dv});
      p.options.causal = causal;
      ASSERT_EQ(p.refusal(), "");
      EXPECT_LE(p.idle(), 0.10) << "d " << row.d << " dv " << row.dv << " s " << row.s << " heads "
                                << row.heads << (row.dtype == DType::e4m3fn ? " bytes" : "") << " causal "
                                << causal;
    }
}

TEST(AttentionSm90Plan, TheLastRoundIsDividedWhereThatEndsSooner) {
  // 16 heads of 86 tiles are 10.4 rounds of 132: the last head's are halves.
  const Problem p(1, 16384, 16384, 16, 16, 128, 128, DType::e4m3fn);
  const Sm90Tiling t = p.tiling();
  EXPECT_EQ(t.rows, 192);
  EXPECT_EQ(t.divided_units, 1);
  EXPECT_EQ(t.parts, 2);
  EXPECT_EQ(t.whole_tiles(), 15 * 86);
  EXPECT_EQ(t.tiles, 15 * 86 + 2 * 86);
  EXPECT_LE(p.idle(), 0.03);
  const Geometry divided = divided_of(p.geometry(), t);
  EXPECT_EQ(divided.batch * divided.heads, 1);
  EXPECT_EQ(divided.total_q, 16384);
  // 43 tiles of 192 rows are 5.2 rounds, which takes longer than 7.8 of 128 unless the last is divided.
  const Sm90Tiling half = Problem(1, 8192, 8192, 16, 16, 128, 128, DType::e4m3fn).tiling();
  EXPECT_EQ(half.rows, 192);
  EXPECT_EQ(half.parts, 4);
  EXPECT_EQ(half.whole_tiles(), 15 * 43);
  // Tiles of 16 bits are divided where that is much shorter.
  const Sm90Tiling few = Problem(1, 2304, 2304, 8, 8, 128, 128).tiling();
  EXPECT_TRUE(few.pieces);
  EXPECT_EQ(few.divided_units, 1);
  EXPECT_GT(few.parts, 1);
}

TEST(AttentionSm90Plan, TheLastRoundStaysWholeWhereItFillsUpOrMayNotBeDivided) {
  const auto divided = [](Problem p, bool causal = false, std::int64_t num_splits = 0) {
    p.options.causal = causal;
    p.options.num_splits = num_splits;
    return p.tiling().divided_units;
  };
  const Problem p(1, 16384, 16384, 16, 16, 128, 128, DType::e4m3fn);
  EXPECT_EQ(divided(p, true), 0);
  EXPECT_EQ(divided(p, false, 1), 0);
  // 10.7 rounds, and 41.5.
  EXPECT_EQ(divided(Problem(4, 4096, 4096, 16, 16, 128, 128, DType::e4m3fn)), 0);
  EXPECT_EQ(divided(Problem(1, 16384, 16384, 64, 8, 128, 128, DType::e4m3fn)), 0);
  // Heads that share keys are divided together.
  for (const auto pack : {AttentionOptions::Choice::never, AttentionOptions::Choice::always}) {
    Problem grouped(1, 8192, 8192, 16, 4, 128, 128, DType::e4m3fn);
    grouped.options.pack_gqa = pack;
    const Geometry some = divided_of(grouped.geometry(), grouped.tiling());
    EXPECT_GT(grouped.tiling().divided_units, 0);
    EXPECT_EQ(some.heads % 4, 0);
    EXPECT_EQ(some.heads_kv * 4, some.heads);
  }
  Problem lengths(2, 8192, 8192, 8, 8, 128, 128, DType::e4m3fn);
  lengths.args.seqused_k = Tensor(at(0x500000), DType::i32, {2});
  EXPECT_EQ(divided(lengths), 0);
}

TEST(AttentionSm90Plan, TheModelSaysWhereTilesDoNotSuffice) {
  // 176 tiles of 1 to 11 blocks on 132 multiprocessors: the longest is most of what there is.
  const Problem seeds = Problem(1, 1285, 1285, 16, 2, 128, 128, DType::f16).causal();
  EXPECT_EQ(seeds.tiling().tiles, 176);
  const Sm90Schedule schedule = schedule_sm90(seeds.tiling());
  EXPECT_GE(schedule.makespan, 11);
  EXPECT_LE(schedule.makespan, 15);
  EXPECT_GT(schedule.idle(), 0.10);
  // One tile on one multiprocessor has nothing to wait for.
  EXPECT_EQ(Problem(1, 100, 1000, 1, 1, 128, 128).whole().idle(), 0);
}

TEST(AttentionSm90Plan, AMaskShortensTheModelAsItShortensTheWork) {
  const auto blocks = [](Problem p) {
    const Sm90Tiling t = p.whole().tiling();
    return schedule_sm90(t).mean * static_cast<double>(t.grid) - 2.0 * static_cast<double>(t.tiles);
  };
  EXPECT_EQ(blocks(Problem(1, 1024, 1024, 1, 1, 128, 128)), 64);
  EXPECT_EQ(blocks(Problem(1, 1024, 1024, 1, 1, 128, 128).causal()), 36);
  Problem window = Problem(1, 1024, 1024, 1, 1, 128, 128).causal();
  window.options.window_left = 127;
  EXPECT_EQ(blocks(window), 15);  // two blocks of each tile but the first
  Problem chunks = Problem(1, 1024, 1024, 1, 1, 128, 128).causal();
  chunks.options.attention_chunk = 256;
  EXPECT_TRUE(chunks.whole().tiling().pieces);
  EXPECT_EQ(blocks(chunks), 12);  // one block of every other tile, two of those between
  Problem empty = Problem(1, 1024, 128, 1, 1, 128, 128).causal();
  EXPECT_EQ(blocks(empty), 8);  // a tile that sees nothing still is one block
}

TEST(AttentionSm90Plan, AHeadsFirstTileIsShortWhereThatSavesBlocks) {
  const auto bytes = [](std::int64_t s) {
    Problem p(16384 / s, s, s, 16, 16, 128, 128, DType::e4m3fn);
    p.args.out = Tensor(at(0x400000), DType::bf16, {16384 / s, s, 16, 128});
    return p;
  };
  // 22 tiles of 192 rows have room for 128 rows more than 4096. The last one sees 43 blocks of 96 keys.
  EXPECT_EQ(bytes(4096).causal().tiling().missing_rows, 128);
  EXPECT_EQ(bytes(1024).causal().tiling().missing_rows, 128);
  EXPECT_EQ(bytes(2048).causal().tiling().missing_rows, 0);  // as many blocks either way
  EXPECT_EQ(bytes(4096).tiling().missing_rows, 0);           // no mask
  // 1280 rows of two heads in 7 tiles.
  Problem packed(16, 640, 661, 16, 8, 128, 128, DType::e4m3fn);
  packed.args.out = Tensor(at(0x400000), DType::bf16, {16, 640, 16, 128});
  packed.options.pack_gqa = AttentionOptions::Choice::always;
  EXPECT_EQ(packed.causal().tiling().tile_rows, 192);
  EXPECT_EQ(packed.tiling().missing_rows, 7 * 192 - 1280);
  // Lengths on the device, and parts.
  Problem used = bytes(4096).causal();
  used.args.seqused_q = Tensor(at(0x600000), DType::i32, {4});
  EXPECT_EQ(used.tiling().missing_rows, 0);
  Problem parts = bytes(4096).causal();
  parts.options.num_splits = 2;
  EXPECT_EQ(parts.tiling().missing_rows, 0);
}

TEST(AttentionSm90Plan, UnderAMaskHeadsTakeTurnsAsFarAsAThirdOfL2HoldsTheirKeys) {
  ASSERT_EQ(hopper().l2_bytes, 50 << 20);
  EXPECT_EQ(Problem(32, 512, 512, 16, 16, 128, 128).causal().tiling().section, 64);
  EXPECT_EQ(Problem(4, 4096, 4096, 16, 16, 128, 128).causal().tiling().section, 8);
  EXPECT_EQ(Problem(2, 8192, 8192, 64, 8, 128, 128).causal().tiling().section, 32);  // 4 heads of keys
  Problem bytes(4, 4096, 4096, 16, 16, 128, 128, DType::e4m3fn);
  bytes.args.out = Tensor(at(0x400000), DType::bf16, {4, 4096, 16, 128});
  EXPECT_EQ(bytes.causal().tiling().section, 16);
  EXPECT_EQ(Problem(4, 4096, 4096, 16, 16, 128, 128).tiling().section, 1);  // no mask
}

TEST(AttentionSm90Plan, HeadDimensionsAreRoundedUpToTilesThatFitTheDevice) {
  struct Row {
    std::int64_t d, dv;
    int head_dim, head_dim_v;
  };
  for (const Row row :
       {Row{8, 8, 64, 64}, Row{64, 64, 64, 64}, Row{72, 64, 96, 96}, Row{128, 16, 128, 128},
        Row{192, 128, 192, 128}, Row{136, 136, 192, 192}, Row{256, 256, 256, 256}, Row{64, 256, 256, 256}})
    for (const float softcap : {0.0f, 30.0f}) {
      Problem p(2, 512, 512, 8, 4, row.d, row.dv);
      p.options.softcap = softcap;
      ASSERT_EQ(p.refusal(), "") << row.d << " " << row.dv;
      const Sm90Tiling t = p.tiling();
      EXPECT_EQ(t.head_dim, row.head_dim) << row.d << " " << row.dv;
      EXPECT_EQ(t.head_dim_v, row.head_dim_v) << row.d << " " << row.dv;
      EXPECT_LE(t.shared_bytes, hopper().shared_per_block);
    }
}

TEST(AttentionSm90Plan, SlotsBehindAnEntrysKeysAreClearedOnlyWhereThereAreSome) {
  EXPECT_FALSE(plain().tiling().clears);
  Problem padded = plain();
  padded.args.leftpad_k = Tensor(at(0x600000), DType::i32, {2});  // copies begin behind the padding
  EXPECT_FALSE(padded.tiling().clears);
  Problem used = plain();
  used.args.seqused_k = Tensor(at(0x600000), DType::i32, {2});
  EXPECT_TRUE(used.whole().tiling().clears);
}

/// e4m3, out bf16.
Problem bytes(std::int64_t d) {
  Problem p(2, 512, 512, 8, 4, d, d, DType::e4m3fn);
  p.args.out = Tensor(at(0x400000), DType::bf16, {2, 512, 8, d});
  return p;
}

TEST(AttentionSm90Plan, BytesAreTurnedInBlocksOf64Or128Keys) {
  for (const auto& [d, block_n] : {std::pair{64, 128}, {80, 128}, {128, 128}, {192, 64}, {256, 64}})
    for (const float softcap : {0.0f, 30.0f}) {
      Problem p = bytes(d);
      p.options.softcap = softcap;
      ASSERT_EQ(p.refusal(), "") << d;
      EXPECT_TRUE(p.tiling().pieces);
      EXPECT_EQ(p.tiling().block_n, block_n) << d;
      EXPECT_LE(p.tiling().shared_bytes, hopper().shared_per_block) << d;
    }
}

TEST(AttentionSm90Plan, ThreeOrFourWarpgroupsWorkOnATileOfBytesWhereThatIsShorter) {
  const auto rows = [](std::int64_t b, std::int64_t s, std::int64_t d, auto change) {
    Problem p(b, s, s, 2048 / d, 2048 / d, d, d, DType::e4m3fn);
    p.args.out = Tensor(at(0x400000), DType::bf16, {b, s, 2048 / d, d});
    change(p);
    EXPECT_EQ(p.refusal(), "");
    const Sm90Tiling t = p.tiling();
    if (d <= 128) {
      const bool fewer = t.rows == 192 && d == 128 && p.options.softcap > 0;  // registers for tanh
      EXPECT_EQ(t.block_n, t.rows == 256 || fewer ? 64
                           : t.rows == 192        ? 96
                                                  : 128)
          << "rows and keys go together";
      if (t.rows < 256) EXPECT_EQ(t.freely, t.rows == 192 ? d == 128 : !p.options.causal);
    }
    EXPECT_LE(t.shared_bytes, hopper().shared_per_block);
    return t.rows;
  };
  const auto plain = [](Problem&) {};
  const auto causal = [](Problem& p) { p.options.causal = true; };
  EXPECT_EQ(rows(1, 16384, 128, plain), 192);
  EXPECT_EQ(rows(4, 4096, 128, plain), 192);
  EXPECT_EQ(rows(16, 1024, 128, plain), 128);  // 6 tiles of 192 for 5.3
  EXPECT_EQ(rows(16, 1024, 128, causal), 192);
  EXPECT_EQ(rows(4, 4096, 64, plain), 256);
  EXPECT_EQ(rows(4, 4096, 64, causal), 256);
  EXPECT_EQ(rows(32, 512, 64, plain), 256);
  EXPECT_EQ(rows(1, 300, 64, causal), 128);
  EXPECT_EQ(rows(1, 16384, 256, causal), 128);  // their sums do not fit
  EXPECT_EQ(rows(1, 128, 128, causal), 128);
  EXPECT_EQ(rows(1, 1285, 128, causal), 128);  // 176 tiles of 128 rows on 132 multiprocessors
  EXPECT_EQ(rows(1, 16384, 128,
                 [](Problem& p) {
                   p.args.v = Tensor(at(0x300000), DType::e4m3fn, {1, 16, 128, 16384});
                   p.options.v_colmajor = true;
                 }),
            128);  // columns come in boxes of 128 keys
  EXPECT_EQ(rows(1, 16384, 128, [](Problem& p) { p.options.softcap = 30; }), 192);
  EXPECT_EQ(rows(1, 16384, 128,
                 [](Problem& p) {
                   p.options.causal = true;
                   p.options.softcap = 30;
                   p.options.attention_chunk = 8192;
                 }),
            128);  // both together have no registers for it
}

TEST(AttentionSm90Plan, ThreeOrFourWarpgroupsWorkOnATileOf64DimensionsWhereThatIsShorter) {
  const auto rows = [](std::int64_t b, std::int64_t s, std::int64_t d, auto change) {
    Problem p(b, s, s, 2048 / d, 2048 / d, d, d, DType::bf16);
    change(p);
    EXPECT_EQ(p.refusal(), "");
    const Sm90Tiling t = p.tiling();
    if (d == 64) {
      const bool fewer = t.rows == 192 && d == 128 && p.options.softcap > 0;  // registers for tanh
      EXPECT_EQ(t.block_n, t.rows == 256 || fewer ? 64
                           : t.rows == 192        ? 96
                                                  : 128)
          << "rows and keys go together";
      EXPECT_EQ(t.stages, t.rows == 256 ? 4 : 2);
    }
    EXPECT_LE(t.shared_bytes, hopper().shared_per_block);
    return t.rows;
  };
  const auto plain = [](Problem&) {};
  const auto causal = [](Problem& p) { p.options.causal = true; };
  EXPECT_EQ(rows(1, 16384, 64, plain), 192);
  EXPECT_EQ(rows(4, 4096, 64, plain), 256);
  EXPECT_EQ(rows(16, 1024, 64, plain), 256);
  EXPECT_EQ(rows(32, 512, 64, plain), 256);
  EXPECT_EQ(rows(1, 16384, 64, causal), 192);
  EXPECT_EQ(rows(4, 4096, 64, causal), 256);
  EXPECT_EQ(rows(32, 512, 64, causal), 256);
  EXPECT_EQ(rows(1, 16384, 128, causal), 128);  // their sums do not fit
  EXPECT_EQ(rows(1, 300, 64, plain), 128);
  EXPECT_EQ(rows(4, 4096, 64, [](Problem& p) { p.options.softcap = 20; }), 256);
  EXPECT_EQ(rows(1, 16384, 64, [](Problem& p) { p.options.softcap = 20; }), 256);
  const auto used = [](Problem& p) { p.args.seqused_k = Tensor(at(0x600000), DType::i32, {4}); };
  EXPECT_EQ(rows(4, 4096, 64, used), 192);  // four warpgroups have no turn in which one clears slots for all
  const auto window = [](Problem& p) { p.options.window_left = p.options.window_right = 50; };
  EXPECT_EQ(rows(4, 4096, 64, window), 256);
}

TEST(AttentionSm90Plan, SixteenBitsOverBytesAreWorkedOnInPiecesOfSixteenBits) {
  for (const std::int64_t d : {64, 80, 128})
    for (const float softcap : {0.0f, 30.0f}) {
      Problem p(2, 512, 512, 8, 4, d, d);
      p.args.k = Tensor(at(0x200000), DType::e4m3fn, {2, 512, 4, d});
      p.args.v = Tensor(at(0x300000), DType::e4m3fn, {2, 512, 4, d});
      p.options.softcap = softcap;
      ASSERT_EQ(p.refusal(), "") << d;
      EXPECT_TRUE(p.tiling().pieces);
      EXPECT_EQ(p.tiling().rows, 128);
      EXPECT_LE(p.tiling().shared_bytes, hopper().shared_per_block) << d;
    }
}

/// Four entries of 512 queries whose keys lie in `pages` pages each.
Problem paged(std::int64_t pages, std::int64_t size) {
  Problem p(4, 512, 512, 32, 8, 128, 128);
  p.args.k = Tensor(at(0x200000), DType::bf16, {100, size, 8, 128});
  p.args.v = Tensor(at(0x300000), DType::bf16, {100, size, 8, 128});
  p.args.page_table = Tensor(at(0x500000), DType::i32, {4, pages});
  p.args.seqused_k = Tensor(at(0x600000), DType::i32, {4});
  return p;
}

TEST(AttentionSm90Plan, ACopyIsWhatDividesAPageAndABlockOfKeys) {
  struct Row {
    std::int64_t page, box;
  };
  for (const Row row : {Row{1, 1}, Row{7, 1}, Row{16, 16}, Row{48, 16}, Row{64, 64}, Row{128, 128},
                        Row{256, 128}, Row{1000, 8}}) {
    const Problem p = paged(16, row.page);
    ASSERT_EQ(p.refusal(), "") << row.page;
    EXPECT_TRUE(p.tiling().pieces);
    EXPECT_EQ(p.tiling().box_rows, row.box) << row.page;
  }
}

TEST(AttentionSm90Plan, HeadsShareATileWhereThatFillsIt) {
  const auto pack = [](std::int64_t sq, std::int64_t group, AttentionOptions::Choice choice) {
    Problem p(1, sq, 400, 2 * group, 2, 128, 128);
    p.options.pack_gqa = choice;
    p.options.num_splits = 2;
    return p.tiling();
  };
  using Choice = AttentionOptions::Choice;
  EXPECT_EQ(pack(512, 8, Choice::plan).pack, 8);
  EXPECT_EQ(pack(512, 8, Choice::never).pack, 1);
  EXPECT_EQ(pack(512, 48, Choice::plan).pack, 1);  // 96 rows of 128
  EXPECT_EQ(pack(4, 48, Choice::plan).pack, 48);
  EXPECT_EQ(pack(512, 48, Choice::always).pack, 48);
  EXPECT_EQ(pack(512, 6, Choice::plan).tile_rows, 126);
  EXPECT_EQ(pack(512, 6, Choice::plan).row_tiles, 25);  // of 3072 rows
}

TEST(AttentionSm90Plan, FewQueriesOverLongKeysAreSplitUntilAllMultiprocessorsWork) {
  for (const std::int64_t sq : {16, 64, 128})
    for (const std::int64_t sk : {8192, 32768, 131072}) {
      Problem p = Problem(1, sq, sk, 32, 8, 128, 128).causal();
      ASSERT_EQ(p.refusal(), "") << sq << " " << sk;
      const Sm90Tiling t = p.tiling();
      EXPECT_GT(t.parts, 1) << sq << " " << sk;
      EXPECT_EQ(t.pack, 4);
      EXPECT_LE(schedule_sm90(t).idle(), 0.10) << sq << " " << sk;
    }
  // The bits of a split by size depend on neither the batch nor the device.
  Problem one(1, 16, 8192, 32, 8, 128, 128), many(64, 16, 8192, 32, 8, 128, 128);
  one.options.split_size = many.options.split_size = 1024;
  EXPECT_EQ(one.tiling().parts, 8);
  EXPECT_EQ(many.tiling().parts, 8);
  EXPECT_EQ(one.tiling().pack, many.tiling().pack);
}

TEST(AttentionSm90Plan, RefusesWithAReason) {
  const auto expect = [](const Problem& p, const std::string& words) {
    EXPECT_NE(p.refusal().find(words), std::string::npos)
        << "'" << p.refusal() << "' without '" << words << "'";
  };
  EXPECT_EQ(plain().refusal(), "");
  expect(Problem(2, 512, 512, 8, 4, 128, 128, DType::f32), "takes f16, bf16 and e4m3fn, q is f32");
  expect(Problem(2, 512, 0, 8, 4, 128, 128), "k has no rows");
  expect(Problem(2, 1, 8192, 8, 4, 128, 128), "the decode kernel");
  Problem p = plain();
  p.args.k = p.args.v = Tensor(at(0x200000), DType::f16, {2, 512, 4, 128});
  expect(p, "takes k and v of q's type or of e4m3fn, they are f16");
  p = Problem(2, 512, 512, 8, 4, 256, 256);
  p.args.k = p.args.v = Tensor(at(0x200000), DType::e4m3fn, {2, 512, 4, 256});
  EXPECT_EQ(p.refusal(), "");
  EXPECT_EQ(p.tiling().block_n, 32);
  expect(Problem(2, 512, 512, 8, 4, 320, 320), "has no tile for head dimensions 320 and 320");
  p = bytes(128);
  p.args.out = Tensor(at(0x400000), DType::f32, {2, 512, 8, 128});
  expect(p, "writes f16 and bf16, out is f32");
  p = bytes(128);
  p.options.v_colmajor = true;
  p.args.v = Tensor(at(0x300000), DType::e4m3fn, {2, 4, 128, 500});
  expect(p, "v has 500 bytes from one column to the next, tensor copies need multiples of 16");
  p.args.k = Tensor(at(0x200000), DType::e4m3fn, {100, 96, 4, 128});
  p.args.v = Tensor(at(0x300000), DType::e4m3fn, {100, 4, 128, 96});
  p.args.page_table = Tensor(at(0x500000), DType::i32, {2, 6});
  p.args.seqused_k = Tensor(at(0x600000), DType::i32, {2});
  expect(p, "takes a column-major v in pages of multiples of 128 keys, they have 96");
  p = Problem(2, 512, 512, 129, 1, 128, 128);
  p.options.pack_gqa = AttentionOptions::Choice::always;
  expect(p, "packs 128 heads into a tile, a kv head has 129");
  p = paged(1 << 20, 1 << 10);
  expect(p, "has pages for more than 536870912 keys");
  p = plain();
  p.options.scale = 1e-30f;
  expect(p, "takes no scale of 1e-30");
  p = plain();
  p.args.v = Tensor(at(0x300008), DType::bf16, {2, 512, 4, 128});
  expect(p, "v begins at no multiple of 16 bytes");
  p = plain();
  const std::int64_t odd[] = {512 * 516, 516, 129, 1};
  for (int i = 0; i < 4; ++i) p.args.out.strides[i] = odd[i];
  expect(p, "out has 1032 bytes from one row to the next, tensor copies need multiples of 16");
  p = plain();
  p.args.q.strides[2] = 0;
  expect(p, "q has 0 bytes from one head to the next");
}

}  // namespace
}  // namespace isomer::ops::attention
