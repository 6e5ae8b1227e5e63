// Candidates of operators of which only a label's calls are recorded: those that are right pass with nothing
// said, those with one fault are told that one, by its cause.
#include <gtest/gtest.h>

#include "first_tier.hpp"
#include "lab/candidate/candidate.hpp"
#include "lab/judge/diagnose.hpp"
#include "replayed/label_calls.hpp"

#include <cstdlib>

namespace isomer::lab {
namespace {

struct Row {
  friend void PrintTo(const Row& row, std::ostream* out) { *out << row.label << " as " << row.entry; }
  const char* label;
  const char* entry;
  std::vector<std::string>
      found;  ///< codes with their arguments, in the order of the report; empty: it passes
};

std::vector<Row> rows() {
  return {
      {"scaled_softmax", "scaled_softmax", {}},
      {"scaled_softmax", "scaled_softmax_unscaled", {"missing-scale scale"}},
      {"scaled_softmax", "scaled_softmax_overflows", {"missing-max-subtraction x"}},
      {"scaled_softmax", "scaled_softmax_of_both", {"missing-scale scale", "missing-max-subtraction x"}},
      {"mild_softmax", "mild_softmax", {}},
      {"mild_softmax", "mild_softmax_overflows", {"missing-max-subtraction x"}},
      {"matmul", "matmul", {}},
      {"matmul", "matmul_output_first", {"argument-order"}},
      {"matmul", "matmul_in_tf32", {"intermediate-precision a, b"}},
      {"matmul_of_wide", "matmul_in_turn", {"argument-order"}},
      {"cumsum_rows", "cumsum_rows", {}},
      {"cumsum_rows", "cumsum_rows_by_block", {"tail-mask out"}},
      {"rotary", "rotary", {}},
      {"rotary", "rotary_of_pairs", {"layout-convention q"}},
      {"silu_and_mul", "silu_and_mul", {}},
      {"silu_and_mul", "silu_and_mul_swapped", {"layout-convention x"}},
      {"silu_and_mul", "silu_and_mul_input_first_swapped", {"argument-order", "layout-convention x"}},
      {"embedding", "embedding", {}},
      {"embedding", "embedding_ignores_ids", {"ignores-index ids"}},
      {"row_means", "row_means", {}},
      {"row_means", "row_means_of_nothing", {"empty-input counts"}},
      {"embedding", "embedding_of_longs", {}},
      {"embedding", "embedding_of_ints", {"dtype-reinterpreted ids"}},
      {"store_rows", "store_rows", {}},
      {"running_sums", "running_sums", {}},
      {"running_sums", "running_sums_of_columns", {"layout-convention x"}},
      {"first_largest", "first_largest", {}},
      {"first_largest", "last_largest", {"tie-rule place"}},
      {"masked", "masked_out", {"inverted-condition mask"}},
      {"lower_triangle", "lower_triangle", {}},
      {"lower_triangle", "lower_triangle_beside", {"off-by-one diagonal"}},
      {"causal_mean", "causal_mean", {}},
      {"causal_mean", "causal_mean_of_bent_dots", {"unexplained out"}},
      {"copy_rows", "copy_rows", {}},
      {"copy_rows", "copy_rows_of_compact", {"assumes-contiguous src"}},
      {"copy_rows", "copy_rows_that_refuses", {}},
      {"copy_whole_rows", "copy_rows_of_whole_rows", {}},
      {"square_bias", "square_bias", {}},
      {"square_bias", "square_bias_without", {"ignores-argument bias"}},
      {"token_quant", "token_quant", {}},
      {"token_quant", "token_quant_128", {"missing-scale scales"}},
      {"token_quant", "token_quant_truncates", {"rounding-mode q"}},
      {"row_norm", "row_norm", {}},
      {"row_norm", "row_norm_without_epsilon", {"epsilon eps"}},
      {"row_norm", "row_norm_epsilon_outside", {"epsilon eps"}},
      {"row_norm", "row_norm_epsilon_of_another_size", {"epsilon eps"}},
      {"row_norm", "row_norm_of_one_less", {"missing-scale out"}},
      {"row_sums", "row_sums", {}},
      {"row_sums", "row_sums_onto_what_is_there", {"uninitialised-read sums"}},
      {"layer_norm", "layer_norm", {}},
      {"layer_norm", "layer_norm_epsilon_outside", {"epsilon out"}},
      {"layer_norm", "layer_norm_unbiased", {"missing-scale out"}},
      {"transpose_copy", "transpose_copy", {}},
      {"transpose_copy", "transpose_copy_of_compact", {"assumes-contiguous src"}},
      {"transpose_copy", "transpose_copy_by_arrays", {}},
      {"transpose_copy", "transpose_copy_by_half_an_array", {"assumes-contiguous src"}},
      {"scale_by", "scale_by", {}},
      {"scale_by", "scale_by_factor", {"keyword-name alpha"}},
      {"masked", "masked", {}},
      {"repeat_heads", "repeat_heads", {}},
      {"repeat_heads", "repeat_heads_in_turn", {"layout-convention out"}},
      {"grouped_dot", "grouped_dot", {}},
      {"grouped_dot", "grouped_dot_in_turn", {"head-mapping k"}},
      {"clamp_into", "clamp_into", {}},
      {"clamp_into", "clamp_into_high_first", {"argument-order low"}},
      {"add_both", "add_both", {}},
      {"add_both", "add_one", {"unwritten-output sum"}},
  };
}

const Candidate& candidate() {
  static const std::shared_ptr<const Candidate> built = [] {
    setenv("ISOMER_CACHE", ISOMER_CANDIDATE_CACHE, 1);
    BuildFailure failure;
    auto made = build_candidate(std::filesystem::path(ISOMER_CANDIDATES) / "plain.hip.cpp", {}, failure);
    EXPECT_NE(made, nullptr) << failure.place.line << ": " << failure.message;
    return made;
  }();
  return *built;
}

Diagnosis said_of(const std::string& entry, Recording recording) {
  DiagnoseRequest request;
  request.entry = entry;
  request.recording = std::make_shared<Recording>(std::move(recording));
  return diagnose(candidate(), request);
}

std::string text_of(const Diagnosis& diagnosis) {
  std::string text = diagnosis.error;
  for (const Finding& each : diagnosis.findings)
    text += "\n" + std::string(name_of(each.code)) + " (" + name_of(each.strength) + ") " + each.argument +
            ": " + each.evidence;
  return text;
}

class EveryCandidate : public testing::TestWithParam<Row> {};

TEST_P(EveryCandidate, IsToldItsFaultAndNothingElse) {
  const Row& row = GetParam();
  const Diagnosis diagnosis = said_of(row.entry, calls_of_label(row.label));
  std::vector<std::string> found;
  for (const Finding& each : diagnosis.findings) {
    found.push_back(said_against(each));
    EXPECT_FALSE(each.evidence.empty()) << each.code;
    EXPECT_FALSE(each.fix.empty()) << each.code;
    EXPECT_GT(each.location.line, 0) << each.code;
  }
  EXPECT_EQ(found, row.found) << text_of(diagnosis);
  EXPECT_EQ(diagnosis.verdict(), row.found.empty() ? "pass" : "fail") << text_of(diagnosis);
  EXPECT_EQ(diagnosis.calls, static_cast<int>(calls_of_label(row.label).calls.size()));
}

INSTANTIATE_TEST_SUITE_P(Candidates, EveryCandidate, testing::ValuesIn(tests::every_nth(rows(), 3)),
                         [](const auto& info) { return std::string(info.param.entry); });

/// x is halved in place by the label; this returns the half and leaves x.
class Returns final : public Candidate {
 public:
  explicit Returns(float factor) : factor_(factor) {
    Entry entry;
    entry.form = Entry::Form::extension;
    entry.name = entry.function = "halve";
    Parameter x;
    x.kind = Parameter::Kind::tensor;
    x.name = "x";
    entry.parameters = {x};
    entry.returned_tensors = 1;
    entry.exported = true;
    entry.place = {"halve.hip.cpp", 4};
    entries_ = {entry};
  }
  const std::filesystem::path& path() const override { return path_; }
  const std::vector<Entry>& entries() const override { return entries_; }
  Answer call(const Entry&, const std::vector<Value>& arguments, const CallSettings&) const override {
    Answer answer;
    answer.arguments = arguments;
    answer.returned = {deep_copy(arguments[0])};
    for (int i = 0; i < 6; ++i) static_cast<float*>(answer.returned[0].tensor.data)[i] *= factor_;
    return answer;
  }

