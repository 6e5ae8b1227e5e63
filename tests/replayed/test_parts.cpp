// Answers of which a part is wrong: each cause is told once, and nothing beside it; the right twins pass.
#include <gtest/gtest.h>

#include "first_tier.hpp"
#include "lab/judge/diagnose.hpp"
#include "recorded_call.hpp"

#include <algorithm>
#include <cmath>
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
Value zeros(const std::string& name, const std::vector<std::int64_t>& shape, DType dtype = DType::f32) {
  return tensor_value(name, dtype, shape);
}
double share(double x) { return 1 / (1 + std::exp(-x)); }

void gated_slope(Recording& recording) {
  for (const std::int64_t columns : {16, 20})
    record(recording, "gated_slope",
           {drawn("x", {6, columns}), drawn("y", {6, columns}), drawn("d", {6, columns}),
            zeros("out", {6, columns})},
           [](std::vector<Value>& v) {
             for (std::int64_t i = 0; i < v[0].tensor.numel(); ++i) {
               const double x = f32(v[0])[i], s = share(x);
               f32(v[3])[i] = static_cast<float>(s * (1 + x * (1 - s)) * f32(v[1])[i] * f32(v[2])[i]);
             }
           });
}

void gated(Recording& recording) {
  for (const std::int64_t columns : {16, 24})
    record(recording, "gated", {drawn("x", {5, 2 * columns}), zeros("out", {5, columns})},
           [columns](std::vector<Value>& v) {
             for (std::int64_t i = 0; i < 5 * columns; ++i) {
               const float* row = f32(v[0]) + i / columns * 2 * columns + i % columns;
               f32(v[1])[i] = static_cast<float>(row[0] * share(row[0]) * row[columns]);
             }
           });
}

void shares(Recording& recording) {
  for (const std::int64_t n : {90, 300})
    record(recording, "shares", {drawn("x", {n}), zeros("y", {n})}, [n](std::vector<Value>& v) {
      double sum = 0;
      for (std::int64_t i = 0; i < n; ++i) sum += std::exp(f32(v[0])[i]);
      for (std::int64_t i = 0; i < n; ++i) f32(v[1])[i] = static_cast<float>(std::exp(f32(v[0])[i]) / sum);
    });
}

void row_sums(Recording& recording) {
  for (const std::int64_t columns : {8, 40})
    record(recording, "row_sums", {drawn("x", {3, columns}), zeros("y", {3})},
           [columns](std::vector<Value>& v) {
             for (std::int64_t r = 0; r < 3; ++r) {
               double sum = 0;
               for (std::int64_t c = 0; c < columns; ++c) sum += f32(v[0])[r * columns + c];
               f32(v[1])[r] = static_cast<float>(sum);
             }
           });
}

void bent_rows(Recording& recording) {
  for (const std::int64_t columns : {200, 250})
    record(recording, "bent_rows", {drawn("x", {4, columns}), zeros("y", {4, columns})},
           [columns](std::vector<Value>& v) {
             for (std::int64_t r = 0; r < 4; ++r) {
               double sum = 0;
               const float* row = f32(v[0]) + r * columns;
               for (std::int64_t c = 0; c < columns; ++c) sum += double(row[c]) * row[c];
               for (std::int64_t c = 0; c < columns; ++c)
                 f32(v[1])[r * columns + c] =
                     static_cast<float>(std::tanh(row[c] / std::sqrt(sum / double(columns))));
             }
           });
}

void quantized(Recording& recording) {
  for (const std::int64_t columns : {24, 40})
    record(recording, "quantized",
           {drawn("x", {6, columns}), zeros("q", {6, columns}, DType::i8), zeros("scale", {6})},
           [columns](std::vector<Value>& v) {
             for (std::int64_t r = 0; r < 6; ++r) {
               float most = 0;
               const float* row = f32(v[0]) + r * columns;
               for (std::int64_t c = 0; c < columns; ++c) most = std::fmax(most, std::fabs(row[c]));
               f32(v[2])[r] = most / 127.0f;
               for (std::int64_t c = 0; c < columns; ++c)
                 static_cast<std::int8_t*>(v[1].tensor.data)[r * columns + c] =
                     static_cast<std::int8_t>(static_cast<int>(row[c] / f32(v[2])[r]));
             }
           });
}

void bent(Recording& recording) {
  for (const std::int64_t n : {60, 90})
    record(recording, "bent", {drawn("x", {n}), zeros("y", {n}), zeros("z", {n})},
           [n](std::vector<Value>& v) {
             double sum = 0;
             for (std::int64_t i = 0; i < n; ++i) {
               f32(v[1])[i] = static_cast<float>(share(f32(v[0])[i]));
               sum = std::sin(0.5 * sum + f32(v[1])[i]);
               f32(v[2])[i] = static_cast<float>(sum);
             }
           });
}

