// The Hopper kernel of attention with one fault each: the emulator, or the comparison, names every one.
#include "planted.hpp"

#include "core/registry.hpp"
#include "gpu/plan.hpp"
#include "lab/check/check_case.hpp"
#include "vendor/vendor.hpp"

#include <gtest/gtest.h>

namespace isomer {
namespace planted {

void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }

}  // namespace planted
namespace {

/// Several blocks of keys and a masked tail, two tiles for a block, both warpgroups with rows.
constexpr const char* kCase = "attention b=2 sq=300 sk=300 hq=4 hkv=2 d=128 causal seed=7";

/// `emulated/sm90` with another source.
class Faulty : public gpu::Implementation {
 public:
  explicit Faulty(const planted::Fault* fault)
      : Implementation(DeviceType::emulated, "planted"), path_(fault ? planted::path_of(*fault) : "") {}
  core::PlanOrRefusal plan(const core::Call& call, const gpu::Facts& facts) const override {
    const auto* right = dynamic_cast<const gpu::Implementation*>(
        core::Registry::builtin().find("attention")->find("emulated/sm90"));
    core::PlanOrRefusal made = right->plan(call, facts);
    if (auto* plan = std::get_if<0>(&made); plan != nullptr && !path_.empty()) {
      // The plan is this function's own until it returns.
      for (const gpu::Step& step : dynamic_cast<gpu::Plan&>(**plan).steps())
        const_cast<gpu::Step&>(step).source = path_;
    }
    return made;
  }

 private:
  std::string path_;
};

lab::Outcome checked(const planted::Fault* fault) {
  emulator::register_vendor();
  const Faulty faulty(fault);
  lab::Queues queues;
  const auto outcomes = lab::check_case(*oracle::find_oracle("attention"), oracle::parse_case(kCase),
                                        {lab::Target(&faulty, Device{DeviceType::emulated, 0})}, queues);
  EXPECT_EQ(outcomes.size(), 1u);
  return outcomes.at(0);
}

class AttentionFault : public testing::TestWithParam<planted::Fault> {};

TEST_P(AttentionFault, IsNamed) {
  const planted::Fault& fault = GetParam();
  ASSERT_EQ(planted::occurrences(fault), 1) << "the kernel has changed: plant this fault anew";
  const lab::Outcome outcome = checked(&fault);
  EXPECT_EQ(outcome.status, lab::Status::failed);
  EXPECT_NE(outcome.reason.find(fault.says), std::string::npos) << outcome.reason;
  if (fault.says != "expected") {
    EXPECT_NE(outcome.reason.find("planted/" + std::string(fault.name) + "."), std::string::npos)
        << outcome.reason;
  }
}

INSTANTIATE_TEST_SUITE_P(All, AttentionFault, testing::ValuesIn(planted::attention_faults()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(AttentionFaults, AreNoneInTheKernelItself) {
  const lab::Outcome outcome = checked(nullptr);
  EXPECT_EQ(outcome.status, lab::Status::passed) << outcome.reason;
}

}  // namespace
}  // namespace isomer
