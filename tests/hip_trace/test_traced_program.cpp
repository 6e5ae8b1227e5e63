// `isomer trace` of a HIP program, with stand-ins for the profiler and the runtime.
#include "lab/capture/read_capture.hpp"
#include "tests/captures/launches.hpp"
#include "tests/hip_trace/code_object.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <map>

namespace isomer::lab {
namespace {

using Triple = std::array<std::uint32_t, 3>;

struct Said {
  int exit;
  std::string out, err;
};

class TracedProgram : public testing::Test {
 protected:
  TracedProgram() : name(shift_kernel().name) {
    const std::vector<std::uint8_t> object = shift_code_object();
    folder.file("object", std::string(object.begin(), object.end()));
  }

  Said isomer(const std::string& variables, const std::string& words) const {
    const std::string command = "cd " + folder.path.string() +
                                " && env -u ROCP_TOOL_LIBRARIES NO_COLOR=1 ISOMER_TRACE_HIP=" ISOMER_TRACE_HIP
                                " ISOMER_ROCPROFILER=" ISOMER_ROCPROFILER " " +
                                variables + " " ISOMER_CLI " " + words + " >out 2>err </dev/null";
    const int status = std::system(command.c_str());
    return {WEXITSTATUS(status), content_of(folder.path / "out"), content_of(folder.path / "err")};
  }

  /// The program's words behind its file and kernel.
  std::string program(const std::string& words) const {
    return std::string(ISOMER_HIP_PROGRAM " ") + (folder.path / "object").string() + " " + name + " " + words;
  }

  Capture read(const std::string& file) const {
    return collected([&](const LaunchSink& sink) { return read_capture(folder.path / file, sink); });
  }

