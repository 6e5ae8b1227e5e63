// Labels whose kernels run in the interpreter of a Triton that is installed; none of these where there is
// none.
#include "lab/record/record.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

namespace isomer::lab {
namespace {

namespace fs = std::filesystem;

/// A Python that has both; empty where there is none.
std::string python_with_triton() {
  for (const char* python : {"python3", ISOMER_PYTHON})
    if (std::system((std::string(python) + " -c 'import torch, triton' > /dev/null 2>&1").c_str()) == 0)
      return python;
  return "";
}

class RecordTriton : public testing::Test {
 protected:
  RecordTriton() : folder(fs::path(testing::TempDir()) / ("record_triton_" + std::to_string(getpid()))) {
    fs::create_directories(folder);
    setenv("TRITON_INTERPRET", "1", 1);
    setenv("CUDA_VISIBLE_DEVICES", "", 1);
  }
  ~RecordTriton() override {
    fs::remove_all(folder);
    unsetenv("CUDA_VISIBLE_DEVICES");
  }
  void SetUp() override {
    static const std::string found = python_with_triton();
    if (found.empty()) GTEST_SKIP() << "no Python has PyTorch and Triton";
    python = found;
  }

  Recorded recorded(const std::string& label, const std::string& test, double seconds = 120) {
    std::ofstream(folder / "1_label_source.py") << "import torch, triton\nimport triton.language as tl\n"
                                                << label;
    std::ofstream(folder / "3_test_code.py") << test;
    RecordSettings settings = settings_of_folder(folder);
    settings.python = {python};
    settings.timeout_seconds = seconds;
    settings.edit_seconds = 0;
    return record(settings);
  }
  fs::path folder;
  std::string python;
};

TEST_F(RecordTriton, ANumberBesideBf16IsBf16) {
  const Recorded got = recorded(R"(
@triton.jit
def _halves_or_one(x, out, N: tl.constexpr):
    at = tl.arange(0, N)
    half = tl.load(x + at).to(tl.bfloat16) * tl.extra.cuda.libdevice.pow(2.0, (at * 0 - 1).to(tl.int16)).to(tl.bfloat16)
    tl.store(out + at, tl.where(at < 2, half, 1.0))

def halves_or_one(x, out):
    _halves_or_one[(1,)](x, out, N=4)
)",
                                "halves_or_one(torch.arange(4.0), torch.zeros(4, dtype=torch.bfloat16))\n");
  EXPECT_EQ(got.unanswered, 0) << got.why;
  ASSERT_EQ(got.recording.calls.at(0).after.size(), 2u);
  const Tensor& out = got.recording.calls[0].after[1].tensor;
  const std::uint16_t wanted[] = {0x0000, 0x3f00, 0x3f80, 0x3f80};
  for (int i = 0; i < 4; ++i) EXPECT_EQ(*out.at<std::uint16_t>(i), wanted[i]) << i;
}

TEST_F(RecordTriton, ACommaBehindAnAddressMakesNoTuple) {
  const Recorded got = recorded(R"(
@triton.jit
def _sum(x, out, N: tl.constexpr):
    row = (x + tl.arange(0, N), )
    both = (1, 2)
    total = tl.zeros((N,), dtype=tl.float32)
    for _ in range(2):
        total += tl.load(row) * both[0]
        row += N
    tl.store(out + tl.arange(0, N), total)

def sum_of_two(x, out):
    _sum[(1,)](x, out, N=4)
)",
                                "sum_of_two(torch.arange(8.0), torch.zeros(4))\n");
  EXPECT_EQ(got.unanswered, 0) << got.why;
  ASSERT_EQ(got.recording.calls.at(0).after.size(), 2u);
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(*got.recording.calls[0].after[1].tensor.at<float>(i), 2.0f * static_cast<float>(i) + 4.0f);
}

constexpr const char* kSums = R"(
@triton.jit
def _add(a, b):
    return a + b

@triton.jit
def _sums(x, out, stride, N: tl.constexpr):
    row = tl.program_id(0)
    at = row * stride + tl.arange(0, N)
    total = tl.zeros((N,), dtype=tl.float32)
    for i in range(4):
        total = _add(total, tl.load(x + at) * tl.max(tl.load(x + at).to(tl.float32), 0))
    tl.store(out + at, total.to(tl.float16))

