// Operators on rows and elements: what the recorded values show, and what only values beyond them do.
#include <gtest/gtest.h>

#include "lab/candidate/candidate.hpp"
#include "lab/judge/diagnose.hpp"
#include "oracle/expected.hpp"

#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <random>

namespace isomer::lab {
namespace {

std::mt19937& numbers() {
  static std::mt19937 engine;
  return engine;
}
Value drawn(const std::string& name, const std::vector<std::int64_t>& shape, double size = 1) {
  Value value = tensor_value(name, DType::f32, shape);
  std::normal_distribution<float> normal;
  for (std::int64_t i = 0; i < value.tensor.numel(); ++i)
    static_cast<float*>(value.tensor.data)[i] = static_cast<float>(size) * normal(numbers());
  return value;
}
Value zeros(const std::string& name, const std::vector<std::int64_t>& shape) {
  return tensor_value(name, DType::f32, shape);
}
float* f32(const Value& value) { return static_cast<float*>(value.tensor.data); }

using Act = std::function<void(std::vector<Value>&)>;
RecordedCall answered(const std::string& label, const std::vector<Value>& arguments, const Act& act,
                      const std::vector<bool>& keyword = {}) {
  RecordedCall call{.function = label, .before = arguments, .keyword = keyword};
  call.keyword.resize(arguments.size());
  for (const Value& each : arguments) call.after.push_back(deep_copy(each));
  act(call.after);
  return call;
}

void gelu_and_mul(Recording& recording) {
  for (const int width : {48, 65})
    recording.calls.push_back(answered(
        "gelu_and_mul", {drawn("x", {4, 2 * width}), zeros("out", {4, width})}, [&](std::vector<Value>& v) {
          for (int i = 0; i < 4 * width; ++i) {
            const double a = f32(v[0])[i / width * 2 * width + i % width],
                         b = f32(v[0])[i / width * 2 * width + i % width + width];
            f32(v[1])[i] = static_cast<float>(
                0.5 * a * (1 + std::tanh(0.7978845608028654 * (a + 0.044715 * a * a * a))) * b);
          }
        }));
}

void rotary_in_place(Recording& recording) {
  for (const int width : {16, 24})
    recording.calls.push_back(
        answered("rotary_in_place",
                 {drawn("q", {3, width}), drawn("cosine", {3, width / 2}), drawn("sine", {3, width / 2})},
                 [&](std::vector<Value>& v) {
                   const int half = width / 2;
                   for (int i = 0; i < 3 * half; ++i) {
                     const int first = i / half * width + i % half;
                     const double a = f32(v[0])[first], b = f32(v[0])[first + half], c = f32(v[1])[i],
                                  s = f32(v[2])[i];
                     f32(v[0])[first] = static_cast<float>(a * c - b * s);
                     f32(v[0])[first + half] = static_cast<float>(b * c + a * s);
                   }
                 }));
}

void cross_entropy(Recording& recording) {
  for (const int rows : {7, 10}) {
    Value target = tensor_value("target", DType::i64, {rows});
    for (int r = 0; r < rows; ++r)
      static_cast<std::int64_t*>(target.tensor.data)[r] = r % 3 == 0 ? -100 : r % 12;
    recording.calls.push_back(answered(
        "cross_entropy",
        {drawn("x", {rows, 12}), target, zeros("out", {rows}), integer_value("ignore_index", -100)},
        [&](std::vector<Value>& v) {
          for (int r = 0; r < rows; ++r) {
            double sum = 0;
            for (int c = 0; c < 12; ++c) sum += std::exp(double(f32(v[0])[r * 12 + c]));
            f32(v[2])[r] = r % 3 == 0 ? 0 : static_cast<float>(std::log(sum) - f32(v[0])[r * 12 + r % 12]);
          }
        }));
  }
}

void softmax_of(std::vector<Value>& v) {
  const auto width = static_cast<int>(v[0].tensor.size(-1));
  for (int r = 0; r < v[0].tensor.size(0); ++r) {
    const float* x = f32(v[0]) + r * width;
    double most = -INFINITY, sum = 0;
    for (int c = 0; c < width; ++c) most = std::max<double>(most, x[c]);
    for (int c = 0; c < width; ++c) sum += std::exp(x[c] - most);
    for (int c = 0; c < width; ++c)
      f32(v[1])[r * width + c] = static_cast<float>(std::exp(x[c] - most) / sum);
  }
}
void plain_softmax(Recording& recording) {
  for (const int width : {17, 40})
    recording.calls.push_back(
        answered("plain_softmax", {drawn("x", {3, width}), zeros("out", {3, width})}, softmax_of));
  recording.asked.push_back(
      answered("plain_softmax", {drawn("x", {3, 17}, 150), zeros("out", {3, 17})}, softmax_of));
  recording.asked.back().asked = "large";
}

/// A large call, and what the label answers to less of the same.
void softmax_of_many(Recording& recording) {
  recording.calls.push_back(
      answered("plain_softmax", {drawn("x", {64, 40}, 150), zeros("out", {64, 40})}, softmax_of));
  recording.asked.push_back(
      answered("plain_softmax", {drawn("x", {4, 40}, 150), zeros("out", {4, 40})}, softmax_of));
  recording.asked.back().asked = "smaller";
}

void unit_of(std::vector<Value>& v) {
  const auto width = static_cast<int>(v[0].tensor.size(-1));
  for (int r = 0; r < v[0].tensor.size(0); ++r) {
    const float* x = f32(v[0]) + r * width;
    double sum = 0;
    for (int c = 0; c < width; ++c) sum += double(x[c]) * x[c];
    for (int c = 0; c < width; ++c)
      f32(v[1])[r * width + c] = static_cast<float>(x[c] / std::sqrt(sum / width + 1e-6));
  }
}
void unit_rows(Recording& recording) {
  for (const int width : {20, 33})
    recording.calls.push_back(
        answered("unit_rows", {drawn("x", {4, width}), zeros("out", {4, width})}, unit_of));
  recording.asked.push_back(
      answered("unit_rows", {drawn("x", {4, 20}, 4e-4), zeros("out", {4, 20})}, unit_of));
  recording.asked.back().asked = "small";
}

void weighted_rows(Recording& recording) {
  for (const int width : {20, 33})
    recording.calls.push_back(answered(
        "weighted_rows", {drawn("x", {4, width}), drawn("weight", {width}), zeros("out", {4, width})},
        [&](std::vector<Value>& v) {
          for (int r = 0; r < 4; ++r) {
            const float* x = f32(v[0]) + r * width;
            double sum = 0;
            for (int c = 0; c < width; ++c) sum += double(x[c]) * x[c];
            for (int c = 0; c < width; ++c)
              f32(v[2])[r * width + c] =
                  static_cast<float>(x[c] / std::sqrt(sum / width) * (1 + double(f32(v[1])[c])));
          }
        }));
}

/// The scale is left to its default of 2 in every call.
void scale_and_shift(Recording& recording) {
  for (const double shift : {0.5, -3.0})
    recording.calls.push_back(answered("scale_and_shift",
                                       {drawn("x", {20}), zeros("out", {20}), real_value("shift", shift)},
                                       [&](std::vector<Value>& v) {
                                         for (int i = 0; i < 20; ++i)
                                           f32(v[1])[i] = 2 * f32(v[0])[i] + static_cast<float>(shift);
                                       },
                                       {false, false, true}));
  for (RecordedCall& call : recording.calls) call.left_out = {real_value("scale", 2.0)};
}

void sum_of_counts(Recording& recording) {
  for (const std::vector<int>& counts : {std::vector<int>{20, 9, 16, 31}, std::vector<int>{33, 40, 7}}) {
    const auto rows = static_cast<std::int64_t>(counts.size());
    Value given = tensor_value("counts", DType::i32, {rows});
    std::copy(counts.begin(), counts.end(), static_cast<std::int32_t*>(given.tensor.data));
    recording.calls.push_back(answered("sum_of_counts", {drawn("x", {rows, 40}), given, zeros("out", {rows})},
                                       [&](std::vector<Value>& v) {
                                         for (std::size_t r = 0; r < counts.size(); ++r)
                                           for (int c = 0; c < counts[r]; ++c)
                                             f32(v[2])[r] += f32(v[0])[40 * r + static_cast<std::size_t>(c)];
                                       }));
  }
}

void capped(Recording& recording) {
  for (const double cap : {2.0, 5.0})
    recording.calls.push_back(answered(
        "capped", {drawn("x", {40}, 9), zeros("out", {40}), real_value("scale", 0.3), real_value("cap", cap)},
        [&](std::vector<Value>& v) {
          for (int i = 0; i < 40; ++i)
            f32(v[1])[i] = static_cast<float>(cap * std::tanh(0.3 * f32(v[0])[i] / cap));
        }));
}

/// Columns 3 to 12 of rows of 20.
void twice_of_views(Recording& recording) {
  Value view = drawn("x", {6, 20});
  view.tensor = view.tensor.slice(1, 3, 13);
  view.storage_offset = 3 * sizeof(float);
  recording.calls.push_back(
      answered("twice_of_views", {view, zeros("out", {6, 10})}, [&](std::vector<Value>& v) {
        for (int i = 0; i < 60; ++i) f32(v[1])[i] = 2 * f32(v[0])[i / 10 * 20 + i % 10];
      }));
}

struct Row {
  friend void PrintTo(const Row& row, std::ostream* out) { *out << row.entry; }
  void (*label)(Recording&);
  const char* entry;
  std::vector<std::string> found;  ///< codes with their arguments
};

const Candidate& candidate() {
  static const std::shared_ptr<const Candidate> built = [] {
    setenv("ISOMER_CACHE", ISOMER_CANDIDATE_CACHE, 1);
    BuildFailure failure;
    auto made = build_candidate(std::filesystem::path(ISOMER_CANDIDATES) / "rows.hip.cpp", {}, failure);
    EXPECT_NE(made, nullptr) << failure.place.line << ": " << failure.message;
    return made;
  }();
  return *built;
}

class RowWise : public testing::TestWithParam<Row> {};

TEST_P(RowWise, IsToldItsFaultAndNothingElse) {
  numbers().seed(3);
  DiagnoseRequest request;
  request.entry = GetParam().entry;
  Recording recording;
  GetParam().label(recording);
  const std::size_t calls = recording.calls.size();
  request.recording = std::make_shared<Recording>(std::move(recording));
  const Diagnosis diagnosis = diagnose(candidate(), request);
  std::vector<std::string> found;
  std::string text = diagnosis.error;
  for (const Finding& each : diagnosis.findings) {
    found.push_back(said_against(each));
    text += "\n" + said_against(each) + ": " + each.evidence;
  }
  EXPECT_EQ(found, GetParam().found) << text;
  EXPECT_EQ(diagnosis.verdict(), GetParam().found.empty() ? "pass" : "fail") << text;
  EXPECT_EQ(diagnosis.calls, static_cast<int>(calls));
}

INSTANTIATE_TEST_SUITE_P(
    Candidates, RowWise,
    testing::Values(
        Row{gelu_and_mul, "gelu_and_mul", {}}, Row{gelu_and_mul, "gelu_and_mul_exact", {"approximation out"}},
        Row{rotary_in_place, "rotary_in_place", {}},
        Row{rotary_in_place, "rotary_in_place_of_neighbours", {"layout-convention q"}},
        Row{cross_entropy, "cross_entropy", {}},
        Row{cross_entropy, "cross_entropy_of_all", {"ignores-argument ignore_index"}},
        Row{plain_softmax, "plain_softmax", {}},
        Row{plain_softmax, "plain_softmax_overflows", {"missing-max-subtraction x"}},
        Row{unit_rows, "unit_rows", {}}, Row{unit_rows, "unit_rows_without_epsilon", {"epsilon out"}},
        Row{weighted_rows, "weighted_rows", {}},
        Row{weighted_rows, "weighted_rows_from_zero", {"missing-term out"}},
        Row{sum_of_counts, "sum_of_counts", {}},
        Row{sum_of_counts, "sum_of_counts_of_whole_blocks", {"tail-mask counts"}}, Row{capped, "capped", {}},
        Row{capped, "capped_before_it_is_scaled", {"missing-scale cap"}},
        Row{twice_of_views, "twice_of_views", {}},
        Row{twice_of_views, "twice_of_views_from_the_begin", {"ignores-offset x"}},
        Row{scale_and_shift, "scale_and_shift", {}},
        Row{scale_and_shift, "scale_and_shift_from_one", {"argument-default scale"}}),
    [](const auto& info) { return std::string(info.param.entry); });

/// `and_few`: the test has a small call as well, and another large one.
Diagnosis said_of_many(const char* entry, bool and_few = false) {
  numbers().seed(3);
  DiagnoseRequest request;
  request.entry = entry;
  request.settings.timeout_seconds = 0.5;
  Recording recording;
  softmax_of_many(recording);
  for (const std::int64_t rows : {3, 50})
    if (and_few)
      recording.calls.push_back(
          answered("plain_softmax", {drawn("x", {rows, 40}, 150), zeros("out", {rows, 40})}, softmax_of));
  request.recording = std::make_shared<Recording>(std::move(recording));
  return diagnose(candidate(), request);
}

std::string last_note(const Diagnosis& diagnosis) {
  return diagnosis.notes.empty() ? std::string() : diagnosis.notes.back();
}

TEST(LargeCalls, AreAskedBehindThoseOfSmallerSizes) {
  const Diagnosis diagnosis = said_of_many("plain_softmax");
  EXPECT_EQ(diagnosis.verdict(), "pass") << diagnosis.error;
  EXPECT_EQ(diagnosis.calls, 2);
  EXPECT_EQ(last_note(diagnosis), "");
}

TEST(LargeCalls, ThatDoNotComeToTheirEndAreJudgedByThoseOfSmallerSizes) {
  const Diagnosis diagnosis = said_of_many("plain_softmax_of_many_blocks");
  EXPECT_EQ(diagnosis.verdict(), "pass") << diagnosis.error;
  EXPECT_EQ(diagnosis.calls, 1);
  EXPECT_NE(last_note(diagnosis).find("'plain_softmax call 1' is too large to be emulated"),
            std::string::npos)
      << last_note(diagnosis);
  EXPECT_NE(last_note(diagnosis).find(
                "'plain_softmax with x f32[4, 40] instead of f32[64, 40]' is judged in its place"),
            std::string::npos)
      << last_note(diagnosis);
}

TEST(LargeCalls, ThatAreRightAreJudgedAsTheyAre) {
  const Diagnosis diagnosis = said_of_many("plain_softmax_of_64_rows");
  EXPECT_EQ(diagnosis.verdict(), "pass") << diagnosis.error;
  EXPECT_EQ(diagnosis.calls, 1);
  EXPECT_NE(last_note(diagnosis).find("is right, so the latter is judged"), std::string::npos)
      << last_note(diagnosis);
}

TEST(LargeCalls, ThatAreRightHideNoSmallCallOfTheTestThatIsWrong) {
  EXPECT_EQ(said_of_many("plain_softmax", true).verdict(), "pass");
  const Diagnosis diagnosis = said_of_many("plain_softmax_but_of_3_rows", true);
  EXPECT_EQ(diagnosis.verdict(), "fail");
  EXPECT_NE(last_note(diagnosis).find("is judged in its place"), std::string::npos) << last_note(diagnosis);
}

}  // namespace
}  // namespace isomer::lab
