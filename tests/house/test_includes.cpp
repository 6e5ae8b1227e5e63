// Arrows point down: python, cli → lab → ops → {cpu, gpu} → core, and emulator → gpu; what lies in an oracle
// folder is the lab's; a kernel includes device words and its own op's kernels; nobody includes in a circle.
#include "includes.hpp"

#include <gtest/gtest.h>

namespace isomer::house {
namespace {

TEST(Includes, OfTheTreePointDown) {
  const Includes tree = read_includes(
      ISOMER_SOURCE_DIR, {"include", "src", "lab", "cli", "emulator", "python", "tests/house", "fuzz"});
  // What was read is the tree, not an empty folder.
  ASSERT_GT(tree.size(), 500u);
  ASSERT_TRUE(tree.at("src/ops/sin/gpu.cpp").contains("src/gpu/plan.hpp"));
  ASSERT_TRUE(tree.at("src/ops/sin/kernels/sin.cu").contains("src/ops/sin/kernels/sin.h"));
  EXPECT_EQ(wrong_includes(tree), std::vector<std::string>());
  EXPECT_EQ(circles(tree), std::vector<std::string>());
}

struct Planted {
  const char *from, *to;
  bool allowed;
};
void PrintTo(const Planted& p, std::ostream* out) { *out << p.from << " includes " << p.to; }

class Plants : public testing::TestWithParam<Planted> {};

TEST_P(Plants, AreSeen) {
  const Planted& p = GetParam();
  const Includes includes = {{p.from, {p.to}}, {p.to, {}}};
  EXPECT_EQ(wrong_includes(includes).empty(), p.allowed);
}

INSTANTIATE_TEST_SUITE_P(
    Includes, Plants,
    testing::Values(Planted{"include/isomer/sin.hpp", "src/core/contract.hpp", false},
                    Planted{"src/core/queue.cpp", "src/cpu/pool.hpp", false},
                    Planted{"src/core/queue.cpp", "src/gpu/vendor.hpp", false},
                    Planted{"src/core/queue.cpp", "src/bundle/bundle.hpp", false},
                    Planted{"src/core/queue.cpp", "src/core/plan.hpp", true},
                    Planted{"src/bundle/load.cpp", "src/core/sentence.hpp", true},
                    Planted{"src/cpu/rows.hpp", "src/gpu/plan.hpp", false},
                    Planted{"src/gpu/plan.hpp", "src/cpu/rows.hpp", false},
                    Planted{"src/gpu/plan.cpp", "src/ops/sin/sin.hpp", false},
                    Planted{"src/gpu/device/mma.cuh", "src/gpu/plan.hpp", false},
                    Planted{"src/ops/sin/gpu.cpp", "src/ops/act_quant/act_quant.hpp", false},
                    Planted{"src/ops/sin/gpu.cpp", "src/oracle/case.hpp", false},
                    Planted{"src/ops/sin/gpu.cpp", "src/ops/sin/oracle/oracle.hpp", false},
                    Planted{"src/ops/sin/gpu.cpp", "src/ops/sin/kernels/sin.h", true},
                    Planted{"src/ops/attention/cpu/plan.cpp", "src/ops/attention/gpu/tiling.hpp", false},
                    Planted{"src/ops/attention/cpu/plan.cpp", "src/gpu/plan.hpp", false},
                    Planted{"src/ops/attention/cpu/plan.cpp", "src/ops/attention/contract/geometry.hpp",
                            true},
                    Planted{"src/ops/attention/contract/contract.cpp", "src/cpu/rows.hpp", false},
                    Planted{"src/ops/sin/kernels/sin.cu", "src/ops/sin/sin.hpp", false},
                    Planted{"src/ops/sin/kernels/sin.cu", "src/ops/act_quant/kernels/act_quant.h", false},
                    Planted{"src/ops/sin/kernels/sin.cu", "src/gpu/vendor.hpp", false},
                    Planted{"src/ops/sin/kernels/sin.cu", "src/gpu/device/types.h", true},
                    Planted{"src/ops/sin/oracle/reference.cpp", "src/ops/sin/kernels/sin.h", false},
                    Planted{"src/ops/sin/oracle/reference.cpp", "src/ops/attention/oracle/oracle.hpp", false},
                    Planted{"src/ops/sin/oracle/cases.cpp", "src/oracle/case.hpp", true},
                    Planted{"src/ops/ops.cpp", "src/ops/sin/sin.hpp", true},
                    Planted{"src/ops/ops.cpp", "src/ops/sin/oracle/oracle.hpp", false},
                    Planted{"src/ops/ops.cpp", "src/ops/attention/gpu/tiling.hpp", false},
                    Planted{"src/ops/oracles.cpp", "src/ops/sin/oracle/oracle.hpp", true},
                    Planted{"emulator/vendor/vendor.cpp", "src/gpu/vendor.hpp", true},
                    Planted{"emulator/vendor/vendor.cpp", "lab/check/check.hpp", false},
                    Planted{"emulator/src/runtime/launch.cpp", "src/ops/sin/sin.hpp", false},
                    Planted{"lab/check/check.cpp", "src/oracle/case.hpp", true},
                    Planted{"lab/ask/steps.cpp", "lab/candidate/emulated/launch_line.hpp", false},
                    Planted{"lab/ask/steps.cpp", "lab/text/source_text.hpp", true},
                    Planted{"lab/check/check.cpp", "cli/verb.hpp", false},
                    Planted{"lab/report/trace_report.cpp", "lab/diff/launch_groups.hpp", true},
                    Planted{"lab/capture/joiner.hpp", "lab/names/kernel_name.hpp", false},
                    Planted{"lab/names/field_names.hpp", "lab/capture/capture.hpp", true},
                    Planted{"lab/names/kernel_name.hpp", "lab/binary/binary.hpp", false},
                    Planted{"lab/binary/binary.hpp", "lab/diff/difference.hpp", false},
                    Planted{"lab/launches/trace_command.hpp", "lab/diff/difference.hpp", false},
                    Planted{"lab/diff/pair_kernels.hpp", "lab/binary/binary.hpp", true},
                    Planted{"lab/diff/diff_captures.hpp", "lab/check/check.hpp", false},
                    Planted{"lab/findings/consequences.hpp", "lab/ask/trial.hpp", false},
                    Planted{"lab/findings/finding.hpp", "lab/candidate/candidate.hpp", true},
                    Planted{"lab/ask/trial.cpp", "lab/findings/finding.hpp", true},
                    Planted{"lab/ask/trial.cpp", "lab/evidence/variations/search.hpp", false},
                    Planted{"lab/evidence/probes/probes.hpp", "lab/ask/trial.hpp", true},
                    Planted{"lab/evidence/probes/probes.hpp", "lab/judge/diagnose.hpp", false},
                    Planted{"lab/audit/audit.hpp", "lab/evidence/probes/probes.hpp", false},
                    Planted{"lab/judge/diagnose.cpp", "lab/evidence/probes/probes.hpp", true},
                    Planted{"lab/judge/diagnose.cpp", "lab/report/terminal.hpp", false},
                    Planted{"lab/findings/mend/verify_fixes.hpp", "lab/judge/diagnose.hpp", true},
                    Planted{"cli/check.cpp", "lab/check/check.hpp", true},
                    Planted{"somewhere/else.cpp", "src/core/plan.hpp", false}));

TEST(Circles, AreSeenOfTwoAndOfThree) {
  EXPECT_EQ(circles({{"a.h", {"b.h"}}, {"b.h", {"a.h"}}}),
            std::vector<std::string>{"a.h includes b.h includes a.h"});
  EXPECT_EQ(circles({{"a.h", {"b.h"}}, {"b.h", {"c.h"}}, {"c.h", {"b.h"}}}),
            std::vector<std::string>{"b.h includes c.h includes b.h"});
  EXPECT_TRUE(circles({{"a.h", {"b.h", "c.h"}}, {"b.h", {"c.h"}}, {"c.h", {}}}).empty());
}

}  // namespace
}  // namespace isomer::house
