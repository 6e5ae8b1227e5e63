// `isomer trace` and `isomer diff` as their users run them, on a machine with no GPU.
#include "lab/capture/read_capture.hpp"
#include "lab/capture/readers.hpp"
#include "tests/captures/launches.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>

namespace isomer::lab {
namespace {

struct Said {
  int exit;
  std::string out, err;
};

class TraceCommand : public testing::Test {
 protected:
  Said isomer(const std::string& words) const {
    const std::string command = "cd " + folder.path.string() + " && NO_COLOR=1 " + ISOMER_CLI + " " + words +
                                " >out 2>err </dev/null";
    const int status = std::system(command.c_str());
    return {WEXITSTATUS(status), content_of(folder.path / "out"), content_of(folder.path / "err")};
  }

  Capture read(const std::string& name) const {
    return collected([&](const LaunchSink& sink) { return read_capture(folder.path / name, sink); });
  }

  void refused(const std::string& words, const std::string& says) const {
    const Said said = isomer(words);
    EXPECT_EQ(said.exit, 2) << words << ": " << said.out;
    EXPECT_TRUE(said.err.starts_with("isomer: ")) << said.err;
    EXPECT_EQ(std::count(said.err.begin(), said.err.end(), '\n'), 1) << said.err;
    EXPECT_NE(said.err.find(says), std::string::npos) << words << ": " << said.err;
  }

  Folder folder;
};

TEST_F(TraceCommand, SaysInOneSentenceWhyNothingWasRecorded) {
  refused("trace -- /nonexistent/program",
          "trace: cannot start '/nonexistent/program': No such file or directory");
  refused("trace -- true", "no launch was recorded");
  refused("trace -- sh -c 'exit 3'", "the program ended with status 3");
  refused("trace -- sh -c 'kill -9 $$'", "the program was ended by signal 9");
  refused("trace -o /no/such/folder/a -- true", "cannot write '/no/such/folder/a'");
  refused("trace", "command is required");
  refused("trace -o left.jsonl --csv left.csv --perfetto left.json -- true", "no launch was recorded");
  for (const char* name : {"left.jsonl", "left.csv", "left.json"})
    EXPECT_FALSE(std::filesystem::exists(folder.path / name)) << name;
}

TEST_F(TraceCommand, RefusesWhatDiffCannotCompare) {
  folder.file("words", "words");
  folder.file("cut.jsonl",
              "{\"isomer_trace\":1}\n{\"kernel\":1,\"name\":\"k\"}\n{\"launch\":1,\"kernel\":1}\n");
  folder.file("none.jsonl", "{\"isomer_trace\":1}\n{\"end\":{}}\n");
  refused("diff absent words", "cannot read 'absent'");
  refused("diff words words", "has an unknown format");
  refused("diff . words", "is a folder");
  refused("diff cut.jsonl " ISOMER_CLI, "expected two files of one sort");
  refused("diff none.jsonl none.jsonl", "has a launch");
  refused("diff cut.jsonl cut.jsonl --tolerance -1", "--tolerance");
  const Said cut = isomer("diff cut.jsonl cut.jsonl");
  EXPECT_EQ(cut.exit, 2);
  EXPECT_NE(cut.err.find("cannot be called the same"), std::string::npos) << cut.err;
}

#ifdef ISOMER_TRACE_CUDA
TEST_F(TraceCommand, TheInjectedLibrarySaysWhatItLacksAndDisturbsNothing) {
  const std::string source =
      folder.file("load.c",
                  "#include <dlfcn.h>\nint main(int n, char** w) { void* l = dlopen(w[1], RTLD_NOW);"
                  " int (*f)(void) = l ? (int (*)(void))dlsym(l, \"InitializeInjection\") : 0;"
                  " return f ? f() - 1 : 7; }\n");
  const std::string program = folder.path / "load";
  ASSERT_EQ(std::system(("cc -o " + program + " " + source + " -ldl").c_str()), 0);
  setenv("ISOMER_TRACE", folder.path.c_str(), 1);
  // Nothing called libcuda.so.1 or libcupti can be found there.
  const int status = std::system((program + " " ISOMER_TRACE_CUDA).c_str());
  unsetenv("ISOMER_TRACE");
  EXPECT_EQ(WEXITSTATUS(status), 0);
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path)) {
    if (!entry.path().filename().string().starts_with("cuda-")) continue;
    ++files;
    const Capture capture =
        collected([&](const LaunchSink& sink) { return read_capture(entry.path(), sink); });
    EXPECT_TRUE(capture.complete) << capture.incomplete;
    EXPECT_TRUE(capture.launches.empty());
    if (std::filesystem::exists("/dev/nvidiactl")) continue;
    EXPECT_NE(capture.facts.at("note 1").find("is not on this machine"), std::string::npos);
  }
  EXPECT_EQ(files, 1);
}
#endif

