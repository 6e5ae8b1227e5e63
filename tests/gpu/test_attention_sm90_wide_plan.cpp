// What attention's Hopper kernel for wide values is asked to do, and what it refuses.
#include "gpu/plan.hpp"
#include "ops/attention/gpu/sm90_wide_tiling.hpp"

#include <gtest/gtest.h>

namespace isomer::ops::attention::wide_plan {
namespace {

/// An address that nothing is read from.
void* at(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

const gpu::Facts& hopper() { return *gpu::known_architecture("sm_90a"); }

struct Problem {
  AttentionArgs args;
  AttentionOptions options;

  Problem(std::int64_t b, std::int64_t sq, std::int64_t sk, std::int64_t hq, std::int64_t hkv, std::int64_t d,
          std::int64_t dv, bool qv, DType dtype = DType::bf16) {
    args.q = Tensor(at(0x100000), dtype, {b, sq, hq, d});
    args.k = Tensor(at(0x200000), dtype, {b, sk, hkv, d});
    args.v = Tensor(at(0x300000), dtype, {b, sk, hkv, dv});
    args.out = Tensor(at(0x400000), dtype, {b, sq, hq, dv});
    if (qv) args.qv = Tensor(at(0x500000), dtype, {b, sq, hq, dv});
  }
  Geometry geometry() const { return Geometry(args, options); }
  std::string refusal() const { return refuse_sm90_wide(geometry(), options, hopper()); }
  Sm90Tiling tiling() const { return tile_up_sm90_wide(geometry(), options, hopper()); }
};

/// DeepSeek's decode.
Problem latent(std::int64_t b, std::int64_t sq, std::int64_t sk) {
  return Problem(b, sq, sk, 128, 1, 64, 512, true);
}

TEST(AttentionSm90WidePlan, HeadsOfOneKvHeadFillTilesOf64Rows) {
  struct Row {
    std::int64_t heads, heads_kv, sq, pack, tile_rows, row_tiles;
  };
  for (const Row row : {Row{128, 1, 1, 64, 64, 1}, Row{128, 1, 2, 64, 64, 2}, Row{16, 1, 1, 16, 64, 1},
                        Row{16, 1, 8, 16, 64, 2}, Row{96, 1, 1, 48, 48, 1}, Row{67, 1, 1, 1, 64, 1},
                        Row{6, 2, 100, 3, 63, 5}, Row{16, 16, 1024, 1, 64, 16}}) {
    const Sm90Tiling t = Problem(1, row.sq, 500, row.heads, row.heads_kv, 64, 512, true).tiling();
    EXPECT_EQ(t.pack, row.pack) << row.heads << " " << row.sq;
    EXPECT_EQ(t.tile_rows, row.tile_rows) << row.heads << " " << row.sq;
    EXPECT_EQ(t.row_tiles, row.row_tiles) << row.heads << " " << row.sq;
    EXPECT_EQ(t.units * t.pack, row.heads);
  }
  Problem alone = latent(1, 1, 500);
  alone.options.pack_gqa = AttentionOptions::Choice::never;
  EXPECT_EQ(alone.tiling().pack, 1);
}

TEST(AttentionSm90WidePlan, KeysAreSplitUntilTheMultiprocessorsWork) {
  for (const auto& [b, sq, sk] :
       {std::tuple{4, 1, 4096}, {1, 1, 65536}, {16, 2, 8192}, {1, 1, 8192}, {8, 4, 16384}}) {
    const Sm90Tiling t = latent(b, sq, sk).tiling();
    EXPECT_GT(t.parts, 1) << b << " " << sq << " " << sk;
    EXPECT_GE(t.tiles, hopper().multiprocessors / 3) << b << " " << sq << " " << sk;
  }
  EXPECT_EQ(latent(64, 1, 4096).tiling().parts, 1);
  Problem one = latent(1, 1, 8192), many = latent(64, 1, 8192);
  one.options.split_size = many.options.split_size = 1024;
  EXPECT_EQ(one.tiling().parts, 8);  // whatever the batch
  EXPECT_EQ(many.tiling().parts, 8);
}

TEST(AttentionSm90WidePlan, FitsSharedMemory) {
  for (const std::int64_t dv : {64, 256, 264, 512}) {
    const Sm90Tiling t = Problem(1, 1, 100, 8, 1, 64, dv, true).tiling();
    EXPECT_EQ(t.head_dim_v, dv <= 256 ? 256 : 512);
    EXPECT_LE(t.shared_bytes, hopper().shared_per_block);
  }
}

TEST(AttentionSm90WidePlan, RefusesWithAReason) {
  const auto expect = [](const Problem& p, const std::string& words) {
    EXPECT_NE(p.refusal().find(words), std::string::npos)
        << "'" << p.refusal() << "' without '" << words << "'";
  };
  EXPECT_EQ(latent(4, 1, 4096).refusal(), "");
  EXPECT_EQ(Problem(4, 1024, 1024, 16, 16, 64, 512, false).refusal(), "");
  EXPECT_EQ(Problem(1, 40, 1024, 4, 4, 64, 256, false).refusal(), "");
  expect(Problem(4, 1024, 1024, 16, 16, 64, 256, false), "but where 17 to 64 rows share their keys");
  expect(Problem(4, 1, 1024, 16, 2, 64, 256, false), "but where 17 to 64 rows share their keys");
  expect(Problem(4, 64, 64, 16, 16, 64, 128, false), "values of 128 columns without qv");
  expect(Problem(4, 64, 64, 16, 16, 72, 512, true), "takes head dimensions up to 64 and 512");
  expect(Problem(4, 64, 64, 16, 16, 64, 512, true, DType::f32), "takes f16 and bf16, q is f32");
  expect(latent(4, 1, 0), "k has no rows");
  Problem p = latent(4, 1, 64);
  p.args.qv.strides[2] = 516;
  expect(p, "qv has 1032 bytes from one head to the next, tensor copies need multiples of 16");
  p = latent(4, 1, 64);
  p.options.scale = 1e-30f;
  expect(p, "takes no scale of 1e-30");
}

}  // namespace
}  // namespace isomer::ops::attention::wide_plan
