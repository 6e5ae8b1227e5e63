// What can go wrong before a call is recorded: one sentence each, and nothing left behind.
#include "lab/record/python_child.hpp"
#include "lab/record/record.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <fstream>

#include <signal.h>
#include <unistd.h>

namespace isomer::lab {
namespace {

namespace fs = std::filesystem;

class Record : public testing::Test {
 protected:
  Record() : folder(fs::path(testing::TempDir()) / ("record_" + std::to_string(getpid()))) {
    fs::create_directories(folder / "case");
    fs::create_directories(folder / "tmp");
    setenv("TMPDIR", (folder / "tmp").c_str(), 1);
    write("1_label_source.py", "def f(x):\n    return x\n");
    write("3_test_code.py", "f(3)\n");
  }
  ~Record() override {
    EXPECT_TRUE(fs::is_empty(folder / "tmp"));
    unsetenv("TMPDIR");
    fs::remove_all(folder);
  }

  void write(const char* name, const std::string& text) {
    std::ofstream(folder / "case" / name, std::ios::binary) << text;
  }

  /// A Python without packages: whatever it is asked for, PyTorch is not there.
  RecordSettings settings(std::vector<std::string> python = {"python3", "-I", "-S"}) const {
    RecordSettings settings = settings_of_folder(folder / "case");
    settings.python = std::move(python);
    settings.timeout_seconds = 20;
    return settings;
  }

  static std::string refusal(const RecordSettings& settings) {
    try {
      record(settings);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_argument) << error.what();
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
      return error.what();
    }
    return "recorded";
  }

  fs::path folder;
};

TEST_F(Record, ASyntaxErrorIsToldWithItsLine) {
  write("3_test_code.py", "x = 1\ndef f(:\n");
  EXPECT_EQ(refusal(settings()),
            "record: " + (folder / "case/3_test_code.py").string() + ":2: invalid syntax");
  write("3_test_code.py", "f(3)\n");
  write("1_label_source.py", "\n\n\nclass 3:\n");
  EXPECT_TRUE(refusal(settings()).starts_with("record: " + (folder / "case/1_label_source.py:4: ").string()));
}

TEST_F(Record, BytesThatAreNoTextAreRefused) {
  write("3_test_code.py", std::string("\x80\x00\xff", 3));
  EXPECT_EQ(refusal(settings()),
            "record: " + (folder / "case/3_test_code.py").string() + " is not a text in UTF-8");
  write("3_test_code.py", std::string("x = 1\0", 6));
  EXPECT_NE(refusal(settings()).find("3_test_code.py"), std::string::npos);
}

TEST_F(Record, WithoutPyTorchItSaysWhatToInstall) {
  const std::string text = refusal(settings());
  EXPECT_TRUE(text.starts_with("record: python3 has no PyTorch")) << text;
  EXPECT_NE(text.find("apt-get install python3-torch, or pip install torch"), std::string::npos) << text;
}

TEST_F(Record, WithoutPythonItSaysWhatToInstall) {
  EXPECT_EQ(refusal(settings({"no-such-python"})),
            "record: there is no Python: no-such-python cannot be run; apt-get install python3-torch brings "
            "both it "
            "and PyTorch");
}

TEST_F(Record, AProcessThatEndsIsToldWithItsLastWords) {
  EXPECT_EQ(refusal(settings({"sh", "-c", "exit 3"})),
            "record: 3_test_code.py ended sh with exit status 3 before its calls could be written");
  EXPECT_EQ(
      refusal(settings({"sh", "-c", "kill -SEGV $$"})),
      "record: 3_test_code.py ended sh with signal Segmentation fault before its calls could be written");
  EXPECT_EQ(
      refusal(settings({"sh", "-c", "echo first; printf 'out of \\033[31mluck\\200\\n\\n'; exit 1"})),
      "record: 3_test_code.py ended sh with exit status 1 before its calls could be written; its last line: "
      "out of [31mluck");
}

TEST_F(Record, ATestThatNeverEndsIsStopped) {
  RecordSettings never = settings({"sh", "-c", "sleep 100"});
  never.timeout_seconds = 0.3;
  EXPECT_EQ(refusal(never), "record: 3_test_code.py ran longer than 0.3 s; --timeout allows more");
  // Nor does one that prints without end hold anybody up.
  never.python = {"sh", "-c", "cat /dev/zero"};
  EXPECT_EQ(refusal(never), "record: 3_test_code.py ran longer than 0.3 s; --timeout allows more");
}

TEST_F(Record, WhatAChildLeftRunningEndsWithIt) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const ChildEnd end = run_child({"sh", "-c", "sleep 100 & echo $!"}, 20);
  EXPECT_TRUE(end.started);
  EXPECT_EQ(end.exit_status, 0);
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(10));
  const pid_t left = std::atoi(end.output.c_str());
  ASSERT_GT(left, 0);
  // Whoever inherits it may take a moment to bury it: a zombie has no command line.
  bool alive = true;
  for (int i = 0; i < 100 && alive; ++i) {
    std::ifstream file("/proc/" + std::to_string(left) + "/cmdline");
    alive = file.get() != std::ifstream::traits_type::eof() && file.good();
    if (alive) usleep(20000);
  }
  EXPECT_FALSE(alive);
}

TEST_F(Record, FilesThatAreNotThereAreRefused) {
  RecordSettings missing = settings();
  missing.label = folder / "none.py";
  EXPECT_EQ(refusal(missing), "record: there is no file " + (folder / "none.py").string());
  EXPECT_THROW(settings_of_folder(folder / "tmp"), Error);
}

TEST(RecordCommand, IsAPythonAndAFile) {
  const RecordSettings plain = settings_of_command({"python3", "-X", "dev", "-u", "dir/t.py", "--fast", "2"});
  EXPECT_EQ(plain.python, (std::vector<std::string>{"python3", "-X", "dev", "-u"}));
  EXPECT_EQ(plain.test, "dir/t.py");
  EXPECT_EQ(plain.arguments, (std::vector<std::string>{"--fast", "2"}));
  EXPECT_TRUE(settings_of_command({"t.py"}).python.empty());
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"python3"}, {"python3", "-c", "pass"}, {"python3", "-m", "pytest"}, {"bash", "run.sh"}})
    EXPECT_THROW(settings_of_command(words), Error) << words.back();
}

}  // namespace
}  // namespace isomer::lab
