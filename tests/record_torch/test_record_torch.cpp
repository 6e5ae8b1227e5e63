// Labels and tests under a real PyTorch on a machine without a GPU: what is recorded of them.
#include "lab/record/kept.hpp"
#include "lab/record/record.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include <unistd.h>

namespace isomer::lab {
namespace {

namespace fs = std::filesystem;

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
constexpr const char* kPlain = "import torch\n\ndef twice(x, out=None, *, by=2):\n    return x * by\n";

class RecordTorch : public testing::Test {
 protected:
  RecordTorch() : folder(fs::path(testing::TempDir()) / ("record_torch_" + std::to_string(getpid()))) {
    fs::create_directories(folder);
    // Without Triton's interpreter, whether it is installed or not.
    setenv("TRITON_INTERPRET", "0", 1);
  }
  ~RecordTorch() override { fs::remove_all(folder); }

  Recorded recorded(const std::string& label, const std::string& test) {
    std::ofstream(folder / "1_label_source.py") << label;
    std::ofstream(folder / "3_test_code.py") << test;
    RecordSettings settings = settings_of_folder(folder);
    settings.python = {ISOMER_PYTHON};
    return record(settings);
  }
  std::vector<std::string> groups(const Recorded& recorded) {
    std::vector<std::string> all;
    for (const RecordedCall& call : recorded.recording.calls) all.push_back(call.group);
    return all;
  }
  fs::path folder;
};

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

TEST_F(RecordTorch, AKernelThatCannotRunLeavesTheCallWithoutAnAnswer) {
  const Recorded got = recorded(kTwice,
                                "x = torch.arange(6, dtype=torch.float32, device='cuda')\ny = twice(x[2:])\n"
                                "assert torch.equal(y, 2 * x[2:])\nprint('on')\n");
  ASSERT_EQ(got.recording.calls.size(), 1u);
  EXPECT_EQ(got.unanswered, 1);
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

TEST_F(RecordTorch, ValuesThatNoTestHasAreAskedForOnceOfEachFunction) {
  const Recorded got = recorded(
      "import torch\n\ndef softmax(x, scale, bias=None, axis=-1):\n    return torch.softmax(x * scale, "
      "axis)\n",
      "x = torch.randn(3, 5)\nsoftmax(x, 0.5)\nsoftmax(x, scale=2.0)\nprint(torch.rand(1))\n");
  ASSERT_EQ(got.recording.calls.size(), 2u);
  ASSERT_EQ(got.recording.asked.size(), 2u);
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

TEST_F(RecordTorch, WhatIsWrittenInPlaceIsSeenBeforeAndAfter) {
  const Recorded got = recorded("def add(x, y):\n    y += x\n",
                                "import torch\nbase = torch.zeros(8).cuda()\n"
                                "add(torch.ones(2).to('cuda'), base[1::4])\nadd(base, base)\n");
  ASSERT_EQ(got.recording.calls.size(), 2u);
  const RecordedCall& call = got.recording.calls[0];
  EXPECT_TRUE(call.returned.empty());
  ASSERT_EQ(call.after.size(), 2u);
  EXPECT_EQ(call.before[1].tensor.describe(), "f32[2] strides [4]");
  EXPECT_EQ(*call.before[1].tensor.at<float>(1), 0.0f);
  EXPECT_EQ(*call.after[1].tensor.at<float>(1), 1.0f);
  EXPECT_EQ(static_cast<const float*>(call.after[1].storage.get())[4], 0.0f);
  // One tensor passed twice is one storage.
  const RecordedCall& twice = got.recording.calls[1];
  EXPECT_EQ(twice.before[0].storage.get(), twice.before[1].storage.get());
  EXPECT_EQ(*twice.after[0].tensor.at<float>(5), 2.0f);
}

TEST_F(RecordTorch, EveryCallOfEveryTestIsKept) {
  const Recorded got = recorded(kPlain, R"(import torch, unittest

def test_a():
    twice(torch.ones(1))
    raise KeyError("a")
    twice(torch.ones(9))

def test_b():
    twice(torch.ones(2))

class TestC:
    def test_c(self):
        twice(torch.ones(3))

class D(unittest.TestCase):
    def test_d(self):
        twice(torch.ones(4))
        self.assertTrue(False)

test_b()
nonsense(1)
if __name__ == "__main__":
    twice(torch.ones(5))
)");
  EXPECT_EQ(groups(got),
            (std::vector<std::string>{"test_b:9", "<module>:23", "test_a:4", "test_c:13", "test_d:17"}));
  ASSERT_EQ(got.raised.size(), 3u);
  EXPECT_EQ(got.raised[0], "line 21: NameError: name 'nonsense' is not defined");
  EXPECT_EQ(got.raised[1], "test_a: KeyError: 'a'");
  EXPECT_NE(got.raised[2].find("AssertionError"), std::string::npos);
}

// Whether pytest is installed or not: its session is not run, its fixtures and parameters are.
TEST_F(RecordTorch, TestsOfPytestAreCalledWithTheirFixturesAndParameters) {
  const Recorded got = recorded(kPlain, R"(
import pytest, torch
made = []

@pytest.fixture(params=[2, 3])
def rows(request):
    return request.param

@pytest.fixture
def x(rows):
    made.append(rows)
    yield torch.zeros(rows, 4).cuda()
    made.pop()

@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)

@pytest.mark.slow
@pytest.mark.parametrize("by,other", [(5, 1), pytest.param(6, 2)])
def test_all(x, rows, by, other):
    assert made == [rows]
    with pytest.raises(TypeError):
        twice()
    twice(x, by=by)

class TestMore:
    @pytest.mark.parametrize("by", [7])
    def test_more(self, by):
        assert not made and by == pytest.approx(7.0)
        twice(torch.ones(1), by=by)

def test_skipped():
    pytest.skip("not here")

def test_after():
    twice(torch.ones(1), by=8)

if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__]))
)");
  std::string said;
  for (const RecordedCall& call : got.recording.calls)
    if (call.before.size() == 2u)
      said +=
          std::to_string(call.before[0].tensor.size(0)) + "*" + std::to_string(call.before[1].integer) + " ";
  EXPECT_EQ(said, "2*5 3*5 2*6 3*6 1*7 1*8 ");
}

