// Kernels that run in Triton's interpreter, of which the tests bring along as much as the recorder touches.
#include "lab/record/record.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include <unistd.h>

namespace isomer::lab {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTwiceAsTriton = R"(
import torch, triton
import triton.language as tl

@triton.jit
def _twice(x_ptr, y_ptr, n, BLOCK: "tl.constexpr"):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    for _ in range(n):
        pass
    tl.store(y_ptr + at, 2 * tl.load(x_ptr + at, mask=at < 6), mask=at < 6)

def twice(x, out):
    _twice[[3]](x, out, 1, BLOCK=2)
    return out
)";
constexpr const char* kTuned = R"(
import torch, triton
import triton.language as tl

@triton.autotune(configs=[triton.Config({"BLOCK": 4}), triton.Config({"BLOCK": 2})], key=[])
@triton.jit
def _add(x_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x_ptr + at, tl.load(x_ptr + at) + 1)

def add(x):
    _add[lambda meta: (triton.cdiv(meta["n"], meta["BLOCK"]),)](x, 4)
)";
/// Reads LOOKS elements of x and writes WRITES of y, whatever these hold.
constexpr const char* kReaches = R"(
import torch, triton
import triton.language as tl

@triton.jit
def _reach(x_ptr, y_ptr, LOOKS: tl.constexpr, WRITES: tl.constexpr, KEEPS: tl.constexpr):
    seen = tl.load(x_ptr + tl.arange(0, LOOKS))
    tl.store(y_ptr + tl.arange(0, WRITES), seen[:WRITES] if KEEPS else 1)

def reach(x, y, looks, writes, keeps):
    _reach[(1,)](x, y, LOOKS=looks, WRITES=writes, KEEPS=keeps)
)";

class RecordInterpreter : public testing::Test {
 protected:
  RecordInterpreter()
      : folder(fs::path(testing::TempDir()) / ("record_interpreter_" + std::to_string(getpid()))) {
    fs::create_directories(folder);
    setenv("TRITON_INTERPRET", "1", 1);
    setenv("PYTHONPATH", ISOMER_TEST_DATA "/record_torch/interpreter", 1);
  }
  ~RecordInterpreter() override {
    fs::remove_all(folder);
    unsetenv("PYTHONPATH");
  }

  Recorded recorded(const std::string& label, const std::string& test, std::uint64_t max_bytes = 1 << 20) {
    std::ofstream(folder / "1_label_source.py") << label;
    std::ofstream(folder / "3_test_code.py") << test;
    RecordSettings settings = settings_of_folder(folder);
    settings.python = {ISOMER_PYTHON};
    settings.max_bytes = max_bytes;
    return record(settings);
  }
  /// Of a call of reach, what the recorder noted of addresses outside.
  std::string outside(const Recorded& recorded) {
    const auto found = recorded.recording.metadata.find("outside");
    return found == recorded.recording.metadata.end() ? "" : found->second;
  }
  fs::path folder;
};

TEST_F(RecordInterpreter, TakesWhatTheCompilerTakes) {
  const Recorded got =
      recorded(kTwiceAsTriton, "x = torch.arange(6, dtype=torch.float32)\ntwice(x, torch.zeros(6))\n");
  EXPECT_EQ(got.unanswered, 0) << got.why;
  EXPECT_EQ(got.recording.metadata.at("answers"), "triton");
  EXPECT_EQ(outside(got), "");
  ASSERT_EQ(got.recording.calls.at(0).after.size(), 2u);
  const Tensor& y = got.recording.calls[0].after[1].tensor;
  for (int i = 0; i < 6; ++i) EXPECT_EQ(*y.at<float>(i), 2.0f * static_cast<float>(i));
}

/// How many larger sizes the label answered; its kernel has so many blocks of two elements.
std::size_t larger_of(const Recorded& got) {
  return static_cast<std::size_t>(
      std::count_if(got.recording.asked.begin(), got.recording.asked.end(),
                    [](const RecordedCall& call) { return call.asked == "larger"; }));
}

TEST_F(RecordInterpreter, ALargerSizeOfWhichAPartIsNotReachedIsNotAsked) {
  const std::string kernel = R"(
import torch, triton
import triton.language as tl

@triton.jit
def _twice(x_ptr, y_ptr, n: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + at, 2 * tl.load(x_ptr + at, mask=at < n), mask=at < n)

def twice(x, out):
)";
  const char* test = "x = torch.arange(6, dtype=torch.float32)\ntwice(x / 64, torch.zeros(6))\n";
  EXPECT_GT(
      larger_of(recorded(kernel + "    _twice[(-(-x.numel() // 2),)](x, out, n=x.numel(), BLOCK=2)\n", test)),
      0u);
  EXPECT_EQ(larger_of(recorded(kernel + "    _twice[(3,)](x, out, n=x.numel(), BLOCK=2)\n", test)), 0u);
}

