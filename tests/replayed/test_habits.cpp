// Faults that porters make by habit, each with a right twin: which of equal elements is taken, where a
// maximum begins, by which index a vector is read, what is mixed with what.
#include <gtest/gtest.h>

#include "first_tier.hpp"
#include "lab/judge/diagnose.hpp"
#include "recorded_call.hpp"

#include <algorithm>
#include <cmath>
#include <random>

namespace isomer::lab {
namespace {

std::mt19937& numbers() {
  static std::mt19937 engine;
  return engine;
}
Value drawn(const std::string& name, const std::vector<std::int64_t>& shape, double mean = 0) {
  Value value = tensor_value(name, DType::f32, shape);
  std::normal_distribution<float> normal;
  for (std::int64_t i = 0; i < value.tensor.numel(); ++i)
    static_cast<float*>(value.tensor.data)[i] =
        static_cast<float>(static_cast<double>(normal(numbers())) + mean);
  return value;
}
Value above_zero(const std::string& name, const std::vector<std::int64_t>& shape) {
  Value value = drawn(name, shape);
  for (std::int64_t i = 0; i < value.tensor.numel(); ++i) {
    float& each = static_cast<float*>(value.tensor.data)[i];
    each = 1.25f + std::fabs(each);
  }
  return value;
}
Value zeros(const std::string& name, const std::vector<std::int64_t>& shape) {
  return tensor_value(name, DType::f32, shape);
}
template <class Of>
Value whole(const std::string& name, DType dtype, std::int64_t count, Of&& of) {
  Value value = tensor_value(name, dtype, {count});
  for (std::int64_t i = 0; i < count; ++i)
    if (dtype == DType::i64)
      static_cast<std::int64_t*>(value.tensor.data)[i] = of(i);
    else
      static_cast<std::int32_t*>(value.tensor.data)[i] = static_cast<std::int32_t>(of(i));
  return value;
}
double at(const Value& value, std::int64_t i) { return static_cast<double>(f32(value)[i]); }
std::int64_t number(const Value& value, std::int64_t i) {
  return value.tensor.dtype == DType::i64 ? static_cast<const std::int64_t*>(value.tensor.data)[i]
                                          : static_cast<const std::int32_t*>(value.tensor.data)[i];
}
float narrow(double value) { return static_cast<float>(value); }

/// The call that was recorded last, as one that the label was asked besides.
void ask(Recording& recording, const char* what) {
  recording.asked.push_back(std::move(recording.calls.back()));
  recording.calls.pop_back();
  recording.asked.back().asked = what;
}

void largest_place(Recording& recording) {
  for (const bool equal : {false, true}) {
    Value x = drawn("x", {5, 12});
    for (std::int64_t i = 0; equal && i < 60; ++i) f32(x)[i] = f32(x)[i / 12 * 12 + i % 12 / 2 * 2 % 6];
    record(recording, "largest_place", {x, whole("place", DType::i64, 5, [](std::int64_t) { return -1; })},
           [](std::vector<Value>& v) {
             for (std::int64_t row = 0; row < 5; ++row)
               static_cast<std::int64_t*>(v[1].tensor.data)[row] =
                   std::max_element(f32(v[0]) + row * 12, f32(v[0]) + row * 12 + 12) - f32(v[0]) - row * 12;
           });
  }
  ask(recording, "pairwise equal");
}

void largest(Recording& recording) {
  for (const bool below : {false, true}) {
    Value x = drawn("x", {5, 12});
    for (std::int64_t i = 0; below && i < 60; ++i) f32(x)[i] = -std::fabs(f32(x)[i]);
    record(recording, "largest", {x, zeros("out", {5})}, [](std::vector<Value>& v) {
      for (std::int64_t row = 0; row < 5; ++row)
        f32(v[1])[row] = *std::max_element(f32(v[0]) + row * 12, f32(v[0]) + row * 12 + 12);
    });
  }
  ask(recording, "negative");
}

void running(Recording& recording) {
  for (const std::int64_t rows : {5, 8})
    record(recording, "running", {drawn("x", {rows, 12}, 2), drawn("mean", {12})},
           [rows](std::vector<Value>& v) {
             for (std::int64_t c = 0; c < 12; ++c) {
               double sum = 0;
               for (std::int64_t r = 0; r < rows; ++r) sum += at(v[0], r * 12 + c);
               f32(v[1])[c] = narrow(0.9 * at(v[1], c) + 0.1 * sum / static_cast<double>(rows));
             }
           });
}

void cubic(Recording& recording) {
  for (const std::int64_t count : {50, 70})
    record(recording, "cubic", {drawn("x", {count}), drawn("w", {3}), zeros("y", {count})},
           [count](std::vector<Value>& v) {
             for (std::int64_t i = 0; i < count; ++i) {
               const double x = at(v[0], i);
               f32(v[2])[i] = narrow(at(v[1], 0) * x * x * x + at(v[1], 1) * x * x + at(v[1], 2) * x);
             }
           });
}

void lowered(Recording& recording) {
  for (const std::int64_t width : {12, 21})
    record(recording, "lowered", {drawn("x", {5, width}), zeros("y", {5, width})},
           [width](std::vector<Value>& v) {
             for (std::int64_t i = 0; i < 5 * width; ++i) {
               const float* row = f32(v[0]) + i / width * width;
               f32(v[1])[i] = narrow(std::max(
                   at(v[0], i) - 0.25 * static_cast<double>(*std::max_element(row, row + width)), 0.0));
             }
           });
}

void nearest(Recording& recording) {
  for (const std::int64_t rows : {20, 11})
    record(recording, "nearest",
           {drawn("x", {rows, 8}), drawn("codebook", {9, 8}),
            whole("index", DType::i64, rows, [](std::int64_t) { return -1; }), zeros("distance", {rows})},
           [rows](std::vector<Value>& v) {
             for (std::int64_t r = 0; r < rows; ++r) {
               double least = INFINITY;
               for (std::int64_t c = 0; c < 9; ++c) {
                 double sum = 0;
                 for (std::int64_t d = 0; d < 8; ++d)
                   sum += std::pow(at(v[0], r * 8 + d) - at(v[1], c * 8 + d), 2);
                 if (sum < least) static_cast<std::int64_t*>(v[2].tensor.data)[r] = c;
                 least = std::min(least, sum);
               }
               f32(v[3])[r] = narrow(least);
             }
           });
}

void penalised(Recording& recording) {
  for (const std::int64_t vocab : {40, 60})
    record(recording, "penalised",
           {drawn("logits", {3, vocab}), above_zero("by", {3}),
            whole("ids", DType::i32, 18, [](std::int64_t i) { return i * 7 % 39; }),
            whole("begins", DType::i32, 4,
                  [](std::int64_t i) { return i == 0   ? 0
                                              : i == 1 ? 5
                                              : i == 2 ? 12
                                                       : 18; })},
           [vocab](std::vector<Value>& v) {
             for (std::int64_t row = 0; row < 3; ++row)
               for (std::int64_t i = number(v[3], row); i < number(v[3], row + 1); ++i) {
                 float& x = f32(v[0])[row * vocab + number(v[2], i)];
                 x = narrow(x > 0 ? static_cast<double>(x) / at(v[1], row)
                                  : static_cast<double>(x) * at(v[1], row));
               }
           });
}

void table_grad(Recording& recording) {
  for (const std::int64_t tokens : {20, 27}) {
    record(
        recording, "table_grad",
        {drawn("grad", {tokens, 6}),
         whole("ids", DType::i32, tokens, [](std::int64_t i) { return i * 5 % 9; }), zeros("table", {9, 6})},
        [tokens](std::vector<Value>& v) {
          for (std::int64_t i = 0; i < tokens * 6; ++i)
            if (number(v[1], i / 6) != 4) f32(v[2])[number(v[1], i / 6) * 6 + i % 6] += f32(v[0])[i];
        });
    recording.calls.back().left_out = {integer_value("padding_idx", 4)};
  }
}

void weighed(Recording& recording) {
  for (const std::int64_t length : {10, 14})
    record(recording, "weighed",
           {drawn("x", {2, 12, length}), drawn("w", {12}), zeros("y", {2, 12, length}),
            integer_value("groups", 3)},
           [length](std::vector<Value>& v) {
             for (std::int64_t i = 0; i < 24 * length; ++i)
               f32(v[2])[i] =
                   narrow(at(v[0], i) * at(v[1], i / length % 12) + std::pow(at(v[1], i / length % 12), 2));
           });
}

void bent(Recording& recording) {
  for (const std::int64_t width : {24, 40}) {
    Value alpha = zeros("alpha", {1});
    f32(alpha)[0] = 0.7f;
    record(recording, "bent", {drawn("x", {5, width}), alpha, drawn("beta", {width}), zeros("y", {5, width})},
           [width](std::vector<Value>& v) {
             for (std::int64_t i = 0; i < 5 * width; ++i)
               f32(v[3])[i] = narrow(std::tanh(at(v[1], 0) * at(v[0], i)) + at(v[2], i % width));
           });
  }
}

/// Most slots stay as they were, those at the end are filled.
void put_rows(Recording& recording) {
  for (const std::int64_t tokens : {4, 3})
    record(
        recording, "put_rows",
        {drawn("x", {tokens, 16}), whole("slots", DType::i64, tokens, [](std::int64_t i) { return 12 - i; }),
         zeros("cache", {13, 16})},
        [tokens](std::vector<Value>& v) {
          for (std::int64_t t = 0; t < tokens; ++t) {
            double squares = 0;
            for (std::int64_t c = 0; c < 16; ++c) squares += std::pow(at(v[0], t * 16 + c), 2);
            for (std::int64_t c = 0; c < 16; ++c)
              f32(v[2])[number(v[1], t) * 16 + c] = narrow(at(v[0], t * 16 + c) / std::sqrt(squares / 16));
          }
        });
}

void weighted_loss(Recording& recording) {
  for (const std::int64_t count : {20, 33})
    record(
        recording, "weighted_loss",
        {drawn("x", {count, 7}), whole("target", DType::i64, count, [](std::int64_t i) { return i * 3 % 7; }),
         above_zero("weight", {7}), zeros("loss", {1})},
        [count](std::vector<Value>& v) {
          double sum = 0, all = 0;
          for (std::int64_t i = 0; i < count; ++i) {
            const double by = at(v[2], number(v[1], i));
            sum -= by * at(v[0], i * 7 + number(v[1], i));
            all += by;
          }
          f32(v[3])[0] = narrow(sum / all);
        });
}

void shifted_tokens(Recording& recording) {
  for (const std::int64_t length : {5, 6}) {
    Value mu = zeros("mu", {8});
    for (std::int64_t d = 0; d < 8; ++d) f32(mu)[d] = narrow(0.1 + 0.1 * static_cast<double>(d));
    record(recording, "shifted_tokens", {drawn("x", {3, length, 8}), mu, zeros("y", {3, length, 8})},
           [length](std::vector<Value>& v) {
             for (std::int64_t i = 0; i < 24 * length; ++i) {
               const double x = at(v[0], i), before = i / 8 % length > 0 ? at(v[0], i - 8) : 0;
               f32(v[2])[i] = narrow(x + (before - x) * at(v[1], i % 8));
             }
           });
  }
}

void windows(Recording& recording) {
  for (const std::int64_t n : {21, 30})
    record(recording, "windows",
           {drawn("x", {4, n}), zeros("values", {4, n / 4}), tensor_value("places", DType::i32, {4, n / 4}),
            integer_value("k", 4)},
           [n](std::vector<Value>& v) {
             for (std::int64_t i = 0; i < 4 * (n / 4); ++i) {
               const float* row = f32(v[0]) + i / (n / 4) * n;
               const float* most = std::max_element(row + i % (n / 4) * 4, row + i % (n / 4) * 4 + 4);
               f32(v[1])[i] = *most;
               static_cast<std::int32_t*>(v[2].tensor.data)[i] = static_cast<std::int32_t>(most - row);
             }
           });
}

void cosines(Recording& recording) {
  for (const std::int64_t k : {12, 17})
    record(recording, "cosines", {drawn("a", {6, k}), drawn("b", {9, k}), zeros("out", {6, 9})},
           [k](std::vector<Value>& v) {
             for (std::int64_t i = 0; i < 54; ++i) {
               double dot = 0, a = 0, b = 0;
               for (std::int64_t j = 0; j < k; ++j) {
                 const double x = at(v[0], i / 9 * k + j), y = at(v[1], i % 9 * k + j);
                 dot += x * y;
                 a += x * x;
                 b += y * y;
               }
               f32(v[2])[i] = narrow(dot / std::sqrt(a * b));
             }
           });
}

void planes(Recording& recording) {
  for (const std::int64_t plane : {15, 20})
    record(recording, "planes", {drawn("x", {2, 4, plane}), drawn("bias", {4}), zeros("y", {2, 4, plane})},
           [plane](std::vector<Value>& v) {
             for (std::int64_t row = 0; row < 8; ++row) {
               double sum = 0, squares = 0;
               for (std::int64_t i = row * plane; i < (row + 1) * plane; ++i) sum += at(v[0], i);
               const double mean = sum / static_cast<double>(plane);
               for (std::int64_t i = row * plane; i < (row + 1) * plane; ++i)
                 squares += std::pow(at(v[0], i) - mean, 2);
               for (std::int64_t i = row * plane; i < (row + 1) * plane; ++i)
                 f32(v[2])[i] =
                     narrow((at(v[0], i) - mean) / std::sqrt(squares / static_cast<double>(plane)) +
                            at(v[1], row % 4));
             }
           });
}

struct Habit {
  const char* entry;
  void (*label)(Recording&);
  std::vector<Code> found;  ///< empty: it passes
  const char* said = "";
};
void PrintTo(const Habit& row, std::ostream* out) { *out << row.entry; }

class Habits : public testing::TestWithParam<Habit> {};

TEST_P(Habits, AreToldByTheirCause) {
  numbers().seed(31);
  Recording recording;
  GetParam().label(recording);
  const Diagnosis said = judged("habits.cu", GetParam().entry, std::move(recording), {});
  expect_told(said, GetParam().found, GetParam().said);
}

INSTANTIATE_TEST_SUITE_P(
    Of, Habits,
    testing::Values(
        Habit{"largest_place_the_last", largest_place, {Code::tie_rule}, "the same value"},
        Habit{"largest_from_zero", largest, {Code::other_reduction}, "a maximum that begins with 0"},
        Habit{"running_exchanged", running, {Code::missing_scale}, "the weights 0.9 and 0.1 are exchanged"},
        Habit{"put_rows_by_half", put_rows, {Code::missing_scale}, "0.707107 times"},
        Habit{"weighed_by_group", weighed, {Code::layout_convention}, "as many as groups has"}),
    [](const auto& info) { return std::string(info.param.entry); });

INSTANTIATE_TEST_SUITE_P(
    More, Habits,
    testing::ValuesIn(tests::in_second_tier<Habit>(
        {{"largest_place", largest_place, {}},
         {"largest", largest, {}},
         {"running", running, {}},
         {"running_by_one_less", running, {Code::missing_scale}, "times the original's"},
         {"cubic", cubic, {}},
         {"cubic_backwards", cubic, {Code::layout_convention}, "rows backwards"},
         {"lowered", lowered, {}},
         {"lowered_by_half", lowered, {Code::missing_term}, "bounded below at 0"},
         {"nearest", nearest, {}, "dim=8"},
         {"nearest_by_root", nearest, {Code::approximation}, "the root of the reference"},
         {"penalised", penalised, {}},
         {"penalised_alike", penalised, {Code::approximation}, "below 0"},
         {"table_grad", table_grad, {}},
         {"table_grad_of_all", table_grad, {Code::ignores_argument}, "which is padding_idx"},
         {"weighed", weighed, {}},
         {"weighed_by_remainder", weighed, {Code::layout_convention}, "addressed by another index"},
         {"bent", bent, {}},
         {"bent_outside", bent, {Code::missing_scale}, "multiplied by alpha beforehand"},
         {"bent_by_the_third", bent, {Code::layout_convention}, "of each 4 elements of beta those at 3"},
         {"put_rows", put_rows, {}},
         {"shifted_tokens", shifted_tokens, {}},
         {"shifted_tokens_turned", shifted_tokens, {Code::inverted_condition}, "one less mu"},
         {"windows", windows, {}},
         {"cosines", cosines, {}},
         {"cosines_by_one", cosines, {Code::missing_scale}, "from column to column"},
         {"planes", planes, {}},
         {"planes_by_one_less", planes, {Code::missing_scale}, "n − 1"},
         {"weighted_loss", weighted_loss, {}},
         {"weighted_loss_by_number", weighted_loss, {Code::missing_scale}, "the sum of weight at target"}})),
    [](const auto& info) { return std::string(info.param.entry); });

}  // namespace
}  // namespace isomer::lab
