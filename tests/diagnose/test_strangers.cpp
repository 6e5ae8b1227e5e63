// Kernels that nobody says are ports: which function is judged, how it is called, and what is a convention of
// other houses or formally undefined, beside twins in which the same place is wrong.
#include <gtest/gtest.h>

#include "diagnose/strangers.hpp"
#include "first_tier.hpp"
#include "lab/ask/trial.hpp"
#include "lab/judge/diagnose.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include <unistd.h>

namespace isomer::lab {
namespace {

namespace fs = std::filesystem;

Diagnosis said_of_stranger(const char* file, const char* entry, const char* op) {
  setenv("ISOMER_CACHE", ISOMER_CANDIDATE_CACHE, 1);
  CaseFolder folder;
  folder.folder = ISOMER_CANDIDATES;
  folder.candidates = {fs::path(ISOMER_CANDIDATES) / file};
  folder.op = op;
  folder.entry = entry;
  return diagnose_folder(folder).at(0);
}

std::string words_of(const Diagnosis& said) {
  std::string text = said.verdict() + " " + said.entry + " (" + said.called_with + ") " + said.error;
  for (const Finding& each : said.findings) text += "\n" + said_against(each) + ": " + each.evidence;
  return text;
}

bool has(const Diagnosis& said, Code code) {
  return std::any_of(said.findings.begin(), said.findings.end(),
                     [&](const Finding& each) { return each.code == code; });
}

class Strangers : public testing::TestWithParam<Stranger> {};

TEST_P(Strangers, AreJudgedByWhatTheyDo) {
  const Stranger& row = GetParam();
  const Diagnosis said = said_of_stranger(row.file, row.entry, row.op);
  EXPECT_EQ(said.verdict(), row.verdict) << words_of(said);
  EXPECT_EQ(said.entry, row.entry);
  // Tensors say their sizes themselves; of a call that an assertion ends nothing was judged.
  if (row.code != Code::assertion &&
      (std::string(row.entry).find("attend_") != 0 || row.file != std::string("tensors.cu"))) {
    EXPECT_FALSE(said.called_with.empty());
  }
  if (row.code != Code::none) EXPECT_TRUE(has(said, row.code)) << words_of(said);
  if (std::string(row.verdict) == "pass")
    for (const Finding& each : said.findings) EXPECT_TRUE(is_remark(each)) << words_of(said);
  if (std::string(row.verdict) == "pass" && row.code == Code::none) {
    EXPECT_TRUE(said.findings.empty()) << words_of(said);
  }
  // What is said of a fault that has a name is this, and not what it comes to besides.
  const std::string file = row.file;
  if ((file == "limits.cu" || file == "tensors.cu" || file == "lent.cu" || file == "narrow.cu" ||
       file == "bits.cu" || file == "engines.cu" || file == "reduced.cu" || file == "untyped.cu" ||
       file == "edges.cu" || file == "causes.cu" || file == "shares.cu" || file == "packed.cu" ||
       file == "halves.cu" || file == "guards.cu" || file == "larger.cu") &&
      std::string(row.verdict) == "fail")
    for (const Finding& each : said.findings)
      EXPECT_TRUE(is_remark(each) || each.code == row.code || each.code == Code::out_of_bounds_read ||
                  each.code == Code::out_of_bounds_write)
          << words_of(said);
  // How its pages lie, which sizes it takes and that its tensors are compact: no more is to be said of any.
  EXPECT_LE(std::count_if(said.findings.begin(), said.findings.end(), is_remark), 3) << words_of(said);
}

INSTANTIATE_TEST_SUITE_P(Of, Strangers, testing::ValuesIn(tests::every_nth(kStrangers, 12)),
                         [](const auto& info) { return std::string(info.param.entry); });
INSTANTIATE_TEST_SUITE_P(More, Strangers,
                         testing::ValuesIn(tests::in_second_tier(std::vector(std::begin(kMore),
                                                                             std::end(kMore)))),
                         [](const auto& info) { return std::string(info.param.entry); });

TEST(WhatIsSeen, IsToldWithItsLineWhereCandidatesMayStartNoProcess) {
  const Diagnosis said = said_of_stranger("strangers.cu", "wave_raced", "sin");
  ASSERT_TRUE(has(said, Code::missing_barrier)) << words_of(said);
  for (const Finding& each : said.findings) EXPECT_GT(each.location.line, 0) << words_of(said);
}

TEST(WhatIsSeen, IsOneDecodingBesideAnotherFault) {
  const Diagnosis said = said_of_stranger("bits.cu", "expand_by_bits_truncated", "weight_dequant");
  EXPECT_EQ(said.findings.size(), 2u) << words_of(said);
  EXPECT_TRUE(has(said, Code::rounding_mode) && has(said, Code::nan_inf)) << words_of(said);
}

TEST(WhatIsJudged, IsWhatIsExportedAndNeverAStaticTwin) {
  const Diagnosis said = said_of_stranger("hidden_twin.cu", "", "sin");
  EXPECT_EQ(said.entry, "run_sine");
  EXPECT_EQ(said.verdict(), "fail") << words_of(said);
  EXPECT_EQ(said.called_with, "n=1000");
}

TEST(WhatIsJudged, IsNothingWhereTwoFunctionsCanBeMeant) {
  const Diagnosis said = said_of_stranger("two_entries.cu", "", "sin");
  EXPECT_EQ(said.verdict(), "error") << words_of(said);
  EXPECT_NE(
      said.error.find("2 functions can be meant, wave_a(x, y, n) at line 8 and wave_b(x, y, n) at line 9: "
                      "name one with --entry"),
      std::string::npos)
      << said.error;
  EXPECT_EQ(said_of_stranger("two_entries.cu", "wave_a", "sin").entry, "wave_a");
}

TEST(WhatIsJudged, IsFoundWithoutItsNamespaces) {
  const Diagnosis said = said_of_stranger("limits.cu", "swing_within", "sin");
  EXPECT_EQ(said.entry, "waves::swing_within");
  EXPECT_EQ(said.verdict(), "pass") << words_of(said);
  EXPECT_TRUE(said.findings.empty()) << words_of(said);
}

/// A candidate that is not judged, with the sentence that says why.
struct NotJudged {
  const char *name, *file, *entry, *op, *because;
};
void PrintTo(const NotJudged& row, std::ostream* out) { *out << row.file << ' ' << row.entry; }

class WhatIsNotJudged : public testing::TestWithParam<NotJudged> {};

TEST_P(WhatIsNotJudged, GetsASentenceAndNoFinding) {
  const NotJudged& row = GetParam();
  const Diagnosis said = said_of_stranger(row.file, row.entry, row.op);
  EXPECT_EQ(said.verdict(), "error") << words_of(said);
  EXPECT_TRUE(said.findings.empty()) << words_of(said);
  EXPECT_NE(said.error.find(row.because), std::string::npos) << said.error;
}

const NotJudged kNotJudged[] = {
    {"takes_nothing_for_an_input", "tensors.cu", "multiply_by_weights", "fp8_gemm",
     "takes nothing for a_s of fp8_gemm: it is another operation"},
    {"finds_its_keys_in_pages", "narrow.cu", "decode_from_pages", "attention",
     "finds keys through block_table"},
    {"gives_nothing_for_an_output", "halves.cu", "shrink_rows_alone", "act_quant",
     "gives nothing for s of act_quant"},
    {"is_unlike_the_op_and_has_other_sizes", "limits.cu", "swing_of_noise", "sin",
     "nothing like an answer of sin"},
    {"reads_a_larger_input", "called.cu", "product_by_scales_of_rows", "fp8_gemm",
     "reads b_s (f32[2, 3]) beyond its end"},
    {"includes_a_toolkit_that_is_not_here", "of_a_toolkit.cu", "", "sin",
     "it includes cutlass/numeric_types.h, which is not here"},
    {"takes_memory_of_the_host", "limits.cu", "swing_of_host", "sin", "takes pointers of the host"},
};

/// The second tier: calls of attention, of which many are tried.
const NotJudged kMoreNotJudged[] = {
    {"has_pages_that_lie_otherwise", "pages.cu", "pages_of_swizzled_keys", "attention",
     "its pages may lie otherwise"},
    {"takes_a_real_number_that_no_name_explains", "narrow.cu", "attend_with_slopes", "attention",
     "the meaning of alpha=1 is not known"},
    {"has_a_letter_of_tiles", "made_for.cu", "attend_by_tiles_of_default", "attention",
     "the meaning of T="},
    {"takes_scales_in_bytes", "lettered.cu", "multiply_by_exponents", "fp8_gemm",
     "for a_s, which in fp8_gemm is no byte"},
    {"has_scales_of_keys", "made_for.cu", "decode_bytes", "attention",
     "in none of the forms in which attention is asked here it has k_scale"},
    {"depends_on_no_value", "called.cu", "attend_without_values", "attention",
     "nothing that attend_without_values gives depends on v"},
};

INSTANTIATE_TEST_SUITE_P(Of, WhatIsNotJudged, testing::ValuesIn(kNotJudged),
                         [](const auto& info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(More, WhatIsNotJudged,
                         testing::ValuesIn(tests::in_second_tier(std::vector(std::begin(kMoreNotJudged),
                                                                             std::end(kMoreNotJudged)))),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(WhatIsJudged, IsNothingThatTakesANumberForATensorAndHasNoLaunch) {
  const Diagnosis said = said_of_stranger("static_scale.cu", "quantise_by_number", "act_quant");
  EXPECT_EQ(said.verdict(), "error") << words_of(said);
  EXPECT_TRUE(said.findings.empty()) << words_of(said);
}

TEST(WhatIsJudged, IsNothingThatReadsMemoryThatTheOpDoesNotHave) {
  const Diagnosis said = said_of_stranger("houses.cu", "attend_scaled_keys", "attention");
  EXPECT_EQ(said.verdict(), "error") << words_of(said);
  EXPECT_NE(said.error.find("also reads or writes k_norms (const float*)"), std::string::npos) << said.error;
}

TEST(WhatIsPassed, ForATensorThatTheOpDoesNotHaveIsOneWithoutElementsWhereOneIsWanted) {
  Entry entry;
  entry.form = Entry::Form::extension;
  for (const auto kind :
       {Parameter::Kind::tensor, Parameter::Kind::tensor, Parameter::Kind::optional_tensor}) {
    entry.parameters.emplace_back();
    entry.parameters.back().kind = kind;
  }
  Form form;
  form.entry = &entry;
  form.passings.resize(3);
  form.passings[0].what = Passing::What::role;
  form.passings[0].role = 0;
  const std::vector<Value> values = {tensor_value("q", DType::f16, {2, 3})};
  const std::vector<Value> given = passed(form, values);
  ASSERT_TRUE(given[1].is_tensor());
  EXPECT_EQ(given[1].tensor.describe(), "f16[0]");
  EXPECT_EQ(given[2].kind, Value::Kind::none);
  entry.form = Entry::Form::function;  // who takes pointers is given null
  EXPECT_EQ(passed(form, values)[1].kind, Value::Kind::none);
}

TEST(WhatIsJudged, IsNothingWhereTheMachineLacksRoom) {
  const std::string cache = testing::TempDir() + "no_cache_" + std::to_string(getpid());
  std::ofstream(cache) << "a file where a folder is wanted";
  setenv("ISOMER_CACHE", cache.c_str(), 1);
  CaseFolder folder;
  folder.folder = ISOMER_CANDIDATES;
  folder.candidates = {fs::path(ISOMER_CANDIDATES) / "hidden_twin.cu"};
  folder.op = "sin";
  const Diagnosis said = diagnose_folder(folder).at(0);
  fs::remove(cache);
  EXPECT_EQ(said.verdict(), "error") << words_of(said);
  EXPECT_TRUE(said.findings.empty()) << words_of(said);
  EXPECT_NE(said.error.find("ISOMER_CACHE"), std::string::npos) << said.error;
}

}  // namespace
}  // namespace isomer::lab