TEST_F(RecordTorch, AnExceptionOfTheLabelIsKeptWithItsCall) {
  const Recorded got = recorded("def f(x):\n    raise ValueError('only even ' + str(x))\n", "f(3)\n");
  ASSERT_EQ(got.recording.calls.size(), 1u);
  EXPECT_EQ(got.recording.calls[0].raised, "ValueError: only even 3");
  EXPECT_TRUE(got.recording.calls[0].after.empty());
}

TEST_F(RecordTorch, TheLabelIsFoundUnderWhateverNameTheTestImportsIt) {
  for (const char* import :
       {"from some.kernels import twice", "import label_source as m; twice = m.twice", ""})
    EXPECT_EQ(recorded(kPlain, std::string("import torch\n") + import + "\ntwice(torch.ones(1))\n")
                  .recording.calls.size(),
              1u)
        << import;
}

TEST_F(RecordTorch, LabelAndTestMayBeOneFile) {
  std::ofstream(folder / "both.py") << kPlain << std::string(146, '#')
                                    << "\n\ndef test():\n    twice(torch.ones(1))\n";
  RecordSettings settings = settings_of_command({ISOMER_PYTHON, (folder / "both.py").string()});
  EXPECT_EQ(groups(record(settings)), (std::vector<std::string>{"test:8"}));
}

TEST_F(RecordTorch, WhatAsksForADeviceFindsOne) {
  const Recorded got = recorded(kPlain, R"(
import torch
assert torch.cuda.is_available() and torch.cuda.get_device_capability()[0] >= 8
device = torch.device("cuda")
stream = torch.cuda.Stream()
with torch.cuda.stream(stream), torch.cuda.device(0):
    x = torch.randn(3, device=device, generator=torch.Generator(device="cuda"))
    layer = torch.nn.Linear(3, 2).cuda().to(device)
    y = layer(x.half().float().to("cuda:0", dtype=torch.float32))
    z = torch.zeros_like(y, device="cuda").new_ones(2, device=x.device)
    start = torch.cuda.Event(enable_timing=True)
    start.record()
torch.cuda.synchronize()
twice(torch.full((2,), 1.5, device="cuda") + z)
)");
  EXPECT_TRUE(got.raised.empty()) << got.raised[0];
  ASSERT_EQ(got.recording.calls.size(), 1u);
  EXPECT_EQ(*got.recording.calls[0].before[0].tensor.at<float>(0), 2.5f);
}

TEST_F(RecordTorch, RandomInputsAreTheSameEveryTime) {
  const char* test = "import torch\ntwice(torch.randn(4))\n";
  const Recorded a = recorded(kPlain, test), b = recorded(kPlain, test);
  EXPECT_EQ(std::memcmp(a.recording.calls[0].before[0].storage.get(),
                        b.recording.calls[0].before[0].storage.get(), 16),
            0);
}

