// Faults beside one another: each is told, and nothing that is only what another one does.
#include <gtest/gtest.h>

#include "first_tier.hpp"
#include "lab/candidate/candidate.hpp"
#include "lab/judge/diagnose.hpp"
#include "recorded_call.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <random>
#include <tuple>
#include <vector>

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
Value zeros(const std::string& name, const std::vector<std::int64_t>& shape, DType dtype = DType::f32) {
  return tensor_value(name, dtype, shape);
}
/// The label takes a maximum before its exponentials.
void has_a_maximum(Recording& recording) {
  recording.metadata["facts"] =
      R"({"label": {"file": "1_label_source.py", "subtracts_maximum": true, "functions": []},
      "test": {"file": "3_test_code.py", "functions": [], "observes": true, "draws": 0, "seeds": true}})";
}

/// [rows, columns] as they are where rows were columns.
Value turned(Value value) {
  const int last = value.tensor.rank - 1;
  std::swap(value.tensor.shape[last], value.tensor.shape[last - 1]);
  std::swap(value.tensor.strides[last], value.tensor.strides[last - 1]);
  return value;
}

void product(std::vector<Value>& v) {
  const Tensor &a = v[0].tensor, &b = v[1].tensor;
  const bool batched = a.rank == 3;
  const std::int64_t m = a.size(-2), k = a.size(-1), n = b.size(-1);
  for (std::int64_t batch = 0; batch < (batched ? a.size(0) : 1); ++batch)
    for (std::int64_t i = 0; i < m * n; ++i) {
      double sum = 0;
      for (std::int64_t j = 0; j < k; ++j)
        sum += double(f32(v[0])[(batch * m + i / n) * k + j]) *
               f32(v[1])[(batched ? batch * b.stride(0) : 0) + j * b.stride(-2) + i % n * b.stride(-1)];
      f32(v[2])[batch * m * n + i] = static_cast<float>(sum);
    }
}
void batched_matmul(Recording& recording) {
  const auto call = [&](std::int64_t k, const Value& b) {
    record(recording, "batched_matmul", {drawn("a", {2, 6, k}), b, zeros("c", {2, 6, 8})}, product);
  };
  call(32, drawn("b", {2, 32, 8}));
  call(32, turned(drawn("b", {2, 8, 32})));
  call(40, drawn("b", {2, 40, 8}));
}
void long_matmul(Recording& recording) {
  for (const std::int64_t k : {64, 88})
    record(recording, "long_matmul", {drawn("a", {6, k}), drawn("b", {k, 8}), zeros("c", {6, 8})}, product);
}

void weighed_rows(Recording& recording) {
  for (const int columns : {5, 8})
    record(recording, "weighed_rows",
           {drawn("x", {10, columns}), drawn("y", {10, columns}), zeros("out", {10})},
           [&](std::vector<Value>& v) {
             for (int i = 0; i < 10 * columns; ++i)
               f32(v[2])[i / columns] += f32(v[0])[i] * f32(v[0])[i] * f32(v[1])[i];
           });
}

/// Rows and columns, and what all elements are raised by.
void log_sums_of(Recording& recording, const char* label,
                 const std::vector<std::tuple<int, int, float>>& cases) {
  for (const auto& [rows, columns, raised] : cases) {
    Value x = drawn("x", {rows, columns}, 3);
    for (int i = 0; i < rows * columns; ++i) f32(x)[i] += raised;
    record(recording, label, {x, drawn("bias", {columns}), zeros("out", {rows})},
           [rows = rows, columns = columns](std::vector<Value>& v) {
             for (int r = 0; r < rows; ++r) {
               double sum = 0;
               for (int c = 0; c < columns; ++c)
                 sum += std::exp(double(f32(v[0])[r * columns + c]) + f32(v[1])[c]);
               f32(v[2])[r] = static_cast<float>(std::log(sum));
             }
           });
  }
  has_a_maximum(recording);
}
void log_sums(Recording& recording) {
  log_sums_of(recording, "log_sums", {{18, 7, 150.0f}, {20, 9, 200.0f}});
}
void log_sums_of_sizes(Recording& recording) {
  log_sums_of(recording, "log_sums_of_sizes", {{18, 7, 0.0f}, {20, 9, 1.0f}, {9, 5, 200.0f}});
}

void doubled_views(Recording& recording) {
  for (const bool other : {false, true}) {
    const Value src = other ? turned(drawn("src", {6, 6})) : drawn("src", {6, 6});
    record(recording, "doubled_views", {src, zeros("dst", {6, 6})}, [](std::vector<Value>& v) {
      for (int i = 0; i < 36; ++i)
        f32(v[1])[i] = 2 * f32(v[0])[i / 6 * v[0].tensor.stride(0) + i % 6 * v[0].tensor.stride(1)];
    });
  }
}

