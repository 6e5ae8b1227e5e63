// A port of an older or newer version of an original is a port of it: its label says which.
#include "lab/findings/label_version.hpp"

#include "lab/ask/trial.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace isomer::lab {
namespace {

Diagnosis without_floor(Code code = Code::epsilon) {
  Finding finding;
  finding.code = code;
  finding.strength = Strength::proved;
  finding.variations = {"floor=none"};
  Diagnosis diagnosis;
  diagnosis.op = "act_quant";
  diagnosis.compile = diagnosis.call = Stage::passed;
  diagnosis.exec = Stage::failed;
  diagnosis.calls = 1;
  diagnosis.findings = {finding};
  return diagnosis;
}

TEST(ALabelsVersion, WithoutAFloorAsksNoneOfItsPort) {
  Diagnosis diagnosis = without_floor();
  follow_label("    s = tl.max(tl.abs(x)) / 448.\n    y = x / s\n", diagnosis);
  EXPECT_EQ(diagnosis.verdict(), "pass");
  EXPECT_TRUE(diagnosis.findings.empty());
  ASSERT_EQ(diagnosis.notes.size(), 1u);
  EXPECT_NE(diagnosis.notes[0].find("floor=none"), std::string::npos) << diagnosis.notes[0];
}

TEST(ALabelsVersion, WithAFloorAsksForIt) {
  for (const char* label :
       {"    amax = tl.maximum(tl.max(tl.abs(x)), 1e-4)\n", "    amax = amax.clamp(1e-4)\n", ""}) {
    Diagnosis diagnosis = without_floor();
    follow_label(label, diagnosis);
    EXPECT_EQ(diagnosis.verdict(), "fail") << label;
    EXPECT_EQ(diagnosis.findings.size(), 1u) << label;
  }
}

TEST(ALabelsVersion, WithAnotherConstantIsKeptToByItsPort) {
  for (const char* variation : {"floor=1e-5", "zero_guard=scale-1e-5", "zero_guard=below-1e-5-1"}) {
    Diagnosis diagnosis = without_floor(variation[0] == 'f' ? Code::epsilon : Code::zero_guard);
    diagnosis.findings[0].variations = {variation};
    Diagnosis other = diagnosis;
    follow_label("    s = tl.maximum(tl.max(tl.abs(x)), 0.00001) / 448.\n", diagnosis);
    EXPECT_EQ(diagnosis.verdict(), "pass") << variation;
    follow_label("    s = tl.maximum(tl.max(tl.abs(x)), 1e-4) / 448.\n", other);
    EXPECT_EQ(other.verdict(), "fail") << variation;
  }
}

TEST(ALabelsVersion, ExcusesNoOtherFault) {
  Diagnosis diagnosis = without_floor();
  diagnosis.findings.push_back(diagnosis.findings[0]);
  diagnosis.findings[1].code = Code::rounding_mode;
  follow_label("    s = tl.max(tl.abs(x)) / 448.\n", diagnosis);
  EXPECT_EQ(diagnosis.verdict(), "fail");
  ASSERT_EQ(diagnosis.findings.size(), 1u);
  EXPECT_EQ(diagnosis.findings[0].code, Code::rounding_mode);
}

TEST(AnEightBitFloat, KeepsItsPatternInBytes) {
  Value bytes = tensor_value("y", DType::u8, {4});
  const std::uint8_t patterns[] = {0x00, 0x76, 0x7f, 0x81};
  std::memcpy(bytes.storage.get(), patterns, sizeof patterns);
  const Value floats = cast_to(bytes, DType::e4m3fn);
  EXPECT_EQ(floats.tensor.dtype, DType::e4m3fn);
  EXPECT_EQ(std::memcmp(floats.storage.get(), patterns, sizeof patterns), 0);
  EXPECT_EQ(std::memcmp(cast_to(floats, DType::u8).storage.get(), patterns, sizeof patterns), 0);
  EXPECT_FALSE(same_bytes(DType::u8, DType::i8));
  EXPECT_FALSE(same_bytes(DType::u8, DType::f16));
}

}  // namespace
}  // namespace isomer::lab
