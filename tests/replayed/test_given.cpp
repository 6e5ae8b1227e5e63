// What callers give a label beside its tensors: an axis or none, lists, an option or none, the type of a
// result.
#include "recorded_call.hpp"

#include "lab/ask/names/dtype_names.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace isomer::lab {
namespace {

constexpr const char* kFile = "given.cu";

Value ramp(const std::string& name, const std::vector<std::int64_t>& shape) {
  Value x = tensor_value(name, DType::f32, shape);
  for (std::int64_t i = 0; i < x.tensor.numel(); ++i)
    f32(x)[i] = static_cast<float>((i * 31 + x.tensor.numel()) % 17) - 7.5F;
  return x;
}

Value numbers(const std::string& name, const std::vector<std::int64_t>& items) {
  Value list;
  list.name = name;
  list.kind = Value::Kind::list;
  for (const std::int64_t each : items) list.items.push_back(integer_value("", each));
  return list;
}

std::int64_t* i64(const Value& value) { return static_cast<std::int64_t*>(value.tensor.data); }

Diagnosis judged_as(const char* entry, const Recording& recording, const std::string& label) {
  return judged(kFile, entry, recording, {"", label, ""});
}

/// Sums of a tensor along an axis, or of all of it.
Recording sums() {
  Recording recording;
  struct Sum {
    std::vector<std::int64_t> shape;
    int axis;  // −1: none
  };
  for (const Sum& each : {Sum{{4, 9}, -1}, Sum{{4, 6}, 0}, Sum{{4, 5}, 1}}) {
    const bool whole = each.axis < 0;
    const std::int64_t rows = each.shape[0], cols = each.shape[1];
    const std::int64_t n = whole ? rows * cols : each.shape[static_cast<std::size_t>(each.axis)],
                       inner = each.axis == 0 ? cols : 1, count = rows * cols / n;
    std::vector<Value> arguments = {ramp("x", each.shape)};
    if (!whole) arguments.push_back(integer_value("dim", each.axis));
    record_returned(recording, "sum_of", arguments,
                    tensor_value("", DType::f32, whole ? std::vector<std::int64_t>{} : std::vector{count}),
                    [&](const std::vector<Value>& v, Value& y) {
                      for (std::int64_t i = 0; i < count; ++i) {
                        float all = 0;
                        for (std::int64_t k = 0; k < n; ++k)
                          all += f32(v[0])[(i / inner * n + k) * inner + i % inner];
                        f32(y)[i] = all;
                      }
                    });
  }
  // Which of its arguments have defaults, as the recorder reads the label.
  recording.metadata["facts"] =
      R"({"label": {"functions": [{"name": "sum_of", "line": 1, "parameters": [{"name": "x", "default": false},
      {"name": "dim", "default": true}], "returns": 1, "writes": [], "indexes": [], "constants": []}],
      "has_kernels": false, "subtracts_maximum": false, "file": "label.py"}})";
  return recording;
}

const std::string kSums = "def sum_of(x, dim=None):\n    return x.sum() if dim is None else x.sum(dim)\n";

TEST(AnAxis, ThatIsNoneIsAllOfTheTensor) {
  const Diagnosis said = judged_as("sum_along_outer", sums(), kSums);
  expect_told(said, {}, "");
  EXPECT_EQ(said.called_with, "outer=1, len=36, inner=1");
  EXPECT_EQ(judged_as("sum_along_short", sums(), kSums).verdict(), "fail");
}

TEST(AnAxis, HasWhatLiesBeforeAlongAndBehindItInThatOrder) {
  const Diagnosis said = judged_as("sum_along", sums(), kSums);
  expect_told(said, {}, "");
  EXPECT_EQ(said.called_with, "A=1, R=36, B=1");
}

