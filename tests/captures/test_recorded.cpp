// What was recorded on an H200, replayed: see fixtures/README.md.
#include "lab/capture/read_capture.hpp"
#include "lab/diff/diff_captures.hpp"
#include "tests/captures/launches.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

namespace isomer::lab {
namespace {

std::string fixture(const std::string& name) {
  return std::string(ISOMER_TEST_DATA) + "/captures/fixtures/" + name;
}

Capture recorded(const std::string& name) {
  return collected([&](const LaunchSink& sink) { return read_capture(fixture(name), sink); });
}

GroupedCapture groups(const std::string& name) {
  Grouping grouping;
  Capture about = read_capture(fixture(name), [&](Launch&& launch) { grouping.add(std::move(launch)); });
  return grouping.finish(std::move(about));
}

DiffResult diff(const std::string& a, const std::string& b) {
  return diff_captures(groups(a), groups(b), {});
}

std::set<std::string> families(const std::string& name) {
  std::set<std::string> all;
  for (const LaunchGroup& group : groups(name).groups) all.insert(group.name.family);
  return all;
}

/// The differences of the one pair of a diff that is not the same, without times.
std::vector<Difference> differences(const DiffResult& result) {
  std::vector<Difference> all;
  for (const Pair& pair : result.pairs)
    for (const Difference& each : pair.differences)
      if (each.name != "time") all.push_back(each);
  return all;
}

struct Build {
  const char* file;
  Pair::Kind kind;
  std::vector<Difference> differences;
};

void PrintTo(const Build& build, std::ostream* out) { *out << build.file; }

class Builds : public testing::TestWithParam<Build> {};

TEST_P(Builds, DifferInExactlyWhatWasChanged) {
  const DiffResult result = diff("base.jsonl", GetParam().file);
  EXPECT_TRUE(result.only_a.empty() && result.only_b.empty());
  ASSERT_EQ(result.pairs.size(), 1u);
  EXPECT_STREQ(word(result.pairs[0].kind), word(GetParam().kind));
  const std::vector<Difference> found = differences(result);
  ASSERT_EQ(found.size(), GetParam().differences.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].name, GetParam().differences[i].name);
    EXPECT_EQ(found[i].a, GetParam().differences[i].a);
    EXPECT_EQ(found[i].b, GetParam().differences[i].b);
  }
}

const Build kBuilds[] = {
    {"template.jsonl", Pair::Kind::variant, {{"#0", "32", "64"}}},
    {"option.jsonl",
     Pair::Kind::code,
     {{"machine code", "751207dbde3171ef", "1c44d3891752fa80"}, {"registers", "28", "24"}}},
    {"argument.jsonl",
     Pair::Kind::arguments,
     {{"argument 0 byte 32", "0.125 (0x3e000000)", "0.25 (0x3e800000)"}}},
    {"launch.jsonl", Pair::Kind::geometry, {{"block", "128x1x1", "256x1x1"}}},
    {"graph.jsonl", Pair::Kind::geometry, {{"in a graph", "no", "yes"}, {"launches", "6", "12"}}},
};

INSTANTIATE_TEST_SUITE_P(Recorded, Builds, testing::ValuesIn(kBuilds), [](const auto& info) {
  const std::string file = info.param.file;
  return file.substr(0, file.find('.'));
});

TEST(Recorded, LaunchesHaveArgumentsCodeAndTimes) {
  const Capture base = recorded("base.jsonl");
  EXPECT_TRUE(base.complete) << base.incomplete;
  EXPECT_EQ(base.facts.at("device"), "NVIDIA H200");
  ASSERT_EQ(base.launches.size(), 6u);
  for (const Launch& launch : base.launches) {
    ASSERT_EQ(launch.arguments.size(), 1u);
    EXPECT_EQ(launch.arguments[0].bytes.size(), 48u);
    EXPECT_EQ(launch.arguments[0].pointers, (std::map<std::uint32_t, std::string>{{0, "0+0"}, {8, "1+0"}}));
    EXPECT_EQ(launch.code_hash.size(), 64u);
    EXPECT_GT(launch.duration_ns.value_or(0), 1000);
  }
}

