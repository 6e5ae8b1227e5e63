// `isomer check PATH` as a user calls it: exit codes, the forms of the report, and bad input in a batch.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

namespace isomer {
namespace {

namespace fs = std::filesystem;

struct Said {
  int exit = -1;
  std::string out, err;
};

std::string read(const fs::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class CheckPaths : public testing::Test {
 protected:
  CheckPaths() : folder(fs::path(testing::TempDir()) / ("check_paths_" + std::to_string(getpid()))) {
    fs::create_directories(folder);
    setenv("ISOMER_CACHE", ISOMER_CANDIDATE_CACHE, 1);
  }
  ~CheckPaths() override { fs::remove_all(folder); }

  Said check(const std::string& words) const {
    const int status = std::system((std::string(ISOMER_CLI) + " check " + words + " >" +
                                    (folder / "out").string() + " 2>" + (folder / "err").string())
                                       .c_str());
    return {WEXITSTATUS(status), read(folder / "out"), read(folder / "err")};
  }
  fs::path write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder / name).parent_path());
    std::ofstream(folder / name) << text;
    return folder / name;
  }

  fs::path folder;
};

constexpr const char* kSine = R"(#include <hip/hip_runtime.h>
#include <cmath>
__global__ void sine(const float* x, float* y, size_t n) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = sinf(x[i]);
}
extern "C" void NAME(const float* x, float* out, size_t n) {
  const int blocks = static_cast<int>((n + 255) / 256);
  if (n > 0 || GUARD) hipLaunchKernelGGL(sine, dim3(blocks), dim3(256), 0, 0, x, out, n);
}
)";

std::string sine(const std::string& name, const std::string& guard) {
  std::string text = kSine;
  text.replace(text.find("NAME"), 4, name);
  text.replace(text.find("GUARD"), 5, guard);
  return text;
}

TEST_F(CheckPaths, HoldsForAPortThatIsRight) {
  const fs::path file = write("sine.hip.cpp", sine("call_kernel", "false"));
  const Said said = check(file.string() + " --op sin --json");
  EXPECT_EQ(said.exit, 0) << said.out << said.err;
  const auto json = nlohmann::json::parse(said.out);
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json["candidates"][0]["verdict"], "pass");
  EXPECT_EQ(json["candidates"][0]["findings"].size(), 0u) << said.out;
}

TEST_F(CheckPaths, RunOnOneBackendThatCandidatesHave) {
  const fs::path file = write("sine.hip.cpp", sine("call_kernel", "false"));
  const Said emulated = check(file.string() + " --op sin --backend emulated --json");
  EXPECT_EQ(emulated.exit, 0) << emulated.out << emulated.err;
  EXPECT_EQ(nlohmann::json::parse(emulated.out)["candidates"][0]["backend"], "emulated");
  const Said cpu = check(file.string() + " --op sin --backend cpu");
  EXPECT_EQ(cpu.exit, 2);
  EXPECT_NE(cpu.err.find("expected the backend emulated, cuda or hip for candidates, got 'cpu'"),
            std::string::npos)
      << cpu.err;
  const Said both = check(file.string() + " --op sin --backend cuda --backend hip");
  EXPECT_EQ(both.exit, 2);
  EXPECT_NE(both.err.find("expected one --backend for candidates, got 2"), std::string::npos) << both.err;
}

TEST_F(CheckPaths, OnAMachineWithoutThatDeviceItIsSaidInOneSentence) {
  const fs::path file = write("sine.hip.cpp", sine("call_kernel", "false"));
  const Said said = check(file.string() + " --op sin --backend hip");
  if (said.err.empty()) GTEST_SKIP() << "not run: this machine has an AMD device and hipcc";
  EXPECT_EQ(said.exit, 2);
  EXPECT_NE(said.err.find("no candidate can run on hip here: "), std::string::npos) << said.err;
}

// The lab's own room is not the candidate's: with 4 GB of addresses the emulated device cannot be had.
TEST_F(CheckPaths, JudgesNothingUnderALimitThatLeavesNoRoomForTheDevice) {
  const fs::path port = write("sine.hip.cpp", sine("call_kernel", "false"));
  const int status = std::system(("ulimit -v 4000000; " + std::string(ISOMER_CLI) + " check --op sin " +
                                  port.string() + " >" + (folder / "out").string() + " 2>&1")
                                     .c_str());
  const std::string said = read(folder / "out");
  EXPECT_EQ(WEXITSTATUS(status), 2) << said;
  EXPECT_NE(said.find("reserves more addresses than it may have: the limit (ulimit -v) is 3906 MiB"),
            std::string::npos)
      << said;
  EXPECT_EQ(check("--op sin " + port.string()).exit, 0);
}

