// Reads of memory that nothing has written: a remark where no answer depends on it, and a fault where one
// does.
#include "recorded_call.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace isomer::lab {
namespace {

constexpr const char* kFile = "harmless.cu";

/// Halves of x, and as many zeros.
Recording halves() {
  Recording recording;
  for (const std::int64_t n : {9, 30}) {
    Value x = tensor_value("x", DType::f32, {n});
    for (std::int64_t i = 0; i < n; ++i) f32(x)[i] = static_cast<float>(2 + i * 5 % 17);
    record(recording, "halves", {x, tensor_value("y", DType::f32, {2 * n})}, [&](std::vector<Value>& v) {
      for (std::int64_t i = 0; i < 2 * n; ++i) f32(v[1])[i] = i < n ? 0.5F * f32(v[0])[i] : 0;
    });
  }
  return recording;
}

bool has(const Diagnosis& said, Code code) {
  return std::any_of(said.findings.begin(), said.findings.end(),
                     [&](const Finding& each) { return each.code == code; });
}

TEST(HarmlessReads, AreARemarkWhereTheAnswersAreRight) {
  const Diagnosis said = judged(kFile, "left_out", halves());
  EXPECT_EQ(said.verdict(), "pass") << said.error;
  ASSERT_EQ(said.findings.size(), 1u);
  EXPECT_EQ(said.findings[0].code, Code::suspicious);
  EXPECT_NE(said.findings[0].evidence.find("no answer changes"), std::string::npos)
      << said.findings[0].evidence;
}

TEST(HarmlessReads, AreNoCauseOfAWrongAnswer) {
  const Diagnosis said = judged(kFile, "left_out_and_wrong", halves());
  EXPECT_EQ(said.verdict(), "fail");
  EXPECT_FALSE(has(said, Code::uninitialised_read));
  EXPECT_TRUE(has(said, Code::missing_scale));
}

TEST(HarmlessReads, ThatCountAreAFault) {
  const Diagnosis said = judged(kFile, "counted", halves());
  EXPECT_EQ(said.verdict(), "fail");
  EXPECT_TRUE(has(said, Code::uninitialised_read));
}

}  // namespace
}  // namespace isomer::lab