TEST(Recorded, KernelsOfAGraphHaveTheArgumentsOfTheirNodes) {
  const Capture graph = recorded("graph.jsonl");
  ASSERT_EQ(graph.launches.size(), 12u);
  std::set<std::uint64_t> nodes;
  for (std::size_t i = 0; i < graph.launches.size(); ++i) {
    const Launch& launch = graph.launches[i];
    EXPECT_TRUE(launch.captured);
    nodes.insert(launch.graph_node.value_or(0));
    // The program fills the padding of the k-th launch with 17 k + 1.
    EXPECT_EQ(launch.arguments.at(0).bytes.at(37), 17 * (i % 3) + 1) << i;
  }
  EXPECT_EQ(nodes.size(), 3u);
  const Capture node = recorded("node.jsonl");
  ASSERT_EQ(node.launches.size(), 4u);
  for (const Launch& launch : node.launches) {
    EXPECT_FALSE(launch.captured);
    EXPECT_TRUE(launch.arguments_known);
  }
}

TEST(Recorded, ThreadsAndProcessesAreTold) {
  std::set<std::uint64_t> threads, processes;
  for (const Launch& launch : recorded("threads.jsonl").launches) threads.insert(launch.thread.value_or(0));
  for (const Launch& launch : recorded("fork.jsonl").launches) processes.insert(launch.process.value_or(0));
  EXPECT_EQ(threads.size(), 2u);
  EXPECT_EQ(processes.size(), 2u);
}

TEST(Recorded, AProgramThatWasKilledKeepsItsLaunches) {
  for (const char* name : {"killed.jsonl", "crash.jsonl"}) {
    const Capture capture = recorded(name);
    EXPECT_FALSE(capture.complete) << name;
    ASSERT_EQ(capture.launches.size(), 3u) << name;
    EXPECT_TRUE(capture.launches[2].arguments_known) << name;
    EXPECT_FALSE(diff(name, name).notes.empty()) << name;
  }
}

TEST(Recorded, PyTorchsAttentionIsTheKernelsOfItsBackend) {
  const auto has = [](const std::set<std::string>& all, const char* part) {
    return std::any_of(all.begin(), all.end(),
                       [&](const std::string& name) { return name.find(part) != name.npos; });
  };
  EXPECT_TRUE(has(families("flash.jsonl"), "pytorch_flash::flash_fwd_kernel"));
  EXPECT_TRUE(has(families("flash_graph.jsonl"), "pytorch_flash::flash_fwd_kernel"));
  EXPECT_TRUE(has(families("cudnn.jsonl"), "cudnn"));
  EXPECT_FALSE(has(families("cudnn.jsonl"), "pytorch_flash"));
  EXPECT_TRUE(has(families("cudnn_graph.jsonl"), "cudnn"));
  for (const char* name : {"math.jsonl", "math_graph.jsonl"})
    EXPECT_TRUE(has(families(name), "softmax_warp_forward")) << name;
  for (const char* name : {"flash_graph.jsonl", "cudnn_graph.jsonl", "math_graph.jsonl"}) {
    const Capture capture = recorded(name);
    std::size_t in_graph = 0, known = 0;
    for (const Launch& launch : capture.launches) {
      in_graph += launch.graph_node ? 1 : 0;
      known += launch.graph_node && launch.arguments_known ? 1 : 0;
    }
    EXPECT_GE(in_graph, 3u) << name;
    EXPECT_EQ(known, in_graph) << name;
  }
  const DiffResult result = diff("flash.jsonl", "cudnn.jsonl");
  ASSERT_EQ(result.only_a.size(), 1u);
  ASSERT_EQ(result.only_b.size(), 1u);
  EXPECT_TRUE(result.only_a[0].starts_with("pytorch_flash::flash_fwd_kernel<")) << result.only_a[0];
  EXPECT_TRUE(result.only_b[0].starts_with("cudnn_generated_fort_native_sdpa_sm90_flash_fprop"))
      << result.only_b[0];
}

