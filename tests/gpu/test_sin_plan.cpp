// What sin's kernel is asked to do: short rows share a block, and nothing is divided where everything lies
// together.
#include <gtest/gtest.h>

#include "ops/sin/sin.hpp"
#include "planned.hpp"

namespace isomer::ops::sin {
namespace {

using gpu::Planned;

void* at(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

Planned planned(const Tensor& x, const Tensor& y) {
  const SinArgs args{.x = x, .y = y};
  const SinOptions options;
  return Planned(bind(args, options));
}
Tensor compact(DType dtype, std::int64_t rows, std::int64_t n) {
  return Tensor(at(0x10000), dtype, {rows, n});
}

TEST(SinPlan, CompactTensorsAreOneRowOfVectors) {
  const Planned p = planned(compact(DType::bf16, 64, 77), compact(DType::bf16, 64, 77));
  EXPECT_EQ(p.variant("dims"), "1");
  EXPECT_EQ(p.variant("vector"), "8");
  EXPECT_EQ(p.variant("ragged"), "0");
}

TEST(SinPlan, ShortRowsShareABlock) {
  const Tensor rows = Tensor::strided(at(0x10000), DType::f32, {4096, 16}, {32, 1});
  const Planned p = planned(rows, compact(DType::f32, 4096, 16));
  EXPECT_EQ(p.variant("dims"), "2");
  EXPECT_EQ(p.variant("vector"), "4");
  EXPECT_EQ(p.blocks(), 4096 * 4 / (128 * 4));
}

TEST(SinPlan, ARowThatIsNoMultipleOfTheVectorIsRagged) {
  const Tensor rows = Tensor::strided(at(0x10000), DType::f32, {10, 18}, {32, 1});
  EXPECT_EQ(planned(rows, Tensor::strided(at(0x20000), DType::f32, {10, 18}, {20, 1})).variant("ragged"),
            "1");
}

TEST(SinPlan, ElementsApartAreTakenOneByOne) {
  const Tensor apart = Tensor::strided(at(0x10000), DType::f32, {10, 18}, {64, 2});
  const Planned p = planned(apart, compact(DType::f32, 10, 18));
  EXPECT_EQ(p.variant("vector"), "1");
  EXPECT_EQ(p.variant("dims"), "2");
}

TEST(SinPlan, EmptyAndHugeTensors) {
  EXPECT_TRUE(planned(compact(DType::f32, 0, 8), compact(DType::f32, 0, 8)).steps().empty());
  const Tensor huge = compact(DType::f16, std::int64_t{1} << 20, 1 << 15);
  EXPECT_EQ(planned(huge, huge).variant("index"), "i64");
}

}  // namespace
}  // namespace isomer::ops::sin
