// What quantize_copy_kv's kernel is asked to do: how a run lies over lanes, when it fits registers, and which
// dimensions are one.
#include <gtest/gtest.h>

#include "ops/quantize_copy_kv/quantize_copy_kv.hpp"
#include "planned.hpp"

namespace isomer::ops::quantize_copy_kv {
namespace {

using gpu::Planned;

void* at(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

struct Problem {
  QuantizeCopyKvArgs args;
  QuantizeCopyKvOptions options;

  Problem(DType dtype, std::int64_t tokens, std::int64_t heads, std::int64_t channels,
          std::int64_t group = 0) {
    options.group = group;
    const std::int64_t rows = tokens + 10;
    args.k = Tensor(at(0x10000), dtype, {tokens, heads, channels});
    args.dest = Tensor(at(0x20000), DType::i32, {tokens});
    args.out = Tensor(at(0x30000), DType::i8, {rows, heads, channels});
    args.out_scale = Tensor(at(0x40000), DType::f16, {rows, heads, group == 0 ? 1 : channels / group});
  }
  Planned planned() const { return Planned(bind(args, options)); }
};

TEST(QuantizeCopyKvPlan, AHeadIsReadByLanesSideBySide) {
  const Planned planned = Problem(DType::f16, 4096, 8, 128).planned();
  EXPECT_EQ(planned.variant("vector"), "8");
  EXPECT_EQ(planned.variant("lanes_per_run"), "16");
  EXPECT_EQ(planned.variant("vectors"), "1");
  EXPECT_EQ(planned.variant("unroll"), "4");
  EXPECT_EQ(planned.variant("dims"), "2");
  EXPECT_EQ(planned.blocks(), 4096 * 8 / (128 / 16 * 4));
  EXPECT_EQ(Problem(DType::f32, 4096, 8, 128).planned().variant("lanes_per_run"), "32");
}

TEST(QuantizeCopyKvPlan, AWarpHasRunsOfOneTokenWhereTheyFillIt) {
  EXPECT_EQ(Problem(DType::f16, 100, 8, 128).planned().variant("whole"), "1");
  EXPECT_EQ(Problem(DType::f16, 100, 8, 128, 8).planned().variant("whole"), "1");
  const Planned few = Problem(DType::f16, 100, 4, 128).planned();
  EXPECT_EQ(few.variant("whole"), "1");
  EXPECT_EQ(few.variant("unroll"), "2");
  EXPECT_EQ(Problem(DType::f16, 100, 3, 128).planned().variant("whole"), "0");
  EXPECT_EQ(Problem(DType::f16, 100, 8, 120).planned().variant("whole"), "0");
}

TEST(QuantizeCopyKvPlan, EveryChannelHasALane) {
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32})
    for (const std::int64_t channels :
         {1, 2, 7, 8, 9, 24, 33, 64, 72, 80, 96, 128, 192, 250, 256, 1000, 4096}) {
      const Planned planned = Problem(dtype, 5, 3, channels).planned();
      const int lanes = std::stoi(planned.variant("lanes_per_run")),
                vector = std::stoi(planned.variant("vector"));
      const int vectors = std::stoi(planned.variant("vectors"));
      EXPECT_EQ(planned.variant("in_pieces") == "1", lanes * vectors * vector < channels) << channels;
      EXPECT_LE(lanes, 32);
      EXPECT_LE(vectors * vector * size_of(dtype), 64);
      EXPECT_EQ(channels % vector, 0);
    }
}

TEST(QuantizeCopyKvPlan, VectorsThatAreNoPowerOfTwoWasteNoLane) {
  const Planned planned = Problem(DType::f16, 100, 8, 96).planned();
  EXPECT_EQ(planned.variant("lanes_per_run"), "4");
  EXPECT_EQ(planned.variant("vectors"), "3");
}

TEST(QuantizeCopyKvPlan, GroupsAndHeadsThatLieTogetherAreOneDimension) {
  Problem compact(DType::f16, 100, 8, 128, 8);
  EXPECT_EQ(compact.planned().variant("dims"), "2");
  EXPECT_EQ(compact.planned().variant("lanes_per_run"), "1");
  Problem apart(DType::f16, 100, 8, 128, 8);
  apart.args.k = Tensor::strided(at(0x10000), DType::f16, {100, 8, 128}, {2048, 256, 1});
  EXPECT_EQ(apart.planned().variant("dims"), "3");
  EXPECT_EQ(apart.planned().variant("vector"), "8");
  EXPECT_EQ(Problem(DType::f16, 100, 1, 128).planned().variant("dims"), "1");
}

TEST(QuantizeCopyKvPlan, OneElementWhereSomethingIsNotAlignedOrNotAdjacent) {
  Problem offset(DType::f16, 100, 8, 128);
  offset.args.k.data = at(0x10002);
  EXPECT_EQ(offset.planned().variant("vector"), "1");
  Problem out(DType::f16, 100, 8, 128);
  out.args.out = Tensor::strided(at(0x30000), DType::i8, {110, 8, 128}, {1028, 128, 1});
  EXPECT_EQ(out.planned().variant("vector"), "1");
  Problem apart(DType::f16, 100, 8, 128);
  apart.args.k = Tensor::strided(at(0x10000), DType::f16, {100, 8, 128}, {2048, 256, 2});
  EXPECT_EQ(apart.planned().variant("vector"), "1");
}

TEST(QuantizeCopyKvPlan, HeadsWithoutChannelsStillHaveScales) {
  const Planned planned = Problem(DType::f16, 10, 8, 0).planned();
  ASSERT_EQ(planned.steps().size(), 1u);
  EXPECT_EQ(planned.variant("vectors"), "0");
}

TEST(QuantizeCopyKvPlan, NothingToWriteLaunchesNothing) {
  EXPECT_TRUE(Problem(DType::f16, 0, 8, 128).planned().steps().empty());
  EXPECT_TRUE(Problem(DType::f16, 10, 0, 128).planned().steps().empty());
  EXPECT_TRUE(Problem(DType::f16, 10, 8, 0, 8).planned().steps().empty());
}

}  // namespace
}  // namespace isomer::ops::quantize_copy_kv
