// What a recorded call has of the label: its answer, the exception it ended in, the strides that it honours.
#include "recorded_folder.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace isomer::lab {
namespace {

constexpr const char* kTwice = R"(
import torch, triton
import triton.language as tl

@triton.autotune(configs=[triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 128}, num_warps=8)], key=["n"])
@triton.heuristics({"EVEN": lambda args: args["n"] % 64 == 0})
@triton.jit
def _twice(x_ptr, y_ptr, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + at, 2 * tl.load(x_ptr + at, mask=at < n), mask=at < n)

def twice(x):
    assert x.is_cuda and x.device.type == "cuda"
    y = torch.empty_like(x)
    _twice[lambda meta: (triton.cdiv(x.numel(), 64),)](x, y, x.numel())
    return y
)";

TEST_F(RecordTorch, Bf16OfTheInterpreterIsRoundedAsPyTorchDoes) {
  const fs::path script = folder / "bf16.py";
  std::ofstream(script) << R"(
import sys
sys.path.insert(0, sys.argv[1])
import numpy, torch
from isomer_record.interpreter_bf16 import rounded, widened

x = numpy.random.default_rng(1).integers(0, 2**32, 100000, dtype=numpy.uint32).view(numpy.float32)
want, got = torch.from_numpy(x).bfloat16().float(), torch.from_numpy(widened(rounded(x)))
same = (want == got) & (torch.signbit(want) == torch.signbit(got)) | torch.isnan(want) & torch.isnan(got)
sys.exit(0 if bool(same.all()) and int(torch.isnan(want).sum()) > 100 else 1)
)";
  const std::string command =
      std::string(ISOMER_PYTHON) + " '" + script.string() + "' '" + ISOMER_RECORDER + "'";
  EXPECT_EQ(std::system(command.c_str()), 0);
}

TEST_F(RecordTorch, EightBitFloatsOfTheInterpreterAreRoundedToTheNearest) {
  const fs::path script = folder / "fp8.py";
  std::ofstream(script) << R"(
import sys
sys.path.insert(0, sys.argv[1])
import numpy
from isomer_record.interpreter_fp8 import TYPES

types = {name: narrow for (_, name), narrow in TYPES.items()}
tie = 2.0 ** -10
known = {
    "e4m3fn": ([448, 1e9, -numpy.inf, 1.0625, 1.1875, tie, 3 * tie, -0.0, numpy.nan], [126, 126, 254, 56, 58, 0, 2, 128, 127]),
    "e5m2": ([57344, numpy.inf, 1.125, 1.375, -1], [123, 123, 60, 62, 188]),
    "e4m3fnuz": ([240, 1e9, 1, -0.0, numpy.nan], [127, 127, 64, 0, 128]),
    "e5m2fnuz": ([57344, 1, -0.0, numpy.nan], [127, 64, 0, 128]),
}
good = set(known) == set(types)
for name, (numbers, codes) in known.items():
    good = good and types[name].rounded(numbers).tolist() == codes
for narrow in types.values():
    every = numpy.arange(256, dtype=numpy.uint8)
    wide = narrow.widened(every)
    finite = numpy.isfinite(wide)
    good = good and int(finite.sum()) >= 246 and numpy.array_equal(narrow.rounded(wide)[finite], every[finite])
good = good and types["e5m2"].widened([0x7C, 0xFC]).tolist() == [numpy.inf, -numpy.inf]
sys.exit(0 if good else 1)
)";
  const std::string command =
      std::string(ISOMER_PYTHON) + " '" + script.string() + "' '" + ISOMER_RECORDER + "'";
  EXPECT_EQ(std::system(command.c_str()), 0);
}

TEST_F(RecordTorch, AKernelThatCannotRunLeavesTheCallWithoutAnAnswer) {
  const Recorded got = recorded(kTwice,
                                "x = torch.arange(6, dtype=torch.float32, device='cuda')\ny = twice(x[2:])\n"
                                "assert torch.equal(y, 2 * x[2:])\nprint('on')\n");
  ASSERT_EQ(got.recording.calls.size(), 1u);
  EXPECT_EQ(got.unanswered, 1);
  // What to do about it can be pasted.
  EXPECT_NE(got.why.find(" -m pip install "), std::string::npos) << got.why;
  EXPECT_NE(got.why.find(" triton brings "), std::string::npos) << got.why;
  EXPECT_TRUE(got.raised.empty());  // what cannot hold is not asserted
  EXPECT_EQ(got.recording.metadata.at("answers"), "none");
  const RecordedCall& call = got.recording.calls[0];
  EXPECT_TRUE(call.after.empty());
  EXPECT_TRUE(call.returned.empty());
  ASSERT_EQ(call.before.size(), 1u);
  const Value& x = call.before[0];
  EXPECT_EQ(x.name, "x");
  EXPECT_EQ(x.tensor.describe(), "f32[4]");
  EXPECT_EQ(x.storage_offset, 8u);
  EXPECT_EQ(x.storage_bytes, 24u);
  EXPECT_EQ(*x.tensor.at<float>(0), 2.0f);
  EXPECT_EQ(call.group, "<module>:2");
}