// Each launch reserves 64 MiB beside every argument, of 4 GiB that a child of the recorder may have.
TEST_F(RecordInterpreter, ManyEditsOfALabelAreAnsweredInOneProcess) {
  std::string label = R"(
import torch, triton
import triton.language as tl

@triton.jit
def _mixed(x_ptr, y_ptr):
    at = tl.arange(0, 6)
    x = tl.load(x_ptr + at, mask=at < 6)
    y = x
)";
  for (int i = 1; i <= 40; ++i) label += "    y = y * " + std::to_string(i) + ".5 + x\n";
  label += R"(    tl.store(y_ptr + at, y, mask=at < 6)

def mixed(x, out):
    _mixed[(1,)](x, out)
    return out
)";
  const Recorded got =
      recorded(label, "x = torch.arange(6, dtype=torch.float32)\nmixed(x / 64, torch.zeros(6))\n", 8 << 20);
  EXPECT_EQ(got.unanswered, 0) << got.why;
  EXPECT_GT(got.recording.edited.edits.size(), 40u);
}

TEST_F(RecordInterpreter, ATensorThatAKernelWritesIsNotWhatTheLabelComputes) {
  const std::string label = kTwiceAsTriton + std::string(R"(
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        order = torch.arange(6).flip(0)
        given, room = x[order], torch.zeros(6)
        _twice[[3]](given, room, 1, BLOCK=2)
        later = room + 1
        return later - 1

def turned(x):
    count = torch.tensor([x.numel()])
    return Twice.apply(x)
)");
  const Recorded got = recorded(label, "turned(torch.arange(6, dtype=torch.float32))\n");
  EXPECT_EQ(got.unanswered, 0) << got.why;
  std::vector<std::string> names;
  for (const Value& each : got.recording.calls.at(0).computed) names.push_back(each.name);
  EXPECT_EQ(names, (std::vector<std::string>{"count", "given", "order"}));
}

TEST_F(RecordInterpreter, TakesTheFirstOfSeveralConfigurations) {
  const Recorded got = recorded(kTuned, "add(torch.zeros(4))\n");
  EXPECT_EQ(got.unanswered, 0) << got.why;
  EXPECT_EQ(*got.recording.calls.at(0).after.at(0).tensor.at<float>(3), 1.0f);
}

TEST_F(RecordInterpreter, AnAnswerMadeOfMemoryOutsideIsNone) {
  const Recorded got = recorded(kReaches, "reach(torch.ones(3), torch.zeros(5), 5, 5, True)\n");
  EXPECT_EQ(got.unanswered, 1);
  EXPECT_EQ(got.why, "the label's kernel leaves the memory of its arguments");
  EXPECT_NE(outside(got).find(R"("access": "reads", "bytes": 12, "holds": 12)"), std::string::npos)
      << outside(got);
  EXPECT_NE(outside(got).find(R"("argument": "x")"), std::string::npos) << outside(got);
}

TEST_F(RecordInterpreter, AnAnswerThatDoesNotDependOnItStays) {
  const Recorded got = recorded(kReaches, "reach(torch.ones(3), torch.zeros(3), 5, 3, True)\n");
  EXPECT_EQ(got.unanswered, 0) << got.why;
  EXPECT_NE(outside(got).find(R"("matters": false)"), std::string::npos) << outside(got);
  EXPECT_EQ(*got.recording.calls.at(0).after.at(1).tensor.at<float>(2), 1.0f);
}

TEST_F(RecordInterpreter, WritesOutsideAreNeitherMadeNorAnAnswer) {
  const Recorded got =
      recorded(kReaches, "y = torch.zeros(64)\nreach(torch.ones(3), y[:3].clone(), 3, 50000, False)\n");
  EXPECT_EQ(got.unanswered, 1);
  EXPECT_NE(outside(got).find(R"("access": "writes", "bytes": 12, "holds": 12)"), std::string::npos)
      << outside(got);
  EXPECT_NE(outside(got).find(R"("argument": "y")"), std::string::npos) << outside(got);
}

}  // namespace
}  // namespace isomer::lab
