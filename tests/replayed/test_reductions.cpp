// Labels that reduce rows, or slide over them, by ports that do something else with them.
#include "first_tier.hpp"
#include "lab/candidate/candidate.hpp"
#include "lab/judge/diagnose.hpp"
#include "recorded_call.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <random>
#include <vector>

namespace isomer::lab {
namespace {

std::mt19937& numbers() {
  static std::mt19937 engine;
  return engine;
}
Value drawn(const std::string& name, const std::vector<std::int64_t>& shape) {
  Value value = tensor_value(name, DType::f32, shape);
  std::normal_distribution<float> normal;
  for (std::int64_t i = 0; i < value.tensor.numel(); ++i)
    static_cast<float*>(value.tensor.data)[i] = normal(numbers());
  return value;
}
Value zeros(const std::string& name, const std::vector<std::int64_t>& shape) {
  return tensor_value(name, DType::f32, shape);
}
double log_sum(const float* row, int width) {
  double sum = 0;
  for (int c = 0; c < width; ++c) sum += std::exp(double(row[c]));
  return std::log(sum);
}

void tiled_softmax(Recording& recording) {
  for (const int width : {50, 100})
    record(recording, "tiled_softmax", {drawn("x", {4, width}), zeros("out", {4, width})},
           [&](std::vector<Value>& v) {
             for (int i = 0; i < 4 * width; ++i)
               f32(v[1])[i] =
                   static_cast<float>(std::exp(f32(v[0])[i] - log_sum(f32(v[0]) + i / width * width, width)));
           });
  recording.metadata["facts"] =
      R"({"label": {"file": "1_label_source.py", "subtracts_maximum": true, "functions": []},
      "test": {"file": "3_test_code.py", "functions": [], "observes": true, "draws": 0, "seeds": true}})";
}

void row_extents(Recording& recording) {
  for (const int width : {21, 35})
    record(recording, "row_extents", {drawn("x", {9, width}), zeros("scales", {9})},
           [&](std::vector<Value>& v) {
             for (int r = 0; r < 9; ++r) {
               float most = 0;
               for (int c = 0; c < width; ++c) most = std::max(most, std::fabs(f32(v[0])[r * width + c]));
               f32(v[1])[r] = most / 127.0f;
             }
           });
}

void log_softmax_rows(Recording& recording) {
  for (const int width : {21, 35})
    record(recording, "log_softmax_rows", {drawn("x", {5, width}), zeros("out", {5, width})},
           [&](std::vector<Value>& v) {
             for (int i = 0; i < 5 * width; ++i)
               f32(v[1])[i] =
                   static_cast<float>(f32(v[0])[i] - log_sum(f32(v[0]) + i / width * width, width));
           });
}

void window_sums(Recording& recording) {
  for (const int width : {40, 25})
    record(recording, "window_sums",
           {drawn("x", {3, width}), drawn("weights", {4}), zeros("out", {3, width})},
           [&](std::vector<Value>& v) {
             for (int i = 0; i < 3 * width; ++i) {
               double sum = 0;
               for (int k = std::max(0, 3 - i % width); k < 4; ++k)
                 sum += double(f32(v[0])[i - 3 + k]) * f32(v[1])[k];
               f32(v[2])[i] = static_cast<float>(std::tanh(sum));
             }
           });
}

void biased_tanh(Recording& recording) {
  for (const int width : {11, 16})
    record(recording, "biased_tanh",
           {drawn("x", {9, width}), drawn("bias", {width}), zeros("out", {9, width})},
           [&](std::vector<Value>& v) {
             for (int i = 0; i < 9 * width; ++i)
               f32(v[2])[i] = static_cast<float>(std::tanh(3 * double(f32(v[0])[i]) + f32(v[1])[i % width]));
           });
}

void tanh_sums(Recording& recording) {
  for (const int width : {21, 35})
    record(recording, "tanh_sums", {drawn("x", {9, width}), zeros("out", {9})}, [&](std::vector<Value>& v) {
      for (int r = 0; r < 9; ++r) {
        double sum = 0;
        for (int c = 0; c < width; ++c) sum += std::tanh(double(f32(v[0])[r * width + c]));
        f32(v[1])[r] = static_cast<float>(sum);
      }
    });
}

void rotary_of_both(Recording& recording) {
  for (const int width : {16, 24})
    record(recording, "rotary_of_both",
           {drawn("q", {3, width}), drawn("k", {3, width}), drawn("cosine", {3, width / 2}),
            drawn("sine", {3, width / 2})},
           [&](std::vector<Value>& v) {
             const int half = width / 2;
             for (const int each : {0, 1})
               for (int i = 0; i < 3 * half; ++i) {
                 float* row = f32(v[static_cast<std::size_t>(each)]) + i / half * width + i % half;
                 const double a = row[0], b = row[half], c = f32(v[2])[i], s = f32(v[3])[i];
                 row[0] = static_cast<float>(a * c - b * s);
                 row[half] = static_cast<float>(b * c + a * s);
               }
           });
}

