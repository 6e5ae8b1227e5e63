// Every kernel of the table, at 32 and at 64 lanes, under several schedules, plain and watched.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "isomer/emulator/module.hpp"
#include "kernel_table.hpp"

namespace isomer::emulator::tests {
namespace {

const Module& module_of(const std::string& file, int lanes, bool watch) {
  static std::map<std::tuple<std::string, int, bool>, Module> built;
  const auto key = std::make_tuple(file, lanes, watch);
  if (const auto it = built.find(key); it != built.end()) return it->second;
  return built
      .emplace(key, Module::build({.sources = {std::string(ISOMER_EMULATOR_KERNELS) + "/" + file},
                                   .lanes = lanes,
                                   .watch = watch}))
      .first->second;
}

class KernelTable : public testing::TestWithParam<std::tuple<Row, int>> {};

TEST_P(KernelTable, GivesTheDocumentedResultUnderEverySchedule) {
  const auto& [row, lanes] = GetParam();
  struct Run {
    std::uint64_t seed;
    bool watch;
  };
  for (const Run run :
       {Run{0, false}, Run{1, false}, Run{2, false}, Run{0xfeed, false}, Run{0, true}, Run{3, true}}) {
    SCOPED_TRACE(testing::Message() << row.kernel << " lanes=" << lanes << " seed=" << run.seed
                                    << (run.watch ? " watched" : ""));
    const std::size_t results = row.results ? row.results : std::size_t{row.blocks} * row.threads;
    std::vector<std::uint64_t> out(std::max<std::size_t>(results, row.zeroed ? 64 : 0), 0);
    Geometry geometry{{row.blocks, 1, 1}, {row.threads, 1, 1}, row.shared_bytes, row.cooperative};
    const RunResult result =
        module_of(row.file, lanes, run.watch)
            .launch(row.kernel, geometry,
                    {row.zeroed ? Argument::in_out("out", out) : Argument::output("out", out)},
                    {.seed = run.seed, .timeout_seconds = 30});
    ASSERT_EQ(result.failure, "");
    ASSERT_EQ(result.error, 0);
    for (const Report& r : result.reports) ADD_FAILURE() << r.text;
    for (const Refusal& r : result.refusals) ADD_FAILURE() << r.text;
    for (std::size_t t = 0; t < results; ++t) {
      ASSERT_EQ(out[t], row.expected(static_cast<unsigned>(t), static_cast<unsigned>(lanes), row.threads))
          << "thread " << t;
    }
  }
}

/// Rows of files whose kernels depend on the size of a warp, or of the others.
std::vector<Row> rows(bool of_warps) {
  std::vector<Row> list;
  for (const Row& row : kernel_table()) {
    const std::string file = row.file;
    if ((file == "warp.cu" || file == "groups.cu" || file == "hip_forms.hip.cpp") == of_warps)
      list.push_back(row);
  }
  return list;
}

const auto kName = [](const testing::TestParamInfo<std::tuple<Row, int>>& info) {
  return std::string(std::get<0>(info.param).kernel) + "_lanes" + std::to_string(std::get<1>(info.param));
};
INSTANTIATE_TEST_SUITE_P(OfWarps, KernelTable,
                         testing::Combine(testing::ValuesIn(rows(true)), testing::Values(32, 64)), kName);
INSTANTIATE_TEST_SUITE_P(Others, KernelTable,
                         testing::Combine(testing::ValuesIn(rows(false)), testing::Values(32)), kName);
INSTANTIATE_TEST_SUITE_P(With64Lanes, KernelTable,
                         testing::Combine(testing::ValuesIn(rows(false)), testing::Values(64)), kName);

TEST(KernelTable, HasAtLeastSixtyKernels) { EXPECT_GE(kernel_table().size(), 60u); }

}  // namespace
}  // namespace isomer::emulator::tests
