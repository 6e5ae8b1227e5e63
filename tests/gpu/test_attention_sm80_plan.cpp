// What attention's mma.sync kernel is asked to do on each device: which tiles, which order, and what is
// refused.
#include "core/registry.hpp"
#include "gpu/plan.hpp"
#include "ops/attention/attention.hpp"
#include "ops/attention/gpu/sm80_tiling.hpp"
#include "ops/attention/kernels/attention_sm80.h"

#include <gtest/gtest.h>

#include <variant>

namespace isomer::ops::attention {
namespace {

/// An address that nothing is read from.
void* nowhere(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

const gpu::Facts& facts_on(const char* architecture) { return *gpu::known_architecture(architecture); }

struct Sm80Problem {
  AttentionArgs args;
  AttentionOptions options;

  Sm80Problem(std::int64_t b, std::int64_t sq, std::int64_t sk, std::int64_t hq, std::int64_t hkv,
              std::int64_t d, std::int64_t dv, DType dtype = DType::bf16) {
    args.q = Tensor(nowhere(0x100000), dtype, {b, sq, hq, d});
    args.k = Tensor(nowhere(0x200000), dtype, {b, sk, hkv, d});
    args.v = Tensor(nowhere(0x300000), dtype, {b, sk, hkv, dv});
    args.out = Tensor(nowhere(0x400000), dtype, {b, sq, hq, dv});
  }
  Geometry geometry() const { return Geometry(args, options); }
  std::string refusal(const char* architecture = "sm_80") const {
    return refuse_sm80(geometry(), options, facts_on(architecture));
  }
  Sm80Tiling tiling(const char* architecture = "sm_80") const {
    return tile_up_sm80(geometry(), options, facts_on(architecture));
  }
};

Sm80Problem ordinary_problem() { return {2, 512, 512, 8, 4, 128, 128}; }

TEST(AttentionSm80Plan, ItsBlocksFitEveryDevice) {
  for (const char* architecture : {"sm_80", "sm_89", "sm_90a", "sm_100a"})
    for (const auto& [d, dv] : {std::pair{8, 8},
                                {64, 64},
                                {72, 96},
                                {128, 128},
                                {128, 64},
                                {192, 128},
                                {192, 192},
                                {256, 256},
                                {64, 256}}) {
      const Sm80Problem call(2, 512, 512, 8, 4, d, dv);
      ASSERT_EQ(call.refusal(architecture), "") << architecture << " " << d << " " << dv;
      const Sm80Tiling t = call.tiling(architecture);
      EXPECT_GE(t.head_dim, d);
      EXPECT_GE(t.head_dim_v, dv);
      EXPECT_LE(t.shared_bytes, facts_on(architecture).shared_per_block) << architecture << " " << d;
      EXPECT_EQ(t.shared_bytes, device::AttentionSm80Layout(t.head_dim, t.head_dim_v, t.block_m, t.block_n,
                                                            t.stages, t.warps, t.pages)
                                    .bytes);
      EXPECT_LE(t.blocks_together * (t.shared_bytes + 1024), facts_on(architecture).shared_per_multiprocessor)
          << architecture << " " << d;
      // What a thread keeps: S and Σ P·v.
      const int fragments = t.block_m / t.warps / 16;
      EXPECT_LE(fragments * (t.block_n / 2 + t.head_dim_v / 2), 200);
    }
}

TEST(AttentionSm80Plan, ADeviceWithLessSharedMemoryHasFewerStagesOrRows) {
  const auto tiling = [](std::int64_t d, const char* architecture) {
    return Sm80Problem(2, 512, 512, 8, 4, d, d).tiling(architecture);
  };
  EXPECT_EQ(tiling(96, "sm_90a").stages, 2);
  EXPECT_EQ(tiling(96, "sm_80").stages, 1);
  EXPECT_EQ(tiling(96, "sm_80").block_m, 128);
  EXPECT_EQ(tiling(96, "sm_89").block_m, 64);
  EXPECT_EQ(tiling(64, "sm_80").blocks_together, 3);
  EXPECT_EQ(tiling(64, "sm_89").blocks_together, 2);
  EXPECT_EQ(tiling(256, "sm_90a").warps, 4);
  EXPECT_EQ(tiling(256, "sm_80").warps, 8);  // twice 96 KiB do not fit
}

TEST(AttentionSm80Plan, SoftcapAndPagesTakeATileThatLeavesThemRegisters) {
  Sm80Problem problem(2, 512, 512, 8, 4, 64, 64);
  EXPECT_EQ(problem.tiling("sm_90a").blocks_together, 3);
  problem.options.softcap = 30;
  EXPECT_EQ(problem.tiling("sm_90a").blocks_together, 2);
}

/// The first of the implementations for cuda that takes the call.
std::string taken_by(const Sm80Problem& call, const char* architecture) {
  const core::Call asked = bind(call.args, call.options);
  for (const auto& candidate : core::Registry::builtin().find("attention")->implementations) {
    const auto* implementation = dynamic_cast<const gpu::Implementation*>(candidate.get());
    if (implementation == nullptr || implementation->device() != DeviceType::cuda) continue;
    if (std::holds_alternative<std::unique_ptr<core::Plan>>(
            implementation->plan(asked, facts_on(architecture))))
      return implementation->name();
  }
  return "none";
}

TEST(AttentionSm80Plan, IsAskedBehindTheHopperKernelAndBeforeThePortableOnes) {
  EXPECT_EQ(taken_by(ordinary_problem(), "sm_80"), "cuda/sm80");
  EXPECT_EQ(taken_by(ordinary_problem(), "sm_89"), "cuda/sm80");
  EXPECT_EQ(taken_by(ordinary_problem(), "sm_90a"), "cuda/sm90");
  EXPECT_EQ(taken_by(ordinary_problem(), "sm_100a"), "cuda/sm80");
  EXPECT_EQ(taken_by({2, 1, 4096, 8, 4, 128, 128}, "sm_80"), "cuda/portable");  // decode
  EXPECT_EQ(taken_by({2, 512, 512, 8, 4, 128, 128, DType::f32}, "sm_80"), "cuda/portable");
}

TEST(AttentionSm80Plan, SaysWhatItDoesNotTake) {
  EXPECT_EQ(Sm80Problem(1, 64, 64, 1, 1, 64, 64, DType::f32).refusal(), "takes f16 and bf16, q is f32");
  Sm80Problem crooked = ordinary_problem();
  crooked.args.k = Tensor(nowhere(0x200008), DType::bf16, {2, 512, 4, 128});
  EXPECT_EQ(crooked.refusal(), "k has rows that begin at no multiple of 16 bytes");
  EXPECT_NE(Sm80Problem(1, 1, 64, 1, 1, 64, 64).refusal().find("few queries"), std::string::npos);
  Sm80Problem scaled = ordinary_problem();
  scaled.options.scale = 1e-30f;
  EXPECT_NE(scaled.refusal().find("takes no scale of"), std::string::npos);
}

TEST(AttentionSm80Plan, HeadsShareATileWhereThatLeavesLessToDo) {
  using Choice = AttentionOptions::Choice;
  const auto packs = [](std::int64_t sq, Choice choice) {
    Sm80Problem call(1, sq, 512, 32, 8, 128, 128);
    call.options.pack_gqa = choice;
    return call.tiling().pack;
  };
  EXPECT_TRUE(packs(40, Choice::plan));
  EXPECT_FALSE(packs(4096, Choice::plan));
  EXPECT_TRUE(packs(4096, Choice::always));
  EXPECT_FALSE(packs(40, Choice::never));
}

TEST(AttentionSm80Plan, KeysAreDividedOnlyWhereTilesDoNotFillTheDevice) {
  EXPECT_EQ(Sm80Problem(8, 4096, 4096, 16, 16, 128, 128).tiling().parts, 1);
  const Sm80Tiling few = Sm80Problem(1, 128, 65536, 4, 4, 128, 128).tiling();
  EXPECT_GT(few.parts, 8);
  EXPECT_LE(few.blocks(1), 2 * 108);
  Sm80Problem asked(1, 128, 4096, 4, 4, 128, 128);
  asked.options.num_splits = 3;
  EXPECT_EQ(asked.tiling().parts, 3);
}

TEST(AttentionSm80Plan, UnderAMaskTheLongestTilesOfHeadsThatShareL2ComeFirst) {
  Sm80Problem call(1, 4096, 4096, 32, 8, 128, 128);
  EXPECT_EQ(call.tiling().section, 1);
  call.options.causal = true;
  EXPECT_EQ(call.tiling().section, 32);  // all of them: 8 kv heads of 2 MiB in 40 MiB
}

}  // namespace
}  // namespace isomer::ops::attention
