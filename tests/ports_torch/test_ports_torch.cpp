// The examples' ports that are PyTorch extensions: each fault of their README is named, and nothing else.
#include "examined.hpp"

#include <algorithm>

namespace isomer::lab {
namespace {

TEST(PortsOfPyTorch, QuantizeCopyKvHasEveryFaultOfItsReadme) {
  const Diagnosis diagnosis = examined("quantize_copy_kv").at(0);
  EXPECT_EQ(said_of(diagnosis),
            (Said{"dtype-refused K", "dtype-refused Out_scale", "rank-refused Out_scale",
                  "assumes-contiguous K", "assumes-contiguous Out", "assumes-contiguous Out_scale",
                  "rounding-mode", "scale-precision", "zero-guard", "clamp"}));
  for (const Finding& each : diagnosis.findings) {
    if (each.code == Code::rounding_mode || each.code == Code::scale_precision ||
        each.code == Code::zero_guard) {
      EXPECT_EQ(each.strength, Strength::proved) << each.code;
    }
    if (each.code == Code::clamp) {
      EXPECT_EQ(each.strength, Strength::unobservable);
    }
  }
  EXPECT_EQ(said_of(diagnosis, Subject::test), (Said{"output-not-compared Out_scale", "unseeded"}));
  EXPECT_EQ(said_of(diagnosis, Subject::instruction),
            (Said{"contradicts-label K", "contradicts-label Out_scale", "contradicts-label Out_scale"}));
}

TEST(PortsOfPyTorch, TheMergeImaginesDimensions) {
  const Diagnosis diagnosis = examined("flash_decode_stage2").at(0);
  const Said said = said_of(diagnosis);
  ASSERT_FALSE(said.empty());
  EXPECT_EQ(said[0], "rank-refused mid_out");
  EXPECT_EQ(
      std::count_if(said.begin(), said.end(), [](const std::string& s) { return s.starts_with("argument"); }),
      0);
  EXPECT_EQ(said_of(diagnosis, Subject::test), (Said{"undefined-result B_Seqlen"}));
}

// A block of another size and <cmath> change nothing: the exported name and the launch of no blocks are all
// that is wrong.
TEST(PortsOfPyTorch, SinHasAnotherNameThenAnEmptyLaunchAndNothingElse) {
  const std::vector<Diagnosis> both = examined("sin");
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(said_of(both[0]), (Said{"symbol-name call_kernel", "empty-input"}));
  EXPECT_EQ(said_of(both[1]), (Said{"empty-input"}));
  EXPECT_EQ(said_of(both[0], Subject::instruction), (Said{"contradicts-label BLOCK_SIZE"}));
}

TEST(PortsOfPyTorch, AttentionHasMaskAndHeadsWrong) {
  EXPECT_EQ(said_of(examined("attention").at(0)), (Said{"mask-alignment", "head-mapping"}));
}

TEST(PortsOfPyTorch, ThoseThatWereCorrectedPass) {
  for (const char* folder : {"quantize_copy_kv_corrected", "flash_decode_stage2_corrected", "sin_corrected",
                             "attention_corrected"}) {
    const Diagnosis diagnosis = examined(folder).at(0);
    EXPECT_EQ(diagnosis.verdict(), "pass") << folder << ": " << diagnosis.error;
    for (const Finding& each : diagnosis.findings)
      ADD_FAILURE() << folder << ": " << each.code << ": " << each.evidence;
  }
}

}  // namespace
}  // namespace isomer::lab
