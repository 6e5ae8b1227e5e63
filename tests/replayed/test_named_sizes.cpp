// Numbers that no caller passes, by what their names say of the tensors.
#include "recorded_call.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace isomer::lab {
namespace {

constexpr const char* kFile = "named_sizes.cu";

Value waves(const char* name, const std::vector<std::int64_t>& shape) {
  Value value = tensor_value(name, DType::f32, shape);
  for (std::int64_t i = 0; i < value.tensor.numel(); ++i)
    f32(value)[i] = static_cast<float>(std::sin(1.3 * static_cast<double>(i) + 0.4));
  return value;
}

TEST(NamedSizes, OfOuterAndInnerLieRoundTheAxisThatTheCallSays) {
  Recording recording;
  for (const auto& [shape, axis] : std::vector<std::pair<std::vector<std::int64_t>, int>>{
           {{6, 5, 3, 3}, 0}, {{2, 7, 10}, 1}, {{11, 13}, -1}}) {
    const auto rank = static_cast<int>(shape.size());
    const int at = axis < 0 ? axis + rank : axis;
    std::int64_t inner = 1;
    for (int d = at + 1; d < rank; ++d) inner *= shape[static_cast<std::size_t>(d)];
    const std::int64_t along = shape[static_cast<std::size_t>(at)];
    record(recording, "scale_channels",
           {waves("x", shape), waves("scale", {along}), integer_value("axis", axis),
            tensor_value("y", DType::f32, shape)},
           [&](std::vector<Value>& v) {
             for (std::int64_t i = 0; i < v[0].tensor.numel(); ++i)
               f32(v[3])[i] = f32(v[0])[i] * f32(v[1])[i / inner % along];
           });
  }
  const Diagnosis said = judged(kFile, "along_axis", recording);
  expect_told(said, {}, "");
  EXPECT_EQ(said.called_with, "outer=1, channels=6, inner=45");
}

TEST(NamedSizes, ARowsStrideIsOfTheDimensionBeforeTheLast) {
  Recording recording;
  for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{2, 5, 50}, {7, 13}}) {
    const std::vector<std::int64_t> rows(shape.begin(), shape.end() - 1);
    record(recording, "entropies", {waves("x", shape), tensor_value("r", DType::f32, rows)},
           [&](std::vector<Value>& v) {
             const std::int64_t cols = shape.back();
             for (std::int64_t row = 0; row < v[1].tensor.numel(); ++row) {
               double sum = 0;
               for (std::int64_t i = 0; i < cols; ++i) sum += f32(v[0])[row * cols + i];
               f32(v[1])[row] = static_cast<float>(sum);
             }
           });
  }
  const Diagnosis said = judged(kFile, "row_sums", recording);
  expect_told(said, {}, "");
  EXPECT_EQ(said.called_with, "rows=10, cols=50, row_stride=50");
}

TEST(NamedSizes, PartsOfARowAreARatioOfTwoSizes) {
  Recording recording;
  for (const auto& [boxes, classes] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{17, 3}, {70, 1}, {9, 5}})
    record(recording, "move",
           {waves("deltas", {boxes, classes * 4}), waves("boxes", {boxes, 4}),
            tensor_value("moved", DType::f32, {boxes, classes * 4})},
           [&, count = classes](std::vector<Value>& v) {
             for (std::int64_t i = 0; i < v[0].tensor.numel(); ++i)
               f32(v[2])[i] = f32(v[0])[i] + f32(v[1])[i / 4 / count * 4 + i % 4];
           });
  const Diagnosis said = judged(kFile, "boxes_of_classes", recording);
  expect_told(said, {}, "");
  EXPECT_EQ(said.called_with, "num_boxes=17, num_classes=3");
}

