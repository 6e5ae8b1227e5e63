// What the kernels of flash_decode and merge_attention are asked to do, planned for an H100 with no device.
#include <gtest/gtest.h>

#include "core/ceil_div.hpp"
#include "gpu/plan.hpp"
#include "ops/flash_decode/flash_decode.hpp"
#include "ops/flash_decode/gpu/blocks.hpp"
#include "ops/merge_attention/merge_attention.hpp"

#include <memory>

namespace isomer::ops {
namespace {

/// An address that nothing is read from.
void* at(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

/// The plan of an op's portable kernel, or why there is none.
struct Answer {
  std::unique_ptr<core::Plan> plan;
  std::string refusal;

  explicit Answer(const core::Call& call, std::string_view architecture = "sm_90a") {
    const auto& implementation = dynamic_cast<const gpu::Implementation&>(
        *core::Registry::builtin().find(call.contract->op)->find("cuda/portable"));
    core::PlanOrRefusal answer = implementation.plan(call, *gpu::known_architecture(architecture));
    if (const auto* no = std::get_if<core::Refusal>(&answer))
      refusal = no->reason;
    else
      plan = std::move(std::get<std::unique_ptr<core::Plan>>(answer));
  }
  const std::vector<gpu::Step>& steps() const { return dynamic_cast<const gpu::Plan&>(*plan).steps(); }
  std::string variant(std::string_view name, std::size_t step = 0) const {
    for (const auto& [key, value] : steps().at(step).variant)
      if (key == name) return value.text();
    return "none";
  }
  std::int64_t constant(std::string_view name) const {
    core::Description description;
    plan->describe(description);
    for (const auto& [key, value] : description.constants)
      if (key == name) return std::stoll(value);
    return -1;
  }
};

struct Decode {
  FlashDecodeArgs args;
  FlashDecodeOptions options;

  Decode(std::int64_t batch, std::int64_t hq, std::int64_t hkv, std::int64_t d, std::int64_t longest,
         DType dtype = DType::bf16) {
    args.q = Tensor(at(0x10000), dtype, {batch, hq, d});
    args.k = Tensor(at(0x20000), dtype, {1000, hkv, d});
    args.v = Tensor(at(0x30000), dtype, {1000, hkv, d});
    args.req_to_tokens = Tensor(at(0x40000), DType::i32, {batch, longest});
    args.b_req_idx = Tensor(at(0x50000), DType::i32, {batch});
    args.b_seqlen = Tensor(at(0x60000), DType::i64, {batch});
    args.out = Tensor(at(0x70000), dtype, {batch, hq, d});
  }
  Answer planned(std::string_view architecture = "sm_90a") const {
    return Answer(flash_decode::bind(args, options), architecture);
  }
};

TEST(FlashDecodePlan, BlocksAreWholeWavesOfTheDevice) {
  for (const std::int64_t rows : {1, 8, 64, 500, 4096})
    for (const std::int64_t longest : {1, 100, 4096, 16384, 131072}) {
      constexpr std::int64_t kPlaces = 132 * 3;
      const std::int64_t tokens = flash_decode::even_blocks(longest, rows, kPlaces);
      SCOPED_TRACE(std::to_string(rows) + " rows of " + std::to_string(longest) + ": " +
                   std::to_string(tokens));
      EXPECT_EQ(tokens % 16, 0);
      EXPECT_GE(tokens, 128);
      EXPECT_LE(tokens, 8192);
      const std::int64_t blocks = rows * core::ceil_div(longest, tokens);
      const std::int64_t waves = core::ceil_div(blocks, kPlaces);
      // Where there is work for every place, most of the places of the last wave have some.
      if (rows * longest > 2 * kPlaces * 128 && rows < 4096) {
        EXPECT_GT(static_cast<double>(blocks) / static_cast<double>(waves * kPlaces), 0.8);
      }
    }
}

TEST(FlashDecodePlan, EveryKvHeadOfABlockAndSequenceIsOneThreadBlock) {
  Decode decode(3, 32, 8, 128, 5000);
  decode.options.block_seq = 512;
  const Answer planned = decode.planned();
  ASSERT_EQ(planned.steps().size(), 2u);
  EXPECT_EQ(planned.steps()[0].grid, (gpu::Dim3{8, 10, 3}));
  EXPECT_EQ(planned.variant("heads"), "8");
  EXPECT_EQ(planned.steps()[1].grid, (gpu::Dim3{32, 1, 3}));
}

TEST(FlashDecodePlan, BothLaunchesBeginWhileTheOneAheadEndsWhereTheHardwareLetsThem) {
  const Decode decode(2, 4, 2, 64, 1000);
  for (const std::size_t step : {0, 1}) {
    EXPECT_TRUE(decode.planned().steps().at(step).overlap_previous);
    EXPECT_FALSE(decode.planned("sm_80").steps().at(step).overlap_previous);
    EXPECT_FALSE(decode.planned("gfx942").steps().at(step).overlap_previous);
  }
  EXPECT_FALSE(Decode(2, 4, 2, 64, 0).planned().steps().at(0).overlap_previous);
}

TEST(FlashDecodePlan, SixteenBitProductsGoToTensorCoresWhereThereAreSome) {
  const Decode decode(1, 4, 4, 128, 300);
  EXPECT_EQ(decode.planned().steps()[0].kernel, "isomer_flash_decode_stage1_mma");
  EXPECT_EQ(decode.planned("gfx942").steps()[0].kernel, "isomer_flash_decode_stage1");
  EXPECT_EQ(decode.planned("gfx1100").steps()[0].kernel, "isomer_flash_decode_stage1");
  EXPECT_EQ(Decode(1, 4, 4, 128, 300, DType::f32).planned().steps()[0].kernel, "isomer_flash_decode_stage1");
}

TEST(FlashDecodePlan, LargeGroupsTakeSeveralThreadBlocks) {
  const Answer f32 = Decode(1, 40, 1, 64, 300, DType::f32).planned();
  EXPECT_EQ(f32.variant("heads"), "8");
  EXPECT_EQ(f32.steps()[0].grid[0], 5u);
  const Answer bf16 = Decode(1, 40, 1, 64, 300).planned();
  EXPECT_EQ(bf16.variant("heads"), "16");
  EXPECT_EQ(bf16.steps()[0].grid[0], 3u);
  EXPECT_EQ(Decode(1, 40, 1, 256, 300).planned().variant("heads"), "8");
}

TEST(FlashDecodePlan, TheWorkspaceHoldsEveryBlocksResult) {
  Decode decode(2, 6, 3, 72, 1000);
  decode.options.block_seq = 64;
  const Answer planned = decode.planned();
  EXPECT_EQ(planned.constant("blocks"), 16);
  EXPECT_GE(planned.plan->workspace_bytes(), 2u * 6 * 16 * (72 + 1) * 4);
  decode.options.max_len = 65;
  EXPECT_EQ(decode.planned().constant("blocks"), 2);
}

TEST(FlashDecodePlan, WithoutTokensOnlyTheMergeRunsAndWithoutQueriesNothing) {
  const Answer no_tokens = Decode(2, 4, 2, 64, 0).planned();
  ASSERT_EQ(no_tokens.steps().size(), 1u);
  EXPECT_EQ(no_tokens.steps()[0].kernel, "isomer_flash_decode_stage2");
  EXPECT_EQ(no_tokens.plan->workspace_bytes(), 0u);
  EXPECT_TRUE(Decode(0, 4, 2, 64, 100).planned().steps().empty());
}

TEST(FlashDecodePlan, RowsAreReadBy16BytesWhereTheyLieSo) {
  EXPECT_EQ(Decode(1, 4, 2, 72, 100).planned().variant("vectors"), "1");
  Decode halves(1, 4, 2, 128, 100);
  halves.args.k = Tensor::strided(at(0x20000), DType::bf16, {500, 2, 128}, {512, 128, 1});
  halves.args.v = Tensor::strided(at(0x20200), DType::bf16, {500, 2, 128}, {512, 128, 1});
  EXPECT_EQ(halves.planned().variant("vectors"), "1");
  halves.args.v.data = at(0x20202);
  EXPECT_EQ(halves.planned().variant("vectors"), "0");
  Decode inner(1, 4, 2, 128, 100);
  inner.args.k = Tensor::strided(at(0x20000), DType::bf16, {500, 2, 128}, {512, 256, 2});
  EXPECT_EQ(inner.planned().variant("vectors"), "0");
}

TEST(FlashDecodePlan, BlocksBeyondAnyMemoryAreRefused) {
  Decode decode(1 << 20, 64, 8, 128, std::int64_t{1} << 30);
  EXPECT_NE(decode.planned().refusal.find("give max_len"), std::string::npos);
  decode.options.max_len = 4096;
  EXPECT_EQ(decode.planned().refusal, "");
}

TEST(FlashDecodeStage1Plan, HasNoMoreBlocksThanLengthsCanReach) {
  const Decode decode(2, 8, 2, 128, 1000);
  FlashDecodeStage1Args args;
  args.q = decode.args.q, args.k = decode.args.k, args.v = decode.args.v;
  args.req_to_tokens = decode.args.req_to_tokens;
  args.b_req_idx = decode.args.b_req_idx, args.b_seqlen = decode.args.b_seqlen;
  args.mid_out = Tensor(at(0x80000), DType::f32, {2, 8, 9, 128});
  args.mid_lse = Tensor(at(0x90000), DType::f32, {2, 8, 9});
  const auto blocks = [&](std::int64_t block_seq, std::int64_t max_len) {
    FlashDecodeStage1Options options;
    options.block_seq = block_seq;
    options.max_len = max_len;
    return Answer(flash_decode::stage1::bind(args, options)).steps().at(0).grid[1];
  };
  EXPECT_EQ(blocks(256, 0), 4u);
  EXPECT_EQ(blocks(64, 0), 9u);
  EXPECT_EQ(blocks(64, 130), 3u);
}

TEST(FlashDecodeStage2Plan, WideHeadsTakeSeveralThreadBlocks) {
  FlashDecodeStage2Args args;
  args.mid_out = Tensor(at(0x10000), DType::f32, {2, 3, 5, 600});
  args.mid_lse = Tensor(at(0x20000), DType::f32, {2, 3, 5});
  args.b_seqlen = Tensor(at(0x30000), DType::i32, {2});
  args.out = Tensor(at(0x40000), DType::f16, {2, 3, 600});
  const Answer planned(flash_decode::stage2::bind(args, {}));
  EXPECT_EQ(planned.steps().at(0).grid, (gpu::Dim3{15, 1, 2}));
  EXPECT_EQ(planned.variant("lanes_of_row"), "32");
}

struct Merge {
  MergeAttentionArgs args;
  Merge(std::int64_t s, std::int64_t h, std::int64_t d, DType dtype) {
    args.out_a = Tensor(at(0x10000), dtype, {2, s, h, d});
    args.out_b = Tensor(at(0x20000), dtype, {2, s, h, d});
    args.out = Tensor(at(0x30000), dtype, {2, s, h, d});
    args.lse_a = Tensor(at(0x40000), DType::f32, {2, s, h});
    args.lse_b = Tensor(at(0x50000), DType::f32, {2, s, h});
  }
  Answer planned() const { return Answer(merge_attention::bind(args, {})); }
};

TEST(MergeAttentionPlan, LanesFitTheRow) {
  EXPECT_EQ(Merge(10, 4, 64, DType::bf16).planned().variant("lanes_of_row"), "8");
  EXPECT_EQ(Merge(10, 4, 128, DType::bf16).planned().variant("lanes_of_row"), "16");
  EXPECT_EQ(Merge(10, 4, 128, DType::f32).planned().variant("lanes_of_row"), "32");
  EXPECT_EQ(Merge(10, 4, 40000, DType::f32).planned().variant("lanes_of_row"), "32");
}

TEST(MergeAttentionPlan, ABlockTakesATileOfRows) {
  const Answer planned = Merge(1000, 4, 128, DType::bf16).planned();
  const std::int64_t tile = planned.constant("rows_per_block");
  ASSERT_GT(tile, 0);
  EXPECT_EQ(planned.steps().at(0).grid[0], (8000 + tile - 1) / tile);
}

TEST(MergeAttentionPlan, RowsThatLieInOneStepAreOneDimension) {
  EXPECT_EQ(Merge(10, 4, 128, DType::f16).planned().variant("dims"), "1");
  Merge heads_first(10, 4, 128, DType::f16);
  heads_first.args.lse_b = Tensor::strided(at(0x50000), DType::f32, {2, 10, 4}, {40, 1, 10});
  EXPECT_EQ(heads_first.planned().variant("dims"), "3");
}

TEST(MergeAttentionPlan, RowsThatAreNotAlignedAreReadByElement) {
  EXPECT_EQ(Merge(10, 4, 128, DType::f16).planned().variant("vectors"), "1");
  EXPECT_EQ(Merge(10, 4, 65, DType::f16).planned().variant("vectors"), "0");
  Merge moved(10, 4, 128, DType::f16);
  moved.args.out_b.data = at(0x20004);
  EXPECT_EQ(moved.planned().variant("vectors"), "0");
}

TEST(MergeAttentionPlan, RowsWithoutElementsStillHaveAnLse) {
  Merge merge(10, 4, 0, DType::f32);
  EXPECT_TRUE(merge.planned().steps().empty());
  merge.args.lse = Tensor(at(0x60000), DType::f32, {2, 10, 4});
  EXPECT_EQ(merge.planned().steps().size(), 1u);
}

}  // namespace
}  // namespace isomer::ops