TEST(Lists, OfWholeNumbersAreArraysOfTheHost) {
  Recording recording;
  struct Turn {
    std::vector<std::int64_t> shape, dims;
  };
  for (const Turn& each : {Turn{{3, 5}, {1, 0}}, Turn{{2, 3, 4}, {2, 0, 1}}}) {
    const std::size_t rank = each.shape.size();
    Value x = tensor_value("x", DType::i64, each.shape);
    for (std::int64_t i = 0; i < x.tensor.numel(); ++i) i64(x)[i] = 7 * i + 1;
    std::vector<std::int64_t> out, stride(rank, 1);
    for (const std::int64_t d : each.dims) out.push_back(each.shape[static_cast<std::size_t>(d)]);
    for (std::size_t d = rank - 1; d-- > 0;) stride[d] = stride[d + 1] * each.shape[d + 1];
    record_returned(recording, "turned", {x, numbers("dims", each.dims)}, tensor_value("", DType::i64, out),
                    [&](const std::vector<Value>& v, Value& y) {
                      for (std::int64_t i = 0; i < y.tensor.numel(); ++i) {
                        std::int64_t rest = i, at = 0;
                        for (std::size_t d = rank; d-- > 0;) {
                          at += rest % out[d] * stride[static_cast<std::size_t>(each.dims[d])];
                          rest /= out[d];
                        }
                        i64(y)[i] = i64(v[0])[at];
                      }
                    });
  }
  expect_told(judged_as("turned", recording, "def turned(x, dims):\n    return x.permute(dims).clone()\n"),
              {}, "");
}

TEST(Lists, OfTwoListsAreOneArrayEachAndHowLongTheyAre) {
  Recording recording;
  for (const auto& [p, q] : {std::pair{1, 0}, std::pair{0, 1}}) {
    const Value a = ramp("a", p == 1 ? std::vector<std::int64_t>{3, 5} : std::vector<std::int64_t>{5, 3}),
                b = ramp("b", q == 0 ? std::vector<std::int64_t>{5, 4} : std::vector<std::int64_t>{4, 5});
    Value dims;
    dims.name = "dims";
    dims.kind = Value::Kind::list;
    dims.items = {numbers("", {p}), numbers("", {q})};
    record_returned(recording, "contracted", {a, b, dims}, tensor_value("", DType::f32, {3, 4}),
                    [&, p = p, q = q](const std::vector<Value>& v, Value& y) {
                      for (int i = 0; i < 12; ++i) {
                        float all = 0;
                        for (int k = 0; k < 5; ++k)
                          all += f32(v[0])[p == 1 ? i / 4 * 5 + k : k * 3 + i / 4] *
                                 f32(v[1])[q == 0 ? k * 4 + i % 4 : i % 4 * 5 + k];
                        f32(y)[i] = all;
                      }
                    });
  }
  const Diagnosis said = judged_as("contracted", recording,
                                   "def contracted(a, b, dims):\n    return torch.tensordot(a, b, dims)\n");
  expect_told(said, {}, "");
  EXPECT_EQ(said.called_with, "ndims=1");
}

TEST(Functions, ForANumberAndForATensorAreOneFunctionOfTheLabels) {
  Recording recording;
  for (const bool tensor : {false, true}) {
    const Value scale = tensor ? ramp("scale", {33}) : real_value("scale", 2.5);
    record_returned(recording, "scaled", {ramp("x", {33}), scale}, tensor_value("", DType::f32, {33}),
                    [&](const std::vector<Value>& v, Value& y) {
                      for (int i = 0; i < 33; ++i) f32(y)[i] = f32(v[0])[i] * (tensor ? f32(v[1])[i] : 2.5F);
                    });
  }
  const Diagnosis said = judged_as("", recording, "def scaled(x, scale):\n    return x * scale\n");
  expect_told(said, {}, "");
  EXPECT_EQ(said.entry, "scaled_by_number");
}