void added(Recording& recording) {
  for (const std::int64_t n : {60, 90}) {
    Value mask = zeros("mask", {n}, DType::i32);
    for (std::int64_t i = 0; i < n; ++i) static_cast<std::int32_t*>(mask.tensor.data)[i] = i * 7 % 3 == 0;
    record(recording, "added", {drawn("sum", {n}), drawn("x", {n}), mask}, [n](std::vector<Value>& v) {
      for (std::int64_t i = 0; i < n; ++i)
        if (static_cast<std::int32_t*>(v[2].tensor.data)[i] != 0) f32(v[0])[i] += f32(v[1])[i];
    });
  }
}

void running_sums(Recording& recording) {
  for (const std::int64_t columns : {1, 20, 33})
    record(recording, "running_sums", {drawn("x", {6, columns}), drawn("y", {6, columns})},
           [columns](std::vector<Value>& v) {
             for (std::int64_t r = 0; r < 6; ++r) {
               double sum = 0;
               for (std::int64_t c = 0; c < columns; ++c)
                 f32(v[1])[r * columns + c] = static_cast<float>(sum += f32(v[0])[r * columns + c]);
             }
           });
}

void divergence(Recording& recording) {
  for (const std::int64_t n : {60, 90}) {
    Value x = drawn("x", {n}), y = drawn("y", {n});
    for (std::int64_t i = 0; i < n; ++i)
      f32(x)[i] = std::fabs(f32(x)[i]) + 0.05F, f32(y)[i] = std::fabs(f32(y)[i]) + 0.05F;
    record(recording, "divergence", {x, y, zeros("out", {n})}, [n](std::vector<Value>& v) {
      for (std::int64_t i = 0; i < n; ++i)
        f32(v[2])[i] = static_cast<float>(f32(v[0])[i] * std::log(double(f32(v[0])[i]) / f32(v[1])[i]));
    });
  }
}

void normed_rows(Recording& recording) {
  for (const std::int64_t columns : {20, 33})
    record(recording, "normed_rows", {drawn("x", {6, columns}), zeros("y", {6, columns})},
           [columns](std::vector<Value>& v) {
             for (std::int64_t r = 0; r < 6; ++r) {
               double sum = 0;
               for (std::int64_t c = 0; c < columns; ++c) sum += std::pow(f32(v[0])[r * columns + c], 2);
               for (std::int64_t c = 0; c < columns; ++c)
                 f32(v[1])[r * columns + c] =
                     static_cast<float>(f32(v[0])[r * columns + c] / std::sqrt(sum / double(columns) + 1e-5));
             }
           });
}

void turned(Recording& recording) {
  for (const std::int64_t half : {16, 24})
    record(recording, "turned", {drawn("x", {6, 2 * half}), drawn("cosine", {half}), drawn("sine", {half})},
           [half](std::vector<Value>& v) {
             for (std::int64_t i = 0; i < 6 * half; ++i) {
               float* row = f32(v[0]) + i / half * 2 * half + i % half;
               const double a = row[0], b = row[half], co = f32(v[1])[i % half], si = f32(v[2])[i % half];
               row[0] = static_cast<float>(a * co - b * si);
               row[half] = static_cast<float>(b * co + a * si);
             }
           });
}

void turned_pairs(Recording& recording) {
  for (const std::int64_t half : {16, 24})
    record(recording, "turned_pairs",
           {drawn("x", {6, 2 * half}), drawn("cosine", {half}), drawn("sine", {half})},
           [half](std::vector<Value>& v) {
             for (std::int64_t i = 0; i < 6 * half; ++i) {
               float* pair = f32(v[0]) + 2 * i;
               const double a = pair[0], b = pair[1], co = f32(v[1])[i % half], si = f32(v[2])[i % half];
               pair[0] = static_cast<float>(a * co - b * si);
               pair[1] = static_cast<float>(b * co + a * si);
             }
           });
}

void masked_shares(Recording& recording) {
  recording.metadata["facts"] = R"({"label": {"subtracts_maximum": true}})";
  for (const std::int64_t columns : {16, 24})
    record(recording, "masked_shares",
           {drawn("x", {6, columns}), drawn("mask", {6, columns}), zeros("y", {6, columns})},
           [columns](std::vector<Value>& v) {
             for (std::int64_t r = 0; r < 6; ++r) {
               const float *row = f32(v[0]) + r * columns, *mask = f32(v[1]) + r * columns;
               const float most = *std::max_element(row, row + columns);
               double sum = 0;
               for (std::int64_t c = 0; c < columns; ++c) sum += std::exp(double(row[c]) - most + mask[c]);
               for (std::int64_t c = 0; c < columns; ++c)
                 f32(v[2])[r * columns + c] =
                     static_cast<float>(std::exp(double(row[c]) - most + mask[c]) / sum);
             }
           });
}