  Folder folder;
  std::string name;
};

TEST_F(TracedProgram, IsRecordedAsItLaunches) {
  for (const std::string where : {"memory", "file"}) {
    const Said said = isomer("", "trace -o a.jsonl -- " + program(where + " plain module config graph"));
    ASSERT_EQ(said.exit, 0) << said.err;
    const Capture capture = read("a.jsonl");
    EXPECT_TRUE(capture.complete) << capture.incomplete;
    EXPECT_EQ(capture.facts.at("rocprofiler-sdk"), "1.0.0 stand-in");
    EXPECT_EQ(capture.facts.at("device"), "a device");
    ASSERT_EQ(capture.launches.size(), 7u);
    EXPECT_EQ(capture.launches[0].name, "__amd_rocclr_fillBufferAligned");
    EXPECT_FALSE(capture.launches[0].arguments_known);
    std::string grids, streams, nodes, ns;
    for (std::size_t i = 1; i < 7; ++i) {
      const Launch& launch = capture.launches[i];
      EXPECT_EQ(launch.name, name);
      EXPECT_EQ(launch.code_hash, shift_kernel().code_hash);
      EXPECT_EQ(launch.block, (Triple{128, 1, 1}));
      EXPECT_EQ(launch.shared_static, 128u);
      EXPECT_EQ(launch.shared_dynamic, 64u);
      EXPECT_EQ(launch.local_bytes, 16u);
      EXPECT_EQ(launch.device, 1u);
      EXPECT_EQ(launch.duration_ns, 5000.0);
      EXPECT_TRUE(launch.process && launch.thread);
      // Since the program began, whatever clock the profiler has.
      EXPECT_GT(launch.start_ns.value(), 0.0);
      EXPECT_LT(launch.start_ns.value(), 60e9);
      grids += triple_text(launch.grid) + " ";
      streams += std::to_string(launch.stream.value());
      nodes += std::to_string(launch.graph_node.value_or(0));
      if (!launch.arguments_known) {
        ns += '-';
        continue;
      }
      ASSERT_EQ(launch.arguments.size(), 3u);
      EXPECT_EQ(launch.arguments[0].pointers.at(0), "0+64");
      EXPECT_EQ(launch.arguments[2].bytes, (std::vector<std::uint8_t>{7}));
      ns += std::to_string(launch.arguments[1].bytes.at(0));
    }
    EXPECT_EQ(grids, "3x2x1 3x2x1 3x1x1 3x2x1 3x2x1 3x2x1 ");
    EXPECT_EQ(streams, "100111");
    EXPECT_EQ(nodes, "000012");
    EXPECT_EQ(ns, "1223--");
  }
}

TEST_F(TracedProgram, MayBeOneOfSeveralAtOnce) {
  // The second begins and ends while the first waits.
  const Said said = isomer("", "trace -o a.jsonl -- sh -c '" + program("memory config wait config") +
                                   " & while [ ! -e waiting ]; do sleep 0.05; done; " +
                                   program("memory config config") + "; touch go; wait'");
  ASSERT_EQ(said.exit, 0) << said.err;
  std::map<std::uint64_t, char> names;
  std::string order;
  double before = 0;
  for (const Launch& launch : read("a.jsonl").launches) {
    order += names.emplace(launch.process.value(), static_cast<char>('a' + names.size())).first->second;
    EXPECT_GE(launch.start_ns.value(), before);
    before = *launch.start_ns;
  }
  EXPECT_EQ(order, "abba");
}

TEST_F(TracedProgram, DiffersWhereItsArgumentsDo) {
  ASSERT_EQ(isomer("", "trace -o a.jsonl -- " + program("memory config config")).exit, 0);
  ASSERT_EQ(isomer("", "trace -o b.jsonl -- " + program("file config config")).exit, 0);
  ASSERT_EQ(isomer("", "trace -o c.jsonl -- " + program("memory module")).exit, 0);
  EXPECT_EQ(isomer("", "diff a.jsonl b.jsonl").exit, 0);
  EXPECT_EQ(isomer("", "diff a.jsonl c.jsonl").exit, 1);
}

TEST_F(TracedProgram, KeepsWhatWasLaunchedBeforeItIsKilled) {
  const Said said = isomer("", "trace --json -o a.jsonl -- " + program("memory plain config crash"));
  EXPECT_EQ(said.exit, 1) << said.err;
  const auto json = nlohmann::json::parse(said.out);
  EXPECT_EQ(json["launches"], 3);
  EXPECT_EQ(json["complete"], false);
}

TEST_F(TracedProgram, HasTheOtherToolsOfItsUser) {
  // A library that is no tool, in a list of its own: both are loaded.
  const Said said =
      isomer("ROCP_TOOL_LIBRARIES=libc.so.6", "trace --json -o a.jsonl -- " + program("memory config"));
  ASSERT_EQ(said.exit, 0) << said.err;
  EXPECT_EQ(nlohmann::json::parse(said.out)["launches"], 1);
}

TEST_F(TracedProgram, RunsOnWhereNothingCanBeRecorded) {
  const Said refused = isomer("STAND_IN_REFUSES=1", "trace -o a.jsonl -- " + program("memory plain"));
  EXPECT_EQ(refused.exit, 2);
  EXPECT_NE(refused.err.find("rocprofiler-sdk refuses to report code objects: a stand-in's refusal"),
            std::string::npos)
      << refused.err;
  const Said newer = isomer("STAND_IN_VERSION=20103", "trace -o a.jsonl -- " + program("memory plain"));
  EXPECT_EQ(newer.exit, 2);
  EXPECT_NE(newer.err.find("this is rocprofiler-sdk 2.1.3, but this build supports 1"), std::string::npos)
      << newer.err;
}

TEST_F(TracedProgram, IsAskedForNoProfilerThatIsNotThere) {
  // A ROCm program would end itself: this one ends with 8 where it is asked for no tool.
  const Said absent =
      isomer("ISOMER_ROCPROFILER=/no/such/library", "trace -o a.jsonl -- " + program("memory plain"));
  EXPECT_EQ(absent.exit, 2);
  EXPECT_NE(absent.err.find("librocprofiler-sdk.so is not on this machine"), std::string::npos) << absent.err;
  EXPECT_NE(absent.err.find("the program ended with status 8"), std::string::npos) << absent.err;
  const Said unbuilt =
      isomer("ISOMER_TRACE_HIP=/no/such/library", "trace -o a.jsonl -- " + program("memory plain"));
  EXPECT_NE(unbuilt.err.find("this build has no library for HIP programs"), std::string::npos) << unbuilt.err;
}

}  // namespace
}  // namespace isomer::lab