TEST(Functions, ForOneTypeEachAreOneThoughANumberIsOfThatTypeToo) {
  Recording recording;
  Value x = tensor_value("x", DType::i64, {40});
  for (int i = 0; i < 40; ++i) i64(x)[i] = i * 3 - 50;
  record_returned(recording, "clipped", {x, integer_value("most", 17)}, tensor_value("", DType::i64, {40}),
                  [](const std::vector<Value>& v, Value& y) {
                    for (int i = 0; i < 40; ++i) i64(y)[i] = std::min<std::int64_t>(i64(v[0])[i], 17);
                  });
  record_returned(recording, "clipped", {ramp("x", {40}), real_value("most", 2.5)},
                  tensor_value("", DType::f32, {40}), [](const std::vector<Value>& v, Value& y) {
                    for (int i = 0; i < 40; ++i) f32(y)[i] = std::min(f32(v[0])[i], 2.5F);
                  });
  expect_told(judged_as("", recording, "def clipped(x, most):\n    return x.clamp(max=most)\n"), {}, "");
}

TEST(Sides, OfAStepAreXAndYAsWell) {
  Recording recording;
  for (const bool list : {true, false}) {
    const std::int64_t down = 2, across = list ? 3 : 2, rows = 8, cols = 12;
    Value step = list ? numbers("step", {down, across}) : integer_value("step", down);
    record_returned(recording, "picked", {ramp("x", {1, 1, rows, cols}), step},
                    tensor_value("", DType::f32, {1, 1, rows / down, cols / across}),
                    [&](const std::vector<Value>& v, Value& y) {
                      for (std::int64_t i = 0; i < y.tensor.numel(); ++i)
                        f32(y)[i] =
                            f32(v[0])[i / (cols / across) * down * cols + i % (cols / across) * across];
                    });
  }
  expect_told(judged_as("picked", recording, "def picked(x, step):\n    return x[:, :, ::step, ::step]\n"),
              {}, "");
}

TEST(AFlag, OfTheResultsTypeSaysThatOfTheResult) {
  Recording recording;
  for (const DType type : {DType::f32, DType::f64})
    record_returned(recording, "halved", {ramp("x", {45})}, tensor_value("", type, {45}),
                    [&](const std::vector<Value>& v, Value& y) {
                      for (std::int64_t i = 0; i < 45; ++i)
                        if (type == DType::f32)
                          f32(y)[i] = f32(v[0])[i] / 2;
                        else
                          *y.tensor.at<double>(i) = static_cast<double>(f32(v[0])[i]) / 2;
                    });
  expect_told(judged_as("halved", recording, "def halved(x, dtype=None):\n    return x.to(dtype) / 2\n"), {},
              "");
}

TEST(AFlag, SaysWhetherAnOptionIsGivenAndANumberHowManyIndicesThereAre) {
  Recording recording;
  for (const bool limited : {false, true}) {
    Value idx = tensor_value("indices", DType::i64, {4});
    for (int i = 0; i < 4; ++i) *idx.tensor.at<std::int64_t>(i) = (i * 3 + 1) % 5;
    std::vector<Value> arguments = {idx, ramp("weight", {5, 3})};
    if (limited) arguments.push_back(real_value("max_norm", 2));
    record_returned(recording, "looked_up", arguments, tensor_value("", DType::f32, {4, 3}),
                    [&](const std::vector<Value>& v, Value& y) {
                      for (int i = 0; i < 12; ++i) {
                        const float* row = f32(v[1]) + *v[0].tensor.at<std::int64_t>(i / 3) * 3;
                        const float norm = std::fabs(row[0]) + std::fabs(row[1]) + std::fabs(row[2]);
                        f32(y)[i] = row[i % 3] * (limited && norm > 2 ? 2 / norm : 1);
                      }
                    });
  }
  const Diagnosis said = judged_as("looked_up", recording,
                                   "def looked_up(indices, weight, padding_idx=None, max_norm=None):\n    "
                                   "return embedding(indices, weight)\n");
  expect_told(said, {}, "");
  EXPECT_EQ(said.called_with.rfind("num_idx=4,", 0), 0U) << said.called_with;
  EXPECT_NE(said.called_with.find("dim=3, use_max_norm=0"), std::string::npos) << said.called_with;
}

