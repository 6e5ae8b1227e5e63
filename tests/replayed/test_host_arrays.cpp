// Sizes in arrays of the host, one function for each type of elements, and sizes of images by usual letters.
#include "recorded_call.hpp"

#include "lab/ask/names/dtype_names.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace isomer::lab {
namespace {

constexpr const char* kFile = "host_arrays.cu";

Value ramp(const std::vector<std::int64_t>& shape) {
  Value x = tensor_value("input", DType::f32, shape);
  for (std::int64_t i = 0; i < x.tensor.numel(); ++i)
    f32(x)[i] = static_cast<float>((i * 31 + x.tensor.numel()) % 17) - 7.5F;
  return x;
}

Diagnosis judged_as(const char* entry, const Recording& recording, const std::string& label) {
  return judged(kFile, entry, recording, {"", label, ""});
}

Recording sums() {
  Recording recording;
  const std::vector<std::pair<std::vector<std::int64_t>, int>> calls = {
      {{5, 7}, 0}, {{4, 6}, -1}, {{2, 3, 5}, 1}};
  for (const auto& [shape, dim] : calls) {
    const int rank = static_cast<int>(shape.size()), axis = dim < 0 ? dim + rank : dim;
    std::vector<std::int64_t> rest;
    std::int64_t inner = 1;
    for (int d = 0; d < rank; ++d) {
      if (d != axis) rest.push_back(shape[static_cast<std::size_t>(d)]);
      if (d > axis) inner *= shape[static_cast<std::size_t>(d)];
    }
    const std::int64_t length = shape[static_cast<std::size_t>(axis)];
    record_returned(recording, "sum_of_axis", {ramp(shape), integer_value("dim", dim)},
                    tensor_value("", DType::f32, rest), [&](const std::vector<Value>& v, Value& y) {
                      for (std::int64_t i = 0; i < y.tensor.numel(); ++i) {
                        float all = 0;
                        for (std::int64_t k = 0; k < length; ++k)
                          all += f32(v[0])[(i / inner * length + k) * inner + i % inner];
                        f32(y)[i] = all;
                      }
                    });
  }
  return recording;
}

TEST(HostArrays, SizesAndTheirNumberAreThoseOfTheTensorThatIsRead) {
  const std::string label = "def sum_of_axis(input, dim):\n    return input.sum(dim)\n";
  const Diagnosis said = judged_as("sum_of_axis", sums(), label);
  expect_told(said, {}, "");
  EXPECT_NE(said.called_with.find("ndim=2, dim=0"), std::string::npos) << said.called_with;
  EXPECT_EQ(judged_as("sum_of_axis_in_rows", sums(), label).verdict(), "fail");
}

TEST(HostArrays, OfFunctionsForOneTypeEachThatOfTheCallIsMeant) {
  Recording recording;
  for (const std::int64_t count : {70, 33}) {
    Value x = tensor_value("x", DType::i64, {count});
    for (std::int64_t i = 0; i < count; ++i) *x.tensor.at<std::int64_t>(i) = i * 3 - (std::int64_t{1} << 40);
    record_returned(recording, "twice", {x}, tensor_value("", DType::i64, {count}),
                    [&](const std::vector<Value>& v, Value& y) {
                      for (std::int64_t i = 0; i < count; ++i)
                        *y.tensor.at<std::int64_t>(i) = 2 * *v[0].tensor.at<std::int64_t>(i);
                    });
  }
  const std::string label = "def twice(x):\n    n = x.numel()\n    return 2 * x\n";
  const Diagnosis said = judged_as("", recording, label);
  expect_told(said, {}, "");
  EXPECT_EQ(said.entry, "twice_i64");
}

TEST(HostArrays, ANameSaysOneTypeOrNone) {
  EXPECT_EQ(dtype_name("argmax_f32").stem, "argmax");
  EXPECT_EQ(dtype_name("argmax_f32").dtype, DType::f32);
  EXPECT_EQ(dtype_name("launch_half_sum").dtype, DType::f16);
  EXPECT_EQ(dtype_name("argmax").dtype, DType::none);
  EXPECT_EQ(dtype_name("cast_f32_f16").dtype, DType::none);
  EXPECT_EQ(dtype_name("cast_f32_f16").stem, "castf32f16");
}

/// A label that names no sizes, of images with a batch and without.
Recording pools() {
  Recording recording;
  struct Pool {
    std::vector<std::int64_t> shape;
    const char *mode, *fill;
  };
  for (const Pool& each : {Pool{{2, 3, 4, 6}, "sum", "zeros"}, Pool{{1, 5, 5, 7}, "max", "edge"},
                           Pool{{4, 5, 3}, "sum", "edge"}}) {
    const std::size_t rank = each.shape.size();
    const std::int64_t H = each.shape[rank - 2], W = each.shape[rank - 1], OH = (H + 1) / 2, OW = (W + 1) / 2;
    std::vector<std::int64_t> out = each.shape;
    out[rank - 2] = OH;
    out[rank - 1] = OW;
    const bool max = std::string(each.mode) == "max", edge = std::string(each.fill) == "edge";
    record_returned(
        recording, "pool_by_two",
        {ramp(each.shape), text_value("mode", each.mode), text_value("fill_mode", each.fill)},
        tensor_value("", DType::f32, out), [&](const std::vector<Value>& v, Value& y) {
          for (std::int64_t i = 0; i < y.tensor.numel(); ++i) {
            float all = max ? -1e30F : 0.0F;
            for (std::int64_t h = i / OW % OH * 2; h < i / OW % OH * 2 + 2; ++h)
              for (std::int64_t w = i % OW * 2; w < i % OW * 2 + 2; ++w) {
                const bool inside = h < H && w < W;
                const float x =
                    f32(v[0])[i / (OW * OH) * H * W + std::min(h, H - 1) * W + std::min(w, W - 1)];
                all = max ? std::max(all, inside || edge ? x : 0) : all + (inside || edge ? x : 0);
              }
            f32(y)[i] = all;
          }
        });
  }
  return recording;
}

TEST(HostArrays, LettersOfImagesAreTheirSizesWhereTheLabelNamesNone) {
  const Diagnosis said =
      judged_as("pool_by_two", pools(),
                "def pool_by_two(input, mode, fill_mode):\n    return pool(input, mode, fill_mode)\n");
  expect_told(said, {}, "");
  EXPECT_NE(said.called_with.find("N=2, C=3, H=4, W=6, OH=2, OW=3"), std::string::npos) << said.called_with;
}

TEST(HostArrays, WhatIsRepeatedAlongADimensionHasNoStrideThere) {
  Recording recording;
  for (const std::vector<std::int64_t>& shape :
       {std::vector<std::int64_t>{5, 7}, std::vector<std::int64_t>{1, 7}, std::vector<std::int64_t>{5, 1}}) {
    Value x = ramp({5, 7}), other = ramp(shape);
    x.name = "x";
    other.name = "other";
    record_returned(recording, "add_repeated", {x, other}, tensor_value("", DType::f32, {5, 7}),
                    [&](const std::vector<Value>& v, Value& y) {
                      for (std::int64_t i = 0; i < 35; ++i)
                        f32(y)[i] =
                            f32(v[0])[i] +
                            f32(v[1])[(shape[0] == 1 ? 0 : i / 7 * shape[1]) + (shape[1] == 1 ? 0 : i % 7)];
                    });
  }
  expect_told(judged_as("add_repeated", recording,
                        "def add_repeated(x, other):\n    rows, cols = x.shape\n    return x + other\n"),
              {}, "");
}

TEST(HostArrays, FunctionsThatDifferInMoreThanATypeAreSeveral) {
  Recording recording;
  record_returned(recording, "sum_of", {ramp({5, 7}), integer_value("dim", 1)},
                  tensor_value("", DType::f32, {5}), [](const std::vector<Value>&, Value&) {});
  const Diagnosis said = judged_as("", recording, "def sum_of(input, dim):\n    return input.sum(dim)\n");
  EXPECT_EQ(said.verdict(), "error");
  EXPECT_NE(said.error.find("name one with --entry"), std::string::npos) << said.error;
}

TEST(HostArrays, AWindowMovesOnByItsOwnSizeWhereNoStrideIsSaid) {
  Recording recording;
  for (const std::int64_t stride : {0, 1, 0, 4}) {
    const std::int64_t window = 3, length = 13 + stride, by = stride == 0 ? window : stride,
                       out = (length - window) / by + 1;
    std::vector<Value> arguments = {ramp({2, 3, length}), integer_value("kernel_size", window)};
    Value none;
    none.name = "stride";
    if (stride > 0) arguments.push_back(integer_value("stride", stride));
    record_returned(recording, "pool_of_rows", arguments, tensor_value("", DType::f32, {2, 3, out}),
                    [&](const std::vector<Value>& v, Value& y) {
                      for (std::int64_t i = 0; i < 6 * out; ++i) {
                        float all = 0;
                        for (std::int64_t k = 0; k < window; ++k)
                          all += f32(v[0])[i / out * length + i % out * by + k];
                        f32(y)[i] = all / static_cast<float>(window);
                      }
                    });
    if (stride == 0) recording.calls.back().left_out = {none};
  }
  const std::string label = "def pool_of_rows(input, kernel_size, stride=None):\n    return pool(input)\n";
  const Diagnosis said = judged_as("pool_of_rows", recording, label);
  expect_told(said, {}, "");
  EXPECT_EQ(said.called_with, "N=2, C=3, L=13, kernel_size=3, stride=3");
  EXPECT_EQ(judged_as("pool_of_rows_by_one", recording, label).verdict(), "fail");
}

}  // namespace
}  // namespace isomer::lab
