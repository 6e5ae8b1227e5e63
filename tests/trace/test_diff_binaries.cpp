// Builds that differ in one thing: the diff names that one, and nothing that no evidence shows.
#include "lab/diff/diff_binaries.hpp"
#include "lab/report/difference_report.hpp"
#include "tests/trace/fixture.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace isomer::lab {
namespace {

using Causes = std::set<std::string>;

/// Parameters, options, compiler and architecture: what a reader would change. Registers and opcodes follow
/// from it.
Causes causes(const Pair& pair) {
  static const std::set<std::string> kConsequences = {"registers",   "shared_bytes",   "spill_bytes",
                                                      "stack_bytes", "max_threads",    "code_bytes",
                                                      "code_hash",   "argument layout"};
  Causes names;
  for (const Difference& each : pair.differences)
    if (!kConsequences.contains(each.name) && !each.name.starts_with("instructions "))
      names.insert(each.name);
  return names;
}

struct Change {
  std::string what;               ///< the fixture
  bool logs;                      ///< whether build logs are given
  Pair::Kind kind;                ///< of every pair that differs
  Causes causes;                  ///< of each of them
  std::set<std::string> kernels;  ///< the families that differ
};

void PrintTo(const Change& change, std::ostream* out) {
  *out << change.what << (change.logs ? " with logs" : "");
}

class OneChange : public testing::TestWithParam<Change> {};

DiffResult diff_of(const Change& change) {
  if (!change.logs) return diff_binaries(kernels_of("base.cubin"), kernels_of(change.what + ".cubin"));
  return diff_binaries(kernels_of("base.cubin"), kernels_of(change.what + ".cubin"),
                       read_build_log(fixture("base.log")), read_build_log(fixture(change.what + ".log")));
}

TEST_P(OneChange, IsNamedAndNothingElse) {
  const DiffResult result = diff_of(GetParam());
  EXPECT_FALSE(result.same());
  EXPECT_TRUE(result.only_a.empty() && result.only_b.empty());
  EXPECT_EQ(result.pairs.size(), 3u);
  std::set<std::string> kernels;
  for (const Pair& pair : result.pairs) {
    if (pair.kind == Pair::Kind::same) {
      EXPECT_TRUE(pair.differences.empty());
      continue;
    }
    EXPECT_EQ(word(pair.kind), std::string(word(GetParam().kind))) << pair.a;
    EXPECT_EQ(causes(pair), GetParam().causes) << pair.a;
    EXPECT_FALSE(pair.differences.empty()) << pair.a;
    kernels.insert(parse_kernel_name(pair.a).family);
  }
  EXPECT_EQ(kernels, GetParam().kernels);
  EXPECT_EQ(result.verdict.size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(
    DiffBinaries, OneChange,
    testing::Values(
        Change{"block", false, Pair::Kind::variant, {"#0"}, {"tiny::softmax_row"}},
        Change{"causal", false, Pair::Kind::variant, {"#1"}, {"tiny::softmax_row"}},
        // ptxas writes its own options down; a launch bound outranks this one, so that one kernel alone
        // changes.
        Change{"maxrregcount", false, Pair::Kind::code, {"option --maxrregcount"}, {"plain"}},
        Change{"maxrregcount", true, Pair::Kind::code, {"option --maxrregcount"}, {"plain"}},
        // This one leaves no trace but machine code.
        Change{"fast_math", false, Pair::Kind::code, {}, {"tiny::softmax_row", "plain"}},
        Change{
            "fast_math", true, Pair::Kind::code, {"option --use_fast_math"}, {"tiny::softmax_row", "plain"}},
        Change{"source", false, Pair::Kind::code, {}, {"tiny::softmax_row"}},
        Change{"source", true, Pair::Kind::code, {}, {"tiny::softmax_row"}}),
    [](const testing::TestParamInfo<Change>& info) {
      return info.param.what + (info.param.logs ? "_with_logs" : "");
    });

const Pair& differing(const DiffResult& result) {
  const auto found = std::find_if(result.pairs.begin(), result.pairs.end(),
                                  [](const Pair& pair) { return pair.kind != Pair::Kind::same; });
  if (found == result.pairs.end()) throw std::runtime_error("no pair differs");
  return *found;
}

std::map<std::string, std::pair<std::string, std::string>> values(const Pair& pair) {
  std::map<std::string, std::pair<std::string, std::string>> all;
  for (const Difference& each : pair.differences) all[each.name] = {each.a, each.b};
  return all;
}

TEST(DiffBinaries, SaysBothValues) {
  using Values = std::pair<std::string, std::string>;
  EXPECT_EQ(values(differing(diff_binaries(kernels_of("base.cubin"), kernels_of("block.cubin")))).at("#0"),
            (Values{"128", "64"}));
  const auto option =
      values(differing(diff_binaries(kernels_of("base.cubin"), kernels_of("maxrregcount.cubin"))));
  EXPECT_EQ(option.at("option --maxrregcount"), (Values{"", "24"}));
  EXPECT_EQ(option.at("registers"), (Values{"64", "24"}));
  EXPECT_EQ(option.at("spill_bytes"), (Values{"0", "240"}));
}

TEST(DiffBinaries, OfOneBuildIsTheSame) {
  const DiffResult result = diff_binaries(kernels_of("base.cubin"), kernels_of("base.cubin"));
  EXPECT_TRUE(result.same());
  EXPECT_EQ(result.pairs.size(), 3u);
  ASSERT_EQ(result.verdict.size(), 1u);
  EXPECT_NE(result.verdict[0].find("3 kernels have the same machine code"), std::string::npos)
      << result.verdict[0];
}

TEST(DiffBinaries, AnotherArchitectureIsADifferenceOfTheSameKernel) {
  const DiffResult result = diff_binaries(kernels_of("sm_80.cubin"), kernels_of("base.cubin"));
  EXPECT_EQ(result.pairs.size(), 3u);
  for (const Pair& pair : result.pairs) {
    EXPECT_EQ(pair.kind, Pair::Kind::code);
    EXPECT_EQ(causes(pair), (Causes{"arch"})) << pair.a;
  }
}

TEST(DiffBinaries, ArchitecturesThatOneSideAddsAreOneLine) {
  const DiffResult result = diff_binaries(kernels_of("libfamily.so"), kernels_of("base.cubin"));
  EXPECT_FALSE(result.same());
  EXPECT_EQ(result.only_a, (std::vector<std::string>{"every kernel for sm_80 (3)"}));
  EXPECT_TRUE(result.only_b.empty());
  for (const Pair& pair : result.pairs) EXPECT_EQ(pair.kind, Pair::Kind::same) << pair.a;
}

BinaryKernel made(const std::string& name, const std::string& code = "same") {
  BinaryKernel kernel;
  kernel.name = name;
  kernel.parsed = std::make_shared<const KernelName>(parse_kernel_name(name));
  kernel.arch = "sm_90a";
  kernel.code_hash = code;
  return kernel;
}

TEST(DiffBinaries, PairsTheNearestInstantiations) {
  const DiffResult result = diff_binaries(
      {made("k<64, false, float>"), made("k<128, true, float>"), made("other<1>"), made("gone(int)")},
      {made("k<128, true, half>"), made("k<64, true, float>"), made("new(int)"), made("other<1>")});
  std::map<std::string, std::string> pairs;
  for (const Pair& pair : result.pairs) pairs[pair.a] = pair.b;
  EXPECT_EQ(pairs, (std::map<std::string, std::string>{{"k<64, false, float>", "k<64, true, float>"},
                                                       {"k<128, true, float>", "k<128, true, half>"},
                                                       {"other<1>", "other<1>"}}));
  EXPECT_EQ(result.only_a, (std::vector<std::string>{"gone(int) (sm_90a)"}));
  EXPECT_EQ(result.only_b, (std::vector<std::string>{"new(int) (sm_90a)"}));
}

TEST(DiffBinaries, InstantiationsWithNothingInCommonAreNotPaired) {
  const DiffResult result = diff_binaries({made("k<1, 2, 3>")}, {made("k<4, 5, 6>")});
  EXPECT_TRUE(result.pairs.empty());
  EXPECT_EQ(result.only_a.size(), 1u);
  EXPECT_EQ(result.only_b.size(), 1u);
}

TEST(DiffBinaries, TwoReleasesAreToldByTheirTemplatesNumbersOfArguments) {
  // The second has two parameters more and a kernel more, and one kernel is in both.
  const DiffResult result = diff_binaries(
      {made("attend<Loop<64, 1, float>, Tail<3>>"), made("attend<Loop<128, 2, float>, Tail<3>>"),
       made("sum<1>")},
      {made("attend<Loop<64, 1, float, false, 0>, Tail<3>>"), made("sum<1>"), made("drop(int)")});
  EXPECT_EQ(result.verdict,
            (std::vector<std::string>{
                "Two releases of one library: Loop takes 3 arguments in A and 5 in B. 2 kernels of A and 1 "
                "of B have "
                "such a name, and cannot be compared parameter by parameter.",
                "1 kernel only in B: B has code paths that A lacks, or was built with more of them."}));
  // Both numbers on one side are no other release.
  const DiffResult both = diff_binaries({made("attend<Loop<1, 2>>"), made("attend<Loop<1, 2, 3>>")},
                                        {made("attend<Loop<4, 5>>")});
  for (const std::string& sentence : both.verdict)
    EXPECT_EQ(sentence.find("release"), std::string::npos) << sentence;
}

TEST(DiffBinaries, AFamilyUnderAnotherNamespaceIsPaired) {
  const DiffResult result = diff_binaries({made("flash::k<64, true>")}, {made("pytorch_flash::k<64, true>")});
  ASSERT_EQ(result.pairs.size(), 1u);
  EXPECT_EQ(causes(result.pairs[0]), (Causes{"family"}));
}

TEST(DiffBinaries, AnotherWrapperIsNamed) {
  const std::string inner =
      "flash::FlashAttnFwdCombine<cute::tuple<cute::C<8>, cute::C<64>>, 4, 256, 1, false, true, float, "
      "float, cutlass::arch::Sm90>";
  const DiffResult result =
      diff_binaries({made("void cutlass::device_kernel<" + inner + ">(int)")},
                    {made("void cutlass::device_kernel<flash::enable_sm90<" + inner + ">>(int)")});
  ASSERT_EQ(result.pairs.size(), 1u);
  EXPECT_EQ(causes(result.pairs[0]), (Causes{"wrapper"}));
}

TEST(DiffBinaries, AnotherCompilerIsNamed) {
  BinaryKernel a = made("k<1>", "one"), b = made("k<1>", "two");
  a.compiler = "ptxas 12.8.93", b.compiler = "ptxas 13.0.88";
  const DiffResult result = diff_binaries({a}, {b});
  EXPECT_EQ(causes(result.pairs.at(0)), (Causes{"compiler"}));
}

TEST(DiffBinaries, ALogForOneSideOnlyIsSaid) {
  const DiffResult result = diff_binaries(kernels_of("base.cubin"), kernels_of("fast_math.cubin"),
                                          read_build_log(fixture("base.log")), {});
  ASSERT_EQ(result.notes.size(), 1u);
  EXPECT_NE(result.notes[0].find("for A only"), std::string::npos);
}

TEST(DifferenceReport, JsonIsThatOfTheDesign) {
  const DiffResult result = diff_binaries(kernels_of("base.cubin"), kernels_of("causal.cubin"));
  const nlohmann::json json = nlohmann::json::parse(difference_json(result));
  EXPECT_EQ(json.at("version"), 1);
  EXPECT_EQ(json.at("verdict"), "different");
  EXPECT_EQ(json.at("pairs").size(), 3u);
  EXPECT_TRUE(json.at("only_a").empty() && json.at("only_b").empty());
  const auto variant = std::find_if(json.at("pairs").begin(), json.at("pairs").end(),
                                    [](const nlohmann::json& pair) { return pair.at("kind") == "variant"; });
  ASSERT_NE(variant, json.at("pairs").end());
  EXPECT_EQ(variant->at("a"), "tiny::softmax_row<128, true, float>");
  EXPECT_EQ(variant->at("differences"), nlohmann::json::parse(R"([{"name":"#1","a":"true","b":"false"}])"));
}

TEST(DifferenceReport, TextBeginsWithTheVerdict) {
  const DiffResult result = diff_binaries(kernels_of("base.cubin"), kernels_of("causal.cubin"));
  const std::string text = difference_text(result, "a.cubin", "b.cubin");
  EXPECT_TRUE(text.starts_with("different\n")) << text;
  for (const char* words :
       {"another instantiation of the same family: #1 true → false", "variant", "3 pairs, 2 the same"})
    EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
}

TEST(DiffBinaries, OneSourceBuiltInTwoFoldersIsTheSame) {
  for (const char* a : {"folder_one", "folder_one-rdc=true"})
    for (const char* b : {"folder_two", "folder_two-rdc=true"}) {
      const auto kernels_a = kernels_of(std::string(a) + ".fatbin"),
                 kernels_b = kernels_of(std::string(b) + ".fatbin");
      std::set<std::string> names_a, names_b;
      for (const BinaryKernel& kernel : kernels_a) names_a.insert(kernel.name);
      for (const BinaryKernel& kernel : kernels_b) names_b.insert(kernel.name);
      EXPECT_NE(names_a, names_b) << "the names hold the folder";
      const DiffResult result = diff_binaries(kernels_a, kernels_b);
      EXPECT_TRUE(result.same()) << a << " and " << b;
      EXPECT_EQ(result.pairs.size(), 4u);
      for (const Pair& pair : result.pairs)
        EXPECT_EQ(pair.a.find("_folders_cu_"), std::string::npos) << pair.a;
    }
}

TEST(DiffBinaries, OneMoreClosureIsOneKernelAndRenumbersNoOther) {
  const DiffResult result =
      diff_binaries(kernels_of("folder_one.fatbin"), kernels_of("folder_one-DONE_MORE.fatbin"));
  for (const Pair& pair : result.pairs) EXPECT_EQ(pair.kind, Pair::Kind::same) << pair.a << " " << pair.b;
  EXPECT_TRUE(result.only_a.empty());
  EXPECT_EQ(result.only_b, std::vector<std::string>{"each<run(float*)::{lambda(float)#1}> (sm_90a)"});
}

}  // namespace
}  // namespace isomer::lab