/// A label that turns signs, and is told nothing of it.
Recording signs(float factor) {
  Recording recording;
  for (const std::int64_t count : {45, 7})
    record_returned(recording, "signs", {ramp("x", {count})}, tensor_value("", DType::f32, {count}),
                    [&](const std::vector<Value>& v, Value& y) {
                      for (std::int64_t i = 0; i < count; ++i) f32(y)[i] = factor * f32(v[0])[i];
                    });
  return recording;
}

TEST(AFlag, ThatNothingExplainsIsNotSetUnlessThatIsRight) {
  const std::string label = "def signs(x):\n    n = x.numel()\n    return x\n";
  for (const float factor : {1.0F, -1.0F}) {
    const Diagnosis said = judged_as("signs_turned", signs(factor), label);
    expect_told(said, {}, "");
    EXPECT_EQ(said.called_with, factor > 0 ? "n=45, backward=0" : "n=45, backward=1");
  }
}

TEST(AFlag, IsATruthValueOfTheSameWordsThatTheLabelTellsItsKernels) {
  Recording recording = signs(-2);
  for (RecordedCall& call : recording.calls)
    for (const char* name : {"TURNED_BACK", "IS_TWICE_SET"}) {
      Value flag;
      flag.name = name;
      flag.kind = Value::Kind::boolean;
      flag.integer = 1;
      call.computed.push_back(flag);
    }
  const Diagnosis said =
      judged_as("signs_turned_by_words", recording, "def signs(x):\n    n = x.numel()\n    return -2 * x\n");
  expect_told(said, {}, "");
  EXPECT_EQ(said.called_with, "n=45, twice_is_set=1, turned_back=1");
}

TEST(Sizes, OfSquareMatricesAreOneSize) {
  constexpr int kSide = 6;
  Recording recording;
  Value b = ramp("b", {kSide, kSide});
  for (int i = 0; i < kSide * kSide; ++i) f32(b)[i] *= static_cast<float>(i % 5) - 1.5F;
  record_returned(recording, "product", {ramp("a", {kSide, kSide}), b},
                  tensor_value("", DType::f32, {kSide, kSide}), [](const std::vector<Value>& v, Value& y) {
                    for (int i = 0; i < kSide * kSide; ++i) {
                      f32(y)[i] = 0;
                      for (int k = 0; k < kSide; ++k)
                        f32(y)[i] += f32(v[0])[i / kSide * kSide + k] * f32(v[1])[k * kSide + i % kSide];
                    }
                  });
  const std::string label = "def product(a, b):\n    return a @ b\n";
  expect_told(judged_as("multiplied", recording, label), {}, "");
  // A fault is told with the sizes that are meant.
  const Diagnosis said = judged_as("multiplied_twice", recording, label);
  EXPECT_EQ(said.verdict(), "fail") << said.error;
  EXPECT_EQ(said.called_with, "M=6, N=6, K=6");
}

TEST(AFlag, ThatEndsWithAWordOfTheLabelsIsThatWord) {
  Recording recording;
  for (const bool root : {false, true, false})
    record_returned(recording, "mean_squares",
                    {ramp("x", {root ? 40 : 24}), text_value("kind", root ? "root" : "plain")},
                    tensor_value("", DType::f32, {1}), [&](const std::vector<Value>& v, Value& y) {
                      const std::int64_t n = root ? 40 : 24;
                      float all = 0;
                      for (std::int64_t i = 0; i < n; ++i) all += f32(v[0])[i] * f32(v[0])[i];
                      f32(y)[0] = root ? std::sqrt(all / static_cast<float>(n)) : all / static_cast<float>(n);
                    });
  const Diagnosis said =
      judged_as("mean_squares", recording,
                "def mean_squares(x, kind):\n    n = x.numel()\n    return reduce(x, kind)\n");
  expect_told(said, {}, "");
  EXPECT_EQ(said.called_with, "n=24, kind_root=0");
}