TEST_F(RecordTorch, WhatNoTensorOfIsomerIsComesAsAText) {
  const Recorded got = recorded(
      "def f(*args):\n    return None\n",
      "import torch\nf(torch.ones(2, dtype=torch.complex64), 'mode', 2**70, torch.bfloat16, [1, None], "
      "torch.tensor([True, False]), float('inf'))\n");
  const std::vector<Value>& before = got.recording.calls.at(0).before;
  ASSERT_EQ(before.size(), 7u);
  EXPECT_EQ(before[0].kind, Value::Kind::text);
  EXPECT_EQ(before[1].text, "mode");
  EXPECT_EQ(before[2].text, "1180591620717411303424");
  EXPECT_EQ(before[3].kind, Value::Kind::dtype);
  EXPECT_EQ(before[3].text, "bf16");
  EXPECT_EQ(before[4].items.size(), 2u);
  EXPECT_EQ(before[5].tensor.describe(), "u8[2]");
  EXPECT_GT(before[6].real, 1e300);
}

TEST_F(RecordTorch, MoreThanTheLimitIsRefused) {
  std::ofstream(folder / "1_label_source.py") << kPlain;
  std::ofstream(folder / "3_test_code.py") << "import torch\ntwice(torch.ones(1000))\n";
  RecordSettings settings = settings_of_folder(folder);
  settings.python = {ISOMER_PYTHON};
  settings.max_bytes = 1000;
  try {
    record(settings);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "record: the calls hold more than 1000 bytes; --max-bytes allows more");
  }
}

TEST_F(RecordTorch, ATestWithoutACallOfTheLabelIsRefused) {
  try {
    recorded(kPlain, "raise RuntimeError('early')\n");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "record: 3_test_code.py makes no call of the label's functions (twice); line 1 raised "
                 "RuntimeError: early");
  }
}

TEST_F(RecordTorch, ALabelThatCannotBeImportedIsRefused) {
  try {
    recorded("import torch\nimport no_such_module\n", "f(1)\n");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "record: the label cannot be imported: 1_label_source.py:2: ModuleNotFoundError: No "
                 "module named 'no_such_module'");
  }
}

TEST_F(RecordTorch, WhatWasRecordedForACheckIsKeptUntilItsSourcesChange) {
  const fs::path cache = folder / "cache", label = folder / "1_label_source.py",
                 test = folder / "3_test_code.py";
  setenv("ISOMER_CACHE", cache.c_str(), 1);
  std::ofstream(label) << kPlain;
  std::ofstream(test) << "import torch\ntwice(torch.ones(1))\n";
  EXPECT_EQ(kept_recording(label, test).calls.size(), 1u);
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(cache / "recordings")) files.push_back(entry.path());
  ASSERT_EQ(files.size(), 1u);
  const auto written = fs::last_write_time(files[0]);
  EXPECT_EQ(kept_recording(label, test).calls.size(), 1u);
  EXPECT_EQ(fs::last_write_time(files[0]), written);
  fs::resize_file(files[0], 100);
  EXPECT_EQ(kept_recording(label, test).calls.size(), 1u);
  EXPECT_GT(fs::file_size(files[0]), 100u);
  std::ofstream(test) << "import torch\ntwice(torch.ones(1))\ntwice(torch.ones(2))\n";
  EXPECT_EQ(kept_recording(label, test).calls.size(), 2u);
  unsetenv("ISOMER_CACHE");
}

TEST_F(RecordTorch, AFunctionOfAutogradIsCalledByItsClass) {
  const Recorded got =
      recorded(R"(
import torch

class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, by=3.0):
        ctx.by = by
        return x * by

    @staticmethod
    def backward(ctx, given):
        return given * ctx.by, None
)",
               "x = torch.ones(2, requires_grad=True)\ny = Scaled.apply(x, 2.0)\ny.sum().backward()\n"
               "assert x.grad[0] == 2\n");
  EXPECT_TRUE(got.raised.empty());
  ASSERT_EQ(got.recording.calls.size(), 1u);
  const RecordedCall& call = got.recording.calls[0];
  EXPECT_EQ(call.function, "Scaled");
  ASSERT_EQ(call.before.size(), 2u);
  EXPECT_EQ(call.before[0].name, "x");
  EXPECT_EQ(call.before[1].name, "by");
  EXPECT_EQ(*call.returned.at(0).tensor.at<float>(1), 2.0f);
}