 private:
  float factor_;
  std::filesystem::path path_ = "halve.hip.cpp";
  std::vector<Entry> entries_;
};

Recording halved() {
  Value x = tensor_value("x", DType::f32, {2, 3});
  for (int i = 0; i < 6; ++i) static_cast<float*>(x.tensor.data)[i] = static_cast<float>(i + 1);
  Value half = deep_copy(x);
  for (int i = 0; i < 6; ++i) static_cast<float*>(half.tensor.data)[i] *= 0.5f;
  RecordedCall call{.function = "halve", .before = {x}, .keyword = {false}, .after = {half}};
  return {.calls = {call}};
}

TEST(ReplayedCalls, AnAnswerThatIsReturnedInsteadOfWrittenIsToldSo) {
  DiagnoseRequest request;
  request.entry = "halve";
  request.recording = std::make_shared<Recording>(halved());
  const Diagnosis found = diagnose(Returns(0.5f), request);
  ASSERT_EQ(found.findings.size(), 1u) << text_of(found);
  EXPECT_EQ(found.findings[0].code, Code::unwritten_output);
  EXPECT_EQ(found.findings[0].argument, "x");
  EXPECT_NE(found.findings[0].evidence.find("returns the answer as a tensor"), std::string::npos)
      << text_of(found);
  // Another answer is none, wherever it lies.
  const Diagnosis wrong = diagnose(Returns(0.75f), request);
  ASSERT_FALSE(wrong.findings.empty());
  EXPECT_EQ(text_of(wrong).find("returns the answer as a tensor"), std::string::npos) << text_of(wrong);
  EXPECT_EQ(wrong.verdict(), "fail");
}

TEST(ReplayedCalls, WithoutAnAnswerSayWhyNothingIsJudged) {
  Recording recording = calls_of_label("matmul");
  for (RecordedCall& call : recording.calls) {
    call.after.clear();
    call.raised = "RuntimeError: no device";
  }
  const Diagnosis diagnosis = said_of("matmul", std::move(recording));
  EXPECT_EQ(diagnosis.verdict(), "error");
  EXPECT_EQ(diagnosis.error,
            "its op is not known, and none of the 2 recorded calls has an answer: RuntimeError: no device");
}

TEST(ReplayedCalls, ToleranceOfTheCaseIsTakenAsItIs) {
  Recording recording = calls_of_label("square_bias");
  for (RecordedCall& call : recording.calls) static_cast<float*>(call.after[2].tensor.data)[3] += 0.01f;
  DiagnoseRequest request;
  request.entry = "square_bias";
  request.recording = std::make_shared<Recording>(std::move(recording));
  EXPECT_EQ(diagnose(candidate(), request).verdict(), "fail");
  request.atol = 0.02;
  EXPECT_EQ(diagnose(candidate(), request).verdict(), "pass");
}

}  // namespace
}  // namespace isomer::lab