void batched_products(Recording& recording) {
  for (const int columns : {7, 10})
    record(recording, "batched_products",
           {drawn("a", {2, 5}), drawn("b", {2, 5, columns}), zeros("out", {2, columns})},
           [&](std::vector<Value>& v) {
             for (int i = 0; i < 2 * columns; ++i) {
               double sum = 0;
               for (int r = 0; r < 5; ++r)
                 sum += double(f32(v[0])[i / columns * 5 + r]) *
                        f32(v[1])[(i / columns * 5 + r) * columns + i % columns];
               f32(v[2])[i] = static_cast<float>(std::tanh(sum));
             }
           });
}

void mean_of_kept(Recording& recording) {
  for (const int count : {6, 9}) {
    Value target = tensor_value("target", DType::i64, {count});
    for (int i = 0; i < count; ++i) static_cast<std::int64_t*>(target.tensor.data)[i] = i % 3 == 1 ? -100 : i;
    record(recording, "mean_of_kept",
           {drawn("x", {count}), target, zeros("out", {1}), integer_value("left_out", -100)},
           [&](std::vector<Value>& v) {
             double sum = 0;
             for (int i = 0; i < count; ++i) sum += i % 3 == 1 ? 0 : f32(v[0])[i];
             f32(v[2])[0] = static_cast<float>(sum / (count - count / 3));
           });
  }
}

/// A function of each element alone.
template <double (*kOf)(double)>
void elements_of(Recording& recording, const char* label) {
  for (const int count : {37, 64})
    record(recording, label, {drawn("x", {count}), zeros("out", {count})}, [&](std::vector<Value>& v) {
      for (int i = 0; i < count; ++i) f32(v[1])[i] = static_cast<float>(kOf(f32(v[0])[i]));
    });
}
double above_zero(double x) { return std::max(x, 0.0); }
double cosine_of(double x) { return std::cos(x); }
void cosines(Recording& recording) { elements_of<cosine_of>(recording, "cosines"); }
void ramps(Recording& recording) { elements_of<above_zero>(recording, "ramps"); }

void centred(Recording& recording) {
  for (const int width : {24, 33})
    record(recording, "centred",
           {drawn("x", {3, 2, width}), drawn("w", {2, width}), zeros("out", {3, 2, width})},
           [&](std::vector<Value>& v) {
             for (int r = 0; r < 6; ++r) {
               const float* row = f32(v[0]) + r * width;
               double mean = 0, squares = 0;
               for (int c = 0; c < width; ++c) mean += row[c] / double(width);
               for (int c = 0; c < width; ++c) squares += (row[c] - mean) * (row[c] - mean) / width;
               for (int c = 0; c < width; ++c)
                 f32(v[2])[r * width + c] = static_cast<float>((row[c] - mean) / std::sqrt(squares + 1e-5) *
                                                               f32(v[1])[r % 2 * width + c]);
             }
           });
}

/// Rows over the root of their mean square. `positive`: no element is below 0.
void root_mean_squares(Recording& recording, bool positive) {
  for (const int width : {24, 33}) {
    const Value x = drawn("x", {5, width});
    for (int i = 0; positive && i < 5 * width; ++i) f32(x)[i] = std::fabs(f32(x)[i]) + 0.1F * (i % 7);
    record(recording, "rms_rows", {x, drawn("w", {width}), zeros("out", {5, width})},
           [&](std::vector<Value>& v) {
             for (int r = 0; r < 5; ++r) {
               const float* row = f32(v[0]) + r * width;
               double squares = 0;
               for (int c = 0; c < width; ++c) squares += double(row[c]) * row[c] / width;
               for (int c = 0; c < width; ++c)
                 f32(v[2])[r * width + c] =
                     static_cast<float>(row[c] / std::sqrt(squares + 1e-6) * f32(v[1])[c]);
             }
           });
  }
}
void rms_rows(Recording& recording) { root_mean_squares(recording, false); }
void rms_positive_rows(Recording& recording) { root_mean_squares(recording, true); }

struct Row {
  friend void PrintTo(const Row& row, std::ostream* out) { *out << row.entry; }
  void (*label)(Recording&);
  const char* entry;
  std::vector<std::string> found;  ///< codes with their arguments
  const char* said = "";           ///< in the first finding's evidence
};

