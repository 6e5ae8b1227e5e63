// What only the label says: which strides its kernel's numbers are, and that its own answer is not defined.
#include <gtest/gtest.h>

#include "first_tier.hpp"
#include "lab/candidate/candidate.hpp"
#include "lab/judge/diagnose.hpp"
#include "lab/judge/recorded_groups.hpp"
#include "lab/judge/unset_locals.hpp"
#include "recorded_call.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>

namespace isomer::lab {
namespace {

Value counted(const std::string& name, const std::vector<std::int64_t>& shape) {
  Value value = tensor_value(name, DType::f32, shape);
  for (std::int64_t i = 0; i < value.tensor.numel(); ++i)
    static_cast<float*>(value.tensor.data)[i] = static_cast<float>((i * 37 % 101) - 50) / 16;
  return value;
}
Value indices(const std::vector<std::int64_t>& list) {
  Value value = tensor_value("index", DType::i64, {static_cast<std::int64_t>(list.size())});
  std::copy(list.begin(), list.end(), static_cast<std::int64_t*>(value.tensor.data));
  return value;
}
void facts_of_label(Recording& recording, const std::string& strides) {
  recording.metadata["facts"] =
      R"({"label": {"file": "1_label_source.py", "functions": [{"name": ")" +
      recording.calls.front().function +
      R"(", "line": 1, "returns": 0, "parameters": [], "writes": [], "indexes": [], "constants": [], "strides": [)" +
      strides +
      R"(]}]}, "test": {"file": "3_test_code.py", "functions": [], "observes": true, "draws": 0, "seeds": true}})";
}

Diagnosis said_of(const char* entry, Recording recording) {
  setenv("ISOMER_CACHE", ISOMER_CANDIDATE_CACHE, 1);
  const std::filesystem::path path = std::filesystem::path(ISOMER_CANDIDATES) / "label_says.cu";
  BuildFailure failure;
  static const std::shared_ptr<const Candidate> built = build_candidate(path, {}, failure);
  EXPECT_NE(built, nullptr) << failure.place.line << ": " << failure.message;
  DiagnoseRequest request;
  request.entry = entry;
  request.source = "float sum; sum += x;";
  request.texts = {"def scatter(y, index, x):\n    count, columns = x.shape\n"};
  request.with_locals = [path](Locals locals) -> std::shared_ptr<const Candidate> {
    BuildSettings settings;
    settings.locals = locals;
    BuildFailure ignored;
    return build_candidate(path, settings, ignored);
  };
  request.recording = std::make_shared<Recording>(std::move(recording));
  return diagnose(*built, request);
}
std::string words_of(const Diagnosis& said) {
  std::string text = said.verdict() + std::string(" (") + said.called_with + ") " + said.error;
  for (const Finding& each : said.findings) text += "\n" + said_against(each) + ": " + each.evidence;
  return text;
}
std::size_t count(const Diagnosis& said, Code code) {
  return static_cast<std::size_t>(std::count_if(said.findings.begin(), said.findings.end(),
                                                [&](const Finding& each) { return each.code == code; }));
}

Recording sums_from_behind() {
  Recording recording;
  for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{4, 6}, {9, 5}, {12, 12}})
    record(recording, "from_behind",
           {counted("x", {rows, columns}), tensor_value("y", DType::f32, {rows, columns})},
           [rows = rows, columns = columns](std::vector<Value>& v) {
             for (std::int64_t c = 0; c < columns; ++c) {
               double sum = 0;
               for (std::int64_t r = rows - 1; r >= 0; --r) {
                 sum += f32(v[0])[r * columns + c];
                 f32(v[1])[r * columns + c] = static_cast<float>(sum);
               }
             }
           });
  facts_of_label(recording,
                 R"({"name": "p_r", "tensor": "x", "dim": 0}, {"name": "p_c", "tensor": "x", "dim": 1})");
  return recording;
}

TEST(StridesOfTheLabel, AreWhatItsKernelCallsThem) {
  const Diagnosis right = said_of("columns_from_behind", sums_from_behind());
  EXPECT_EQ(right.verdict(), std::string("pass")) << words_of(right);
  EXPECT_NE(right.called_with.find("p_r=6, p_c=1"), std::string::npos) << right.called_with;
  const Diagnosis other = said_of("rows_from_behind", sums_from_behind());
  EXPECT_EQ(other.verdict(), std::string("fail")) << words_of(other);
  EXPECT_EQ(count(other, Code::layout_convention), 1u) << words_of(other);
  EXPECT_EQ(count(other, Code::race), 0u) << words_of(other);
}

Recording scattered_rows() {
  Recording recording;
  for (const std::vector<std::int64_t>& rows :
       {std::vector<std::int64_t>{0, 2, 4}, std::vector<std::int64_t>{3, 1, 0},
        std::vector<std::int64_t>{2, 2, 2}})
    record(recording, "scatter",
           {tensor_value("y", DType::f32, {6, 40}), indices(rows), counted("x", {3, 40})},
           [&](std::vector<Value>& v) {
             for (std::size_t i = 0; i < rows.size(); ++i)
               std::copy_n(f32(v[2]) + i * 40, 40, f32(v[0]) + rows[i] * 40);
           });
  facts_of_label(recording, "");
  return recording;
}

