// What the recorder knows of a label besides its answers: what these depend on, and what is said of its sizes.
#include <gtest/gtest.h>

#include "lab/ask/names/shape_comments.hpp"
#include "lab/judge/diagnose.hpp"
#include "recorded_call.hpp"

#include <algorithm>
#include <cmath>

namespace isomer::lab {
namespace {

Value counted(const std::string& name, const std::vector<std::int64_t>& shape, double from = -1) {
  Value value = tensor_value(name, DType::f32, shape);
  for (std::int64_t i = 0; i < value.tensor.numel(); ++i)
    static_cast<float*>(value.tensor.data)[i] = static_cast<float>(from + double(i * 37 % 101) / 50);
  return value;
}
Recording decayed(std::int64_t n) {
  Recording recording;
  record(recording, "decayed", {counted("x", {3, n}), counted("decay", {3, n}), counted("out", {3, n})},
         [n](std::vector<Value>& v) {
           for (std::int64_t row = 0; row < 3; ++row) {
             float state = 0;
             for (std::int64_t i = row * n; i < (row + 1) * n; ++i) {
               f32(v[2])[i] = state + f32(v[0])[i];
               state = (state + f32(v[0])[i]) * f32(v[1])[i] * f32(v[1])[i];
             }
           }
         });
  return recording;
}

TEST(Depends, OnNoEndThatTheLabelDoesNotDependOn) {
  const char* said_of_label =
      R"([{"function": "decayed", "argument": "decay", "dim": 1, "rank": 2, "first": true, "last": false}])";
  const char* facts =
      R"({"label": {"file": "1_label_source.py", "functions": []}, "test": {"file": "3_test_code.py"}})";
  expect_told(judged("depends.cu", "decayed", decayed(9)), {}, "");
  const auto is_end = [](const Finding& each) { return each.code == Code::tail_mask; };
  Recording unknown = decayed(9), known = decayed(9);
  unknown.metadata["facts"] = known.metadata["facts"] = facts;
  known.metadata["influence"] = said_of_label;
  const Diagnosis before = judged("depends.cu", "decayed_too_little", std::move(unknown)),
                  now = judged("depends.cu", "decayed_too_little", std::move(known));
  EXPECT_TRUE(std::any_of(before.findings.begin(), before.findings.end(), is_end));
  EXPECT_FALSE(std::any_of(now.findings.begin(), now.findings.end(), is_end));
  EXPECT_NE(now.verdict(), "pass");
}

TEST(Depends, OnWhatTheArgumentHeld) {
  for (const bool right : {true, false}) {
    Recording recording;
    for (const std::int64_t n : {40, 70})
      record(recording, "doubles", {counted("x", {n}, 0.5), counted("out", {n}, 3)}, [n](std::vector<Value>& v) {
        for (std::int64_t i = 0; i < n; ++i) f32(v[1])[i] += 2 * f32(v[0])[i];
      });
    const Diagnosis said = judged("depends.cu", right ? "doubles" : "doubles_over", std::move(recording));
    if (right)
      expect_told(said, {}, "");
    else
      expect_told(said, {Code::missing_term}, "these are overwritten");
  }
}

TEST(Depends, OnABoundThatNoCallOfTheTestReaches) {
  for (const bool right : {true, false}) {
    Recording recording;
    for (const double from : {0.2, -3.0})
      record(recording, "floored", {counted("x", {60}, from), counted("out", {60})}, [](std::vector<Value>& v) {
        for (std::int64_t i = 0; i < 60; ++i) f32(v[1])[i] = std::max(3 * f32(v[0])[i], 0.25f);
      });
    recording.asked.push_back(std::move(recording.calls.back()));
    recording.calls.pop_back();
    recording.asked.back().asked = "negative";
    const Diagnosis said = judged("depends.cu", right ? "floored" : "floored_nowhere", std::move(recording));
    if (right)
      expect_told(said, {}, "");
    else
      expect_told(said, {Code::clamp}, "the original's are 0.25 there");
  }
}

// A label takes both strides of a matrix, a port over raw memory that of its rows alone.
TEST(Depends, OnNoStrideThatAPortIsNotGiven) {
  for (const bool right : {true, false}) {
    Recording recording;
    record(recording, "row_sums", {counted("x", {5, 7}), counted("out", {5})}, [](std::vector<Value>& v) {
      for (std::int64_t row = 0; row < 5; ++row) {
        f32(v[1])[row] = 0;
        for (std::int64_t i = 0; i < 7; ++i) f32(v[1])[row] += f32(v[0])[row * 7 + i];
      }
    });
    recording.calls.back().strided = {2, 0};
    const Diagnosis said =
        judged("depends.cu", right ? "row_sums" : "row_sums_side_by_side", std::move(recording),
               {"", "def row_sums(x, out):\n    rows, n = x.shape\n", ""});
    if (right)
      expect_told(said, {}, "");
    else
      expect_told(said, {Code::assumes_contiguous}, "strides [10, 1]");
  }
}

std::string text_of(const NamedSizes& sizes) {
  std::string text;
  for (const NamedSize& each : sizes)
    text += (text.empty() ? "" : " ") + each.name + "=" + each.tensor + "[" + std::to_string(each.dim) + "/" +
            std::to_string(each.rank) + "]";
  return text;
}

TEST(ShapeComments, NameTheSizesOfParameters) {
  EXPECT_EQ(text_of(sizes_in_comments("// x and w: [m, k], out is (m, n) row major\nint f(int m);\n")),
            "m=x[0/2] k=x[1/2] m=w[0/2] k=w[1/2] m=out[0/2] n=out[1/2]");
  EXPECT_EQ(text_of(sizes_in_comments("/* q: [..., heads, 64] */ // y: [2 * n, rows]\n")),
            "heads=q[-2/-1] rows=y[1/2]");
  EXPECT_EQ(text_of(sizes_in_comments("int a[n][m]; const char* s = \"// x: [a, b]\"; // see f(x, y) and (a; b)\n")),
            "x=f[0/2] y=f[1/2]");
  EXPECT_EQ(text_of(sizes_of_made_tensors("x = torch.randn(b, t, dtype=torch.float16)\ny = torch.zeros((n,))\n"
                                          "z = torch.ones([m, 3])\n")),
            "b=x[0/2] t=x[1/2]");
}

TEST(ShapeComments, StarredShapesAreNamedSizes) {
  EXPECT_EQ(text_of(named_sizes({"b, h, k, v = *q.shape, v.shape[-1]\n"})),
            "b=q[0/3] h=q[1/3] k=q[2/3] v=v[-1/-1]");
}

}  // namespace
}  // namespace isomer::lab