TEST(Recorded, OneKernelHasOneNameInCuptisAndKinetosWords) {
  const DiffResult result = diff("flash.jsonl", "kineto_flash.json.gz");
  ASSERT_EQ(result.pairs.size(), 1u);
  EXPECT_TRUE(result.pairs[0].a.starts_with("pytorch_flash::flash_fwd_kernel<"));
  EXPECT_EQ(result.pairs[0].a, result.pairs[0].b);
  EXPECT_TRUE(differences(result).empty());
  // The profile begins after the tensors are made.
  ASSERT_EQ(result.only_a.size(), 1u);
  EXPECT_NE(result.only_a[0].find("distribution_elementwise_grid_stride_kernel"), std::string::npos);
  EXPECT_TRUE(result.only_b.empty());
}

TEST(Recorded, OneKernelHasOneNameInNcusWords) {
  for (const char* csv : {"ncu_raw.csv", "ncu_details.csv"}) {
    const Capture capture = recorded(csv);
    EXPECT_TRUE(capture.complete) << capture.incomplete;
    ASSERT_EQ(capture.launches.size(), 2u) << csv;
    EXPECT_NEAR(capture.launches[0].duration_ns.value_or(0), 6400, 300) << csv;
    const DiffResult result = diff("base.jsonl", csv);
    ASSERT_EQ(result.pairs.size(), 1u) << csv;
    EXPECT_STREQ(word(result.pairs[0].kind), "count");
    EXPECT_EQ(differences(result).size(), 1u);
  }
}

TEST(Recorded, IsomersOwnLaunchesHaveNamesAndTheDevicesTimes) {
  const Capture isomer = recorded("isomer.jsonl");
  ASSERT_EQ(isomer.launches.size(), 2u);
  for (const Launch& launch : isomer.launches) {
    EXPECT_EQ(launch.variant.at("implementation"), "cuda/portable");
    EXPECT_EQ(launch.variant.at("head_dim"), "128");
    EXPECT_EQ(launch.parameters.at("seqlen_q"), "1285");
    EXPECT_GT(launch.duration_ns.value_or(0), 100'000);
    EXPECT_EQ(launch.arguments.at(0).bytes.size(), 960u);
  }
}

TEST(Recorded, ExplainToldOfIsomersLaunchesWhatTraceSaw) {
  for (const auto& [traced, planned, steps] : {std::tuple{"isomer.jsonl", "isomer_plan.json", 1u},
                                               {"isomer_decode.jsonl", "isomer_decode_plan.json", 2u}}) {
    SCOPED_TRACE(traced);
    const Capture trace = recorded(traced), plan = recorded(planned);
    ASSERT_EQ(plan.kind, "explain");
    ASSERT_EQ(plan.launches.size(), steps);
    ASSERT_FALSE(trace.launches.empty());
    ASSERT_EQ(trace.launches.size() % steps, 0u);
    for (std::size_t i = 0; i < trace.launches.size(); ++i) {
      const Launch &ran = trace.launches[i], &told = plan.launches[i % steps];
      EXPECT_EQ(ran.name, told.name);
      EXPECT_EQ(ran.variant, told.variant);
      EXPECT_EQ(ran.parameters, told.parameters);
      EXPECT_EQ(ran.grid, told.grid);
      EXPECT_EQ(ran.block, told.block);
      // A launch that asks for no cluster runs in one of one block.
      EXPECT_EQ(ran.cluster.value_or(std::array<std::uint32_t, 3>{1, 1, 1}), told.cluster);
      EXPECT_EQ(ran.shared_dynamic, told.shared_dynamic);
      EXPECT_EQ(ran.shared_static, told.shared_static);
      EXPECT_EQ(ran.registers, told.registers);
      EXPECT_EQ(ran.code_hash, told.code_hash);
      EXPECT_EQ(told.code_hash.size(), 64u);
    }
    // A plan does not tell how often its call is made.
    const DiffResult result = diff(traced, planned);
    EXPECT_TRUE(result.same()) << result.verdict.at(0);
    EXPECT_EQ(result.pairs.size(), steps);
  }
}

}  // namespace
}  // namespace isomer::lab
