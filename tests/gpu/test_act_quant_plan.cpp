// What act_quant's kernel is asked to do: vectors where everything is aligned, dimensions joined where they
// lie together, and blocks enough for small tensors.
#include <gtest/gtest.h>

#include "ops/act_quant/act_quant.hpp"
#include "planned.hpp"

namespace isomer::ops::act_quant {
namespace {

using gpu::Planned;

/// An address that nothing is read from.
void* at(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

struct Problem {
  ActQuantArgs args;
  ActQuantOptions options;

  Problem(DType dtype, std::int64_t m, std::int64_t k, std::int64_t row = 0, std::int64_t block_size = 128) {
    options.block_size = block_size;
    args.x = Tensor::strided(at(0x10000), dtype, {m, k}, {row == 0 ? k : row, 1});
    args.y = Tensor(at(0x20000), DType::e4m3fn, {m, k});
    args.s = Tensor(at(0x30000), DType::f32, {m, k / block_size});
  }
  Planned planned() const { return Planned(bind(args, options)); }
};

TEST(ActQuantPlan, CompactTensorsAreOneDimension) {
  for (const DType dtype : {DType::bf16, DType::f16, DType::f32}) {
    const Planned planned = Problem(dtype, 300, 7168).planned();
    EXPECT_EQ(planned.variant("dims"), "1");
    EXPECT_EQ(planned.variant("vector"), dtype == DType::f32 ? "4" : "8");
    EXPECT_EQ(planned.variant("index"), "u32");
  }
}

TEST(ActQuantPlan, PaddedRowsAndScalesByColumnKeepVectors) {
  EXPECT_EQ(Problem(DType::bf16, 30, 7168, 7168 + 64).planned().variant("dims"), "2");
  EXPECT_EQ(Problem(DType::bf16, 30, 7168, 7168 + 64).planned().variant("vector"), "8");
  Problem columns(DType::bf16, 30, 7168);
  columns.options.scale_layout = ScaleLayout::column_major;
  columns.args.s = Tensor::strided(at(0x30000), DType::f32, {30, 56}, {1, 32});
  EXPECT_EQ(columns.planned().variant("dims"), "2");
  EXPECT_EQ(columns.planned().variant("vector"), "8");
}

TEST(ActQuantPlan, ASectorOfScalesByColumnComesBeforeTheBlocksOfARow) {
  Problem columns(DType::bf16, 32, 7168);
  columns.options.scale_layout = ScaleLayout::column_major;
  columns.args.s = Tensor::strided(at(0x30000), DType::f32, {32, 56}, {1, 32});
  EXPECT_EQ(columns.planned().variant("dims"), "3");
  EXPECT_EQ(columns.planned().variant("vector"), "8");
}

TEST(ActQuantPlan, OneElementAtATimeWhereABlockIsNotAligned) {
  EXPECT_EQ(Problem(DType::bf16, 30, 256, 260).planned().variant("vector"), "1");
  Problem offset(DType::f32, 4, 256);
  offset.args.x.data = at(0x10004);
  EXPECT_EQ(offset.planned().variant("vector"), "1");
  Problem out(DType::f32, 4, 256);
  out.args.y.data = at(0x20002);
  EXPECT_EQ(out.planned().variant("vector"), "1");
  out.args.y.data = at(0x20004);
  EXPECT_EQ(out.planned().variant("vector"), "4");
}

TEST(ActQuantPlan, EveryBlockHasItsLanes) {
  for (const std::int64_t size : {32, 64, 128, 256})
    for (const DType dtype : {DType::bf16, DType::f16, DType::f32})
      for (const std::int64_t row : {2048, 2049}) {
        const Planned planned = Problem(dtype, 5, 2048, row, size).planned();
        const int lanes = std::stoi(planned.variant("lanes_per_block")),
                  vector = std::stoi(planned.variant("vector"));
        const int unroll = std::stoi(planned.variant("unroll")),
                  threads = std::stoi(planned.variant("threads"));
        EXPECT_EQ(size % (lanes * vector), 0);
        EXPECT_LE(lanes, 32);
        const std::int64_t blocks = 5 * 2048 / size, together = threads / lanes * unroll;
        EXPECT_EQ(planned.blocks(), (blocks + together - 1) / together);
      }
}

TEST(ActQuantPlan, AFewRowsReachEveryMultiprocessor) {
  EXPECT_GE(Problem(DType::bf16, 128, 7168).planned().blocks(), 132);
}

TEST(ActQuantPlan, ManyBlocksAreCountedInWideIndices) {
  Problem large(DType::bf16, std::int64_t{1} << 23, 1 << 14, 0, 32);
  EXPECT_EQ(large.planned().variant("index"), "i64");
}

TEST(ActQuantPlan, EmptyTensorsLaunchNothing) {
  EXPECT_TRUE(Problem(DType::bf16, 0, 256).planned().steps().empty());
  EXPECT_TRUE(Problem(DType::bf16, 3, 0).planned().steps().empty());
}

}  // namespace
}  // namespace isomer::ops::act_quant