TEST_F(RecordTorch, ACallInsideOfAnAssertionIsKeptWhereItsAnswerCannotBeAsserted) {
  const Recorded got =
      recorded(kTwice,
               "x = torch.ones(6, device='cuda')\nassert torch.equal(twice(x), 2 * x), 'no'\n"
               "def test_more():\n    assert twice(x[1:]).sum() == 10\n");
  EXPECT_EQ(got.recording.calls.size(), 2u);
  EXPECT_TRUE(got.raised.empty());
}

TEST_F(RecordTorch, ALaunchOfNoBlocksIsAnAnswer) {
  const Recorded got = recorded(kTwice, "twice(torch.empty(0, device='cuda'))\n");
  EXPECT_EQ(got.unanswered, 0);
  ASSERT_EQ(got.recording.calls[0].returned.size(), 1u);
  EXPECT_EQ(got.recording.calls[0].returned[0].tensor.describe(), "f32[0]");
}

TEST_F(RecordTorch, PlainPyTorchAnswers) {
  const Recorded got = recorded(kPlain, "y = twice(torch.ones(3, 2).t().cuda(), by=3.5)\n");
  EXPECT_EQ(got.recording.metadata.at("answers"), "torch");
  const RecordedCall& call = got.recording.calls[0];
  ASSERT_EQ(call.before.size(), 2u);
  EXPECT_EQ(call.before[0].tensor.describe(), "f32[2, 3] strides [1, 2]");
  EXPECT_EQ(call.before[1].name, "by");
  EXPECT_EQ(call.before[1].real, 3.5);
  EXPECT_EQ(call.keyword, (std::vector<bool>{false, true}));
  ASSERT_EQ(call.after.size(), 2u);
  ASSERT_EQ(call.returned.size(), 1u);
  EXPECT_EQ(*call.returned[0].tensor.at<float>(1, 2), 3.5f);
}

TEST_F(RecordTorch, ALargeCallIsAskedForOnceMoreWithSmallerSizes) {
  const Recorded got = recorded(
      "import torch\n\ndef pick(x, lengths, ids, n):\n    assert n == x.shape[0]\n"
      "    return x[:lengths[0]][ids].repeat(1, 2)\n",
      "pick(torch.randn(1024, 320), torch.tensor([512]), torch.arange(3), 1024)\n"
      "pick(torch.randn(64, 4), torch.tensor([8]), torch.arange(3), 64)\n");
  ASSERT_EQ(got.recording.calls.size(), 2u);
  const RecordedCall* smaller = nullptr;
  for (const RecordedCall& call : got.recording.asked)
    if (call.asked == "smaller") {
      EXPECT_EQ(smaller, nullptr);
      smaller = &call;
    }
  ASSERT_NE(smaller, nullptr);
  // 128 is a multiple of the blocks that 1024 is one of, and 40 none of those of 320.
  EXPECT_EQ(smaller->before[0].tensor.describe(), "f32[128, 320]");
  EXPECT_EQ(*smaller->before[1].tensor.at<std::int64_t>(0), 64);
  EXPECT_EQ(*smaller->before[2].tensor.at<std::int64_t>(2), 2);
  EXPECT_EQ(smaller->before[3].integer, 128);
  ASSERT_EQ(smaller->returned.size(), 1u);
  EXPECT_EQ(smaller->returned[0].tensor.describe(), "f32[3, 640]");
}