def sums(x, out):
    _sums[(x.shape[0],)](x, out, x.stride(0), N=x.shape[1])
)";

TEST_F(RecordTriton, ThousandsOfProgramsAreRecordedInTime) {
  const auto begin = std::chrono::steady_clock::now();
  const Recorded got =
      recorded(kSums, "x = torch.ones(1000, 16, dtype=torch.float16)\nsums(2 * x, torch.zeros_like(x))\n");
  EXPECT_EQ(got.unanswered, 0) << got.why;
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(120));
  ASSERT_FALSE(got.recording.calls.at(0).after.empty());
  EXPECT_EQ(*got.recording.calls[0].after[1].tensor.at<std::uint16_t>(0), 0x4c00);  // 16
}

TEST_F(RecordTriton, WhatNoProgramWritesOfAResultIsMarkedUnset) {
  const Recorded got = recorded(R"(
@triton.jit
def _shifted(x, out, n, shift, N: tl.constexpr):
    at = tl.arange(0, N)
    value = tl.load(x + at, mask=at < n)
    tl.store(out + at + shift, value, mask=at + shift < n)

class Shifted(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, shift=0):
        out = torch.empty_like(x)
        _shifted[(1,)](x, out, x.numel(), shift, N=16)
        return out
)",
                                "for shift in (0, 1, 2):\n    Shifted.apply(torch.arange(12.0), shift)\n");
  ASSERT_EQ(got.recording.calls.size(), 3u);
  EXPECT_TRUE(got.recording.calls[0].unset.empty());
  for (std::size_t shift : {1u, 2u}) {
    ASSERT_EQ(got.recording.calls[shift].unset.size(), 1u);
    const Tensor& mask = got.recording.calls[shift].unset[0].tensor;
    for (std::size_t i = 0; i < 12; ++i)
      EXPECT_EQ(*mask.at<std::uint8_t>(static_cast<std::int64_t>(i)) != 0, i < shift);
  }
}

TEST_F(RecordTriton, LaunchesOfAFunctionThatMakesItsTensorsItselfAreTheCalls) {
  const Recorded got = recorded(R"(
@triton.jit
def _largest(x_ptr, y_ptr, stride, M: tl.constexpr, N: tl.constexpr):
    rows = tl.arange(0, M)[:, None] * stride + tl.arange(0, N)[None, :]
    tl.store(y_ptr + tl.arange(0, M), tl.max(tl.load(x_ptr + rows), axis=1))

def check_largest(m, n):
    x = torch.rand(m, n)
    y = torch.empty(m)
    _largest[(1,)](x, y, x.stride(0), m, n)
    torch.testing.assert_close(y, x.max(dim=1)[0])
)",
                                "for m, n in ((4, 8), (8, 16)):\n    check_largest(m, n)\n");
  EXPECT_EQ(got.unanswered, 0) << got.why;
  ASSERT_EQ(got.recording.calls.size(), 2u);
  const RecordedCall& call = got.recording.calls[1];
  EXPECT_EQ(call.function, "_largest");
  ASSERT_EQ(call.before.size(), 5u);
  EXPECT_EQ(call.before[1].name, "y_ptr");
  EXPECT_EQ(call.before[4].integer, 16);
  float largest = 0;
  for (int i = 0; i < 16; ++i) largest = std::max(largest, *call.before[0].tensor.at<float>(i));
  EXPECT_EQ(*call.after.at(1).tensor.at<float>(0), largest);
}

// What such a function returns is made of what it draws, which no port is passed.
TEST_F(RecordTriton, LaunchesOfAFunctionThatDrawsWhatItReadsAreTheCalls) {
  const Recorded got = recorded(R"(
@triton.jit
def _doubled(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(y_ptr + at, 2 * tl.load(x_ptr + at, mask=at < n), mask=at < n)

def doubled(n):
    x = torch.rand(n)
    y = torch.empty(n)
    _doubled[(1,)](x, y, n, BLOCK=32)
    return y
)",
                                "for n in (5, 20):\n    doubled(n)\n");
  EXPECT_EQ(got.unanswered, 0) << got.why;
  ASSERT_EQ(got.recording.calls.size(), 2u);
  const RecordedCall& call = got.recording.calls[1];
  EXPECT_EQ(call.function, "_doubled");
  ASSERT_GE(call.before.size(), 3u);
  EXPECT_EQ(call.before[2].integer, 20);
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(*call.after.at(1).tensor.at<float>(i), 2 * *call.before[0].tensor.at<float>(i));
}