TEST_F(TraceCommand, WritesAPageOfWhatDiffers) {
  const std::string fixtures = std::string(ISOMER_TEST_DATA) + "/captures/fixtures/";
  const Said said = isomer("diff " + fixtures + "base.jsonl " + fixtures + "template.jsonl --html page.html");
  EXPECT_EQ(said.exit, 1) << said.err;
  const std::string page = content_of(folder.path / "page.html");
  EXPECT_NE(page.find("family::soft_rows&lt;32, false, family::Tile&gt;"), std::string::npos)
      << page.substr(0, 300);
  std::size_t launches = 0;
  for (std::size_t at = page.find("<rect "); at != std::string::npos; at = page.find("<rect ", at + 1))
    ++launches;
  EXPECT_EQ(launches, 12u);
  EXPECT_NE(page.find("<td>#0</td><td>32</td><td>64</td>"), std::string::npos);
  refused("diff " + fixtures + "base.jsonl " + fixtures + "base.jsonl --html /no/such/page",
          "cannot write '/no/such/page'");
}

TEST_F(TraceCommand, ComparesTheKernelsThatAreAskedFor) {
  const std::string both = "diff " ISOMER_TEST_DATA "/captures/fixtures/flash.jsonl " ISOMER_TEST_DATA
                           "/captures/fixtures/math.jsonl";
  EXPECT_EQ(isomer(both).exit, 1);
  const Said alike = isomer(both + " --kernel 'DistributionNormal' --json");
  EXPECT_EQ(alike.exit, 0) << alike.out << alike.err;
  EXPECT_NE(alike.out.find("A: 3 of 6 launches are of kernels that were asked for"), std::string::npos)
      << alike.out;
  // The demangled name is searched too.
  EXPECT_EQ(isomer(both + " --kernel 'at::native::.*distribution_elementwise'").exit, 0);
  // PyTorch clears FlashAttention-3's counter by a kernel, a program of its own by a memset.
  const std::string fa3 = "diff " ISOMER_TEST_DATA "/captures/fixtures/fa3/standalone.jsonl " ISOMER_TEST_DATA
                          "/captures/fixtures/fa3/pytorch.jsonl";
  EXPECT_EQ(isomer(fa3).exit, 1);
  EXPECT_EQ(isomer(fa3 + " --kernel Flash").exit, 0);
  refused(both + " --kernel flash_fwd", "launches, and none whose kernel has 'flash_fwd' in its name");
  refused(both + " --kernel '(open'", "(open");
  refused("diff " ISOMER_CLI " " ISOMER_CLI " --kernel flash", "--kernel is for two records of launches");
}

TEST_F(TraceCommand, PutsTwoBuildLogsBesideOtherCode) {
  const std::string fixtures = std::string(ISOMER_TEST_DATA) + "/captures/fixtures/";
  folder.file("a.log", "nvcc -arch=sm_90a -O3 -c family.cu -o family.o\n");
  folder.file("b.log", "nvcc -arch=sm_90a -O3 --use_fast_math -c family.cu -o family.o\n");
  const Said said = isomer("diff " + fixtures + "base.jsonl " + fixtures +
                           "option.jsonl --build-a a.log --build-b b.log --json");
  ASSERT_EQ(said.exit, 1) << said.err;
  const auto json = nlohmann::json::parse(said.out);
  std::string options;
  for (const auto& each : json["pairs"][0]["differences"])
    if (each["name"].get<std::string>().starts_with("option "))
      options += each["name"].get<std::string>() + ";";
  EXPECT_EQ(options, "option --use_fast_math;") << said.out;
}