void kept(Recording& recording) {
  Value slot = zeros("slot", {4}, DType::i32);
  for (int i = 0; i < 4; ++i) static_cast<std::int32_t*>(slot.tensor.data)[i] = 3 * i % 7;
  record(recording, "kept",
         {drawn("x", {4, 16}), slot, drawn("keys", {4, 8, 16}), drawn("values", {4, 8, 16})},
         [](std::vector<Value>& v) {
           for (int i = 0; i < 64; ++i) {
             const int at = static_cast<std::int32_t*>(v[1].tensor.data)[i / 16];
             for (const int cache : {2, 3}) f32(v[cache])[(i / 16 * 8 + at) * 16 + i % 16] = f32(v[0])[i];
           }
         });
}

void doubled(Recording& recording) {
  for (const std::int64_t n : {60, 90})
    record(recording, "doubled", {drawn("x", {n}), zeros("y", {n})}, [n](std::vector<Value>& v) {
      for (std::int64_t i = 0; i < n; ++i) f32(v[1])[i] = 2 * f32(v[0])[i];
    });
}

struct Port {
  const char* entry;
  void (*label)(Recording&);
  std::vector<Code> found;  ///< empty: it passes
  const char* said = "";
};
void PrintTo(const Port& row, std::ostream* out) { *out << row.entry; }

class Parts : public testing::TestWithParam<Port> {};

Diagnosis said_of(const Port& port) {
  numbers().seed(11);
  Recording recording;
  port.label(recording);
  return judged("parts.cu", port.entry, std::move(recording));
}

// Who reads it unwritten is not judged: OwnTensors has such candidates.
TEST(RoomOfNobody, IsLentToWhoFillsIt) {
  const Diagnosis said = said_of({"doubled_through_room", doubled, {}});
  EXPECT_EQ(said.verdict(), "pass") << said.error;
  ASSERT_FALSE(said.notes.empty());
  EXPECT_EQ(said.notes.front(), "room is lent memory, which the label has none of");
}

TEST_P(Parts, AreToldByTheirCause) {
  const Diagnosis said = said_of(GetParam());
  expect_told(said, GetParam().found, GetParam().said);
}

INSTANTIATE_TEST_SUITE_P(
    Of, Parts,
    testing::ValuesIn(tests::every_nth(
        std::vector<Port>{
            Port{"gated_slope", gated_slope, {}},
            Port{"gated_slope_turned", gated_slope, {Code::missing_term}, "has the other sign"},
            Port{"gated_slope_without_its_second_term", gated_slope, {Code::approximation}, "(1 + x (1"},
            Port{"gated", gated, {}},
            Port{"gated_by_the_share_alone", gated, {Code::approximation}, "sigmoid(first(x))"},
            Port{"shares", shares, {}},
            Port{"shares_of_own_block", shares, {Code::other_reduction}, "in each 128 elements"},
            Port{"row_sums", row_sums, {}},
            Port{"row_sums_of_even_lanes", row_sums, {Code::other_reduction}, "of each 2 indices"},
            Port{"bent_rows", bent_rows, {}},
            Port{"bent_rows_of_three_warps", bent_rows, {Code::other_reduction}, "no block has more than"},
            Port{"quantized", quantized, {}},
            Port{"quantized_by_the_largest", quantized, {Code::missing_absolute}, "no negative"},
            Port{"bent", bent, {}},
            Port{"bent_otherwise", bent, {Code::approximation}, "tanh(x)"},
            Port{"running_sums", running_sums, {}},
            Port{"running_sums_in_parts",
                 running_sums,
                 {Code::missing_term},
                 "begins anew at the indices [8, 16"},
            Port{"running_sums_without_own", running_sums, {Code::off_by_one}, "one place later"},
            Port{"divergence", divergence, {}},
            Port{"divergence_to_base_2", divergence, {Code::log_base}, "log2(e)"},
            Port{"normed_rows", normed_rows, {}},
            Port{"normed_rows_beside_the_root", normed_rows, {Code::epsilon}, "is added to the root"},
            Port{"turned", turned, {}},
            Port{"turned_by_the_result", turned, {Code::missing_term}, "the other half of the answer"},
            Port{"turned_pairs", turned_pairs, {}},
            Port{"turned_pairs_with_the_other_sign", turned_pairs, {Code::missing_term}, "the other sign"},
            Port{"masked_shares", masked_shares, {}},
            Port{"masked_shares_without_maximum", masked_shares, {Code::missing_max_subtraction}},
            Port{"kept", kept, {}},
            Port{"kept_in_the_next", kept, {Code::off_by_one}, "one place later along dimension 1"},
            Port{"doubled", doubled, {}},
            Port{"doubled_but_the_last", doubled, {Code::off_by_one}, "wrong at the last"},
            Port{"added", added, {}},
            Port{"added_elsewhere", added, {Code::inverted_condition}, "mask"}},
        3)),
    [](const auto& info) { return std::string(info.param.entry); });

}  // namespace
}  // namespace isomer::lab