Recording packed_numbers(bool halved) {
  Recording recording;
  for (const auto& [rows, cols] : std::vector<std::pair<std::int64_t, std::int64_t>>{{12, 64}, {9, 70}}) {
    Value packed = tensor_value("packed", DType::u8, {rows * cols / 2, 1});
    for (std::int64_t i = 0; i < packed.tensor.numel(); ++i)
      static_cast<std::uint8_t*>(packed.tensor.data)[i] = static_cast<std::uint8_t>(i * 37 + 11);
    record(recording, "unpack", {packed, tensor_value("out", DType::f32, {rows, cols})},
           [&](std::vector<Value>& v) {
             for (std::int64_t i = 0; i < v[1].tensor.numel(); ++i) {
               const int both = static_cast<std::uint8_t*>(v[0].tensor.data)[i / 2];
               f32(v[1])[i] = static_cast<float>(both >> i % 2 * 4 & 15) * (halved ? 0.5F : 1.F);
             }
           });
  }
  return recording;
}

TEST(NamedSizes, ALoneNCountsAllThatIsWritten) {
  const Diagnosis right = judged(kFile, "nibbles", packed_numbers(false));
  expect_told(right, {}, "");
  EXPECT_EQ(right.called_with, "n=768");
  // Where no answer is right, it is what fills the results.
  EXPECT_EQ(judged(kFile, "nibbles", packed_numbers(true)).called_with, "n=768");
}

TEST(NamedSizes, IntegersThatAreSaidToBeNarrowAreALimit) {
  Value ids = tensor_value("ids", DType::i64, {5});
  for (int i = 0; i < 5; ++i) static_cast<std::int64_t*>(ids.tensor.data)[i] = 3 * i % 7;
  Recording recording;
  record(recording, "pick", {waves("x", {7}), ids, tensor_value("y", DType::f32, {5})},
         [](std::vector<Value>& v) {
           for (int i = 0; i < 5; ++i)
             f32(v[2])[i] = f32(v[0])[static_cast<std::int64_t*>(v[1].tensor.data)[i]];
         });
  const Diagnosis said = judged(kFile, "picked", recording);
  EXPECT_EQ(said.verdict(), "pass") << said.error
                                    << (said.findings.empty() ? "" : said.findings.back().evidence);
  ASSERT_EQ(said.findings.size(), 1u);
  EXPECT_EQ(said.findings[0].code, Code::convention) << said.findings[0].evidence;
}

TEST(NamedSizes, OfATensorsNameAndTheLabelsWord) {
  Recording recording;
  for (const auto& [n, c, h, w] : std::vector<std::array<std::int64_t, 4>>{{2, 3, 8, 11}, {1, 2, 9, 5}})
    record(recording, "shift", {waves("fm", {n, c, h, w}), tensor_value("out", DType::f32, {n, c, h, w})},
           [&, h = h, w = w](std::vector<Value>& v) {
             for (std::int64_t i = 0; i < v[0].tensor.numel(); ++i)
               f32(v[1])[i] = i / w % h + 1 < h ? f32(v[0])[i + w] : 0;
           });
  const Diagnosis said = judged(kFile, "shift_rows", recording,
                                {"", "def shift(fm, out):\n    n, channels, height, width = fm.shape\n", ""});
  expect_told(said, {}, "");
  EXPECT_EQ(said.called_with, "images=2, channels=3, fm_height=8, fm_width=11");
}

TEST(NamedSizes, OfHeightAndWidthAsOneIsTheirProduct) {
  Recording recording;
  for (const auto& [n, c, h, w] : std::vector<std::array<std::int64_t, 4>>{{2, 3, 4, 5}, {3, 4, 13, 7}})
    record(recording, "scale",
           {waves("x", {n, c, h, w}), waves("scale", {c}), tensor_value("y", DType::f32, {n, c, h, w})},
           [&, c = c, plane = h * w](std::vector<Value>& v) {
             for (std::int64_t i = 0; i < v[0].tensor.numel(); ++i)
               f32(v[2])[i] = f32(v[0])[i] * f32(v[1])[i / plane % c];
           });
  const Diagnosis said =
      judged(kFile, "planes", recording, {"", "def scale(x, scale):\n    n, c = x.shape[:2]\n", ""});
  expect_told(said, {}, "");
  EXPECT_EQ(said.called_with, "N=2, C=3, HxW=20");
}

