// For every code of a finding a candidate that has that fault, and a twin that has none: the fault must be
// named, and nothing must be said about the twin. `slow` needs a device.
#include <gtest/gtest.h>

#include "lab/candidate/candidate.hpp"
#include "lab/judge/diagnose.hpp"
#include "lab/report/findings_document.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>

namespace isomer::lab {
namespace {

namespace fs = std::filesystem;

struct Row {
  Code code;
  const char* file;
  const char* entry;
  const char* op;
  const char* twin;
  const char* wanted = nullptr;  ///< the name that callers use, where not the entry's
};

constexpr Row kRows[] = {
    {Code::symbol_name, "sine.cu", "sin_another_name", "sin", "sin_right", "call_kernel"},
    {Code::argument_count, "sine.cu", "sin_counted", "sin", "sin_right_tensors"},
    {Code::argument_order, "sine.cu", "sin_reordered", "sin", "sin_right_tensors"},
    {Code::argument_kind, "sine.cu", "sin_of_a_number", "sin", "sin_right_tensors"},
    {Code::argument_kind, "attention.cu", "act_quant_block_in_memory", "act_quant", "act_quant_right"},
    {Code::dtype_refused, "quantize.cu", "tensors_want_f32", "quantize_copy_kv", "tensors_right"},
    {Code::dtype_reinterpreted, "quantize.cu", "tensors_read_f32", "quantize_copy_kv", "tensors_right"},
    {Code::rank_refused, "quantize.cu", "tensors_want_rank_2", "quantize_copy_kv", "tensors_right"},
    {Code::shape_refused, "quantize.cu", "tensors_want_64", "quantize_copy_kv", "tensors_right"},
    {Code::assumes_contiguous, "quantize.cu", "tensors_are_compact", "quantize_copy_kv", "tensors_right"},
    {Code::ignores_offset, "quantize.cu", "tensors_have_no_offset", "quantize_copy_kv", "tensors_right"},
    {Code::layout_convention, "attention.cu", "attention_heads_first", "attention", "attention_right"},
    {Code::timeout, "sine.cu", "sin_never_ends", "sin", "sin_right"},
    {Code::crash, "sine.cu", "sin_crashes", "sin", "sin_right"},
    {Code::result_dtype, "lent.cu", "swing_widened", "sin", "swing_last_in_place"},
    {Code::assertion, "lent.cu", "swing_asserted_of_threads", "sin", "swing_last_in_place"},
    {Code::resource_limit, "sine.cu", "sin_takes_all", "sin", "sin_right"},
    {Code::launch_failed, "sine.cu", "sin_of_large_blocks", "sin", "sin_right"},
    {Code::host_touches_device_memory, "tensors.cu", "wave_and_last_by_address", "sin",
     "wave_and_last_by_copies"},
    {Code::empty_input, "sine.cu", "sin_of_no_block", "sin", "sin_right"},
    {Code::out_of_bounds_write, "sine.cu", "sin_of_one_more", "sin", "sin_right"},
    {Code::out_of_bounds_read, "sine.cu", "sin_with_neighbour", "sin", "sin_right"},
    {Code::missing_barrier, "sine.cu", "sin_without_barrier", "sin", "sin_with_barrier"},
    {Code::race, "sine.cu", "sin_added", "sin", "sin_right"},
    {Code::warp_size, "lanes.hip.cpp", "lanes_of_the_warp", "quantize_copy_kv", "lanes_right"},
    {Code::uninitialised_read, "sine.cu", "sin_of_unset", "sin", "sin_with_barrier"},
    {Code::writes_input, "sine.cu", "sin_in_place", "sin", "sin_right"},
    {Code::tail_mask, "sine.cu", "sin_of_whole_blocks", "sin", "sin_right"},
    {Code::unwritten_output, "sine.cu", "sin_of_every_other", "sin", "sin_right"},
    {Code::stale_state, "sine.cu", "sin_once", "sin", "sin_right"},
    {Code::stale_state, "sine_limits.cu", "sin_for_ten_calls", "sin", "sin_of_any_size"},
    {Code::stale_state, "sine.cu", "sin_kept_by_address", "sin", "sin_right"},
    {Code::wrong_stream, "streams.cu", "sin_on_the_default_stream", "sin", "sin_on_the_stream"},
    {Code::wrong_stream, "streams.cu", "sin_copied_on_the_default_stream", "sin", "sin_copied_on_the_stream"},
    {Code::wrong_stream, "streams.cu", "sin_not_waited_for", "sin", "sin_waited_for"},
    {Code::wrong_stream, "streams.cu", "sin_of_a_stream_by_number", "sin", "sin_on_its_own_stream"},
    {Code::ignores_index, "quantize.cu", "quantize_ignores_dest", "quantize_copy_kv", "quantize_right"},
    {Code::index_overflow, "quantize.cu", "tensors_narrow_row", "quantize_copy_kv", "tensors_right"},
    {Code::missing_absolute, "quantize.cu", "quantize_signed", "quantize_copy_kv", "quantize_right"},
    {Code::rounding_mode, "quantize.cu", "quantize_rounds", "quantize_copy_kv", "quantize_right"},
    {Code::scale_precision, "quantize.cu", "quantize_keeps_scale", "quantize_copy_kv", "quantize_right"},
    {Code::intermediate_precision, "quantize.cu", "quantize_narrow_quotient", "quantize_copy_kv",
     "quantize_right"},
    {Code::reciprocal_multiply, "quantize.cu", "quantize_reciprocal", "quantize_copy_kv",
     "quantize_right_f32"},
    {Code::clamp, "quantize.cu", "quantize_clamps", "quantize_copy_kv", "quantize_right"},
    {Code::zero_guard, "quantize.cu", "quantize_guards", "quantize_copy_kv", "quantize_right_f32"},
    {Code::saturation, "attention.cu", "act_quant_fnuz", "act_quant", "act_quant_right"},
    {Code::epsilon, "attention.cu", "act_quant_low_floor", "act_quant", "act_quant_right"},
    {Code::mask_alignment, "attention.cu", "attention_top_left", "attention", "attention_right"},
    {Code::head_mapping, "attention.cu", "attention_modulo", "attention", "attention_right"},
    {Code::missing_scale, "attention.cu", "attention_unscaled", "attention", "attention_right"},
    {Code::missing_max_subtraction, "attention.cu", "attention_overflows", "attention", "attention_right"},
    {Code::missing_rescale, "attention.cu", "attention_not_rescaled", "attention", "attention_right"},
    {Code::nan_inf, "attention.cu", "attention_of_nothing", "attention", "attention_right"},
    {Code::log_base, "attention.cu", "merge_base_2", "merge_attention", "merge_right"},
    {Code::nondeterministic, "sine.cu", "sin_by_the_clock", "sin", "sin_added_in_any_order"},
    {Code::unexplained, "sine.cu", "sin_is_tangent", "sin", "sin_right"},
};

std::shared_ptr<const Candidate> build(const std::string& file, int lanes) {
  static std::map<std::pair<std::string, int>, std::shared_ptr<const Candidate>> built;
  setenv("ISOMER_CACHE", ISOMER_CANDIDATE_CACHE, 1);
  auto& candidate = built[{file, lanes}];
  if (candidate == nullptr) {
    BuildFailure failure;
    BuildSettings settings;
    settings.lanes = lanes;
    candidate = build_candidate(fs::path(ISOMER_CANDIDATES) / file, settings, failure);
    EXPECT_NE(candidate, nullptr) << file << ":" << failure.place.line << ": " << failure.message;
  }
  return candidate;
}

Diagnosis said_of(const Row& row, const char* entry, const char* wanted) {
  const std::string file = row.file;
  DiagnoseRequest request;
  request.op = row.op;
  request.entry = entry;
  request.settings.timeout_seconds = 10;
  if (wanted != nullptr) {
    // Asked for by a name that it does not have: the nearest is called.
    request.entry = "";
    request.function = wanted;
  }
  if (file.find(".hip.") != std::string::npos) request.wide = [file] { return build(file, 64); };
  return diagnose(*build(file, 32), request);
}

std::string text_of(const Diagnosis& diagnosis) {
  std::string text = diagnosis.error;
  for (const Finding& finding : diagnosis.findings)
    text += "\n" + std::string(name_of(finding.code)) + " (" + name_of(finding.strength) + ") " +
            finding.argument + ": " + finding.evidence;
  for (const std::string& note : diagnosis.notes) text += "\nnote: " + note;
  return text;
}

void PrintTo(const Row& row, std::ostream* out) { *out << row.code << " by " << row.entry; }

class EveryCode : public testing::TestWithParam<Row> {};

TEST_P(EveryCode, IsNamed) {
  const Row& row = GetParam();
  const Diagnosis diagnosis = said_of(row, row.entry, row.wanted);
  const bool named = std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(),
                                 [&](const Finding& finding) { return finding.code == row.code; });
  EXPECT_TRUE(named) << text_of(diagnosis);
  EXPECT_EQ(diagnosis.verdict(), "fail") << text_of(diagnosis);
  for (const Finding& finding : diagnosis.findings) {
    EXPECT_FALSE(finding.evidence.empty()) << finding.code;
    EXPECT_FALSE(finding.fix.empty()) << finding.code;
  }
}

INSTANTIATE_TEST_SUITE_P(Of, EveryCode, testing::ValuesIn(kRows), [](const auto& info) {
  std::string name = std::string(name_of(info.param.code)) + "_" + info.param.entry;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

/// A twin is that of several faults: each once.
std::vector<Row> twins() {
  std::vector<Row> list;
  for (const Row& row : kRows)
    if (std::none_of(list.begin(), list.end(), [&](const Row& other) {
          return std::string(other.file) == row.file && std::string(other.twin) == row.twin &&
                 std::string(other.op) == row.op;
        }))
      list.push_back(row);
  return list;
}

class EveryTwin : public testing::TestWithParam<Row> {};

TEST_P(EveryTwin, IsSaidToHaveNoFault) {
  const Row& row = GetParam();
  const Diagnosis diagnosis = said_of(row, row.twin, nullptr);
  EXPECT_EQ(diagnosis.verdict(), "pass") << text_of(diagnosis);
  EXPECT_TRUE(diagnosis.findings.empty()) << text_of(diagnosis);
  EXPECT_GT(diagnosis.calls, 5);
}

INSTANTIATE_TEST_SUITE_P(Of, EveryTwin, testing::ValuesIn(twins()),
                         [](const auto& info) { return std::string(info.param.twin); });

TEST(Codes, OfCandidatesAreAllInTheTable) {
  // What only a label's recorded calls show has its table in tests/replayed.
  const std::set<Code> elsewhere = {
      Code::does_not_compile, Code::slow, Code::keyword_name, Code::ignores_argument, Code::approximation,
      Code::missing_term, Code::argument_default, Code::off_by_one, Code::inverted_condition, Code::tie_rule,
      Code::result_order, Code::other_reduction, Code::wrong_expression,
      // These have their table in test_strangers.cpp.
      Code::no_kernel, Code::library_call, Code::convention, Code::benign_race, Code::suspicious};
  std::set<Code> in_table;
  for (const Row& row : kRows) in_table.insert(row.code);
  for (const Code code : finding_codes()) {
    if (code == Code::nothing_compared) break;  // from here on they are of tests and instructions
    EXPECT_TRUE(in_table.count(code) + elsewhere.count(code) == 1) << code;
  }
}

TEST(Codes, HaveADocumentThatIsMadeFromThem) {
  std::ifstream file(ISOMER_DOCS "/findings.md");
  ASSERT_TRUE(file.is_open());
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(text, findings_document()) << "isomer check --codes > docs/findings.md writes it anew";
  for (const Code code : finding_codes())
    EXPECT_NE(text.find(std::string("| `") + name_of(code) + "` | " + meaning_of(code) + " |"),
              std::string::npos)
        << code;
}

TEST(Codes, WarpsOf64AreAFaultWhereTheInstructionAsksForOthers) {
  DiagnoseRequest request;
  request.op = "quantize_copy_kv";
  request.entry = "lanes_of_64";
  request.wide = [] { return build("lanes.hip.cpp", 64); };
  const Diagnosis said = diagnose(*build("lanes.hip.cpp", 32), request);
  EXPECT_EQ(said.verdict(), "pass") << text_of(said);
  ASSERT_FALSE(said.notes.empty());
  EXPECT_NE(said.notes.front().find("written for warps of 64 lanes"), std::string::npos) << text_of(said);
  request.narrow_warps = true;
  const Diagnosis asked = diagnose(*build("lanes.hip.cpp", 32), request);
  EXPECT_EQ(asked.verdict(), "fail");
  ASSERT_EQ(asked.findings.size(), 1u) << text_of(asked);
  EXPECT_EQ(asked.findings[0].code, Code::warp_size);
}

Diagnosis said_of_file(const char* file) {
  setenv("ISOMER_CACHE", ISOMER_CANDIDATE_CACHE, 1);
  CaseFolder folder;
  folder.folder = ISOMER_CANDIDATES;
  folder.candidates = {fs::path(ISOMER_CANDIDATES) / file};
  folder.op = "sin";
  const std::vector<Diagnosis> said = diagnose_folder(folder);
  EXPECT_EQ(said.size(), 1u);
  return said.at(0);
}

TEST(Codes, AStructThatOnlyHostCodeFillsIsNoFault) {
  const Row row{Code::none, "structs.cu", "sin_of_an_array", "sin", ""};
  const Diagnosis alone = said_of(row, row.entry, nullptr);
  EXPECT_EQ(alone.verdict(), "error");
  EXPECT_TRUE(alone.findings.empty()) << text_of(alone);
  EXPECT_NE(alone.error.find("sin_of_an_array takes h as const Held"), std::string::npos) << alone.error;
  // Plain fields are what callers have.
  EXPECT_EQ(said_of(row, "sin_of_a_struct", nullptr).verdict(), "pass");
  // With a host function beside it, that is called.
  const Diagnosis filled = said_of(row, "", nullptr);
  EXPECT_EQ(filled.entry, "sin_triton");
  EXPECT_EQ(filled.verdict(), "pass") << text_of(filled);
}

TEST(Codes, AKernelThatNobodyLaunchesIsJudgedByALaunchThatFitsOrNotAtAll) {
  const Row row{Code::none, "bare.cu", "", "sin", ""};
  const Diagnosis unknown = said_of(row, "sin_by_ninety_six", nullptr);
  EXPECT_EQ(unknown.verdict(), "error") << text_of(unknown);
  EXPECT_TRUE(unknown.findings.empty()) << text_of(unknown);
  EXPECT_NE(unknown.error.find("does not say how sin_by_ninety_six is launched"), std::string::npos)
      << unknown.error;
  const Diagnosis found = said_of(row, "sin_one_element_each", nullptr);
  EXPECT_EQ(found.verdict(), "pass") << text_of(found);
  // What strays under every launch is the kernel's fault.
  const Diagnosis strays = said_of(row, "sin_one_too_many", nullptr);
  EXPECT_EQ(strays.verdict(), "fail") << text_of(strays);
  EXPECT_TRUE(std::any_of(strays.findings.begin(), strays.findings.end(), [](const Finding& f) {
    return f.code == Code::out_of_bounds_write;
  })) << text_of(strays);
}

TEST(Codes, WhatCannotBeEmulatedIsNoFault) {
  const Diagnosis diagnosis = said_of_file("inline_ptx.cu");
  EXPECT_EQ(diagnosis.verdict(), "error") << text_of(diagnosis);
  EXPECT_TRUE(diagnosis.findings.empty()) << text_of(diagnosis);
  EXPECT_NE(diagnosis.error.find("tcgen05"), std::string::npos) << diagnosis.error;
}

TEST(Codes, DoesNotCompileNamesTheLine) {
  const Diagnosis diagnosis = said_of_file("broken.cu");
  ASSERT_EQ(diagnosis.findings.size(), 1u) << text_of(diagnosis);
  EXPECT_EQ(diagnosis.findings[0].code, Code::does_not_compile);
  EXPECT_NE(diagnosis.findings[0].evidence.find("no_such_function"), std::string::npos) << text_of(diagnosis);
  EXPECT_EQ(diagnosis.findings[0].location.line, 5);
  EXPECT_EQ(diagnosis.compile, Stage::failed);
  EXPECT_EQ(diagnosis.verdict(), "fail");
}

TEST(Codes, DoesNotCompileNamesTheHeaderThatIsMissing) {
  const Diagnosis diagnosis = said_of_file("no_header.cu");
  ASSERT_EQ(diagnosis.findings.size(), 1u) << text_of(diagnosis);
  EXPECT_EQ(diagnosis.findings[0].code, Code::does_not_compile);
  EXPECT_EQ(diagnosis.findings[0].argument, "no/such/header.h");
}

TEST(State, IsAskedForByTenCalls) {
  DiagnoseRequest request;
  request.op = "sin";
  request.entry = "sin_for_ten_calls";
  const Diagnosis said = diagnose(*build("sine_limits.cu", 32), request);
  const auto stale = std::find_if(said.findings.begin(), said.findings.end(),
                                  [](const Finding& each) { return each.code == Code::stale_state; });
  ASSERT_NE(stale, said.findings.end()) << text_of(said);
  EXPECT_EQ(stale->evidence.rfind("after 10 calls with zeros at the same addresses, ", 0), 0u)
      << stale->evidence;
}

/// Sizes past what a number in the source allows, which none of the smaller ones shows.
TEST(Sizes, PastALimitOfTheSourceAreTried) {
  DiagnoseRequest request;
  request.op = "sin";
  std::ifstream file(ISOMER_TEST_DATA "/diagnose/candidates/sine_limits.cu");
  request.source = {std::istreambuf_iterator<char>(file), {}};
  request.entry = "sin_up_to_a_limit";
  const Diagnosis limited = diagnose(*build("sine_limits.cu", 32), request);
  ASSERT_EQ(limited.findings.size(), 1u) << text_of(limited);
  EXPECT_EQ(limited.findings[0].code, Code::tail_mask);
  EXPECT_NE(limited.findings[0].evidence.find("131075, wrong for 16777219"), std::string::npos)
      << limited.findings[0].evidence;
  request.entry = "sin_of_any_size";
  const Diagnosis any = diagnose(*build("sine_limits.cu", 32), request);
  EXPECT_TRUE(any.findings.empty()) << text_of(any);
  // Without such a number the call is not worth its time.
  request.source.clear();
  EXPECT_EQ(diagnose(*build("sine_limits.cu", 32), request).calls, any.calls - 1);
}

}  // namespace
}  // namespace isomer::lab