/// Queries behind 3 keys that have none.
void attended_rows(Recording& recording) {
  for (const int queries : {6, 9}) {
    const int keys = queries + 3;
    record(
        recording, "attended_rows",
        {drawn("q", {queries, 4}), drawn("k", {keys, 4}), drawn("v", {keys, 4}), zeros("out", {queries, 4})},
        [&](std::vector<Value>& v) {
          for (int i = 0; i < queries; ++i) {
            double sum = 0, mean[4] = {};
            for (int j = 0; j <= i + 3; ++j) {
              double dot = 0;
              for (int d = 0; d < 4; ++d) dot += double(f32(v[0])[4 * i + d]) * f32(v[1])[4 * j + d];
              sum += std::exp(dot);
              for (int d = 0; d < 4; ++d) mean[d] += std::exp(dot) * f32(v[2])[4 * j + d];
            }
            for (int d = 0; d < 4; ++d) f32(v[3])[4 * i + d] = static_cast<float>(mean[d] / sum);
          }
        });
  }
  has_a_maximum(recording);
}

/// The last of three in f64.
void quantized_rows(Recording& recording) {
  for (const auto& [width, dtype] : {std::pair(40, DType::f32), {25, DType::f32}, {32, DType::f64}}) {
    Value x = drawn("x", {3, width});
    std::vector<float> values(f32(x), f32(x) + 3 * width);
    if (dtype == DType::f64) {
      x = zeros("x", {3, width}, dtype);
      std::copy(values.begin(), values.end(), static_cast<double*>(x.tensor.data));
    }
    record(recording, "quantized_rows", {x, zeros("q", {3, width}, DType::i8), zeros("scales", {3})},
           [&, width = width](std::vector<Value>& v) {
             for (int r = 0; r < 3; ++r) {
               const float* row = values.data() + r * width;
               float most = 1e-10f;
               for (int d = 0; d < width; ++d) most = std::max(most, std::fabs(row[d]));
               f32(v[2])[r] = most / 127.0f;
               for (int d = 0; d < width; ++d)
                 static_cast<std::int8_t*>(v[1].tensor.data)[r * width + d] =
                     static_cast<std::int8_t>(std::nearbyint(row[d] / (most / 127.0f)));
             }
           });
  }
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
    auto made = build_candidate(std::filesystem::path(ISOMER_CANDIDATES) / "several.hip.cpp", {}, failure);
    EXPECT_NE(made, nullptr) << failure.place.line << ": " << failure.message;
    return made;
  }();
  return *built;
}

class SeveralFaults : public testing::TestWithParam<Row> {};

TEST_P(SeveralFaults, AreToldEachByItsCause) {
  numbers().seed(3);
  DiagnoseRequest request;
  request.entry = GetParam().entry;
  Recording recording;
  GetParam().label(recording);
  request.recording = std::make_shared<Recording>(std::move(recording));
  const Diagnosis diagnosis = diagnose(candidate(), request);
  std::vector<std::string> found;
  std::string text = diagnosis.error;
  for (const Finding& each : diagnosis.findings) {
    found.push_back(said_against(each));
    text += "\n" + said_against(each) + ": " + each.evidence;
    EXPECT_NE(each.code, Code::unexplained) << each.evidence;
  }
  EXPECT_EQ(found, GetParam().found) << text;
  EXPECT_EQ(diagnosis.verdict(), GetParam().found.empty() ? "pass" : "fail") << text;
}

INSTANTIATE_TEST_SUITE_P(
    Candidates, SeveralFaults,
    testing::ValuesIn(tests::every_nth(
        std::vector<Row>{
            Row{batched_matmul, "batched_matmul", {}},
            Row{batched_matmul,
                "batched_matmul_of_whole_compact_tiles",
                {"assumes-contiguous b", "tail-mask a", "tail-mask b"}},
            Row{long_matmul, "long_matmul", {}},
            Row{long_matmul,
                "long_matmul_of_whole_tiles_in_half",
                {"tail-mask a", "tail-mask b", "intermediate-precision c"}},
            Row{weighed_rows, "weighed_rows", {}},
            Row{weighed_rows, "weighed_rows_named_otherwise", {"argument-order", "missing-scale out"}},
            Row{log_sums, "log_sums", {}}, Row{log_sums, "log_sums_overflow", {"nan-inf out"}},
            Row{log_sums_of_sizes, "log_sums_of_sizes", {}},
            Row{log_sums_of_sizes, "log_sums_of_sizes_overflow", {"missing-max-subtraction x"}},
            Row{doubled_views, "doubled_views", {}},
            Row{doubled_views, "doubled_views_in_turn", {"layout-convention src"}},
            Row{attended_rows, "attended_rows", {}},
            Row{attended_rows, "attended_rows_from_the_first", {"mask-alignment v"}},
            Row{quantized_rows, "quantized_rows", {}},
            Row{quantized_rows, "quantized_rows_of_f32_truncated", {"dtype-refused x", "rounding-mode q"}}},
        3)),
    [](const auto& info) { return std::string(info.param.entry); });

}  // namespace
}  // namespace isomer::lab
