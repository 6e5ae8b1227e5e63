// Larger sizes than any recorded call has, which the label answered: elements that no block or thread reaches
// then.
#include "recorded_call.hpp"

#include <gtest/gtest.h>

namespace isomer::lab {
namespace {

Value counted(const std::string& name, const std::vector<std::int64_t>& shape) {
  Value value = tensor_value(name, DType::f32, shape);
  for (std::int64_t i = 0; i < value.tensor.numel(); ++i) f32(value)[i] = static_cast<float>(1 + i * 7 % 31);
  return value;
}

using Label = void (*)(Recording&, std::int64_t rows, std::int64_t width);

void twice(Recording& recording, std::int64_t rows, std::int64_t width) {
  record(recording, "twice", {counted("x", {rows, width}), tensor_value("y", DType::f32, {rows, width})},
         [=](std::vector<Value>& v) {
           for (int i = 0; i < rows * width; ++i) f32(v[1])[i] = 2 * f32(v[0])[i];
         });
}
void weigh(Recording& recording, std::int64_t rows, std::int64_t width) {
  record(recording, "weigh",
         {counted("x", {rows, width}), counted("w", {width}), tensor_value("y", DType::f32, {rows, width})},
         [=](std::vector<Value>& v) {
           for (int i = 0; i < rows * width; ++i) f32(v[2])[i] = f32(v[0])[i] * f32(v[1])[i % width];
         });
}

void twice_with_columns(Recording& recording, std::int64_t rows, std::int64_t width) {
  record(recording, "twice",
         {counted("x", {rows, width}), tensor_value("y", DType::f32, {rows, width}),
          tensor_value("columns", DType::i32, {rows, width})},
         [=](std::vector<Value>& v) {
           for (std::int64_t i = 0; i < rows * width; ++i) {
             f32(v[1])[i] = 2 * f32(v[0])[i];
             static_cast<std::int32_t*>(v[2].tensor.data)[i] = static_cast<std::int32_t>(i % width);
           }
         });
}

/// What is recorded of a test with one size, and the label's answers to larger ones in its place.
struct Sizes {
  std::int64_t rows = 3, width = 12;
  std::vector<std::int64_t> larger = {131, 1027};
};
Recording recording_of(Label label, const Sizes& sizes = {}) {
  Recording recording;
  label(recording, sizes.rows, sizes.width);
  for (const std::int64_t to : sizes.larger) {
    Recording other;
    label(other, sizes.rows, to);
    recording.asked.push_back(other.calls.front());
    recording.asked.back().asked = "larger";
    recording.asked.back().size_before = sizes.width;
    recording.asked.back().size = to;
  }
  return recording;
}

struct Row {
  friend void PrintTo(const Row& row, std::ostream* out) { *out << row.entry; }
  Label label;
  const char* entry;
  std::vector<Code> found;
  const char* evidence;
};

class LargerSizes : public testing::TestWithParam<Row> {};

TEST_P(LargerSizes, ShowWhatSmallOnesHide) {
  const Row& row = GetParam();
  const Diagnosis said = judged("larger.cu", row.entry, recording_of(row.label));
  expect_told(said, row.found, row.evidence);
  EXPECT_EQ(said.calls, 1) << "what the recorder asked is no call of the test";
}

INSTANTIATE_TEST_SUITE_P(
    Candidates, LargerSizes,
    testing::ValuesIn(std::vector<Row>{
        {twice, "double_all", {}, ""},
        {twice, "double_by_the_remainder", {Code::unwritten_output}, "right for 12 and wrong for 131"},
        {twice,
         "double_in_eight_blocks",
         {Code::unwritten_output},
         "right for 12 and 131 and wrong for 1027"},
        {twice, "double_a_thousand", {Code::unwritten_output}, "2057 of 3081 elements of y are not written"},
        {twice, "double_rows", {}, ""},
        {twice, "double_first_columns", {Code::unwritten_output}, "x (dimension 1), y (dimension 1)"},
        {weigh, "weigh_rows", {}, ""},
        {weigh, "weigh_rows_by_threads", {Code::tail_mask}, "elements of y are wrong"},
    }),
    [](const auto& info) { return std::string(info.param.entry); });

class Room : public testing::TestWithParam<Row> {};

TEST_P(Room, ThatIsTooSmallIsALimit) {
  const Row& row = GetParam();
  const Diagnosis said = judged("larger.cu", row.entry, recording_of(row.label));
  EXPECT_EQ(said.verdict(), "pass");
  ASSERT_EQ(said.findings.size(), 1u);
  EXPECT_EQ(said.findings[0].code, Code::convention);
  EXPECT_TRUE(said.findings[0].evidence.starts_with("a limit (shape-refused): right for 12"));
  EXPECT_NE(said.findings[0].evidence.find(row.evidence), std::string::npos) << said.findings[0].evidence;
}

INSTANTIATE_TEST_SUITE_P(Candidates, Room,
                         testing::ValuesIn(std::vector<Row>{
                             {twice, "double_by_a_thread_each", {}, "12 and 131, and 1027"},
                             {twice, "double_up_to_64", {}, "rows have no more than 64 columns"},
                             {twice, "double_in_shared", {}, "shared array row"},
                             {twice, "double_in_registers", {}, "local array own"},
                         }),
                         [](const auto& info) { return std::string(info.param.entry); });

TEST(ANumber, ThatIsOneOfTwoEqualSizesIsEitherOfThem) {
  // Of squares nothing says which of the two is the width, and both of them are right.
  const Diagnosis said =
      judged("larger.cu", "double_square", recording_of(twice, {.rows = 12, .width = 12, .larger = {131}}));
  expect_told(said, {}, "");
}

TEST(LargerSizesAlone, SayNothingOfAChoiceAmongAFewBesideRightNumbers) {
  const Recording recording = recording_of(twice_with_columns, {.larger = {131}});
  expect_told(judged("larger.cu", "double_with_a_few_others", recording), {}, "");
  EXPECT_EQ(judged("larger.cu", "double_with_many_others", recording).verdict(), "fail");
}

TEST(LargerSizesAlone, AreNotAskedOfWhatIsWrongAnyway) {
  Recording recording = recording_of(twice);
  for (int i = 0; i < 36; ++i) f32(recording.calls[0].after[1])[i] *= 3;
  const Diagnosis said = judged("larger.cu", "double_by_the_remainder", std::move(recording));
  EXPECT_EQ(said.verdict(), "fail");
  for (const Finding& each : said.findings) EXPECT_NE(each.code, Code::unwritten_output) << each.evidence;
}

}  // namespace
}  // namespace isomer::lab
