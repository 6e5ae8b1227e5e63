#include "planted.hpp"

#include "core/registry.hpp"
#include "first_tier.hpp"
#include "gpu/plan.hpp"
#include "lab/check/check_case.hpp"
#include "vendor/vendor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <vector>

namespace isomer::planted {
namespace {

/// An implementation whose steps are changed, and a candidate of its plan's.
class Faulty : public gpu::Implementation {
 public:
  Faulty(const gpu::Implementation& right, const ChangeOfStep& change, std::string_view candidate)
      : Implementation(DeviceType::emulated, "planted"),
        right_(right),
        change_(change),
        candidate_(candidate) {}
  core::PlanOrRefusal plan(const core::Call& call, const gpu::Facts& facts) const override {
    core::PlanOrRefusal made =
        candidate_.empty() ? right_.plan(call, facts) : right_.plan_as(call, facts, candidate_);
    if (auto* plan = std::get_if<0>(&made))
      // The plan is this function's own until it returns.
      for (const gpu::Step& step : dynamic_cast<gpu::Plan&>(**plan).steps())
        change_(const_cast<gpu::Step&>(step));
    return made;
  }

 private:
  const gpu::Implementation& right_;
  const ChangeOfStep& change_;
  const std::string_view candidate_;
};

}  // namespace

lab::Outcome checked(const Planted& planted, const ChangeOfStep& change, std::string_view line,
                     std::string_view candidate) {
  emulator::register_vendor();
  const oracle::Case c = oracle::parse_case(std::string(line.empty() ? planted.line : line));
  const std::string& op = c.schema().op;
  const auto* right = dynamic_cast<const gpu::Implementation*>(
      core::Registry::builtin().find(op)->find(planted.implementation));
  const Faulty faulty(*right, change, candidate);
  lab::Queues queues;
  const auto outcomes = lab::check_case(*oracle::find_oracle(op), c,
                                        {lab::Target(&faulty, Device{DeviceType::emulated, 0})}, queues);
  EXPECT_EQ(outcomes.size(), 1u);
  return outcomes.at(0);
}

void expect_named(const Planted& planted, const Fault& fault) {
  ASSERT_EQ(occurrences(fault), 1) << "the kernel has changed: plant this fault anew";
  const std::string path = path_of(fault);
  const lab::Outcome outcome = checked(
      planted,
      [&](gpu::Step& step) {
        if (step.source == planted.kernel) step.source = path;
      },
      fault.line, fault.candidate);
  EXPECT_EQ(outcome.status, lab::Status::failed) << outcome.reason;
  EXPECT_NE(outcome.reason.find(fault.says), std::string::npos) << outcome.reason;
  if (!outcome.reason.starts_with("emulated:")) return;
  // At a line of the file that has the fault, of the kernel, or of another file that the kernel includes: one
  // of its own or of the device's words.
  const std::string folder(planted.kernel.substr(0, planted.kernel.rfind('/')));
  const std::string copies = path.substr(0, path.rfind('.')) + "/";
  EXPECT_TRUE(outcome.reason.find(place_of(fault) + ":") != std::string::npos ||
              outcome.reason.find(path + ":") != std::string::npos ||
              outcome.reason.find(folder) != std::string::npos ||
              outcome.reason.find(copies) != std::string::npos ||
              outcome.reason.find("gpu/device/") != std::string::npos)
      << outcome.reason;
}

void expect_right(const Planted& planted, std::size_t cases) {
  std::vector<std::string_view> lines = {planted.line};
  for (const Fault& fault : planted.faults)
    if (!fault.line.empty() && std::find(lines.begin(), lines.end(), fault.line) == lines.end())
      lines.push_back(fault.line);
  EXPECT_EQ(lines.size(), cases);
  for (const std::string_view line : tests::every_nth(lines, 3)) {
    const lab::Outcome outcome = checked(
        planted, [](gpu::Step&) {}, line);
    EXPECT_EQ(outcome.status, lab::Status::passed) << line << ": " << outcome.reason;
  }
}

void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }

}  // namespace isomer::planted
