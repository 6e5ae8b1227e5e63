// Numbers that follow from tensors: bytes of an element, offsets less one, strides by letters, sizes beside
// a constant, and a size where the label has a flag. Tensors of 16-bit integers are compared.
#include "recorded_call.hpp"

#include "core/codec.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace isomer::lab {
namespace {

constexpr const char* kFile = "sizes_of_tensors.cu";

Value filled(const std::string& name, const std::vector<std::int64_t>& shape, DType dtype = DType::f32) {
  Value value = tensor_value(name, dtype, shape);
  for (std::int64_t i = 0; i < value.tensor.numel(); ++i)
    core::encode(dtype, static_cast<double>(1 + i * 7 % 31) - (dtype == DType::f32 ? 12.5 : 0),
                 static_cast<std::byte*>(value.tensor.data) + i * size_of(dtype));
  return value;
}
TEST(SizesOfTensors, BytesOfAnElementAreThoseOfEachCall) {
  Recording recording;
  for (const DType dtype : {DType::f32, DType::u8, DType::i16})
    record(recording, "copy_rows", {filled("table", {5, 6}, dtype), tensor_value("out", dtype, {5, 6})},
           [&](std::vector<Value>& v) {
             std::copy_n(static_cast<std::byte*>(v[0].tensor.data), 30 * size_of(dtype),
                         static_cast<std::byte*>(v[1].tensor.data));
           });
  const std::vector<std::string> texts = {"", "def copy_rows(table, out):\n    rows, cols = table.shape\n",
                                          ""};
  expect_told(judged(kFile, "copy_rows", recording, texts), {}, "");
  EXPECT_EQ(judged(kFile, "copy_but_a_row", recording, texts).verdict(), "fail");
}

TEST(SizesOfTensors, OffsetsAreOneMoreThanTheyDivide) {
  Recording recording;
  const std::vector<std::vector<int>> all = {{0, 3, 4, 9}, {0, 5, 9}};
  for (const std::vector<int>& bounds : all) {
    const auto count = static_cast<std::int64_t>(bounds.size()) - 1;
    Value offsets = tensor_value("offsets", DType::i32, {count + 1});
    std::copy(bounds.begin(), bounds.end(), static_cast<std::int32_t*>(offsets.tensor.data));
    record(recording, "segment_sum", {filled("x", {9}), offsets, tensor_value("out", DType::f32, {count})},
           [&](std::vector<Value>& v) {
             for (std::int64_t b = 0; b < count; ++b) {
               f32(v[2])[b] = 0;
               for (int i = bounds[static_cast<std::size_t>(b)]; i < bounds[static_cast<std::size_t>(b) + 1];
                    ++i)
                 f32(v[2])[b] += f32(v[0])[i];
             }
           });
  }
  const std::vector<std::string> texts = {
      "", "def segment_sum(x, offsets, out):\n    \"\"\"x: [T] floats; offsets: int32 [b + 1].\"\"\"\n", ""};
  expect_told(judged(kFile, "segment_sum", recording, texts), {}, "");
  EXPECT_EQ(judged(kFile, "segment_sum_but_first", recording, texts).verdict(), "fail");
}

TEST(SizesOfTensors, ALetterOfAStrideIsADimensionsWhereATensorIsCalledSo) {
  Recording recording;
  record(recording, "negate", {filled("t", {4, 3, 5}), tensor_value("out", DType::f32, {4, 3, 5})},
         [](std::vector<Value>& v) {
           for (int i = 0; i < 60; ++i) f32(v[1])[i] = -f32(v[0])[i];
         });
  const Diagnosis said =
      judged(kFile, "negate", recording, {"", "def negate(t, out):\n    T, h, d = t.shape\n", ""});
  EXPECT_EQ(said.verdict(), "pass");
  EXPECT_EQ(said.called_with, "T=4, h=3, d=5, stride_t=15, stride_h=5, stride_d=1");
}

TEST(SizesOfTensors, ColoursNeedNoNumber) {
  Recording recording;
  record(recording, "to_grey", {filled("image", {2, 3, 6, 7}), tensor_value("out", DType::f32, {2, 1, 6, 7})},
         [](std::vector<Value>& v) {
           for (int b = 0; b < 2; ++b)
             for (int i = 0; i < 42; ++i) {
               const float* p = f32(v[0]) + b * 126 + i;
               f32(v[1])[b * 42 + i] = 0.3F * p[0] + 0.6F * p[42] + 0.1F * p[84];
             }
         });
  const Diagnosis said = judged(kFile, "to_grey", recording);
  EXPECT_EQ(said.verdict(), "pass") << said.called_with;
  EXPECT_EQ(said.called_with, "batch=2, height=6, width=7");
}

TEST(SizesOfTensors, AFlagOfTheLabelIsNoSize) {
  Recording recording;
  record(recording, "polynomial_of",
         {filled("x", {20}), filled("coefficients", {4}), boolean_value("derivative", true),
          tensor_value("out", DType::f32, {20})},
         [](std::vector<Value>& v) {
           for (int i = 0; i < 20; ++i) {
             float y = 0;
             for (int k = 3; k >= 0; --k) y = y * f32(v[0])[i] + f32(v[1])[k];
             f32(v[3])[i] = y;
           }
         });
  const Diagnosis said =
      judged(kFile, "polynomial_of", recording,
             {"", "def polynomial_of(x, coefficients, derivative, out):\n    n = x.numel()\n", ""});
  EXPECT_EQ(said.verdict(), "pass") << said.called_with;
  EXPECT_EQ(said.called_with, "terms=4, n=20");
}

TEST(SizesOfTensors, IntegersOfSixteenBitsAreCompared) {
  Recording recording;
  record(recording, "floor_to_short", {filled("x", {40}), tensor_value("out", DType::i16, {40})},
         [](std::vector<Value>& v) {
           for (int i = 0; i < 40; ++i)
             static_cast<std::int16_t*>(v[1].tensor.data)[i] =
                 static_cast<std::int16_t>(std::floor(f32(v[0])[i]));
         });
  expect_told(judged(kFile, "floor_to_short", recording), {}, "");
  EXPECT_EQ(judged(kFile, "floor_and_one", recording).verdict(), "fail");
}

}  // namespace
}  // namespace isomer::lab
