// The Hopper kernels on the emulated device: the same sources as on the GPU, every access watched.
#include "core/registry.hpp"
#include "lab/check/suite.hpp"

#include <gtest/gtest.h>

#include "chosen_cases.hpp"
#include "vendor/vendor.hpp"

#include <cstdlib>

namespace isomer {
namespace {

struct Sm90 {
  const char* op;
  std::size_t cases;
};
void PrintTo(const Sm90& of, std::ostream* out) { *out << of.op; }

class Sm90OnTheEmulator : public testing::TestWithParam<Sm90> {};

TEST_P(Sm90OnTheEmulator, GivesTheReferencesResultsAndBreaksNoRule) {
  setenv("ISOMER_CACHE", ISOMER_EMULATED_CACHE, 1);
  emulator::register_vendor();
  const std::string op = GetParam().op;
  gpu::Vendor& vendor = *gpu::find_vendor(DeviceType::emulated);
  const auto* implementation =
      dynamic_cast<const gpu::Implementation*>(core::Registry::builtin().find(op)->find("emulated/sm90"));
  ASSERT_NE(implementation, nullptr);
  lab::Selection selection;
  selection.ops = {op};
  selection.implementations = {"emulated/sm90"};
  selection.backends = {"emulated"};
  selection.seed = 1;
  for (const Taken& taken :
       cheapest(taken_by(*oracle::find_oracle(op), *implementation, vendor.facts(0)), GetParam().cases))
    selection.lines.push_back(taken.line);
  const lab::Suite suite = lab::check(selection);
  EXPECT_GE(suite.count(lab::Status::passed), static_cast<int>(GetParam().cases));
  for (const lab::Outcome& outcome : suite.outcomes)
    if (outcome.status == lab::Status::failed) ADD_FAILURE() << outcome.line << ": " << outcome.reason;
}

INSTANTIATE_TEST_SUITE_P(Of, Sm90OnTheEmulator,
                         testing::Values(Sm90{"attention", 205}, Sm90{"fp8_gemm", 60},
                                         Sm90{"grouped_fp8_gemm", 60}),
                         [](const auto& info) { return std::string(info.param.op); });

}  // namespace
}  // namespace isomer
