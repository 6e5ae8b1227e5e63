// Kernels as they are ported by hand: each fault is told by its cause, and nothing beside it; the right twins
// pass.
#include <gtest/gtest.h>

#include "first_tier.hpp"
#include "lab/judge/diagnose.hpp"
#include "recorded_call.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

namespace isomer::lab {
namespace {

std::mt19937& numbers() {
  static std::mt19937 engine;
  return engine;
}
Value drawn(const std::string& name, const std::vector<std::int64_t>& shape, double size = 1,
            double mean = 0) {
  Value value = tensor_value(name, DType::f32, shape);
  std::normal_distribution<float> normal;
  for (std::int64_t i = 0; i < value.tensor.numel(); ++i)
    static_cast<float*>(value.tensor.data)[i] =
        static_cast<float>(size * static_cast<double>(normal(numbers())) + mean);
  return value;
}
Value bytes(const std::string& name, const std::vector<std::int64_t>& shape) {
  Value value = tensor_value(name, DType::i8, shape);
  for (std::int64_t i = 0; i < value.tensor.numel(); ++i)
    static_cast<std::int8_t*>(value.tensor.data)[i] = static_cast<std::int8_t>(numbers()() % 255);
  return value;
}
Value zeros(const std::string& name, const std::vector<std::int64_t>& shape) {
  return tensor_value(name, DType::f32, shape);
}
double at(const Value& value, std::int64_t i) { return static_cast<double>(f32(value)[i]); }
float narrow(double value) { return static_cast<float>(value); }

void add_norm(Recording& recording) {
  for (const std::int64_t width : {24, 40})
    record(recording, "add_norm",
           {drawn("x", {4, width}), drawn("residual", {4, width}), zeros("out", {4, width})},
           [width](std::vector<Value>& v) {
             for (std::int64_t row = 0; row < 4; ++row) {
               double squares = 0;
               for (std::int64_t i = row * width; i < (row + 1) * width; ++i)
                 squares += std::pow(at(v[0], i) + at(v[1], i), 2);
               for (std::int64_t i = row * width; i < (row + 1) * width; ++i)
                 f32(v[2])[i] = narrow((at(v[0], i) + at(v[1], i)) /
                                       std::sqrt(squares / static_cast<double>(width) + 1e-6));
             }
           });
}

void bounded_gate(Recording& recording) {
  for (const std::int64_t width : {40, 64})
    record(recording, "bounded_gate",
           {drawn("x", {3, 2 * width}, 4), zeros("out", {3, width}), real_value("limit", 5)},
           [width](std::vector<Value>& v) {
             for (std::int64_t i = 0; i < 3 * width; ++i) {
               const std::int64_t of = i / width * 2 * width + i % width;
               const double gate = std::min(at(v[0], of), 5.0),
                            up = std::clamp(at(v[0], of + width), -5.0, 5.0);
               f32(v[1])[i] = narrow(gate / (1 + std::exp(-1.5 * gate)) * (up + 1));
             }
           });
}

void spread(Recording& recording) {
  for (const std::int64_t width : {50, 200})
    record(recording, "spread", {drawn("x", {3, width}), zeros("out", {3, width}), zeros("by", {3})},
           [width](std::vector<Value>& v) {
             for (std::int64_t row = 0; row < 3; ++row) {
               double sum = 0, squares = 0;
               for (std::int64_t i = row * width; i < (row + 1) * width; ++i) sum += at(v[0], i);
               const double mean = sum / static_cast<double>(width);
               for (std::int64_t i = row * width; i < (row + 1) * width; ++i)
                 squares += (at(v[0], i) - mean) * (at(v[0], i) - mean);
               const double by = 1 / std::sqrt(squares / static_cast<double>(width) + 1e-5);
               f32(v[2])[row] = narrow(by);
               for (std::int64_t i = row * width; i < (row + 1) * width; ++i)
                 f32(v[1])[i] = narrow((at(v[0], i) - mean) * by);
             }
           });
}

void smoothed(Recording& recording) {
  for (const std::int64_t width : {24, 40})
    record(recording, "smoothed", {drawn("x", {8, width}, 1, 0.3), drawn("target", {8}), zeros("out", {8})},
           [width](std::vector<Value>& v) {
             for (std::int64_t row = 0; row < 8; ++row) {
               double sum = 0;
               for (std::int64_t i = row * width; i < (row + 1) * width; ++i) sum += at(v[0], i);
               f32(v[2])[row] = narrow(0.75 * at(v[1], row) - 0.25 * sum / static_cast<double>(width));
             }
           });
}

/// With a vector, or with zeros in its place.
template <bool kVector>
void bent_product(Recording& recording) {
  for (const auto& [m, n, k] : {std::tuple<std::int64_t, std::int64_t, std::int64_t>{6, 10, 4}, {9, 7, 5}})
    record(recording, "bent_product",
           {drawn("a", {m, k}, 0.5), drawn("b", {k, n}, 0.5), drawn("bias", {n}, kVector ? 0.5 : 0),
            zeros("c", {m, n})},
           [n = n, k = k](std::vector<Value>& v) {
             for (std::int64_t i = 0; i < v[3].tensor.numel(); ++i) {
               double sum = at(v[2], i % n);
               for (std::int64_t j = 0; j < k; ++j) sum += at(v[0], i / n * k + j) * at(v[1], j * n + i % n);
               f32(v[3])[i] = narrow(std::tanh(sum));
             }
           });
}

void byte_products(Recording& recording) {
  for (const auto& [m, n, k] : {std::tuple<std::int64_t, std::int64_t, std::int64_t>{6, 10, 32}, {5, 9, 41}})
    record(recording, "byte_products",
           {bytes("a", {m, k}), bytes("b", {n, k}), drawn("of_a", {m}, 0.1, 1), drawn("of_b", {n}, 0.1, 1),
            zeros("c", {m, n})},
           [n = n, k = k](std::vector<Value>& v) {
             const auto* a = static_cast<const std::int8_t*>(v[0].tensor.data);
             const auto* b = static_cast<const std::int8_t*>(v[1].tensor.data);
             for (std::int64_t i = 0; i < v[4].tensor.numel(); ++i) {
               int sum = 0;
               for (std::int64_t j = 0; j < k; ++j) sum += a[i / n * k + j] * b[i % n * k + j];
               f32(v[4])[i] = narrow(sum * at(v[2], i / n) * at(v[3], i % n));
             }
           });
}

void unpacked(Recording& recording) {
  for (const std::int64_t count : {12, 20}) {
    Value words = tensor_value("words", DType::i32, {count});
    for (std::int64_t i = 0; i < count; ++i) {
      const auto word = static_cast<std::uint32_t>(numbers()());
      std::memcpy(static_cast<std::byte*>(words.tensor.data) + 4 * i, &word, sizeof word);
    }
    record(recording, "unpacked", {words, drawn("scale", {count}), zeros("out", {count, 8})},
           [](std::vector<Value>& v) {
             const auto* of = static_cast<const std::uint32_t*>(v[0].tensor.data);
             for (std::int64_t i = 0; i < v[2].tensor.numel(); ++i)
               f32(v[2])[i] = narrow(static_cast<double>(of[i / 8] >> (4 * (i % 8)) & 15) * at(v[1], i / 8) *
                                     static_cast<double>(i % 8 + 1));
           });
  }
}

/// What the label returns, in memory of its own.
void returned_sums(Recording& recording) {
  for (const std::int64_t width : {9, 14}) {
    RecordedCall call{.function = "returned_sums", .before = {drawn("x", {6, width})}};
    call.keyword.resize(1);
    call.after = {deep_copy(call.before[0])};
    call.returned = {zeros("", {6})};
    for (std::int64_t row = 0; row < 6; ++row) {
      double sum = 0;
      for (std::int64_t i = row * width; i < (row + 1) * width; ++i) sum += at(call.before[0], i);
      f32(call.returned[0])[row] = narrow(sum);
    }
    recording.calls.push_back(std::move(call));
  }
}

/// Sizes that no caller passes, and that the label calls tokens, heads, dim and kv_heads.
void scaled_heads(Recording& recording) {
  for (const std::int64_t dim : {4, 6})
    record(recording, "scaled_heads",
           {drawn("x", {3, 4, dim}), drawn("scale", {3, 2, dim}), zeros("out", {3, 4, dim})},
           [dim](std::vector<Value>& v) {
             for (std::int64_t i = 0; i < v[2].tensor.numel(); ++i) {
               const std::int64_t token = i / dim / 4, head = i / dim % 4;
               f32(v[2])[i] = narrow(at(v[0], i) * at(v[1], (token * 2 + head / 2) * dim + i % dim));
             }
           });
}

template <bool kMean>
void pooled(Recording& recording) {
  for (const std::int64_t width : {12, 17})
    record(recording, "pooled", {drawn("x", {4, width}, 1, -0.8), drawn("out", {4, width})},
           [width](std::vector<Value>& v) {
             for (std::int64_t i = 0; i < 4 * width; ++i) {
               double most = -INFINITY, sum = 0;
               int count = 0;
               for (std::int64_t c = std::max<std::int64_t>(i % width - 1, 0);
                    c < std::min(i % width + 2, width); ++c, ++count) {
                 most = std::max(most, at(v[0], i / width * width + c));
                 sum += at(v[0], i / width * width + c);
               }
               f32(v[1])[i] = narrow(kMean ? sum / count : most);
             }
           });
}

void seen_scores(Recording& recording) {
  for (const auto& [queries, keys] : {std::pair<std::int64_t, std::int64_t>{5, 8}, {4, 9}})
    record(recording, "seen_scores", {drawn("x", {queries, keys}), zeros("out", {queries, keys})},
           [queries = queries, keys = keys](std::vector<Value>& v) {
             for (std::int64_t i = 0; i < queries * keys; ++i)
               f32(v[1])[i] = i % keys <= i / keys + keys - queries ? f32(v[0])[i] : -1000.0F;
           });
}

void descended(Recording& recording) {
  for (const std::int64_t step : {1, 3})
    record(recording, "descended",
           {drawn("p", {60}), drawn("g", {60}), real_value("rate", 0.25), integer_value("step", step)},
           [step](std::vector<Value>& v) {
             const double by = 1 - std::pow(0.5, step);
             for (std::int64_t i = 0; i < 60; ++i) {
               const double g = at(v[1], i);
               f32(v[0])[i] = narrow(at(v[0], i) - 0.25 * g / (by * (std::sqrt(g * g / by) + 0.5)));
             }
           });
}

void shared_products(Recording& recording) {
  for (const std::int64_t width : {20, 30})
    record(recording, "shared_products",
           {drawn("x", {4, width}), drawn("z", {4, width}), zeros("out", {4, width})},
           [width](std::vector<Value>& v) {
             for (std::int64_t row = 0; row < 4; ++row) {
               double sum = 0;
               for (std::int64_t i = row * width; i < (row + 1) * width; ++i)
                 sum += std::fabs(at(v[0], i)) * at(v[1], i) * at(v[1], i);
               for (std::int64_t i = row * width; i < (row + 1) * width; ++i)
                 f32(v[2])[i] = narrow(at(v[0], i) * at(v[1], i) * at(v[1], i) / sum);
             }
           });
}

struct Formula {
  const char* entry;
  void (*label)(Recording&);
  std::vector<Code> found;  ///< empty: it passes
  const char* said = "";
  const char* text = "";  ///< what of the label is read
};
void PrintTo(const Formula& row, std::ostream* out) { *out << row.entry; }

Diagnosis said_of(const Formula& port) {
  numbers().seed(29);
  Recording recording;
  port.label(recording);
  return judged("formulas.cu", port.entry, std::move(recording), {port.text});
}

class Formulas : public testing::TestWithParam<Formula> {};

TEST_P(Formulas, AreToldByTheirCause) {
  const Diagnosis said = said_of(GetParam());
  expect_told(said, GetParam().found, GetParam().said);
}

// With zeros in its place nothing says where a vector is added.
TEST(Products, WithAVectorOfZerosAreRightWhereverItIsAdded) {
  for (const char* entry : {"bent_product", "bent_product_with_bias_behind"})
    EXPECT_EQ(said_of({entry, bent_product<false>}).verdict(), "pass") << entry;
}

TEST(Sums, ThatAreAddedToMemoryWhichTheLabelClearsAreRight) {
  const Diagnosis said = said_of({"returned_sums_added", returned_sums, {}, "", "out = torch.zeros(rows)"});
  EXPECT_EQ(said.verdict(), "pass");
}

constexpr const char* kSizes = "tokens, heads, dim = x.shape\nkv_heads = scale.shape[1]\n";
constexpr const char* kOfRows = "rows, width = x.shape\n";

INSTANTIATE_TEST_SUITE_P(
    Of, Formulas,
    testing::Values(
        Formula{"add_norm_of_x", add_norm, {Code::missing_term}, "the original has", kOfRows},
        Formula{"bounded_gate_above_alone", bounded_gate, {Code::clamp}, "the second half of each row"},
        Formula{"returned_sums_added", returned_sums, {Code::uninitialised_read}, "nobody clears"},
        Formula{
            "scaled_heads_in_turn", scaled_heads, {Code::head_mapping}, "num_kv_heads=2, head_dim=4", kSizes},
        Formula{"seen_scores_from_the_first", seen_scores, {Code::mask_alignment}, "in a band"}),
    [](const auto& info) { return std::string(info.param.entry); });

INSTANTIATE_TEST_SUITE_P(
    More, Formulas,
    testing::ValuesIn(tests::in_second_tier<Formula>(
        {{"add_norm", add_norm, {}, "", kOfRows},
         {"bounded_gate", bounded_gate, {}},
         {"bounded_gate_without_one", bounded_gate, {Code::missing_term}, "a function of the first half"},
         {"spread", spread, {}, "", kOfRows},
         {"spread_of_half_the_block", spread, {Code::other_reduction}, "of each 128 elements", kOfRows},
         {"smoothed", smoothed, {}, "", kOfRows},
         {"smoothed_by_the_block", smoothed, {Code::missing_term}, "of the row of x", kOfRows},
         {"bent_product", bent_product<true>, {}},
         {"bent_product_with_bias_behind",
          bent_product<true>,
          {Code::approximation},
          "bias is added to that"},
         {"byte_products", byte_products, {}},
         {"byte_products_in_16_bits", byte_products, {Code::saturation}, "wraps"},
         {"byte_products_of_whole_tiles", byte_products, {Code::tail_mask}, "influence no element"},
         {"unpacked", unpacked, {}},
         {"unpacked_from_the_highest", unpacked, {Code::layout_convention}, "groups of 4 bits"},
         {"returned_sums", returned_sums, {}},
         {"scaled_heads", scaled_heads, {}, "num_kv_heads=2, head_dim=4", kSizes},
         {"pooled", pooled<false>, {}},
         {"pooled_from_zero", pooled<false>, {Code::clamp}, "begins with 0"},
         {"pooled_means", pooled<true>, {}},
         {"pooled_means_by_three", pooled<true>, {Code::missing_scale}, "0.66667"},
         {"seen_scores", seen_scores, {}},
         {"descended", descended, {}},
         {"descended_whatever_the_step", descended, {Code::ignores_argument}, "step"},
         {"shared_products", shared_products, {}},
         {"shared_products_without_a_factor", shared_products, {Code::missing_scale}, "multiplied by z"}})),
    [](const auto& info) { return std::string(info.param.entry); });

}  // namespace
}  // namespace isomer::lab
