// Which of several edits that help is told, and under which name.
#include "core/temporary_folder.hpp"
#include "lab/candidate/folder.hpp"
#include "lab/judge/diagnose.hpp"
#include "recorded_call.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace isomer::lab {
namespace {

Value filled(const char* name, const std::vector<std::int64_t>& shape, float below) {
  Value x = tensor_value(name, DType::f32, shape);
  for (std::int64_t i = 0; i < x.tensor.numel(); ++i)
    f32(x)[i] = static_cast<float>((i * 29 + x.tensor.numel()) % 19) - below;
  return x;
}

std::string with(const std::string& source, const std::string& right, const std::string& wrong) {
  const std::size_t at = source.find(right);
  EXPECT_NE(at, std::string::npos);
  return std::string(source).replace(at, right.size(), wrong);
}

Diagnosis judged_in_folder(const std::string& source, const Recording& recording) {
  const core::TemporaryFolder place("test", "edit-that-is-meant");
  return diagnose_folder(case_of(place.path(), source, recording)).at(0);
}

/// Values that are not below 0, four by four and then those that are left.
constexpr const char* kFours = R"(#include <cuda_runtime.h>

__global__ void positive(const float* x, float* y, int n) {
  const int fours = n / 4, step = gridDim.x * blockDim.x, id = blockIdx.x * blockDim.x + threadIdx.x;
  for (int v = id; v < fours; v += step) {
    const float4 own = reinterpret_cast<const float4*>(x)[v];
    reinterpret_cast<float4*>(y)[v] =
        make_float4(fmaxf(own.x, 0.f), fmaxf(own.y, 0.f), fmaxf(own.z, 0.f), fmaxf(own.w, 0.f));
  }
  for (int i = 4 * fours + id; i < n; i += step) y[i] = fmaxf(x[i], 0.f);
}

extern "C" void positive_values(const float* x, float* y, int n) { positive<<<2, 32>>>(x, y, n); }
)";

Recording positive_values() {
  Recording recording;
  for (const std::int64_t count : {64, 129, 257})
    record(recording, "positive_values",
           {filled("x", {count}, 2.25F), tensor_value("y", DType::f32, {count})}, [&](std::vector<Value>& v) {
             for (std::int64_t i = 0; i < count; ++i) f32(v[1])[i] = std::fmax(f32(v[0])[i], 0.0F);
           });
  return recording;
}

TEST(EditThatIsMeant, StaysInTheMemoryWhereAnotherDoesNot) {
  expect_told(judged_in_folder(kFours, positive_values()), {}, "");
  // With as many fours as hold all of it every value is right, and others are written behind the end.
  const Diagnosis said =
      judged_in_folder(with(kFours, "i = 4 * fours + id;", "i = 4 * fours + id + 1;"), positive_values());
  ASSERT_FALSE(said.findings.empty());
  EXPECT_EQ(said.findings.front().location.line, 10) << said.findings.front().evidence;
}

/// Rows by the root of their variance, and an angle of each column.
constexpr const char* kSpread = R"(#include <cuda_runtime.h>

__global__ void spread(const float* x, float* y, int n) {
  const float* row = x + blockIdx.x * n;
  float mean = 0.f, squares = 0.f;
  for (int i = 0; i < n; ++i) mean += row[i] / n;
  for (int i = 0; i < n; ++i) squares += (row[i] - mean) * (row[i] - mean);
  const float variance = squares / (float)n;
  for (int i = 0; i < n; ++i) y[blockIdx.x * n + i] = variance * (float)(i % 8) + row[i];
}

extern "C" void spread_rows(const float* x, float* y, int rows, int n) { spread<<<rows, 1>>>(x, y, n); }
)";

Recording spread_rows() {
  Recording recording;
  for (const std::int64_t rows : {3, 5}) {
    constexpr std::int64_t kColumns = 16;
    record(recording, "spread_rows",
           {filled("x", {rows, kColumns}, 8.5F), tensor_value("y", DType::f32, {rows, kColumns})},
           [&](std::vector<Value>& v) {
             for (std::int64_t r = 0; r < rows; ++r) {
               const float* row = f32(v[0]) + r * kColumns;
               double mean = 0, squares = 0;
               for (int i = 0; i < kColumns; ++i) mean += double(row[i]) / kColumns;
               for (int i = 0; i < kColumns; ++i)
                 squares += (double(row[i]) - mean) * (double(row[i]) - mean);
               for (int i = 0; i < kColumns; ++i)
                 f32(v[1])[r * kColumns + i] = float(squares / kColumns * (i % 8) + double(row[i]));
             }
           });
  }
  return recording;
}

TEST(EditThatIsMeant, ACountWithoutOneOfItsIsOneOff) {
  expect_told(judged_in_folder(kSpread, spread_rows()), {}, "");
  const Diagnosis said = judged_in_folder(with(kSpread, "(float)n;", "(float)(n - 1);"), spread_rows());
  expect_told(said, {Code::off_by_one}, "line 8 has");
}

TEST(EditThatIsMeant, AQuotientTooManyIsNoNumberThatIsOneOff) {
  const Diagnosis said =
      judged_in_folder(with(kSpread, "(float)(i % 8)", "(float)((i / 2) % 8)"), spread_rows());
  expect_told(said, {Code::wrong_expression}, "line 9 has");
}

}  // namespace
}  // namespace isomer::lab
