// Calls of several signatures: what explains those of one explains those of the others, too.
#include "core/temporary_folder.hpp"
#include "lab/candidate/folder.hpp"
#include "lab/judge/diagnose.hpp"
#include "recorded_call.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace isomer::lab {
namespace {

/// Decayed sums of each row, from a first value where one is given. `%s` is what is launched with one.
std::string decayed(const std::string& with_first) {
  return R"(#include <cuda_runtime.h>

template <bool kFirst>
__global__ void decay(const float* x, const float* first, float* y, int n) {
  float h = kFirst ? first[blockIdx.x] : 0.f;
  for (int i = 0; i < n; ++i) {
    h = 0.5f * h + x[blockIdx.x * n + i];
    y[blockIdx.x * n + i] = h;
  }
}

extern "C" void decayed(const float* x, const float* first, float* y, int rows, int n) {
  if (first != nullptr) {
    )" + with_first +
         R"(
  } else {
    decay<false><<<rows, 1>>>(x, first, y, n);
  }
}
)";
}

Diagnosis judged_decayed(const std::filesystem::path& place, const std::string& with_first) {
  Recording recording;
  for (const bool given : {false, true, false, true}) {
    const std::int64_t rows = given ? 4 : 3, n = 9 + 4 * static_cast<std::int64_t>(recording.calls.size());
    Value x = tensor_value("x", DType::f32, {rows, n}), first = tensor_value("first", DType::f32, {rows});
    for (std::int64_t i = 0; i < rows * n; ++i)
      f32(x)[i] = static_cast<float>(std::sin(2.3 * static_cast<double>(i)));
    for (std::int64_t i = 0; i < rows; ++i) f32(first)[i] = 3 + static_cast<float>(i);
    Value none;
    none.name = "first";
    record(recording, "decayed", {x, given ? first : none, tensor_value("y", DType::f32, {rows, n})},
           [=](std::vector<Value>& v) {
             for (std::int64_t row = 0; row < rows; ++row) {
               float h = given ? f32(v[1])[row] : 0;
               for (std::int64_t i = row * n; i < (row + 1) * n; ++i)
                 f32(v[2])[i] = h = 0.5F * h + f32(v[0])[i];
             }
           });
  }
  return diagnose_folder(case_of(place, decayed(with_first), recording)).at(0);
}

TEST(Signatures, AnEditOfOneIsRightForTheOthersAsWell) {
  const core::TemporaryFolder right("test", "signatures");
  EXPECT_EQ(judged_decayed(right.path(), "decay<true><<<rows, 1>>>(x, first, y, n);").verdict(), "pass");
  // `!(kFirst) ? …` would mend the calls with a first value alone.
  const core::TemporaryFolder place("test", "signatures");
  const Diagnosis said = judged_decayed(place.path(), "decay<false><<<rows, 1>>>(x, first, y, n);");
  ASSERT_EQ(said.findings.size(), 1u) << said.error;
  EXPECT_EQ(said.findings[0].code, Code::ignores_argument) << said.findings[0].evidence;
  EXPECT_EQ(said.findings[0].edited.find("!(kFirst)"), std::string::npos) << said.findings[0].edited;
}

/// Codes of four bits by a table, `first` and `second` being two entries beside each other.
std::string by_table(const std::string& first, const std::string& second) {
  return "#include <cuda_runtime.h>\n\n__constant__ float kCodes[16] = {-1.f, -0.7f, -0.53f, -0.39f, -0.28f, "
         "-0.18f,\n"
         "    -0.09f, 0.f, " +
         first + ",\n    " + second + ",\n    0.25f, 0.34f, 0.44f, 0.56f, 0.72f, 1.f};\n" + R"(
__global__ void decode(const unsigned char* codes, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = kCodes[codes[i] & 15];
}

extern "C" void decoded(const unsigned char* codes, float* out, int n) { decode<<<(n + 63) / 64, 64>>>(codes, out, n); }
)";
}

Diagnosis judged_by_table(const std::filesystem::path& place, const std::string& first,
                          const std::string& second) {
  constexpr float kRight[16] = {-1.F,  -0.7F, -0.53F, -0.39F, -0.28F, -0.18F, -0.09F, 0.F,
                                0.08F, 0.16F, 0.25F,  0.34F,  0.44F,  0.56F,  0.72F,  1.F};
  Recording recording;
  for (const std::int64_t n : {200, 333}) {
    Value codes = tensor_value("codes", DType::u8, {n});
    for (std::int64_t i = 0; i < n; ++i)
      static_cast<std::uint8_t*>(codes.tensor.data)[i] = static_cast<std::uint8_t>(i * 7 + i / 16);
    record(recording, "decoded", {codes, tensor_value("out", DType::f32, {n})}, [=](std::vector<Value>& v) {
      for (std::int64_t i = 0; i < n; ++i)
        f32(v[1])[i] = kRight[static_cast<std::uint8_t*>(v[0].tensor.data)[i] & 15];
    });
  }
  return diagnose_folder(case_of(place, by_table(first, second), recording)).at(0);
}

TEST(Tables, ElementsThatHaveChangedPlacesOrSignsAreFound) {
  const core::TemporaryFolder right("test", "tables");
  EXPECT_EQ(judged_by_table(right.path(), "0.08f", "0.16f").verdict(), "pass");
  const core::TemporaryFolder exchanged("test", "tables");
  const Diagnosis places = judged_by_table(exchanged.path(), "0.16f", "0.08f");
  ASSERT_EQ(places.findings.size(), 1u);
  EXPECT_EQ(places.findings[0].code, Code::wrong_expression) << places.findings[0].evidence;
  EXPECT_EQ(places.findings[0].location.line, 4) << places.findings[0].evidence;
  const core::TemporaryFolder turned("test", "tables");
  const Diagnosis sign = judged_by_table(turned.path(), "0.08f", "-0.16f");
  ASSERT_EQ(sign.findings.size(), 1u);
  EXPECT_EQ(sign.findings[0].location.line, 5) << sign.findings[0].evidence;
}

}  // namespace
}  // namespace isomer::lab