// Results that are None are none: the others keep the names that the function has for them.
TEST_F(RecordTriton, ResultsBesideNoneKeepTheirNames) {
  const Recorded got = recorded(R"(
@triton.jit
def _copied(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.load(x_ptr + at, mask=at < n), mask=at < n)

def copied(x, mask=None):
    y = torch.empty_like(x)
    sums = None if mask is None else mask.sum()
    _copied[(1,)](x, y, x.numel(), BLOCK=32)
    return sums, y, mask if mask is not None else x
)",
                                "copied(torch.rand(7))\n");
  ASSERT_EQ(got.recording.calls.size(), 1u);
  const std::vector<Value>& returned = got.recording.calls[0].returned;
  ASSERT_EQ(returned.size(), 2u);
  EXPECT_EQ(returned[0].name, "y");
  EXPECT_EQ(returned[1].name, "mask");
}

/// Each token reads the length of its own, of which a test may have too few.
constexpr const char* kOfLengths = R"(
@triton.jit
def _of_lengths(x, out, lengths, table, N: tl.constexpr):
    token = tl.program_id(0)
    row = tl.load(table + token * 2 + tl.load(lengths + token))
    at = tl.arange(0, N)
    tl.store(out + row * N + at, tl.load(x + token * N + at))

def of_lengths(x, out, lengths, table):
    _of_lengths[(x.shape[0],)](x, out, lengths, table, N=x.shape[1])
)";

TEST_F(RecordTriton, ACallWhoseArgumentsAreTooShortIsAskedWithLongerOnes) {
  const std::string given =
      "x, out, table = torch.rand(6, 4), torch.zeros(8, 4), torch.arange(4).reshape(2, 2)\n";
  const Recorded got = recorded(kOfLengths, given + "of_lengths(x, out, torch.tensor([1, 0]), table)\n");
  EXPECT_EQ(got.unanswered, 1);
  ASSERT_EQ(got.recording.calls.size(), 2u);
  EXPECT_TRUE(got.recording.calls[0].after.empty());
  const RecordedCall& call = got.recording.calls[1];
  EXPECT_NE(call.group.find("lengths of 6 rows"), std::string::npos) << call.group;
  EXPECT_EQ(call.before.at(2).tensor.shape[0], 6);
  EXPECT_EQ(call.before.at(3).tensor.shape[0], 6);
  EXPECT_EQ(call.after.size(), 4u);

  // Another call that has an answer says enough.
  const Recorded both = recorded(
      kOfLengths, given +
                      "of_lengths(x, out, torch.tensor([1, 0]), table)\n"
                      "of_lengths(x, out, torch.tensor([1, 0] * 3), torch.arange(12).reshape(6, 2) % 8)\n");
  EXPECT_EQ(both.unanswered, 1);
  EXPECT_EQ(both.recording.calls.size(), 2u);
}

TEST_F(RecordTriton, WhatFinishesBeforeTheTimeIsOverIsKept) {
  const auto begin = std::chrono::steady_clock::now();
  const std::string slow = kSums + std::string(R"(
def slow_sums(x, out, times):
    for _ in range(times):
        sums(x, out)
)");
  const Recorded got = recorded(slow,
                                "x = torch.ones(256, 16, dtype=torch.float16)\n"
                                "slow_sums(x[:4], torch.zeros_like(x), 1)\n"
                                "slow_sums(x, torch.zeros_like(x), 10000)\n",
                                60);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
  ASSERT_EQ(got.recording.calls.size(), 2u);
  EXPECT_FALSE(got.recording.calls[0].after.empty());
  EXPECT_TRUE(got.recording.calls[1].after.empty());
  EXPECT_EQ(got.unanswered, 1);
  EXPECT_NE(got.why.find("--timeout allows more"), std::string::npos) << got.why;
}

}  // namespace
}  // namespace isomer::lab
