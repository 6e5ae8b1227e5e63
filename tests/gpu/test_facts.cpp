// What devices can do, as plans ask for it, and implementations that need it.
#include "gpu/plan.hpp"

#include <gtest/gtest.h>

#include <set>

namespace isomer::gpu {
namespace {

const Facts& facts_of(std::string_view architecture) { return *known_architecture(architecture); }

TEST(Capabilities, AreThoseOfEachArchitecture) {
  for (const std::string& architecture : known_architectures()) {
    const Capabilities has = facts_of(architecture).has;
    SCOPED_TRACE(architecture);
    const bool nvidia = architecture.starts_with("sm_");
    const int capability = nvidia ? std::stoi(architecture.substr(3)) : 0;
    EXPECT_EQ(has.mma, capability >= 80);
    EXPECT_EQ(has.fp8_mma, capability >= 89);
    EXPECT_EQ(has.bulk_copy, capability >= 90);
    EXPECT_EQ(has.clusters, capability >= 90);
    EXPECT_EQ(has.overlap, capability >= 90);
    EXPECT_EQ(has.wgmma, architecture == "sm_90a");
  }
}

TEST(Capabilities, ThatLackAreNamed) {
  const Capabilities hopper = {.bulk_copy = true, .wgmma = true, .clusters = true};
  EXPECT_EQ(lacking(hopper, facts_of("sm_90a").has), "");
  EXPECT_EQ(lacking(hopper, facts_of("sm_100a").has), "wgmma");
  EXPECT_EQ(lacking(hopper, facts_of("sm_80").has), "bulk tensor copies, wgmma and clusters");
  EXPECT_EQ(lacking({.bulk_copy = true, .wgmma = true}, facts_of("gfx942").has),
            "bulk tensor copies and wgmma");
  EXPECT_EQ(lacking({}, {}), "");
}

class EmptyPlan : public Plan {
 public:
  struct Decision {};
  explicit EmptyPlan(Decision) : Plan({}) {}
  static Decided<Decision> decide(const core::Call&, const Facts& facts) {
    if (facts.multiprocessors > 100) return Decision{};
    return core::Refusal{"is for large devices"};
  }
  void run(const Queue&, const core::Call&, void*) const override {}
};

std::string refusal(const core::Implementation& implementation, std::string_view architecture) {
  const auto answer = dynamic_cast<const Implementation&>(implementation).plan({}, facts_of(architecture));
  const auto* no = std::get_if<core::Refusal>(&answer);
  return no == nullptr ? "taken" : no->reason;
}

TEST(OnADevice, AnImplementationTakesCallsWhereTheDeviceHasWhatItNeedsAndItsPlanDecides) {
  const Implementations list = in_order(
      on<EmptyPlan>(DeviceType::cuda, "sm90", {.bulk_copy = true, .wgmma = true}), everywhere<EmptyPlan>());
  ASSERT_EQ(list.size(), 5u);
  EXPECT_EQ(list[0]->name(), "cuda/sm90");
  EXPECT_EQ(list[1]->name(), "emulated/sm90");
  EXPECT_EQ(list[2]->name(), "cuda/portable");
  EXPECT_EQ(refusal(*list[0], "sm_90a"), "taken");
  EXPECT_EQ(refusal(*list[0], "sm_80"),
            "needs bulk tensor copies and wgmma, which NVIDIA A100 (sm_80) does not have");
  EXPECT_EQ(refusal(*list[0], "sm_100a"), "needs wgmma, which NVIDIA B200 (sm_100a) does not have");
  EXPECT_EQ(refusal(*list[2], "sm_80"), "taken");
  EXPECT_EQ(refusal(*list[2], "gfx1100"), "is for large devices");
}

TEST(Grid, HasAsManyBlocksAsALaunchTakes) {
  EXPECT_EQ(grid_of(0), 1u);
  EXPECT_EQ(grid_of(17), 17u);
  EXPECT_EQ(grid_of(std::int64_t{1} << 40), 0x7fffffffu);
  EXPECT_EQ(grid_of(70000, kMostBlocksAcross), 65535u);
}

TEST(Variant, IsTextWhereItIsAskedFor) {
  const std::string word = "longest";
  EXPECT_EQ(
      named({{"element", DType::bf16}, {"rows", 3}, {"whole", true}, {"first", std::string_view(word)}}),
      (Named{{"element", "bf16"}, {"rows", "3"}, {"whole", "1"}, {"first", "longest"}}));
}

TEST(TensorMaps, AreRefusedWithWhatIsWrong) {
  const TensorMap good = {.element = DType::bf16,
                          .rank = 3,
                          .size = {64, 100, 7},
                          .stride_bytes = {0, 256, 25600},
                          .box = {64, 128, 1},
                          .swizzle_bytes = 128};
  const auto at = reinterpret_cast<const void*>(0x10000);
  const auto fault = [&](const auto& change) {
    TensorMap map = good;
    change(map);
    return tensor_map_fault(map, at);
  };
  EXPECT_EQ(tensor_map_fault(good, at), "");
  EXPECT_EQ(tensor_map_fault(good, reinterpret_cast<const void*>(0x10008)),
            "needs an address that is a multiple of 16 bytes");
  EXPECT_EQ(fault([](TensorMap& m) { m.element = DType::i32; }),
            "needs f32, f16, bf16 or elements of one byte, got i32");
  EXPECT_EQ(fault([](TensorMap& m) { m.rank = 6; }), "needs 1 to 5 dimensions, got 6");
  EXPECT_EQ(fault([](TensorMap& m) { m.stride_bytes[1] = 24; }),
            "needs strides that are multiples of 16 bytes below 2^40, got 24 in dimension 1");
  EXPECT_EQ(fault([](TensorMap& m) { m.size[2] = 0; }), "needs sizes from 1 to 2^32, got 0 in dimension 2");
  EXPECT_EQ(fault([](TensorMap& m) { m.box[1] = 257; }),
            "needs tiles of 1 to 256 elements a dimension, got 257 in dimension 1");
  EXPECT_EQ(fault([](TensorMap& m) { m.box[0] = 4; }),
            "needs rows of tiles that are multiples of 16 bytes, got 8");
  EXPECT_EQ(fault([](TensorMap& m) { m.swizzle_bytes = 64; }),
            "needs rows of tiles no longer than the swizzle's 64 bytes, got 128");
  EXPECT_EQ(fault([](TensorMap& m) { m.swizzle_bytes = 16; }),
            "needs a swizzle of 0, 32, 64 or 128 bytes, got 16");
  EXPECT_EQ(fault([](TensorMap& m) { m.promotion_bytes = 32; }),
            "needs a promotion of 0, 64, 128 or 256 bytes, got 32");
}

}  // namespace
}  // namespace isomer::gpu
