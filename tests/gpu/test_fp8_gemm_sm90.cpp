// What Hopper's kernel of block-scaled products takes, which tile it gets, and that every variant of it
// compiles.
#include "gpu/plan.hpp"
#include "nvrtc_log.hpp"
#include "ops/fp8_gemm/fp8_gemm.hpp"
#include "ops/fp8_gemm/gpu/sm90_tiles.hpp"

#include "core/registry.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <type_traits>

namespace isomer::ops::fp8_gemm {
namespace {

const gpu::Facts& hopper() { return *gpu::known_architecture("sm_90a"); }

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

GroupedFp8GemmArgs grouped(bool masked, std::int64_t g, std::int64_t rows, std::int64_t n, std::int64_t k,
                           DType c = DType::bf16) {
  const auto of_rows = [&](std::uintptr_t address, DType type, std::int64_t last) {
    return masked ? Tensor(at(address), type, {g, rows, last}) : Tensor(at(address), type, {rows, last});
  };
  GroupedFp8GemmArgs args{.a = of_rows(0x10000, DType::e4m3fn, k),
                          .a_s = of_rows(0x20000, DType::f32, blocks_of(k)),
                          .b = Tensor(at(0x30000), DType::e4m3fn, {g, n, k}),
                          .b_s = Tensor(at(0x40000), DType::f32, {g, blocks_of(n), blocks_of(k)}),
                          .c = of_rows(0x50000, c, n)};
  (masked ? args.row_counts : args.expert_ids) = Tensor(at(0x60000), DType::i32, {masked ? g : rows});
  return args;
}

/// The plan of "cuda/sm90", or its refusal.
template <class Args>
core::PlanOrRefusal plan_of(const Args& args, std::string_view architecture = "sm_90a") {
  // A call points to its options as to its tensors.
  const std::conditional_t<std::is_same_v<Args, Fp8GemmArgs>, Fp8GemmOptions, GroupedFp8GemmOptions> options;
  const core::Call call = bind(args, options);
  for (const auto& implementation : core::Registry::builtin().find(call.contract->op)->implementations)
    if (implementation->name() == "cuda/sm90")
      return dynamic_cast<const gpu::Implementation&>(*implementation)
          .plan(call, *gpu::known_architecture(architecture));
  return core::Refusal{"there is no cuda/sm90"};
}
template <class Args>
std::string refusal_of(const Args& args, std::string_view architecture = "sm_90a") {
  const core::PlanOrRefusal answer = plan_of(args, architecture);
  const auto* refusal = std::get_if<core::Refusal>(&answer);
  return refusal != nullptr ? refusal->reason : "taken";
}

std::string tile_of(std::int64_t m, std::int64_t n, std::int64_t k) {
  const std::vector<Sm90Tiling> all = sm90_candidates(Sm90Problem(product(m, n, k)), hopper());
  const Sm90Tiling t = all.at(static_cast<std::size_t>(sm90_choice(all, "", nullptr)));
  return std::to_string(t.tile_m) + "x" + std::to_string(t.tile_n) + " cluster " + std::to_string(t.cluster) +
         " split " + std::to_string(t.split) + " stages " + std::to_string(t.stages);
}

TEST(Fp8GemmSm90, ThePublishedShapesHaveTheTilesThatWereMeasuredBest) {
  EXPECT_EQ(tile_of(4096, 7168, 16384), "128x256 cluster 2 split 1 stages 3");
  EXPECT_EQ(tile_of(4096, 4096, 7168), "128x256 cluster 2 split 1 stages 3");
  EXPECT_EQ(tile_of(4096, 7168, 2048), "128x256 cluster 2 split 1 stages 3");
  EXPECT_EQ(tile_of(4096, 24576, 1536), "128x256 cluster 2 split 1 stages 3");
  EXPECT_EQ(tile_of(4096, 32768, 512), "128x256 cluster 1 split 1 stages 3");
  EXPECT_EQ(tile_of(4096, 2112, 7168), "128x176 cluster 2 split 1 stages 4");
  EXPECT_EQ(tile_of(64, 7168, 16384), "64x128 cluster 1 split 2 stages 7");
  EXPECT_EQ(tile_of(64, 24576, 1536), "64x192 cluster 1 split 1 stages 6");
  EXPECT_EQ(tile_of(128, 7168, 16384), "128x128 cluster 1 split 2 stages 4");
}

TEST(Fp8GemmSm90, TheTableThatTheLibraryHasWithItTakesTheFastestTilesOfCallsThatThereAre) {
  int rows = 0;
  for (const gpu::MeasuredTable& table : gpu::measured_tables())
    for (const gpu::TunedTable read = gpu::TunedTable::parse(table.text, std::string(table.path));
         const gpu::TunedRow& row : read.rows()) {
      if (row.key.op != "fp8_gemm" || row.key.implementation != "sm90") continue;
      ++rows;
      long long m = 0, n = 0, k = 0;
      ASSERT_EQ(std::sscanf(row.key.shape.c_str(), "rows=single m=%lld n=%lld k=%lld", &m, &n, &k), 3)
          << row.key.shape;
      const Sm90Problem problem(product(m, n, k));
      gpu::Facts facts = hopper();
      facts.name = row.key.device;
      EXPECT_EQ(sm90_key(problem, "fp8_gemm", facts), row.key) << row.key.shape;
      const std::vector<Sm90Tiling> all = sm90_candidates(problem, facts);
      EXPECT_EQ(all.at(static_cast<std::size_t>(sm90_choice(all, "", &row))).name(), row.takes);
      const double taken = gpu::tuned_seconds(&row, row.takes);
      EXPECT_GT(taken, 0) << row.key.shape;
      for (const auto& [name, time] : row.nanoseconds)
        EXPECT_LE(taken, 1e-9 * static_cast<double>(time)) << row.key.shape << ", " << name;
    }
  EXPECT_GT(rows, 0);
}

TEST(Fp8GemmSm90, ItIsAskedFirstOnHopperAndOnNothingElse) {
  const auto& list = core::Registry::builtin().find("fp8_gemm")->implementations;
  std::vector<std::string> names;
  for (const auto& implementation : list)
    if (implementation->device() == DeviceType::cuda) names.push_back(implementation->name());
  EXPECT_EQ(names, (std::vector<std::string>{"cuda/sm90", "cuda/portable"}));
  EXPECT_EQ(refusal_of(product(64, 64, 256)), "taken");
  EXPECT_EQ(refusal_of(product(64, 64, 256), "sm_89"),
            "needs bulk tensor copies, wgmma and clusters, which NVIDIA L40S (sm_89) "
            "does not "
            "have");
  EXPECT_EQ(refusal_of(product(64, 64, 256), "sm_100a"),
            "needs wgmma, which NVIDIA B200 (sm_100a) does not have");
}

TEST(Fp8GemmSm90, WhatBulkCopiesCannotTakeIsRefusedWithItsReason) {
  EXPECT_EQ(
      refusal_of(product(64, 64, 300)),
      "a bulk copy of a needs strides that are multiples of 16 bytes below 2^40, got 300 in dimension 1");
  EXPECT_EQ(refusal_of(product(64, 64, 0)), "K is 0: there is nothing to multiply");
  EXPECT_EQ(refusal_of(product(1, 1, 300)), "taken");  // a single row's stride is never used
  Fp8GemmArgs args = product(64, 64, 256);
  args.b.data = at(0x30008);
  EXPECT_EQ(refusal_of(args), "a bulk copy of b needs an address that is a multiple of 16 bytes");
  args = product(64, 64, 256);
  args.a = Tensor::strided(at(0x10000), DType::e4m3fn, {64, 256}, {0, 1});
  EXPECT_EQ(refusal_of(args), "a's rows lie on one another or run backwards: a bulk copy needs them apart");
  args.a = Tensor::strided(at(0x10000), DType::e4m3fn, {64, 256}, {272, 1});
  EXPECT_EQ(refusal_of(args), "taken");
  EXPECT_EQ(refusal_of(grouped(true, 3, 20, 64, 256)), "taken");
  EXPECT_EQ(refusal_of(grouped(false, 3, 384, 64, 256)), "taken");
}

TEST(Fp8GemmSm90, AnEmptyProductLaunchesNothing) {
  const core::PlanOrRefusal answer = plan_of(product(0, 64, 256));
  const auto& plan = dynamic_cast<const gpu::Plan&>(*std::get<std::unique_ptr<core::Plan>>(answer));
  EXPECT_TRUE(plan.steps().empty());
}

TEST(Fp8GemmSm90, BulkCopiesStoreOnlyWhatTheyWriteExactly) {
  EXPECT_TRUE(Sm90Problem(product(64, 264, 256)).bulk_store);
  EXPECT_TRUE(Sm90Problem(product(64, 264, 256, DType::f16)).bulk_store);
  EXPECT_FALSE(Sm90Problem(product(64, 264, 256, DType::f32)).bulk_store);
  // A row of 261 columns in one of 264: a bulk copy would write the 16 bytes that its last columns are in.
  Fp8GemmArgs args = product(64, 261, 256);
  args.c = Tensor::strided(at(0x50000), DType::bf16, {64, 261}, {264, 1});
  EXPECT_FALSE(Sm90Problem(args).bulk_store);
  args = product(64, 264, 256);
  args.c.data = at(0x50008);
  EXPECT_FALSE(Sm90Problem(args).bulk_store);
}

TEST(Fp8GemmSm90, ScalesAreCopiedInFoursWhereTheyLieSo) {
  EXPECT_EQ(Sm90Problem(product(64, 64, 1024)).scales_at_once, 4);
  EXPECT_EQ(Sm90Problem(product(64, 64, 640)).scales_at_once, 1);  // five blocks
  Fp8GemmArgs args = product(64, 64, 1024);
  args.a_s = Tensor::strided(at(0x20000), DType::f32, {64, 8}, {1, 64});
  EXPECT_EQ(Sm90Problem(args).scales_at_once, 1);
  args = product(64, 64, 1024);
  args.a_s.data = at(0x20004);
  EXPECT_EQ(Sm90Problem(args).scales_at_once, 1);
}

TEST(Fp8GemmSm90, EveryCandidateCoversTheProductAndFitsTheDevice) {
  for (const std::int64_t m : {1, 64, 65, 128, 300, 4096})
    for (const std::int64_t n : {1, 64, 200, 257, 7168})
      for (const std::int64_t k : {16, 512, 7168})
        for (const DType c : {DType::bf16, DType::f32}) {
          const Sm90Problem problem(product(m, n, k, c));
          for (const Sm90Tiling& t : sm90_candidates(problem, hopper())) {
            const std::int64_t high = t.tile_m * t.cluster;
            EXPECT_GE(t.row_tiles * high, m);
            EXPECT_LT((t.row_tiles - 1) * high, m);
            EXPECT_GE(t.column_tiles * t.tile_n, n);
            EXPECT_LT((t.column_tiles - 1) * t.tile_n, n);
            EXPECT_GE(t.stages, 3);
            EXPECT_LE(t.shared_bytes, hopper().shared_per_block);
            EXPECT_EQ(t.blocks % (t.cluster * t.split), 0);
            EXPECT_LE(t.split, blocks_of(k));
            if (t.split == 1) {
              EXPECT_LE(t.blocks, hopper().multiprocessors);
            }
          }
        }
}

/// The macros of a variant.
void add_variants(std::set<std::vector<std::string>>& all, const core::Call& call) {
  for (const auto& implementation : core::Registry::builtin().find(call.contract->op)->implementations) {
    if (implementation->name() != "cuda/sm90") continue;
    const auto answer = dynamic_cast<const gpu::Implementation&>(*implementation).plan(call, hopper());
    const auto& plan = dynamic_cast<const gpu::Plan&>(*std::get<std::unique_ptr<core::Plan>>(answer));
    for (const gpu::Step& step : plan.steps()) {
      std::vector<std::string> macros;
      for (const auto& [name, value] : gpu::named(step.variant)) {
        std::string macro = "ISOMER_";
        for (const char letter : name) macro += static_cast<char>(std::toupper(letter));
        macros.push_back(macro + "=" + value);
      }
      all.insert(macros);
    }
  }
}

TEST(Fp8GemmSm90, EveryTileCompilesWithNoSpillAndNoSerializedProduct) {
  const gpu::SharedObject library = gpu::nvrtc_library();
  if (!library.open()) GTEST_SKIP() << library.failure();
  // Each row of the table in each way of storing, and what the small cases of `isomer prebuild` do not reach.
  std::set<std::vector<std::string>> variants;
  const std::int64_t sizes[][3] = {{4096, 7168, 16384}, {4096, 2112, 7168}, {64, 7168, 16384},
                                   {64, 24576, 1536},   {64, 2112, 7168},   {128, 7168, 16384},
                                   {100, 1024, 640},    {128, 128, 16384},  {1, 64, 7168}};
  for (const auto& [m, n, k] : sizes)
    for (const DType c : {DType::bf16, DType::f32}) {
      Fp8GemmArgs args = product(m, n, k, c);
      add_variants(variants, bind(args, {}));
      args.bias = Tensor(at(0x70000), DType::f32, {n});
      add_variants(variants, bind(args, {}));
    }
  for (const bool masked : {false, true})
    for (const DType c : {DType::bf16, DType::f32})
      for (const std::int64_t rows : {8, 4096}) {
        GroupedFp8GemmArgs args = grouped(masked, 16, masked ? rows : 128 * rows, 4096, 7168, c);
        add_variants(variants, bind(args, {}));
        args.bias = Tensor(at(0x70000), DType::f32, {16, 4096});
        add_variants(variants, bind(args, {}));
      }
  EXPECT_GE(variants.size(), 20u);
  // The first tier compiles each shape of a tile in one way of storing, the second tier all of them.
  const bool all = std::getenv("ISOMER_EVERY_VARIANT") != nullptr;
  std::set<std::string> shapes;
  for (const std::vector<std::string>& macros : variants) {
    std::string name, shape;
    for (const std::string& macro : macros)
      for (const char* part : {"ISOMER_TILE_M=", "ISOMER_TILE_N=", "ISOMER_CHUNKS="})
        if (macro.starts_with(part)) shape += macro;
    if (!shapes.insert(shape).second && !all) continue;
    for (const std::string& macro : macros) name += macro + " ";
    int result = -1;
    const std::string log =
        gpu::log_of(library, "#include \"ops/fp8_gemm/kernels/fp8_gemm_sm90.cu\"\n", macros, result);
    ASSERT_EQ(result, 0) << name << log;
    EXPECT_NE(log.find(" 0 bytes spill stores, 0 bytes spill loads"), std::string::npos) << name << log;
    EXPECT_EQ(log.find("serialized"), std::string::npos) << name << log;
    EXPECT_EQ(log.find("warpgroup.wait is injected"), std::string::npos) << name << log;
  }
  EXPECT_GE(shapes.size(), 3u);
}

TEST(Fp8GemmSm90, TakesTheCandidateThatIsNamedThenWhatWasMeasuredThenTheModels) {
  const Sm90Problem problem(product(64, 7168, 16384));
  const std::vector<Sm90Tiling> all = sm90_candidates(problem, hopper());
  const auto name = [&](std::ptrdiff_t i) { return all.at(static_cast<std::size_t>(i)).name(); };
  const gpu::TunedRow measured{
      .key = sm90_key(problem, "fp8_gemm", hopper()), .takes = "64x64", .nanoseconds = {}};
  EXPECT_EQ(measured.key.dtypes, "a=e4m3fn b=e4m3fn c=bf16");
  EXPECT_EQ(measured.key.shape, "rows=single m=64 n=7168 k=16384 experts=1 bulk_store=1 terms=0");
  EXPECT_EQ(name(sm90_choice(all, "", nullptr)), "64x128 split 2");
  EXPECT_EQ(name(sm90_choice(all, "", &measured)), "64x64");
  EXPECT_EQ(name(sm90_choice(all, "128x192 cluster 2", &measured)), "128x192 cluster 2");
  EXPECT_EQ(sm90_choice(all, "7x7", &measured), -1);
  std::set<std::string> names;
  for (const Sm90Tiling& each : all) names.insert(each.name());
  EXPECT_EQ(names.size(), all.size());
}

}  // namespace
}  // namespace isomer::ops::fp8_gemm