TEST(EqualIndices, AreTheTestsFaultAndNoRaceOfThePort) {
  const Diagnosis right = said_of("scatter_rows", scattered_rows());
  EXPECT_EQ(count(right, Code::race), 0u) << words_of(right);
  EXPECT_EQ(count(right, Code::duplicate_index), 1u) << words_of(right);
  EXPECT_EQ(right.verdict(), std::string("pass")) << words_of(right);
  const Diagnosis faulty = said_of("scatter_rows_but_the_last_column", scattered_rows());
  EXPECT_EQ(count(faulty, Code::race), 0u) << words_of(faulty);
  EXPECT_EQ(faulty.verdict(), std::string("fail")) << words_of(faulty);
}

Recording sums_of_magnitudes() {
  Recording recording;
  for (const std::int64_t columns : {5, 8})
    record(recording, "magnitudes", {counted("x", {3, columns}), tensor_value("y", DType::f32, {3})},
           [columns](std::vector<Value>& v) {
             for (std::int64_t r = 0; r < 3; ++r) {
               double sum = 0;
               for (std::int64_t c = 0; c < columns; ++c) sum += std::fabs(f32(v[0])[r * columns + c]);
               f32(v[1])[r] = static_cast<float>(sum);
             }
           });
  facts_of_label(recording, "");
  return recording;
}

struct Sum {
  const char *entry, *verdict;
};
void PrintTo(const Sum& row, std::ostream* out) { *out << row.entry; }

class SumsOfMagnitudes : public testing::TestWithParam<Sum> {};

TEST_P(SumsOfMagnitudes, AreToldWhereTheyHaveNoFirstValue) {
  const Diagnosis said = said_of(GetParam().entry, sums_of_magnitudes());
  EXPECT_EQ(said.verdict(), std::string(GetParam().verdict)) << words_of(said);
  EXPECT_EQ(count(said, Code::uninitialised_read), said.verdict() == std::string("fail")) << words_of(said);
  EXPECT_EQ(count(said, Code::unexplained), 0u) << words_of(said);
}

INSTANTIATE_TEST_SUITE_P(Of, SumsOfMagnitudes, testing::Values(Sum{"magnitudes", "pass"}),
                         [](const auto& info) { return std::string(info.param.entry); });
/// The second tier, for its builds.
INSTANTIATE_TEST_SUITE_P(More, SumsOfMagnitudes,
                         testing::ValuesIn(tests::in_second_tier(std::vector{
                             Sum{"magnitudes_from_unset", "fail"}})),
                         [](const auto& info) { return std::string(info.param.entry); });

TEST(SumsWithoutAFirstValue, AreFoundByTheirDeclaration) {
  EXPECT_EQ(line_of_unset_sum("int i;\nfloat most;\nmost = fmaxf(most, x);"), 2);
  EXPECT_EQ(line_of_unset_sum("float a, sum;\nsum += a;"), 1);
  EXPECT_EQ(line_of_unset_sum("float sum;\nif (first) {\n  float sum = 0;\n}\nsum += a;"), 1);
  EXPECT_EQ(line_of_unset_sum("float sum;\nsum = 0;\nsum += a;"), 0);
  EXPECT_EQ(line_of_unset_sum("float x;\nload(x);\nx += 1;"), 0);
  EXPECT_EQ(line_of_unset_sum("float sum = 0;\nsum += a;\nfloat y;\ny = 3;"), 0);
}

TEST(NumbersThatDecideTheResults, AreLookedAt) {
  const auto call = [](bool both) {
    Replayed replayed;
    replayed.roles.push_back({.name = "both"});
    Value value;
    value.name = "both";
    value.kind = Value::Kind::boolean;
    value.integer = both;
    replayed.values.push_back(value);
    replayed.outputs.resize(both ? 2 : 1);
    for (Replayed::Output& output : replayed.outputs) output.returned = 0;
    return replayed;
  };
  EXPECT_TRUE(ResultCounts({call(true), call(false)}).depend_on("both"));
  EXPECT_FALSE(ResultCounts({call(true), call(true)}).depend_on("both"));
}

TEST(NumbersThatDecideTheResults, AreNotThoseBesideMemoryThatTheCallerPasses) {
  const auto call = [](bool scaled) {
    Replayed replayed;
    replayed.roles.push_back({.name = "scaled"});
    Value value;
    value.name = "scaled";
    value.kind = Value::Kind::boolean;
    value.integer = scaled;
    replayed.values.push_back(value);
    replayed.outputs.resize(scaled ? 2 : 1);
    replayed.outputs.front().returned = 0;
    if (scaled) replayed.outputs.back().returned = -1;  // an `out` of the caller's
    return replayed;
  };
  EXPECT_FALSE(ResultCounts({call(true), call(false)}).depend_on("scaled"));
}

}  // namespace
}  // namespace isomer::lab