TEST_F(TraceCommand, ComparesTensors) {
  const std::string one = std::string(ISOMER_TEST_DATA) + "/recordings/attention-math-f16-plain.safetensors";
  std::string bytes = content_of(one);
  EXPECT_EQ(isomer("diff " + one + " " + one).exit, 0);
  bytes[bytes.size() - 1] = static_cast<char>(bytes[bytes.size() - 1] ^ 0x04);
  folder.file("changed", bytes);
  const Said changed = isomer("diff " + one + " changed --json");
  EXPECT_EQ(changed.exit, 1) << changed.err;
  const auto json = nlohmann::json::parse(changed.out);
  EXPECT_EQ(json["verdict"], "different");
  int different = 0;
  for (const auto& tensor : json["tensors"])
    if (!tensor["same"]) {
      ++different;
      EXPECT_EQ(tensor["beyond"], 1);
      EXPECT_EQ(tensor["max_ulp"], 1024);
      EXPECT_EQ(tensor["tolerance"], 1e-3);
    }
  EXPECT_EQ(different, 1);
  EXPECT_EQ(isomer("diff " + one + " changed --tolerance 10").exit, 0);
}

#ifdef ISOMER_HAS_EMULATOR
TEST_F(TraceCommand, TellsOfOurLaunchesWhatExplainTellsOfThePlan) {
  // In f32, which one implementation takes.
  const std::string line = "attention b=1 sq=33 hq=4 hkv=2 d=64 f32 causal seed=7";
  const Said traced = isomer("trace -o a.jsonl --perfetto a.json --csv a.csv -- " ISOMER_CLI
                             " check --backend emulated --case '" +
                             line + "'");
  ASSERT_EQ(traced.exit, 0) << traced.err;
  EXPECT_NE(traced.out.find("isomer_attention"), std::string::npos) << traced.out;
  const Capture trace = read("a.jsonl");
  EXPECT_TRUE(trace.complete) << trace.incomplete;
  ASSERT_EQ(isomer("explain " + line + " --backend emulated --compile --json").exit, 0);
  std::filesystem::copy(folder.path / "out", folder.path / "plan.json");
  const Capture plan = read("plan.json");
  ASSERT_EQ(plan.kind, "explain");
  ASSERT_EQ(plan.launches.size(), 1u);
  const Launch& planned = plan.launches[0];
  std::size_t compared = 0;
  for (const Launch& launch : trace.launches) {
    // The check runs on both emulated devices.
    if (launch.parameters.at("constant target") != planned.parameters.at("constant target")) continue;
    ++compared;
    EXPECT_EQ(launch.name, planned.name);
    EXPECT_EQ(launch.variant, planned.variant);
    EXPECT_EQ(launch.parameters, planned.parameters);
    EXPECT_EQ(launch.grid, planned.grid);
    EXPECT_EQ(launch.block, planned.block);
    EXPECT_EQ(launch.cluster, planned.cluster);
    EXPECT_EQ(launch.shared_dynamic, planned.shared_dynamic);
    EXPECT_EQ(launch.registers, planned.registers);
  }
  EXPECT_GE(compared, 1u);
  // The exports hold every launch.
  const std::string rows = content_of(folder.path / "a.csv");
  EXPECT_EQ(static_cast<std::size_t>(std::count(rows.begin(), rows.end(), '\n')), trace.launches.size() + 1);
  EXPECT_EQ(read("a.json").launches.size(), trace.launches.size());
  EXPECT_EQ(isomer("diff a.jsonl a.json").exit, 0);
  // One argument of the call is one difference.
  ASSERT_EQ(isomer("trace -o b.jsonl -- " ISOMER_CLI
                   " check --backend emulated --case 'attention b=1 sq=33 hq=4 hkv=2 d=64 f32 seed=7'")
                .exit,
            0);
  const Said different = isomer("diff a.jsonl b.jsonl --json");
  EXPECT_EQ(different.exit, 1) << different.err;
  const auto json = nlohmann::json::parse(different.out);
  for (const auto& pair : json["pairs"]) {
    EXPECT_EQ(pair["kind"], "arguments");
    EXPECT_EQ(pair["differences"], nlohmann::json::parse(R"([{"name":"is_causal","a":"1","b":"0"}])"));
  }
}

TEST_F(TraceCommand, TellsTheProgramsOwnStatus) {
  const Said said = isomer("trace --json -- sh -c \"" ISOMER_CLI
                           " check sin --backend emulated --case 'sin n=70' >/dev/null; exit 5\"");
  EXPECT_EQ(said.exit, 1) << said.err;
  const auto json = nlohmann::json::parse(said.out);
  EXPECT_EQ(json["exit_status"], 5);
  EXPECT_GE(json["launches"], 1);
  EXPECT_EQ(json["complete"], true);
}
#endif

}  // namespace
}  // namespace isomer::lab
