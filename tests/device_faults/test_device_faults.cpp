// Faults planted into GPU kernels, each of which the machinery that checks the library's own must see.
#include "core/registry.hpp"
#include "gpu/vendors.hpp"
#include "lab/check/check_case.hpp"
#include "lab/plan/prebuild.hpp"
#include "ops/sin/kernels/sin.h"
#include "vendor/vendor.hpp"

#include <isomer/sin.hpp>

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>

namespace isomer {
namespace {

/// sin with a fault of planted/fault.cu.
class FaultyPlan : public gpu::Plan {
 public:
  /// `fault` outlives the plan.
  FaultyPlan(const core::Call& call, const std::string& fault)
      : Plan({{.source = "planted/fault.cu",
               .kernel = "isomer_fault",
               .variant = {{"fault", std::string_view(fault)}},
               .grid = {static_cast<std::uint32_t>((call.tensor(0).numel() + 127) / 128), 1, 1},
               .block = {128, 1, 1}}}) {}
  void run(const Queue& queue, const core::Call& call, void*) const override {
    const auto& args = call.args<SinArgs>();
    device::SinParameters p{};
    p.x = args.x.data;
    p.y = args.y.data;
    p.length = args.x.numel();
    launch(queue, 0, p);
  }
};

class Faulty : public gpu::Implementation {
 public:
  explicit Faulty(std::string fault)
      : Implementation(DeviceType::emulated, fault), fault_(std::move(fault)) {}
  core::PlanOrRefusal plan(const core::Call& call, const gpu::Facts&) const override {
    return std::make_unique<FaultyPlan>(call, fault_);
  }

 private:
  std::string fault_;
};

/// What `isomer check` says of sin with that fault, at 32 and at 64 lanes.
std::vector<lab::Outcome> checked(const std::string& fault) {
  emulator::register_vendor();
  const Faulty faulty(fault);
  lab::Queues queues;
  return lab::check_case(*oracle::find_oracle("sin"), oracle::parse_case("sin n=300 rows=3 seed=7"),
                         {lab::Target(&faulty, Device{DeviceType::emulated, 0}),
                          lab::Target(&faulty, Device{DeviceType::emulated, 1})},
                         queues);
}

void expect_failure(const std::string& fault, const std::string& says) {
  for (const lab::Outcome& outcome : checked(fault)) {
    EXPECT_EQ(outcome.status, lab::Status::failed) << outcome.implementation;
    EXPECT_NE(outcome.reason.find(says), std::string::npos)
        << outcome.implementation << ": " << outcome.reason;
  }
}

TEST(DeviceFaults, NoneIsSeenInAKernelThatHasNone) {
  const auto outcomes = checked("none");
  ASSERT_EQ(outcomes.size(), 2u);
  for (const lab::Outcome& outcome : outcomes)
    EXPECT_EQ(outcome.status, lab::Status::passed) << outcome.implementation << ": " << outcome.reason;
}

TEST(DeviceFaults, AMissingBarrierIsSeen) { expect_failure("missing_barrier", "planted/fault.cu:"); }

TEST(DeviceFaults, ARaceBetweenEqualValuesIsSeen) { expect_failure("race", "race"); }

TEST(DeviceFaults, AWriteOfOneElementTooManyIsSeen) { expect_failure("out_of_bounds", "out"); }

class Spills : public testing::Test {
 protected:
  Spills() : folder(testing::TempDir() + "spills_" + std::to_string(getpid())) {}
  ~Spills() override { std::filesystem::remove_all(folder); }
  lab::Built built(const char* values) const {
    const lab::Wanted wanted = {lab::parse_architecture("test", "sm_90a"),
                                {"planted/spill.cu", "isomer_spill", {{"values", values}}},
                                "sin",
                                "planted",
                                "sin n=3"};
    return lab::prebuild({wanted}, folder, 1).at(0);
  }
  std::string folder;
};

TEST_F(Spills, AreSeenWhereRegistersDoNotSuffice) {
  const lab::Built many = built("128");
  ASSERT_EQ(many.failure, "");
  EXPECT_TRUE(many.spills()) << many.resources.spill_bytes;
  EXPECT_EQ(many.resources.registers, 64);
}

TEST_F(Spills, AreNotSeenWhereTheyDo) {
  const lab::Built few = built("8");
  ASSERT_EQ(few.failure, "");
  EXPECT_FALSE(few.spills());
  EXPECT_EQ(few.resources.spill_bytes, 0);
}

TEST_F(Spills, AProgramThatDoesNotCompileIsToldAndTheOthersGoOn) {
  const lab::PlanDevice backend = lab::parse_architecture("test", "sm_90a");
  const auto both = lab::prebuild(
      {{backend, {"planted/spill.cu", "isomer_spill", {{"values", "none"}}}, "sin", "planted", "sin n=3"},
       {backend, {"planted/spill.cu", "isomer_spill", {{"values", "4"}}}, "sin", "planted", "sin n=3"}},
      folder, 1);
  EXPECT_NE(both[0].failure.find("planted/spill.cu for sm_90a with ISOMER_VALUES=none"), std::string::npos)
      << both[0].failure;
  EXPECT_EQ(both[1].failure, "");
}

}  // namespace
}  // namespace isomer