TEST(NamedSizes, StridesOfLettersAreOfOneTensor) {
  Recording recording;
  for (const auto& [b, s, d] : std::vector<std::array<std::int64_t, 3>>{{2, 5, 8}, {3, 4, 7}}) {
    Value x = waves("x", {b, 2 * s, d});
    x.tensor.shape[1] = s;  // every other row
    x.tensor.strides[1] = 2 * d;
    record(recording, "twice", {x, waves("bias", {d}), tensor_value("y", DType::f32, {b, s, d})},
           [&, s = s, d = d](std::vector<Value>& v) {
             for (std::int64_t i = 0; i < v[2].tensor.numel(); ++i)
               f32(v[2])[i] = 2 * f32(v[0])[(i / d / s * 2 * s + i / d % s * 2) * d + i % d];
           });
  }
  const Diagnosis said =
      judged(kFile, "twice", recording, {"", "def twice(x, bias):\n    b, s, d = x.shape\n", ""});
  expect_told(said, {}, "");
  EXPECT_EQ(said.called_with, "b=2, s=5, d=8, stride_b=80, stride_s=16, stride_d=1");
}

TEST(NamedSizes, AnOptionThatIsLeftOutIsNoOtherOne) {
  Recording recording;
  for (const bool reversed : {false, true}) {
    record(recording, "in_order",
           {waves("x", {9}), boolean_value("keep", true), tensor_value("y", DType::f32, {9})},
           [&](std::vector<Value>& v) {
             for (int i = 0; i < 9; ++i) f32(v[2])[i] = f32(v[0])[reversed ? 8 - i : i];
           });
    RecordedCall& call = recording.calls.back();
    if (reversed) {
      for (std::vector<Value>* list : {&call.before, &call.after})
        list->insert(list->begin() + 2, boolean_value("reverse", true));
      call.keyword.push_back(false);
    } else {
      call.left_out.push_back(boolean_value("reverse", false));
    }
  }
  const Diagnosis said = judged(kFile, "in_order", recording);
  expect_told(said, {}, "");
  EXPECT_EQ(said.called_with, "reverse=0, n=9");
}

/// Calls with one id, and, said by another keyword, with three of them.
Recording with_ids() {
  Recording recording;
  for (const std::vector<std::int64_t>& each : {std::vector<std::int64_t>{2}, {0, 4, 5}}) {
    const auto count = static_cast<std::int64_t>(each.size()), rows = 3 + count, cols = 8 + 5 * count;
    Value ids = tensor_value("ids", DType::i64, {count});
    std::copy(each.begin(), each.end(), static_cast<std::int64_t*>(ids.tensor.data));
    record(recording, "negate", {waves("x", {rows, cols}), ids, tensor_value("y", DType::f32, {rows, cols})},
           [&](std::vector<Value>& v) {
             for (std::int64_t i = 0; i < v[0].tensor.numel(); ++i)
               f32(v[2])[i] =
                   std::count(each.begin(), each.end(), i % cols) > 0 ? f32(v[0])[i] : -f32(v[0])[i];
           });
    if (count > 1) recording.calls.back().keyword[1] = true;
  }
  return recording;
}

TEST(NamedSizes, CountTheElementsOfTheTensorThatTheyName) {
  const Diagnosis said = judged(kFile, "negate", with_ids());
  expect_told(said, {}, "");
  EXPECT_EQ(said.called_with, "rows=4, cols=13, num_ids=1");
}

TEST(NamedSizes, AreSettledByOneCallOnlyAsFarAsOthersAreRight) {
  const Diagnosis said = judged(kFile, "negate_all", with_ids());
  expect_told(said, {}, "");
}

}  // namespace
}  // namespace isomer::lab
