// The examples' ports that need no PyTorch: each fault of their README is named, and nothing else.
#include "examined.hpp"

#include <algorithm>

namespace isomer::lab {
namespace {

TEST(Ports, QuantizeCopyKvOverPointersHasItsNumbersProved) {
  const Diagnosis diagnosis = examined("raw/quantize_copy_kv").at(0);
  EXPECT_EQ(said_of(diagnosis), (Said{"dtype-refused K", "dtype-refused Out_scale", "rounding-mode",
                                      "scale-precision", "zero-guard", "clamp"}));
  for (const Finding& each : diagnosis.findings) {
    if (each.code == Code::rounding_mode || each.code == Code::scale_precision ||
        each.code == Code::zero_guard) {
      EXPECT_EQ(each.strength, Strength::proved) << each.code;
    }
    if (each.code == Code::clamp) {
      EXPECT_EQ(each.strength, Strength::unobservable);
    }
  }
  EXPECT_EQ(diagnosis.verdict(), "fail");
}

TEST(Ports, SinOverAPointerHasAnotherNameAndAnEmptyLaunch) {
  const Diagnosis diagnosis = examined("raw/sin").at(0);
  EXPECT_EQ(said_of(diagnosis), (Said{"symbol-name call_kernel", "empty-input"}));
  EXPECT_EQ(said_of(diagnosis, Subject::instruction), (Said{"contradicts-label BLOCK_SIZE"}));
}

TEST(Ports, ActQuantScalesToAnotherFormat) {
  const Diagnosis diagnosis = examined("act_quant").at(0);
  EXPECT_EQ(said_of(diagnosis), (Said{"saturation", "epsilon"}));
  for (const Finding& each : diagnosis.findings) EXPECT_EQ(each.strength, Strength::proved) << each.code;
}

TEST(Ports, Fp8GemmAppliesTheFirstScales) {
  EXPECT_EQ(said_of(examined("fp8_gemm").at(0)), (Said{"missing-scale"}));
}

TEST(Ports, FlashDecodeStage2OverPointersInventsADimension) {
  const Diagnosis diagnosis = examined("raw/flash_decode_stage2").at(0);
  ASSERT_EQ(said_of(diagnosis), (Said{"rank-refused mid_out"}));
  EXPECT_EQ(diagnosis.findings[0].location.line, 16);
  EXPECT_NE(diagnosis.findings[0].evidence.find("block_seq"), std::string::npos);
}

TEST(Ports, AttentionOverPointersHasMaskAndHeadsWrong) {
  const Said said = said_of(examined("raw/attention").at(0));
  EXPECT_NE(std::find(said.begin(), said.end(), "mask-alignment"), said.end());
  EXPECT_NE(std::find(said.begin(), said.end(), "head-mapping"), said.end());
}

TEST(Ports, ThoseThatWereCorrectedPass) {
  for (const char* folder : {"raw/quantize_copy_kv_corrected", "act_quant_corrected", "fp8_gemm_corrected"}) {
    const Diagnosis diagnosis = examined(folder).at(0);
    EXPECT_EQ(diagnosis.verdict(), "pass") << folder << ": " << diagnosis.error;
    EXPECT_GT(diagnosis.calls, 10) << folder;
    for (const Finding& each : diagnosis.findings)
      ADD_FAILURE() << folder << ": " << each.code << ": " << each.evidence;
  }
}

}  // namespace
}  // namespace isomer::lab