TEST(Strides, OfATensorThatACallHasNotAreNoOtherOnes) {
  Recording recording;
  for (const bool both : {false, true}) {
    Value none;
    none.name = "residual";
    record_returned(recording, "added_rows", {ramp("x", {6, 10}), both ? ramp("residual", {6, 10}) : none},
                    tensor_value("", DType::f32, {6, 10}), [&](const std::vector<Value>& v, Value& y) {
                      for (int i = 0; i < 60; ++i) f32(y)[i] = f32(v[0])[i] + (both ? f32(v[1])[i] : 0);
                    });
    Value mean = tensor_value("", DType::f32, {6});
    for (int r = 0; r < 6; ++r) {
      f32(mean)[r] = 0;
      for (int c = 0; c < 10; ++c) f32(mean)[r] += f32(recording.calls.back().before[0])[r * 10 + c] / 10;
    }
    recording.calls.back().returned.push_back(mean);
  }
  const Diagnosis said =
      judged_as("added_rows", recording,
                "def added_rows(x, residual=None):\n    M, N = x.shape\n    return x, x.mean(1)\n");
  expect_told(said, {}, "");
  EXPECT_NE(said.called_with.find("stride_res_row=0"), std::string::npos) << said.called_with;
}

TEST(Results, AreNotLentMemoryWhereOtherMemoryIsAllThatIsMissing) {
  Recording recording;
  record_returned(recording, "squared", {ramp("x", {50})}, tensor_value("", DType::f32, {}),
                  [](const std::vector<Value>& v, Value& y) {
                    f32(y)[0] = 0;
                    for (int i = 0; i < 50; ++i) f32(y)[0] += f32(v[0])[i] * f32(v[0])[i];
                  });
  recording.calls.back().returned.front().name = "total";
  const Diagnosis said =
      judged_as("squared", recording, "def squared(x):\n    total = (x * x).sum()\n    return total\n");
  expect_told(said, {}, "");
  EXPECT_EQ(said.notes, std::vector<std::string>{"squares is lent memory, which the label has none of"});
}

TEST(Results, ThatEqualAnArgumentWhichNothingWritesAreResults) {
  Recording recording;
  for (const std::int64_t count : {40, 7})
    record_returned(
        recording, "copied", {ramp("x", {count})}, tensor_value("", DType::f32, {count}),
        [](const std::vector<Value>& v, Value& y) { std::copy_n(f32(v[0]), y.tensor.numel(), f32(y)); });
  const Diagnosis said =
      judged_as("copied", recording, "def copied(x):\n    output = x.clone()\n    return output\n");
  expect_told(said, {}, "");
  EXPECT_TRUE(said.notes.empty()) << said.notes.front();
}

TEST(AFlag, OfATensorsTypeSaysThatOfTheTensorOfItsName) {
  Recording recording;
  std::vector<Value> arguments = {
      ramp("k_states", {3, 6}), ramp("v_states", {3, 10}), tensor_value("k_caches", DType::u8, {5, 6}),
      tensor_value("v_caches", DType::u8, {5, 10}), tensor_value("slots", DType::i32, {3})};
  for (int i = 0; i < 3; ++i) static_cast<std::int32_t*>(arguments[4].tensor.data)[i] = 4 - 2 * i;
  for (int of = 0; of < 2; ++of)
    for (std::int64_t i = 0; i < arguments[of].tensor.numel(); ++i)
      f32(arguments[of])[i] = static_cast<float>((i * 13 + of) % 90);
  record(recording, "stored_rows", arguments, [](std::vector<Value>& v) {
    for (int of = 0; of < 2; ++of) {
      const std::int64_t width = of == 0 ? 6 : 10;
      for (std::int64_t i = 0; i < 3 * width; ++i)
        static_cast<std::uint8_t*>(v[2 + of].tensor.data)[(4 - 2 * (i / width)) * width + i % width] =
            static_cast<std::uint8_t>(f32(v[of])[i]);
    }
  });
  const Diagnosis said = judged_as(
      "stored_rows", recording,
      "def stored_rows(k_states, v_states, k_caches, v_caches, slots):\n    k_caches[slots] = k_states\n");
  expect_told(said, {}, "");
  EXPECT_EQ(said.called_with, "count=3, state_dim_k=6, state_dim_v=10, cache_is_uint8=1");
}

