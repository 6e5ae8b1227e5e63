// Which kernel a block-scaled product gets, and that its tiles cover the product and fit the device.
#include <gtest/gtest.h>

#include "ops/fp8_gemm/fp8_gemm.hpp"
#include "ops/fp8_gemm/gpu/tiles.hpp"
#include "planned.hpp"

#include <string>

namespace isomer::ops::fp8_gemm {
namespace {

using gpu::Planned;

constexpr const char* kArchitectures[] = {"sm_80",  "sm_89",  "sm_90a", "sm_100a",
                                          "gfx90a", "gfx942", "gfx1100"};

/// An address that nothing is read from.
void* at(std::uintptr_t address) { return reinterpret_cast<void*>(address); }
std::int64_t blocks_of(std::int64_t size) { return (size + 127) / 128; }

Fp8GemmArgs product(std::int64_t m, std::int64_t n, std::int64_t k, DType c = DType::bf16) {
  return {.a = Tensor(at(0x10000), DType::e4m3fn, {m, k}),
          .a_s = Tensor(at(0x20000), DType::f32, {m, blocks_of(k)}),
          .b = Tensor(at(0x30000), DType::e4m3fn, {n, k}),
          .b_s = Tensor(at(0x40000), DType::f32, {blocks_of(n), blocks_of(k)}),
          .c = Tensor(at(0x50000), c, {m, n})};
}

GroupedFp8GemmArgs grouped(bool masked, std::int64_t g, std::int64_t rows, std::int64_t n, std::int64_t k) {
  const auto of_rows = [&](std::uintptr_t address, DType type, std::int64_t last) {
    return masked ? Tensor(at(address), type, {g, rows, last}) : Tensor(at(address), type, {rows, last});
  };
  GroupedFp8GemmArgs args{.a = of_rows(0x10000, DType::e4m3fn, k),
                          .a_s = of_rows(0x20000, DType::f32, blocks_of(k)),
                          .b = Tensor(at(0x30000), DType::e4m3fn, {g, n, k}),
                          .b_s = Tensor(at(0x40000), DType::f32, {g, blocks_of(n), blocks_of(k)}),
                          .c = of_rows(0x50000, DType::bf16, n)};
  (masked ? args.row_counts : args.expert_ids) = Tensor(at(0x60000), DType::i32, {masked ? g : rows});
  return args;
}

template <class Args>
Planned planned(const Args& args, std::string_view architecture = "sm_90a") {
  return Planned(bind(args, {}), architecture);
}
template <class Args>
std::string kernel(const Args& args, std::string_view architecture = "sm_90a") {
  return std::string(planned(args, architecture).steps().at(0).kernel);
}

TEST(Fp8GemmPlan, FewRowsReadBOnce) {
  for (const std::int64_t m : {1, 8, 9, 16}) {
    const Planned plan = planned(product(m, 7168, 2048));
    EXPECT_EQ(plan.steps().at(0).kernel, "isomer_fp8_gemm_skinny");
    EXPECT_EQ(plan.variant("tokens"), m <= 8 ? "8" : "16");
    EXPECT_EQ(plan.blocks() * std::stoi(plan.variant("columns")), 7168);
  }
  EXPECT_EQ(kernel(product(17, 7168, 2048)), "isomer_fp8_gemm_tile");
  EXPECT_EQ(kernel(grouped(true, 8, 16, 512, 512)), "isomer_fp8_gemm_skinny");
}

TEST(Fp8GemmPlan, FragmentsNeedThirtyTwoLanesOfNvidia) {
  for (const std::string architecture : {"sm_80", "sm_89", "sm_90a", "sm_100a"})
    EXPECT_EQ(kernel(product(512, 512, 512), architecture), "isomer_fp8_gemm_tile") << architecture;
  for (const std::string architecture : {"gfx90a", "gfx942", "gfx1100"}) {
    EXPECT_EQ(kernel(product(512, 512, 512), architecture), "isomer_fp8_gemm_plain") << architecture;
    EXPECT_EQ(planned(product(16, 512, 512), architecture).variant("tile_m"), "16") << architecture;
  }
}

TEST(Fp8GemmPlan, LargeProductsHaveLargeTilesAndSmallOnesReachMoreMultiprocessors) {
  const Planned large = planned(product(4096, 7168, 2048));
  EXPECT_EQ(large.variant("tile_m"), "128");
  EXPECT_EQ(large.variant("tile_n"), "128");
  const Planned small = planned(product(512, 512, 512));
  EXPECT_EQ(small.variant("tile_m"), "64");
  EXPECT_EQ(small.variant("tile_n"), "64");
  EXPECT_EQ(small.blocks(), 64);
  EXPECT_EQ(planned(product(64, 32768, 512)).variant("tile_m"), "64");
}

TEST(Fp8GemmPlan, TilesCoverEveryRowAndColumnOfEveryExpert) {
  for (const char* architecture : kArchitectures)
    for (const std::int64_t rows : {1, 16, 17, 63, 64, 65, 128, 300, 5000})
      for (const std::int64_t n : {1, 32, 33, 128, 257})
        for (const bool masked : {false, true}) {
          const GpuProblem problem(grouped(masked, 3, rows, n, 200));
          const GpuTiling t = gpu_tiling(problem, *gpu::known_architecture(architecture));
          EXPECT_GE(t.row_tiles * t.tile_m, rows);
          EXPECT_LT((t.row_tiles - 1) * t.tile_m, rows);
          EXPECT_GE(t.column_tiles * t.tile_n, n);
          EXPECT_LT((t.column_tiles - 1) * t.tile_n, n);
          EXPECT_EQ(t.blocks, t.row_tiles * t.column_tiles * (masked ? 3 : 1));
          // A tile lies under one row of b_s, and in one segment of the contiguous layout.
          EXPECT_EQ(128 % t.tile_n, 0);
          EXPECT_EQ(128 % t.tile_m, 0);
        }
}

TEST(Fp8GemmPlan, SharedMemoryFitsTheDevice) {
  for (const char* architecture : kArchitectures)
    for (const std::int64_t m : {1, 16, 64, 4096}) {
      const gpu::Facts& facts = *gpu::known_architecture(architecture);
      const GpuTiling t = gpu_tiling(GpuProblem(product(m, 4096, 1024)), facts);
      // The kernels' own arrays are at most 10 KB beside it.
      EXPECT_LE(t.shared_bytes + 10 * 1024, facts.shared_per_block) << architecture << " m=" << m;
      if (t.kernel == GpuKernel::tile) {
        EXPECT_GE(t.stages, 2) << architecture;
      }
    }
}

TEST(Fp8GemmPlan, RowsAreCopiedAsWideAsTheyAreAligned) {
  EXPECT_EQ(planned(product(100, 64, 256)).variant("copy"), "16");
  EXPECT_EQ(planned(product(100, 64, 300)).variant("copy"), "4");
  EXPECT_EQ(planned(product(100, 64, 301)).variant("copy"), "1");
  // A single row's stride is never used.
  EXPECT_EQ(planned(product(1, 1, 301)).variant("copy"), "16");
  Fp8GemmArgs args = product(100, 64, 256);
  args.b.data = at(0x30004);
  EXPECT_EQ(planned(args).variant("copy"), "4");
  args.a.data = at(0x10002);
  EXPECT_EQ(planned(args).variant("copy"), "1");
}

TEST(Fp8GemmPlan, PairsOfColumnsAreStoredAtOnceWhereTheyAreAligned) {
  Fp8GemmArgs args = product(100, 64, 256);
  EXPECT_TRUE(GpuProblem(args).parameters.in_pairs);
  args.c.data = at(0x50002);
  EXPECT_FALSE(GpuProblem(args).parameters.in_pairs);
  EXPECT_FALSE(GpuProblem(product(100, 63, 256)).parameters.in_pairs);
  args = product(100, 64, 256);
  args.addend = Tensor::strided(at(0x70000), DType::bf16, {100, 64}, {65, 1});
  EXPECT_FALSE(GpuProblem(args).parameters.in_pairs);
}

TEST(Fp8GemmPlan, LeadingDimensionsAreOneWhereEveryTensorAllowsIt) {
  Fp8GemmArgs args{.a = Tensor(at(0x10000), DType::e4m3fn, {4, 5, 6, 256}),
                   .a_s = Tensor(at(0x20000), DType::f32, {4, 5, 6, 2}),
                   .b = Tensor(at(0x30000), DType::e4m3fn, {64, 256}),
                   .b_s = Tensor(at(0x40000), DType::f32, {1, 2}),
                   .c = Tensor(at(0x50000), DType::f32, {4, 5, 6, 64})};
  EXPECT_EQ(GpuProblem(args).parameters.dims, 1);
  EXPECT_EQ(GpuProblem(args).parameters.rows, 120);
  args.c = Tensor::strided(at(0x50000), DType::f32, {4, 5, 6, 64}, {384, 1920, 64, 1});
  const GpuProblem apart(args);
  EXPECT_EQ(apart.parameters.dims, 3);
  EXPECT_EQ(apart.parameters.outer[0], 6);
  EXPECT_EQ(apart.parameters.outer[1], 5);
  EXPECT_EQ(apart.parameters.c_rows.stride[1], 1920);
  EXPECT_EQ(apart.parameters.a_rows.stride[2], 5 * 6 * 256);
}

TEST(Fp8GemmPlan, EmptyProductsLaunchNothingAndEmptySumsDo) {
  EXPECT_TRUE(planned(product(0, 64, 256)).steps().empty());
  EXPECT_TRUE(planned(product(3, 0, 256)).steps().empty());
  EXPECT_TRUE(planned(grouped(true, 0, 5, 64, 256)).steps().empty());
  EXPECT_EQ(planned(product(3, 64, 0)).steps().size(), 1u);
}

TEST(Fp8GemmPlan, MoreTilesThanALaunchHasAreRefused) {
  GroupedFp8GemmArgs args = grouped(true, std::int64_t{1} << 31, 1, 1, 1);
  const GroupedFp8GemmOptions options;
  const core::Call call = bind(args, options);
  for (const auto& implementation : core::Registry::builtin().find("grouped_fp8_gemm")->implementations)
    if (const auto* gpu = dynamic_cast<const gpu::Implementation*>(implementation.get());
        gpu != nullptr && gpu->name().ends_with("/portable")) {
      const auto answer = gpu->plan(call, *gpu::known_architecture("sm_90a"));
      ASSERT_TRUE(std::holds_alternative<core::Refusal>(answer));
      EXPECT_EQ(std::get<core::Refusal>(answer).reason,
                "c has 2147483648 tiles, a launch has at most 2^31 - 1 blocks");
    }
}

}  // namespace
}  // namespace isomer::ops::fp8_gemm
