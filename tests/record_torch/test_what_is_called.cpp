// Which calls of a label are recorded, however its test makes them.
#include "recorded_folder.hpp"

#include <fstream>

namespace isomer::lab {
namespace {

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

TEST_F(RecordTorch, TheLabelIsFoundUnderWhateverNameTheTestImportsIt) {
  for (const char* import :
       {"from some.kernels import twice", "import label_source as m; twice = m.twice", ""})
    EXPECT_EQ(recorded(kPlain, std::string("import torch\n") + import + "\ntwice(torch.ones(1))\n")
                  .recording.calls.size(),
              1u)
        << import;
}

TEST_F(RecordTorch, DivisionsInsideOfAClassAreThoseOfTheLabel) {
  const Recorded got = recorded(R"(
import torch

class Halved(torch.nn.Module):
    def forward(self, x):
        half = x.shape[0] // 2
        return x[: half + x.shape[0] % 2]
)",
                                "Halved()(torch.arange(5.0))\n");
  EXPECT_TRUE(got.raised.empty());
  ASSERT_EQ(got.recording.calls.size(), 1u);
  EXPECT_EQ(got.recording.calls[0].returned.at(0).tensor.numel(), 3);
}

TEST_F(RecordTorch, LabelAndTestMayBeOneFile) {
  std::ofstream(folder / "both.py") << kPlain << std::string(146, '#')
                                    << "\n\ndef test():\n    twice(torch.ones(1))\n";
  RecordSettings settings = settings_of_command({ISOMER_PYTHON, (folder / "both.py").string()});
  EXPECT_EQ(groups(record(settings)), (std::vector<std::string>{"test:8"}));
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

TEST_F(RecordTorch, AModuleAmongTheArgumentsIsWhatItHolds) {
  const Recorded got = recorded(R"(
import torch

class Norm(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = torch.full((size,), 2.0)
        self.inner = torch.nn.Linear(size, size, bias=False)
        self.register_buffer("mean", torch.zeros(size), persistent=False)
        self.eps = 0.5

def scaled(norm, x, weight=None, twice=False):
    n = x.shape[-1]
    y = norm.inner(x - norm.mean) * norm.weight / (x.norm() + norm.eps)
    return y + y if twice else y
)",
                                "scaled(Norm(8), torch.rand(4, 8), twice=True)\n");
  EXPECT_TRUE(got.raised.empty());
  ASSERT_EQ(got.recording.calls.size(), 1u);
  const RecordedCall& call = got.recording.calls[0];
  std::vector<std::string> names;
  for (const Value& each : call.before) names.push_back(each.name);
  EXPECT_EQ(names, (std::vector<std::string>{"x", "twice", "mean", "inner.weight", "weight", "eps"}));
  EXPECT_EQ(call.held, (std::vector<bool>{false, false, true, true, true, true}));
  EXPECT_EQ(call.keyword, (std::vector<bool>{false, true, true, true, true, true}));
  ASSERT_EQ(call.computed.size(), 2u);  // eps is no variable of the function
  EXPECT_EQ(call.computed[0].name, "n");
  // Other sizes are asked of all that have them.
  ASSERT_FALSE(got.recording.asked.empty());
  for (const RecordedCall& each : got.recording.asked) {
    ASSERT_EQ(each.before.size(), 6u);
    EXPECT_EQ(each.before[4].tensor.size(0), each.before[0].tensor.size(1));
    EXPECT_EQ(each.before[3].tensor.size(1), each.before[0].tensor.size(1));
  }
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

// The halves of one file are one module, so that the label may use what only its test imports.
TEST_F(RecordTorch, ALabelUsesWhatTheTestBelowItImports) {
  std::ofstream(folder / "both.py")
      << "def twice(x):\n    return torch.add(x, x, alpha=kOnce)\n\n"
      << std::string(80, '#') << "\nimport torch\nkOnce = 1\n\ndef test_twice():\n    twice(torch.ones(3))\n";
  RecordSettings settings;
  settings.label = folder / "both.py";
  settings.python = {ISOMER_PYTHON};
  const Recorded got = record(settings);
  EXPECT_TRUE(got.raised.empty()) << got.raised[0];
  ASSERT_EQ(got.recording.calls.size(), 1u);
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

}  // namespace
}  // namespace isomer::lab