const Candidate& candidate() {
  static const std::shared_ptr<const Candidate> built = [] {
    setenv("ISOMER_CACHE", ISOMER_CANDIDATE_CACHE, 1);
    BuildFailure failure;
    auto made = build_candidate(std::filesystem::path(ISOMER_CANDIDATES) / "reductions.hip.cpp", {}, failure);
    EXPECT_NE(made, nullptr) << failure.place.line << ": " << failure.message;
    return made;
  }();
  return *built;
}

class Reduction : public testing::TestWithParam<Row> {};

TEST_P(Reduction, IsToldItsFaultAndNothingElse) {
  numbers().seed(7);
  DiagnoseRequest request;
  request.entry = GetParam().entry;
  Recording recording;
  GetParam().label(recording);
  request.recording = std::make_shared<Recording>(std::move(recording));
  const Diagnosis diagnosis = diagnose(candidate(), request);
  std::vector<std::string> found;
  std::string text = diagnosis.error;
  for (const Finding& each : diagnosis.findings) {
    found.push_back(std::string(name_of(each.code)) + " " + each.argument);
    text += "\n" + said_against(each) + ": " + each.evidence;
  }
  EXPECT_EQ(found, GetParam().found) << text;
  EXPECT_EQ(diagnosis.verdict(), GetParam().found.empty() ? "pass" : "fail") << text;
  EXPECT_NE((text + " ").find(GetParam().said), std::string::npos) << text;
}

INSTANTIATE_TEST_SUITE_P(
    Candidates, Reduction,
    testing::ValuesIn(tests::every_nth(
        std::vector<Row>{
            Row{tiled_softmax, "tiled_softmax", {}},
            Row{tiled_softmax, "tiled_softmax_without_rescale", {"missing-rescale x"}},
            Row{row_extents, "row_extents", {}},
            Row{row_extents,
                "row_extents_signed",
                {"missing-absolute x"},
                "right if x has no negative elements"},
            Row{row_extents, "row_extents_of_blocks", {"tail-mask x"}, "the last 3 of 35"},
            Row{row_extents, "row_extents_of_columns", {"layout-convention scales"}, "each column"},
            Row{log_softmax_rows, "log_softmax_rows", {}},
            Row{log_softmax_rows,
                "log_softmax_rows_binary",
                {"log-base out"},
                "the original has the logarithm of the sum of exponentials of each row"},
            Row{log_softmax_rows, "log_softmax_rows_in_bits", {"log-base x"}, "have base 2"},
            Row{window_sums, "window_sums", {}},
            Row{window_sums, "window_sums_early", {"off-by-one out"}, "one place later along dimension 1"},
            Row{biased_tanh, "biased_tanh", {}},
            Row{biased_tanh, "biased_tanh_by_row", {"layout-convention bias"}},
            Row{tanh_sums, "tanh_sums", {}},
            Row{tanh_sums, "tanh_sums_without_last", {"tail-mask x"}, "the last 1 of 21"},
            Row{tanh_sums, "tanh_sums_without_first", {"off-by-one x"}, "the first of 21 indices"},
            Row{batched_products, "batched_products", {}},
            Row{batched_products, "batched_products_of_first", {"layout-convention b"}, "only index 0"},
            Row{cosines, "cosines", {}},
            Row{cosines, "cosines_as_sines", {"approximation out"}, "sin(x); the original is cos(x)"},
            Row{cosines, "cosines_of_degrees", {"missing-scale x"}, "in degrees"},
            Row{ramps, "ramps", {}},
            Row{ramps, "ramps_that_leak", {"approximation out"}, "0.02 x below 0, and 1 x above"},
            Row{ramps, "ramps_of_magnitudes", {"approximation out"}, "|x|; the original is max(x, 0)"},
            Row{ramps, "ramps_of_cubes", {"unexplained out"}},
            Row{centred, "centred", {}},
            Row{centred,
                "centred_without_mean",
                {"missing-term x"},
                "the mean of each row of x is subtracted"},
            Row{rms_rows, "rms_rows", {}},
            Row{rms_rows,
                "rms_rows_of_magnitudes",
                {"other-reduction out"},
                "divided by the root of the mean of the magnitudes of each row"},
            Row{rms_positive_rows,
                "rms_rows_of_values",
                {"other-reduction out"},
                "the original has the root of the mean of the squares of each row"},
            Row{mean_of_kept, "mean_of_kept", {}},
            Row{mean_of_kept, "mean_of_kept_over_all", {"missing-scale out"}, "that are not left_out (-100)"},
            Row{rotary_of_both, "rotary_of_both", {}},
            Row{rotary_of_both, "rotary_of_both_neighbours", {"layout-convention q, k"}, "neighbours"}},
        3)),
    [](const auto& info) { return std::string(info.param.entry); });

}  // namespace
}  // namespace isomer::lab
