// The tiles that attention's mma.sync kernel has on an A100 and on an L40S, on the emulated device, whose own
// plans have those of an H100.
#include "core/registry.hpp"
#include "first_tier.hpp"
#include "gpu/plan.hpp"
#include "lab/check/check_case.hpp"

#include <gtest/gtest.h>

#include "vendor/vendor.hpp"

#include <cstdlib>

namespace isomer {
namespace {

struct OtherTile {
  const char* architecture;
  const char* tile;  ///< "64x64", with the queries in front
  const char* line;
};
void PrintTo(const OtherTile& of, std::ostream* out) { *out << of.architecture << " " << of.line; }

/// emulated/sm80 with the plans of another device.
class PlannedFor : public gpu::Implementation {
 public:
  explicit PlannedFor(const OtherTile& of)
      : Implementation(DeviceType::emulated, "other"),
        of_(of),
        right_(*dynamic_cast<const gpu::Implementation*>(
            core::Registry::builtin().find("attention")->find("emulated/sm80"))) {}
  core::PlanOrRefusal plan(const core::Call& call, const gpu::Facts&) const override {
    core::PlanOrRefusal made = right_.plan(call, *gpu::known_architecture(of_.architecture));
    if (const auto* plan = std::get_if<0>(&made)) {
      std::string tile;
      for (const auto& [name, value] :
           gpu::named(dynamic_cast<const gpu::Plan&>(**plan).steps().at(0).variant))
        if (name == "block_m" || name == "block_n") tile += (tile.empty() ? "" : "x") + value;
      EXPECT_EQ(tile, of_.tile);
    }
    return made;
  }

 private:
  const OtherTile& of_;
  const gpu::Implementation& right_;
};

class AttentionSm80Tile : public testing::TestWithParam<OtherTile> {};

TEST_P(AttentionSm80Tile, GivesTheReferencesResults) {
  setenv("ISOMER_CACHE", ISOMER_EMULATED_CACHE, 1);
  emulator::register_vendor();
  const PlannedFor other(GetParam());
  lab::Queues queues;
  const auto outcomes =
      lab::check_case(*oracle::find_oracle("attention"), oracle::parse_case(GetParam().line),
                      {lab::Target(&other, Device{DeviceType::emulated, 0})}, queues);
  ASSERT_EQ(outcomes.size(), 1u);
  EXPECT_EQ(outcomes.at(0).status, lab::Status::passed) << outcomes.at(0).reason;
}

constexpr OtherTile kTiles[] = {
    {"sm_89", "128x64", "attention sq=150 sk=200 hq=1 d=64 causal lse num_splits=1 seed=7"},
    {"sm_89", "64x64", "attention sq=70 sk=150 hq=1 d=128 bf16 left=40 right=3 num_splits=1 seed=7"},
    {"sm_89", "64x32", "attention sq=70 sk=100 hq=1 d=192 dv=128 causal num_splits=1 seed=7"},
    {"sm_89", "128x32", "attention sq=130 sk=70 hq=1 d=256 causal num_splits=1 seed=7"},
    {"sm_80", "128x64", "attention sq=140 sk=140 hq=1 d=256 bf16 num_splits=1 seed=7"},
};
INSTANTIATE_TEST_SUITE_P(Of, AttentionSm80Tile, testing::ValuesIn(tests::every_nth(kTiles, 2)));

}  // namespace
}  // namespace isomer
