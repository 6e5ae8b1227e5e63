// What weight_dequant's kernel is asked to do: vectors that lie in one block of scales, and threads that fit
// the rows.
#include <gtest/gtest.h>

#include "ops/weight_dequant/weight_dequant.hpp"
#include "planned.hpp"

namespace isomer::ops::weight_dequant {
namespace {

using gpu::Planned;

void* at(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

struct Problem {
  WeightDequantArgs args;
  WeightDequantOptions options;

  Problem(DType dtype, std::int64_t m, std::int64_t n, std::int64_t block_size = 128, std::int64_t row = 0) {
    options.block_size = block_size;
    args.x = Tensor(at(0x10000), DType::e4m3fn, {m, n});
    args.s = Tensor(at(0x20000), DType::f32,
                    {(m + block_size - 1) / block_size, (n + block_size - 1) / block_size});
    args.y = Tensor::strided(at(0x30000), dtype, {m, n}, {row == 0 ? n : row, 1});
  }
  Planned planned() const { return Planned(bind(args, options)); }
};

TEST(WeightDequantPlan, WritesSixteenBytes) {
  EXPECT_EQ(Problem(DType::bf16, 512, 7168).planned().variant("vector"), "8");
  EXPECT_EQ(Problem(DType::f16, 512, 7168).planned().variant("vector"), "8");
  EXPECT_EQ(Problem(DType::f32, 512, 7168).planned().variant("vector"), "4");
}

TEST(WeightDequantPlan, OneElementWhereRowsAreNotAlignedOrAVectorCrossesABlock) {
  EXPECT_EQ(Problem(DType::bf16, 3, 129).planned().variant("vector"), "1");
  EXPECT_EQ(Problem(DType::bf16, 1, 129).planned().variant("vector"), "8");  // one row has no stride
  EXPECT_EQ(Problem(DType::bf16, 3, 128, 128, 130).planned().variant("vector"), "1");
  EXPECT_EQ(Problem(DType::bf16, 8, 128, 4).planned().variant("vector"), "1");
  EXPECT_EQ(Problem(DType::f32, 8, 128, 4).planned().variant("vector"), "4");
  EXPECT_EQ(Problem(DType::bf16, 8, 128, 129).planned().variant("vector"),
            "8");  // one block holds every column
  Problem offset(DType::bf16, 8, 128);
  offset.args.x.data = at(0x10004);
  EXPECT_EQ(offset.planned().variant("vector"), "1");
}

TEST(WeightDequantPlan, TilesCoverTheMatrixAndLeaveFewThreadsIdle) {
  for (const std::int64_t n : {1, 8, 100, 128, 576, 1536, 2048, 2112, 7168, 18432})
    for (const std::int64_t m : {1, 7, 128, 1000}) {
      const Planned planned = Problem(DType::bf16, m, n).planned();
      const auto& grid = planned.steps()[0].grid;
      const std::int64_t vector = std::stoi(planned.variant("vector")),
                         rows = std::stoi(planned.variant("rows"));
      const std::int64_t vectors = (n + vector - 1) / vector;
      std::int64_t across = 0;
      for (std::int64_t a = 1; a <= 128; a *= 2)
        if ((vectors + a - 1) / a == grid[0] && (m + 128 / a * rows - 1) / (128 / a * rows) == grid[1])
          across = a;
      ASSERT_GT(across, 0) << m << " " << n;
      if (vectors >= 64) {
        EXPECT_LE(across * grid[0] - vectors, vectors / 8 + 15) << n;
      }
    }
}

TEST(WeightDequantPlan, MoreRowsThanAGridHasAreTakenInTurn) {
  const Planned planned = Problem(DType::bf16, std::int64_t{1} << 24, 1024).planned();
  EXPECT_EQ(planned.steps()[0].grid[1], 65535u);
  EXPECT_EQ(planned.variant("index"), "u32");
  EXPECT_EQ(Problem(DType::bf16, std::int64_t{1} << 31, 8).planned().variant("index"), "i64");
}

TEST(WeightDequantPlan, EmptyMatricesLaunchNothing) {
  EXPECT_TRUE(Problem(DType::bf16, 0, 128).planned().steps().empty());
  EXPECT_TRUE(Problem(DType::bf16, 128, 0).planned().steps().empty());
}

}  // namespace
}  // namespace isomer::ops::weight_dequant