TEST_F(RecordTorch, AModuleBringsItsTensorsAndNumbersAlong) {
  const Recorded got = recorded(R"(
import torch

class Norm(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.full((size,), 2.0))
        self.epsilon = 0.5

    def forward(self, x):
        return self.weight * x / (x.norm() + self.epsilon)
)",
                                "norm = Norm(4)\nnorm(torch.ones(4))\nnorm(torch.zeros(4))\n");
  ASSERT_EQ(got.recording.calls.size(), 2u);
  const RecordedCall& call = got.recording.calls[1];
  EXPECT_EQ(call.function, "Norm");
  ASSERT_EQ(call.before.size(), 3u);
  EXPECT_EQ(call.before[0].name, "x");
  EXPECT_EQ(call.before[1].name, "weight");
  EXPECT_TRUE(call.keyword[1]);
  EXPECT_EQ(call.before[2].name, "epsilon");
  EXPECT_EQ(call.before[2].real, 0.5);
}

TEST_F(RecordTorch, CallsBeyondTheLimitAreLeftOutAndSaidSo) {
  std::ofstream(folder / "1_label_source.py") << kPlain;
  std::ofstream(folder / "3_test_code.py")
      << "import torch\ntwice(torch.ones(50))\ntwice(torch.ones(3000))\ntwice(torch.ones(60))\n";
  RecordSettings settings = settings_of_folder(folder);
  settings.python = {ISOMER_PYTHON};
  settings.max_bytes = 1000;
  const Recorded got = record(settings);
  ASSERT_EQ(got.recording.calls.size(), 1u);
  EXPECT_EQ(got.recording.calls[0].before[0].tensor.describe(), "f32[50]");
  ASSERT_EQ(got.raised.size(), 1u);
  EXPECT_NE(got.raised[0].find("more than 1000 bytes; --max-bytes allows more"), std::string::npos);
}

TEST_F(RecordTorch, WhatACallLeavesAsItIsIsKeptOnce) {
  std::ofstream(folder / "1_label_source.py") << "def both(x, y):\n    return x\n";
  std::ofstream(folder / "3_test_code.py")
      << "import torch\nx = torch.arange(100.)\nfor _ in range(9):\n    both(x, x.clone())\n";
  RecordSettings settings = settings_of_folder(folder);
  settings.python = {ISOMER_PYTHON};
  settings.max_bytes = 800;  // x and its equal, which are two
  const Recorded got = record(settings);
  EXPECT_TRUE(got.raised.empty());
  ASSERT_EQ(got.recording.calls.size(), 9u);
  const RecordedCall& call = got.recording.calls[8];
  EXPECT_EQ(*call.returned.at(0).tensor.at<float>(99), 99.0f);
}

TEST_F(RecordTorch, TheExamplesAreWhatTheirSourcesGive) {
  for (const char* name : {"quantize_copy_kv", "flash_decode_stage2", "sin", "attention"}) {
    RecordSettings settings = settings_of_folder(fs::path(ISOMER_PORTS) / name);
    settings.python = {ISOMER_PYTHON};
    const Recording now = record(settings).recording;
    const Recording kept = load_recording((fs::path(ISOMER_PORTS) / name / "recording.safetensors").string());
    ASSERT_EQ(now.calls.size(), kept.calls.size()) << name;
    for (const char* key : {"test_sha256", "label_sha256", "facts"})
      EXPECT_EQ(now.metadata.at(key), kept.metadata.at(key)) << name << ": record it again";
    for (std::size_t c = 0; c < now.calls.size(); ++c) {
      ASSERT_EQ(now.calls[c].before.size(), kept.calls[c].before.size());
      for (std::size_t i = 0; i < now.calls[c].before.size(); ++i)
        EXPECT_EQ(now.calls[c].before[i].tensor.describe(), kept.calls[c].before[i].tensor.describe())
            << name;
    }
  }
}

/// y = 2 x by strides; of the rows' stride alone; of what must be compact.
constexpr const char* kStrided = R"(
import torch

def by_strides(x, y):
    y.copy_(2 * x)

def by_rows(x, y):
    rows, columns = x.shape
    flat = x.as_strided((rows, columns), (x.stride(0), 1))
    y.copy_(2 * flat)

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
               "of_compact(x)\ntorch.manual_seed(3)\ndrawn(x)\nof_compact(torch.rand(4, 6))\n");
  ASSERT_TRUE(got.raised.empty());
  ASSERT_EQ(got.recording.calls.size(), 5u);
  const auto strided = [&](std::size_t call) { return got.recording.calls[call].strided; };
  EXPECT_EQ(strided(0), (std::vector<int>{2, 2}));
  EXPECT_EQ(strided(1), (std::vector<int>{1, 2}));
  EXPECT_EQ(strided(2), std::vector<int>{0});
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
