// PyTorch extensions of the ported kind: compiled unchanged against the real ATen headers, run on real
// tensors.
#include <gtest/gtest.h>

#include "isomer/emulator/module.hpp"

namespace isomer::emulator::tests {
namespace {

class AtenPort : public testing::Test {
 protected:
  static const Module& module() {
    static const Module m = Module::build(
        {.sources = {ISOMER_EMULATOR_ATEN_PORTS}, .watch = true, .link_flags = {"-ltorch_cpu", "-lc10"}});
    return m;
  }
};

TEST_F(AtenPort, SineQuantiseScatterAndDecodeMergeGiveTheRightTensors) {
  for (const char* what : {"sine", "quantize", "merge"}) {
    const RunResult r = module().run_main({what});
    EXPECT_TRUE(r.ok()) << what << ": " << r.failure << (r.reports.empty() ? "" : r.reports[0].text);
    EXPECT_EQ(r.output, "0 wrong\n") << what;
    EXPECT_EQ(r.launches.size(), 1u);
  }
}

TEST_F(AtenPort, AnEmptyTensorLaunchesZeroBlocksWhichTheDeviceRefuses) {
  const RunResult r = module().run_main({"empty"});
  ASSERT_EQ(r.refusals.size(), 1u);
  EXPECT_EQ(r.refusals[0].text, "sine_kernel: launched with grid (0,1,1), expected at least one block");
}

TEST_F(AtenPort, ReadingBlocksThatDoNotExistIsOutOfBounds) {
  const RunResult r = module().run_main({"merge-past-the-end"});
  ASSERT_FALSE(r.reports.empty()) << r.failure;
  for (const Report& report : r.reports) EXPECT_EQ(report.kind, Kind::out_of_bounds_read) << report.text;
}

TEST_F(AtenPort, AnUnwrittenTensorIsUninitialised) {
  const RunResult r = module().run_main({"reads-unwritten"});
  ASSERT_FALSE(r.reports.empty()) << r.failure;
  EXPECT_EQ(r.reports[0].kind, Kind::uninitialised_read) << r.reports[0].text;
}

}  // namespace
}  // namespace isomer::emulator::tests
