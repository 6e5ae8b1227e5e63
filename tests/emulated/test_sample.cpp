// A sample of an op's cases is small, and still runs every kernel that all of its cases run.
#include "first_tier.hpp"
#include "gpu/plan.hpp"
#include "lab/check/sample.hpp"
#include "lab/plan/programs.hpp"
#include "oracle/oracle.hpp"

#include <gtest/gtest.h>

#include "emulated.hpp"
#include "vendor/vendor.hpp"

#include <set>
#include <string>

namespace isomer {
namespace {

std::set<std::string> kernels_of(const oracle::Oracle& oracle, const std::vector<oracle::Case>& cases) {
  gpu::Vendor& vendor = *gpu::find_vendor(DeviceType::emulated);
  lab::ProgramSelection selection;
  for (int device = 0; device < 2; ++device) selection.backends.push_back({&vendor, &vendor.facts(device)});
  selection.ops = {oracle.contract->op};
  selection.cases = cases;
  std::set<std::string> kernels;
  for (const lab::Wanted& wanted : lab::programs_of(selection).wanted)
    kernels.insert(wanted.backend.facts->architecture + " " + wanted.program.kernel);
  return kernels;
}

TEST(Sample, RunsEveryKernelThatAllCasesRun) {
  emulator::register_vendor();
  for (const oracle::Oracle& oracle : oracle::oracles()) {
    const std::string& op = oracle.contract->op;
    // To plan its cases three times takes longer than those of all others: the second tier.
    if (op == "attention" && !tests::has_every_case()) continue;
    std::vector<lab::Target> targets;
    for (const gpu::Implementation* implementation :
         lab::implementations_for(op, *gpu::find_vendor(DeviceType::emulated)))
      for (int index = 0; index < 2; ++index)
        targets.emplace_back(implementation, Device{DeviceType::emulated, index});
    ASSERT_FALSE(targets.empty()) << op;
    const std::vector<oracle::Case> all = oracle.cases();
    const std::set<std::string> kernels = kernels_of(oracle, all);
    // One stretch of the list needs more cases of single kernels than any other sample.
    const std::vector<int> counts = tests::has_every_case() ? std::vector<int>{1, 3} : std::vector<int>{1};
    for (const int count : counts) {
      const std::vector<oracle::Case> taken = lab::sample(oracle, targets, count, 0);
      EXPECT_GE(taken.size(), static_cast<std::size_t>(count)) << op;
      EXPECT_LE(taken.size(), static_cast<std::size_t>(count) + kernels.size()) << op;
      EXPECT_EQ(kernels_of(oracle, taken), kernels) << op << ", " << count;
    }
  }
}

}  // namespace
}  // namespace isomer