TEST(Strides, OfANameThatNoTensorHasAreThoseThatAreRight) {
  Recording recording;
  for (const bool one : {false, true})
    record_returned(recording, "added_strided",
                    {ramp("input1", {5, 8}),
                     ramp("input2", one ? std::vector<std::int64_t>{1, 8} : std::vector<std::int64_t>{5, 8})},
                    tensor_value("", DType::f32, {5, 8}), [&](const std::vector<Value>& v, Value& y) {
                      for (int i = 0; i < 40; ++i) f32(y)[i] = f32(v[0])[i] + f32(v[1])[one ? i % 8 : i];
                    });
  expect_told(
      judged_as("added_strided", recording,
                "def added_strided(input1, input2):\n    N, M = input1.shape\n    return input1 + input2\n"),
      {}, "");
}

TEST(Halves, AreOffInFewElementsByTheirOwnRounding) {
  constexpr std::int64_t kCount = 20000;
  Recording recording;
  Value x = tensor_value("x", DType::f32, {kCount / 8, 8});
  for (std::int64_t i = 0; i < kCount; ++i) f32(x)[i] = i % 2 == 0 ? 1.0F : -1.0F;
  record_returned(recording, "to_halves", {x}, tensor_value("", DType::f16, {kCount / 8, 8}),
                  [](const std::vector<Value>& v, Value& y) {
                    constexpr std::uint16_t kOne = 0x3c00, kMinusOne = 0xbc00;
                    for (std::int64_t i = 0; i < kCount; ++i)
                      static_cast<std::uint16_t*>(y.tensor.data)[i] = f32(v[0])[i] > 0 ? kOne : kMinusOne;
                  });
  const std::string label = "def to_halves(x):\n    n = x.numel()\n    return x.half()\n";
  expect_told(judged_as("to_halves_nearly", recording, label), {}, "");
  EXPECT_EQ(judged_as("to_halves_but_one", recording, label).verdict(), "fail");
}

TEST(ATypeOfTritons, HasTheCodeThatTheSourceSays) {
  EXPECT_TRUE(spellings_of_type("a_word").empty());
  const std::vector<std::string> half = spellings_of_type("torch.float16");
  EXPECT_NE(std::find(half.begin(), half.end(), "__half"), half.end());
  Recording recording;
  Value x = tensor_value("x", DType::i8, {64});
  for (int i = 0; i < 64; ++i) *x.tensor.at<std::int8_t>(i) = static_cast<std::int8_t>(i * 3 - 90);
  record_returned(recording, "widened", {x, text_value("dtypes", "triton.language.float8e5")},
                  tensor_value("", DType::f32, {64}), [](const std::vector<Value>& v, Value& y) {
                    for (int i = 0; i < 64; ++i)
                      f32(y)[i] = static_cast<float>(*v[0].tensor.at<std::int8_t>(i)) * 2;
                  });
  const Diagnosis said =
      judged_as("widened", recording, "def widened(x, dtypes):\n    return widen(x, dtypes)\n");
  expect_told(said, {}, "");
  EXPECT_EQ(said.called_with, "n=64, fmt=1");
}

}  // namespace
}  // namespace isomer::lab