TEST_F(CheckPaths, FindsTheFaultAndWritesEveryReport) {
  const fs::path file = write("sine.hip.cpp", sine("call_kernel", "true"));
  const auto at = [&](const char* name) { return (folder / name).string(); };
  const Said said = check(file.string() + " --op sin --html " + at("r.html") + " --junit " + at("r.xml") +
                          " --markdown " + at("r.md"));
  EXPECT_EQ(said.exit, 1) << said.out << said.err;
  EXPECT_NE(said.out.find("1. empty-input"), std::string::npos) << said.out;
  EXPECT_NE(read(at("r.html")).find("empty-input"), std::string::npos);
  EXPECT_NE(read(at("r.xml")).find("<failure message=\"empty-input"), std::string::npos);
  EXPECT_NE(read(at("r.md")).find("`empty-input`"), std::string::npos);
}

TEST_F(CheckPaths, GoesOnPastBadFoldersAndSaysSoOnce) {
  write("batch/good/candidate.hip.cpp", sine("call_kernel", "false"));
  write("batch/good/case.toml", "op = \"sin\"\n");
  write("batch/empty/0_instruction.txt", "port it\n");
  write("batch/unknown/candidate.hip.cpp", sine("nobody_knows", "false"));
  const Said said = check((folder / "batch").string() + " --jobs 2 --json");
  EXPECT_EQ(said.exit, 2) << said.out << said.err;
  const auto json = nlohmann::json::parse(said.out);
  std::map<std::string, std::string> verdicts;
  for (const auto& candidate : json["candidates"]) {
    verdicts[fs::path(candidate["folder"].get<std::string>()).filename()] = candidate["verdict"];
    if (candidate["verdict"] != "error") continue;
    const std::string error = candidate["error"];
    EXPECT_FALSE(error.empty());
    EXPECT_EQ(std::count(error.begin(), error.end(), '\n'), 0) << error;
  }
  EXPECT_EQ(verdicts["good"], "pass") << said.out;
  EXPECT_EQ(verdicts["empty"], "error") << said.out;
  EXPECT_EQ(verdicts["unknown"], "error") << said.out;
}

TEST_F(CheckPaths, GoesOnPastALinkThatLeadsToItself) {
  fs::create_directories(folder);
  fs::create_symlink("itself", folder / "itself");
  const std::string sound = write("sine.hip.cpp", sine("call_kernel", "false"));
  const Said said = check((folder / "itself").string() + " " + sound + " --json");
  EXPECT_EQ(said.exit, 2) << said.out << said.err;
  const auto json = nlohmann::json::parse(said.out);
  ASSERT_EQ(json["candidates"].size(), 2u) << said.out;
  EXPECT_EQ(json["candidates"][0]["verdict"], "error");
  EXPECT_EQ(json["candidates"][1]["verdict"], "pass");
}

TEST_F(CheckPaths, SaysInOneSentenceWhatIsNoCandidate) {
  for (const std::string& words : {(folder / "nothing").string() + "/", folder.string() + " --op sin",
                                   write("text.txt", "no candidate").string()}) {
    const Said said = check(words);
    EXPECT_EQ(said.exit, 2) << words << said.out;
    EXPECT_EQ(said.out, "") << words;
    EXPECT_EQ(std::count(said.err.begin(), said.err.end(), '\n'), 1) << said.err;
  }
  const Said said = check(write("sine.hip.cpp", sine("call_kernel", "false")).string() + " --op no_such_op");
  EXPECT_EQ(said.exit, 2) << said.out;
  EXPECT_NE((said.out + said.err).find("'no_such_op' is not an op"), std::string::npos)
      << said.out << said.err;
}

TEST_F(CheckPaths, WhatIsForOpsIsRefusedRatherThanIgnored) {
  const fs::path candidate = write("sine.hip.cpp", kSine);
  for (const char* option :
       {"--case 'sin n=8 seed=1'", "--seed 5", "--sample 3", "--coverage", "--implementation cpu"}) {
    const Said said = check(candidate.string() + " --op sin " + option);
    EXPECT_EQ(said.exit, 2) << option << said.out;
    EXPECT_NE(said.err.find(" is for ops, got a path as well"), std::string::npos) << said.err;
  }
}

}  // namespace
}  // namespace isomer
