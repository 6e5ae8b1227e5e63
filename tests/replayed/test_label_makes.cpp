// Strides that a letter before a tensor's names, and calls for which the label makes memory itself that a
// port is passed nothing for.
#include "core/codec.hpp"
#include "recorded_call.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace isomer::lab {
namespace {

constexpr const char* kFile = "label_makes.cu";

Value ramp(const std::string& name, const std::vector<std::int64_t>& shape) {
  Value x = tensor_value(name, DType::f32, shape);
  for (std::int64_t i = 0; i < x.tensor.numel(); ++i)
    f32(x)[i] = static_cast<float>((i * 31 + x.tensor.numel()) % 23) - 9.5F;
  return x;
}

Recording weighed() {
  Recording recording;
  for (const std::vector<std::int64_t>& shape :
       {std::vector<std::int64_t>{2, 3, 40}, {4, 3, 40}, {4, 5, 40}, {4, 5, 72}})
    record_returned(recording, "weighed", {ramp("x", shape), ramp("weights", {shape[2]})},
                    tensor_value("", DType::f32, shape), [&](const std::vector<Value>& v, Value& y) {
                      for (std::int64_t i = 0; i < y.tensor.numel(); ++i)
                        f32(y)[i] = f32(v[0])[i] * f32(v[1])[i % shape[2]];
                    });
  return recording;
}

TEST(LabelMakes, ALetterBeforeATensorsMeansItsStrides) {
  const std::string label = "def weighed(x, weights):\n    batch, M, K = x.shape\n    return x * weights\n";
  const Diagnosis said = judged(kFile, "weighed_rows", weighed(), {"", label, ""});
  expect_told(said, {}, "");
  EXPECT_NE(said.called_with.find("sx_b=120, sx_m=40, sx_k=1"), std::string::npos) << said.called_with;
  expect_told(judged(kFile, "weighed_rows_by_marks", weighed(), {"", label, ""}), {}, "");
  EXPECT_EQ(judged(kFile, "weighed_rows_of_one_batch", weighed(), {"", label, ""}).verdict(), "fail");
}

// Sums in another order, rounded to halves, are other halves now and then.
TEST(LabelMakes, AnAnswerThatTheLabelRoundsToHalvesIsHeldToThose) {
  Recording recording;
  Value x = ramp("x", {128, 37});
  for (std::int64_t i = 0; i < x.tensor.numel(); ++i) f32(x)[i] *= 1 + static_cast<float>(i % 37) / 512;
  record_returned(recording, "halved_sums", {x}, tensor_value("", DType::f32, {128}),
                  [](const std::vector<Value>& v, Value& y) {
                    for (std::int64_t i = 0; i < 128; ++i) {
                      double all = 0;
                      for (std::int64_t k = 0; k < 37; ++k) all += f32(v[0])[i * 37 + k];
                      std::byte half[2];
                      core::encode(DType::f16, all * (1 + (i % 5 == 0 ? 4e-4 : 0)), half);
                      f32(y)[i] = static_cast<float>(core::decode(DType::f16, half));
                    }
                  });
  const std::string label =
      "def halved_sums(x):\n    rows, cols = x.shape\n    return x.sum(1).half().float()\n";
  expect_told(judged(kFile, "halved_sums", recording, {"", label, ""}), {}, "");
}

/// With a rate the label draws the seeds, which no call passes.
Recording dropped(bool with_rate) {
  Recording recording;
  const auto add = [&](const std::vector<Value>& arguments, bool biased, float rate) {
    record_returned(recording, "dropped", arguments, tensor_value("", DType::f32, {6, 20}),
                    [&](const std::vector<Value>& v, Value& y) {
                      for (std::int64_t i = 0; i < y.tensor.numel(); ++i) {
                        f32(y)[i] = f32(v[0])[i] + (biased ? f32(v[1])[i % 20] : 0.0F);
                        if (rate > 0) f32(y)[i] = i % 3 == 0 ? 0 : f32(y)[i] / (1 - rate);
                      }
                    });
  };
  add({ramp("x", {6, 20}), real_value("rate", 0)}, false, 0);
  add({ramp("x", {6, 20}), ramp("bias", {20}), real_value("rate", 0)}, true, 0);
  if (with_rate) {
    Value whole = integer_value("rounds", 1);  // another signature
    add({ramp("x", {6, 20}), real_value("rate", 0.25), whole}, false, 0.25F);
  }
  return recording;
}

TEST(LabelMakes, ACallThatReadsWhatTheLabelDrawsIsLeftOutAndTheOthersAreJudged) {
  const std::string label = "def dropped(x, bias=None, rate=0.0, rounds=1):\n    return x\n";
  expect_told(judged(kFile, "added_or_dropped", dropped(false), {"", label, ""}), {}, "");
  const Diagnosis said = judged(kFile, "added_or_dropped", dropped(true), {"", label, ""});
  expect_told(said, {}, "");
  ASSERT_FALSE(said.notes.empty());
  EXPECT_NE(said.notes.back().find("is not judged"), std::string::npos) << said.notes.back();
  // Who reads what is passed to no call is not excused by one that has no need of it.
  const Diagnosis other = judged(kFile, "added_always", dropped(true), {"", label, ""});
  EXPECT_NE(other.verdict(), "pass");
}

}  // namespace
}  // namespace isomer::lab
