// Findings whose fix is mechanical are mended on a copy, which is judged again; what does not help is not
// offered.
#include <gtest/gtest.h>

#include "lab/findings/mend/edits.hpp"
#include "lab/findings/mend/unified_diff.hpp"
#include "lab/findings/mend/verify_fixes.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace isomer::lab {
namespace {

namespace fs = std::filesystem;

bool offers(const Finding& finding, const std::string& source, const std::string& line) {
  const std::vector<Edit> edits = edits_for(finding, "f", source);
  return std::any_of(edits.begin(), edits.end(),
                     [&](const Edit& each) { return each.source.find(line) != std::string::npos; });
}

struct Mechanical {
  Code code;
  const char *variation, *source, *line;
  int at = 1;
};
constexpr Mechanical kMechanical[] = {
    {Code::rounding_mode, "rounding=nearest", "q = roundf(x / s);\n", "q = truncf(x / s);"},
    {Code::clamp, "clamp=127", "q = fmaxf(q, -127.0f);\n", "q = fmaxf(q, -128.0f);"},
    {Code::saturation, "max=240", "s = top / 240.0f;\n", "s = top / 448.0f;"},
    {Code::missing_absolute, "amax=signed", "top = fmaxf(top, x[i]);\n", "top = fmaxf(top, fabsf(x[i]));"},
    {Code::log_base, "log=base-2", "l = log2f(sum);\n", "l = logf(sum);"},
    {Code::tail_mask, "", "const int blocks = n / 128;\n", "const int blocks = (n + 128 - 1) / 128;"},
    {Code::out_of_bounds_write, "", "if (i <= n) y[i] = 0;\n", "if (i < n) y[i] = 0;"},
    {Code::missing_barrier, "", "tile[i] = x;\ny = tile[0];\n",
     "tile[i] = x;\n__syncthreads();\ny = tile[0];", 2},
    {Code::symbol_name, "", "void f(int n) {}\n", "void wanted(int n) {}"},
    {Code::tie_rule, "", "if (x[i] >= best) at = i;\n", "if (x[i] > best) at = i;"},
    {Code::tie_rule, "", "if (o > best || (o == best && i > at)) at = i;\n", "(o == best && i < at))"},
    {Code::other_reduction, "", "float best = 0.0f;\n", "float best = -INFINITY;"},
    {Code::missing_scale, "", "v = squares / (n - 1);\n", "v = squares / (n);"},
    {Code::approximation, "", "out[i] = sqrtf(sum);\n", "out[i] = sum;"},
    {Code::intermediate_precision, "", "y = __half2float(__float2half(a * b));\n", "y = (a * b);"},
};

TEST(Edits, AreThoseThatACodeAsksFor) {
  for (const Mechanical& row : kMechanical) {
    Finding finding;
    finding.code = row.code;
    finding.variation = row.variation;
    finding.location.line = row.at;
    finding.argument = finding.code == Code::symbol_name ? "wanted" : "";
    EXPECT_TRUE(offers(finding, row.source, row.line)) << row.code << ": " << row.source;
    finding.code = Code::unexplained;
    EXPECT_FALSE(offers(finding, row.source, row.line)) << row.source;
  }
}

TEST(Edits, BoundTheThreadsThatAConditionLeavesOut) {
  const std::string source =
      "void f(float* y, int m, int n) {\n  int i = blockIdx.x * 16 + threadIdx.x;\n  int j = blockIdx.y * 16 "
      "+ "
      "threadIdx.y;\n  if (j < m)\n    y[j * n + i] = 0;\n}\n";
  Finding finding;
  finding.code = Code::out_of_bounds_write;
  finding.argument = "y";
  EXPECT_TRUE(offers(finding, source, "if (j < m && i < n)"));
  finding.argument = "x";  // which nothing writes to
  EXPECT_FALSE(offers(finding, source, "if (j < m && i < n)"));
}

TEST(UnifiedDiff, IsWhatPatchTakes) {
  EXPECT_EQ(unified_diff("a\nb\n", "a\nb\n", "f"), "");
  EXPECT_EQ(unified_diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\nten\n", "f"),
            "--- f\n+++ f\n@@ -2,8 +2,9 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n 9\n+ten\n");
  EXPECT_EQ(unified_diff("a\nc\n", "a\nb\nc\n", "f"), "--- f\n+++ f\n@@ -1,2 +1,3 @@\n a\n+b\n c\n");
}

TEST(VerifiedFixes, AreThoseThatWereSeenToHelp) {
  setenv("ISOMER_CACHE", ISOMER_CANDIDATE_CACHE, 1);
  CaseFolder folder;
  folder.folder = ISOMER_CANDIDATES;
  folder.candidates = {fs::path(ISOMER_CANDIDATES) / "mended.cu"};
  folder.op = "sin";
  const Diagnosis before = diagnose_folder(folder).at(0);
  ASSERT_EQ(before.verdict(), "fail");
  const VerifiedFixes fixes = verify_fixes(folder, folder.candidates.front(), before, 100);
  EXPECT_TRUE(fixes.passes) << fixes_in_words(fixes, "mended.cu.patch");
  EXPECT_EQ(fixes.edits.size(), 2u) << fixes_in_words(fixes, "mended.cu.patch");
  EXPECT_NE(fixes.patch.find("+  const int blocks = (n + 128 - 1) / 128;\n"), std::string::npos)
      << fixes.patch;
  EXPECT_NE(fixes.patch.find("+  if (i < n) y[i] = sinf(x[i]);\n"), std::string::npos) << fixes.patch;
  EXPECT_NE(fixes_in_words(fixes, "p").find("with these 2 edits the port passes"), std::string::npos);
  // The candidate is as it was.
  std::ifstream file(folder.candidates.front());
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(text.find("n / 128"), std::string::npos);
}

}  // namespace
}  // namespace isomer::lab