TEST_F(RecordTorch, ValuesThatNoTestHasAreAskedForOnceOfEachFunction) {
  Recorded got = recorded(
      "import torch\n\ndef softmax(x, scale, bias=None, axis=-1):\n    return torch.softmax(x * scale, "
      "axis)\n",
      "x = torch.randn(3, 5)\nsoftmax(x, 0.5)\nsoftmax(x, scale=2.0)\nprint(torch.rand(1))\n");
  ASSERT_EQ(got.recording.calls.size(), 2u);
  std::erase_if(got.recording.asked, [](const RecordedCall& call) { return call.asked == "larger"; });
  ASSERT_EQ(got.recording.asked.size(), 3u);
  const auto largest = [](const RecordedCall& call) {
    double most = 0;
    for (int i = 0; i < 15; ++i)
      most = std::max<double>(most, std::fabs(static_cast<const float*>(call.before[0].tensor.data)[i]));
    return most;
  };
  EXPECT_EQ(got.recording.asked[0].asked, "large");
  EXPECT_NEAR(largest(got.recording.asked[0]), 400, 1e-3);
  EXPECT_EQ(got.recording.asked[1].asked, "small");
  EXPECT_NEAR(largest(got.recording.asked[1]), 1e-3, 1e-8);
  EXPECT_EQ(got.recording.asked[2].asked, "far below zero");  // of who takes exponentials
  for (const RecordedCall& call : got.recording.asked) {
    EXPECT_EQ(call.function, "softmax");
    ASSERT_EQ(call.before.size(), 2u);
    EXPECT_EQ(call.before[1].real, 0.5);
    ASSERT_EQ(call.returned.size(), 1u);
    EXPECT_EQ(call.returned[0].tensor.describe(), "f32[3, 5]");
  }
  for (const RecordedCall& call : got.recording.calls) {
    ASSERT_EQ(call.left_out.size(), 1u);  // a default of None is no number
    EXPECT_EQ(call.left_out[0].name, "axis");
    EXPECT_EQ(call.left_out[0].integer, -1);
  }
  // The test's own numbers are what they are without.
  EXPECT_LT(largest(got.recording.calls[1]), 10);
}

TEST_F(RecordTorch, AnExceptionOfTheLabelIsKeptWithItsCall) {
  const Recorded got = recorded("def f(x):\n    raise ValueError('only even ' + str(x))\n", "f(3)\n");
  ASSERT_EQ(got.recording.calls.size(), 1u);
  EXPECT_EQ(got.recording.calls[0].raised, "ValueError: only even 3");
  EXPECT_TRUE(got.recording.calls[0].after.empty());
}

/// y = 2 x by strides; by none, as PyTorch does; of the rows' stride alone; of what must be compact.
constexpr const char* kStrided = R"(
import torch

def by_strides(x, y):
    assert x.stride(1) > 0 and y.stride()[-1] > 0
    y.copy_(2 * x)

def by_torch(x, y):
    y.copy_(2 * x)

def by_rows(x, y):
    rows, columns = x.shape
    flat = x.as_strided((rows, columns), (x.stride(0), 1))
    y.copy_(2 * flat)

def of_one_layout(x, y):
    assert x.stride() == y.stride()
    y.copy_(2 * x)

def of_compact(x):
    assert x.is_contiguous()
    return 2 * x

def drawn(x):
    return x + torch.rand(x.shape)
)";
TEST_F(RecordTorch, HowManyStridesTheLabelHonoursIsRecorded) {
  const Recorded got =
      recorded(kStrided,
               "x, y = torch.randn(4, 6), torch.zeros(4, 6)\nby_strides(x, y)\nby_rows(x, y)\n"
               "of_compact(x)\ntorch.manual_seed(3)\ndrawn(x)\nof_compact(torch.rand(4, 6))\n"
               "by_torch(x, y)\nof_one_layout(x, y)\n");
  ASSERT_TRUE(got.raised.empty());
  ASSERT_EQ(got.recording.calls.size(), 7u);
  const auto strided = [&](std::size_t call) { return got.recording.calls[call].strided; };
  EXPECT_EQ(strided(0), (std::vector<int>{2, 2}));
  EXPECT_EQ(strided(1), (std::vector<int>{1, 1}));
  // Who looks at no innermost stride says nothing of it.
  EXPECT_EQ(strided(5), (std::vector<int>{1, 1}));
  EXPECT_EQ(strided(2), std::vector<int>{0});
  // Whose tensors have to lie alike takes a view of none alone.
  EXPECT_EQ(strided(6), (std::vector<int>{0, 0}));
  // Another answer each time says nothing, and what is drawn afterwards is what the test would have drawn.
  EXPECT_EQ(strided(3), std::vector<int>{0});
  const Recorded again = recorded(kStrided,
                                  "x = torch.randn(4, 6)\ntorch.manual_seed(3)\ntorch.rand(4, 6)\n"
                                  "of_compact(torch.rand(4, 6))\n");
  ASSERT_EQ(again.recording.calls.size(), 1u);
  EXPECT_EQ(std::memcmp(again.recording.calls[0].before[0].tensor.data,
                        got.recording.calls[4].before[0].tensor.data, 24 * sizeof(float)),
            0);
}

}  // namespace
}  // namespace isomer::lab
