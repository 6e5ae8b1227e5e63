// What an audit says of tests: each seeded fault is found, its clean twin is not.
#include "audited.hpp"

#include <algorithm>
#include <cmath>

namespace isomer::lab {
namespace {

/// Scatters rows: x [S, D] to out [N, D], and the rows' sums to sums [N].
constexpr const char* kScatter = R"(
import torch, triton
import triton.language as tl

@triton.jit
def _scatter(X, Dest, Out, Sums, stride_x, stride_out_row, D: tl.constexpr):
    s = tl.program_id(0)
    d = tl.arange(0, D)
    row = tl.load(Dest + s)
    x = tl.load(X + s * stride_x + d)
    tl.store(Out + row * stride_out_row + d, x)
    tl.store(Sums + row, tl.sum(x, axis=0))

def scatter(x, dest, out, sums):
    _scatter[(x.shape[0],)](x, dest, out, sums, x.stride(0), out.stride(0), D=x.shape[1])
)";

class AuditOfTests : public Audited {
 protected:
  void scatter(const std::vector<std::int32_t>& dest, std::int64_t rows = 4) {
    const auto tokens = static_cast<std::int64_t>(dest.size());
    call("scatter",
         {floats("x", {tokens, 8}, 1), indices("dest", dest), floats("out", {rows, 8}, 0),
          floats("sums", {rows}, 0)},
         "test_scatter:5");
  }
};

constexpr const char* kOwnRowsTest = R"(
import torch
def test():
    torch.manual_seed(0)
    rows(w, ids, out, 4, 8)
    return out
)";

TEST_F(AuditOfTests, ThatReturnAllOutputsAndUseAnotherOrderFindNothing) {
  sources(kScatter, R"(
def test_scatter():
    x, out, sums = torch.ones(2, 8), torch.zeros(4, 8), torch.zeros(4)
    dest = torch.tensor([3, 1])
    scatter(x, dest, out, sums)
    return {"case": (out, sums)}
)");
  scatter({3, 1});
  EXPECT_EQ(found(), Findings{});
}

TEST_F(AuditOfTests, AnOutputThatNobodyReturnsIsNotCompared) {
  sources(kScatter, R"(
def test_scatter():
    out, sums = torch.zeros(4, 8), torch.zeros(4)
    results = {}
    scatter(torch.ones(2, 8), torch.tensor([3, 1]), out, sums)
    results["case"] = out
    return results
)");
  scatter({3, 1});
  EXPECT_EQ(found(), (Findings{"test output-not-compared sums @5"}));
}

TEST_F(AuditOfTests, AnOutputThatOneCallComparesIsCompared) {
  sources(kScatter, R"(
def test_scatter():
    a, b, s, t = make()
    scatter(x, dest, a, s)
    assert torch.equal(a, expected)
    scatter(x, dest, b, t)
    assert torch.equal(t, sums_expected)
)");
  scatter({3, 1});
  EXPECT_EQ(found(), Findings{});
}

TEST_F(AuditOfTests, AnOutputThatIsHandedOnIsComparedWhereTheResultIs) {
  std::string label = kScatter;
  label += "    return out, sums\n";
  const char* const kLooked[] = {
      "    results = {}\n    results['a'] = scatter(x, dest, out, sums)\n    return results\n",
      "    return scatter(x, dest, out, sums)\n",
      "    a, b = scatter(x, dest, out, sums)\n    return a, b\n"};
  for (const char* looked : kLooked) {
    sources(label, std::string("def test_scatter(x, dest, out, sums):\n") + looked);
    scatter({3, 1});
    EXPECT_EQ(found(), Findings{}) << looked;
  }
  sources(label,
          "def test_scatter(x, dest, out, sums):\n    a, b = scatter(x, dest, out, sums)\n    return a\n");
  scatter({3, 1});
  EXPECT_EQ(found(), (Findings{"test output-not-compared sums @2"}));
}

TEST_F(AuditOfTests, OutputsInADictionaryAreFollowed) {
  sources(kScatter, R"(
def test_scatter():
    case = inputs()
    scatter(case["x"], case["dest"], case["out"], case["sums"])
    return case["out"]
)");
  scatter({3, 1});
  EXPECT_EQ(found(), (Findings{"test output-not-compared sums @4"}));
  sources(kScatter, R"(
def test_scatter():
    case = inputs()
    scatter(case["x"], case["dest"], case["out"], case["sums"])
    return case
)");
  EXPECT_EQ(found(), Findings{});
  sources(kScatter, R"(
def test_scatter():
    case = inputs()
    scatter(**case)
    return case["out"]
)");
  EXPECT_EQ(found(), Findings{});
}

TEST_F(AuditOfTests, AReturnedOutputThatIsDroppedIsNotCompared) {
  const char* label = "def halves(x):\n    return x / 2, x - x / 2\n";
  sources(label, "def test():\n    low, high = halves(x)\n    return low\n");
  call("halves", {floats("x", {4}, 1)});
  EXPECT_EQ(found(), (Findings{"test output-not-compared result 1 @2"}));
  sources(label, "def test():\n    low, high = halves(x)\n    return low + high\n");
  EXPECT_EQ(found(), Findings{});
  sources(label, "def test():\n    return halves(x)\n");
  EXPECT_EQ(found(), Findings{});
}

TEST_F(AuditOfTests, ATestThatOnlyCallsComparesNothing) {
  sources(kScatter, "def test():\n    scatter(x, dest, out, sums)\n\ntest()\n");
  scatter({3, 1});
  EXPECT_EQ(found(), (Findings{"test nothing-compared @2"}));
  sources(kScatter, "def test():\n    scatter(x, dest, out, sums)\n    print(out, sums)\n\ntest()\n");
  EXPECT_EQ(found(), Findings{});
}

TEST_F(AuditOfTests, ACheckThatHoldsWhateverTheCallGivesComparesNothing) {
  const char* label = "def twice(x):\n    return 2 * x\n";
  const std::string called = "y = twice(x)\n";
  call("twice", {floats("x", {4}, 1)});
  for (const char* check :
       {"torch.allclose(y, 2 * x)\nprint('passed')\n", "(y == 2 * x).all()\n", "ok = torch.equal(y, 2 * x)\n",
        "torch.testing.assert_close(y, y)\n", "assert torch.allclose(y, y)\n", "assert True\n",
        "assert y is not None and y.shape == x.shape\n", "assert y.shape == (rows, 4), 'shape'\n",
        "assert isinstance(y, torch.Tensor) and len(y) > 0 and y.dtype == torch.float32\n"}) {
    sources(label, called + check);
    const Findings all = found();
    ASSERT_EQ(all.size(), 1u) << check;
    EXPECT_EQ(all[0].rfind("test nothing-compared @", 0), 0u) << check << all[0];
  }
  sources(label, "y = twice(x)\nagain = twice(x)\ntorch.testing.assert_close(y, again)\n");
  EXPECT_EQ(found(), (Findings{"test nothing-compared @3"}));
  sources(label,
          "try:\n    assert torch.allclose(twice(x), 2 * x)\nexcept AssertionError as e:\n    print(e)\n");
  EXPECT_EQ(found(), (Findings{"test nothing-compared @2"}));
}

TEST_F(AuditOfTests, ACheckThatCanFailIsAComparison) {
  const char* label = "def twice(x):\n    return 2 * x\n";
  call("twice", {floats("x", {4}, 1)});
  for (const char* check :
       {"assert torch.allclose(y, 2 * x)\n", "if not torch.allclose(y, 2 * x):\n    raise SystemExit('no')\n",
        "ok = torch.equal(y, 2 * x)\nassert ok\n", "assert (y - 2 * x).abs().max() < 1e-6\n",
        "assert y.shape == x.shape\nnp.testing.assert_allclose(y, 2 * x)\n", "result_gold = {'y': y}\n",
        "import sys\nsys.exit(int((y != 2 * x).any()))\n", "assert y[0] == 2 and y.sum() == 8\n",
        "try:\n    assert torch.allclose(y, 2 * x)\nexcept AssertionError:\n    failed += 1\nassert failed "
        "== 0\n",
        "try:\n    assert torch.allclose(y, 2 * x)\nexcept AssertionError:\n    print('no')\n    raise\n",
        "assert torch.equal(y, twice(x * 1.0))\n"}) {
    sources(label, std::string("y = twice(x)\n") + check);
    EXPECT_EQ(found(), Findings{}) << check;
  }
}

TEST_F(AuditOfTests, AnIndexThatCountsUpInEveryCallIsAWeakInput) {
  sources(kScatter, "def test():\n    scatter(x, dest, out, sums)\n    return out, sums\n");
  scatter({0, 1, 2});
  EXPECT_EQ(found(), (Findings{"test weak-input dest @5"}));
  scatter({2, 0, 1});
  EXPECT_EQ(found(), Findings{});
}

TEST_F(AuditOfTests, TwoTokensWithOneDestinationAreFound) {
  sources(kScatter, "def test():\n    scatter(x, dest, out, sums)\n    return out, sums\n");
  scatter({3, 1, 3});
  EXPECT_EQ(found(), (Findings{"test duplicate-index dest @5"}));
}

TEST_F(AuditOfTests, ADestinationOutsideOfTheOutputIsFound) {
  sources(kScatter, "def test():\n    scatter(x, dest, out, sums)\n    return out, sums\n");
  scatter({3, 1}, 3);
  EXPECT_EQ(found(), (Findings{"test index-out-of-range dest @5"}));
  recording.calls.clear();
  scatter({3, -1}, 4);  // no row
  EXPECT_EQ(found(), Findings{});
  recording.calls.clear();
  scatter({3, -2}, 4);
  EXPECT_EQ(found(), (Findings{"test index-out-of-range dest @5"}));
}

TEST_F(AuditOfTests, AReadIndexMayNameARowTwice) {
  sources("def gather(table, rows):\n    return table[rows]\n",
          "def test():\n    return gather(table, rows)\n");
  call("gather", {floats("table", {4, 2}, 1), indices("rows", {2, 2, 0})});
  EXPECT_EQ(found(), Findings{});
  call("gather", {floats("table", {4, 2}, 1), indices("rows", {4, 0})}, "test:2");
  EXPECT_EQ(found(), (Findings{"test index-out-of-range rows @2"}));
}

TEST_F(AuditOfTests, AnIndexBesideARowsStrideCountsNoRows) {
  sources(R"(
import torch, triton
import triton.language as tl

@triton.jit
def _pick(X, Target, Out, stride):
    r = tl.program_id(0)
    row = X + r * stride
    t = tl.load(Target + r)
    tl.store(Out + r, tl.load(row + t))

def pick(x, target, out):
    _pick[(x.shape[0],)](x, target, out, x.stride(0))
)",
          "def test():\n    pick(x, target, out)\n    return out\n");
  call("pick", {floats("x", {2, 8}, 1), indices("target", {7, 5}), floats("out", {2}, 0)});
  EXPECT_EQ(found(), Findings{});
}

TEST_F(AuditOfTests, AnIndexThatTheKernelComparesLeadsNowhereElse) {
  sources(R"(
import triton
import triton.language as tl

@triton.jit
def _rows(W, Ids, Out, low, high, stride, n, D: tl.constexpr):
    i = tl.program_id(0)
    d = tl.arange(0, D)
    token = tl.load(Ids + i)
    inside = (token >= low) & (token < high)
    row = tl.load(W + (token - low) * stride + d, mask=inside & (d < n), other=0.0)
    tl.store(Out + i * n + d, row, mask=d < n)


def rows(w, ids, out, low, high):
    _rows[(ids.shape[0],)](w, ids, out, low, high, w.stride(0), w.shape[1], D=8)
)",
          kOwnRowsTest);
  call("rows", {floats("w", {4, 3}, 1), indices("ids", {7, 90, 5}), floats("out", {3, 3}, 0)}, "test:5");
  EXPECT_EQ(found(), Findings{});
}

TEST_F(AuditOfTests, EqualNumbersInRowsOfDifferentProgramsAreNoDuplicates) {
  const std::string label = R"(
import triton
import triton.language as tl

@triton.jit
def _rows(W, Ids, Out, stride, n, D: tl.constexpr):
    i = tl.program_id(0)
    at = tl.load(Ids + i)
    place = Out + OWN at * stride
    tl.store(place, tl.load(W + i))


def rows(w, ids, out, low, high):
    _rows[(ids.shape[0],)](w, ids, out, out.stride(0), w.shape[1], D=8)
)";
  const auto with = [&](const std::string& own) {
    std::string text = label;
    text.replace(text.find("OWN"), 3, own);
    return text;
  };
  call("rows", {floats("w", {4}, 1), indices("ids", {2, 1, 2}), floats("out", {4, 3}, 0)}, "test:5");
  sources(with("i * n +"), kOwnRowsTest);
  EXPECT_EQ(found(), Findings{});
  sources(with(""), kOwnRowsTest);
  EXPECT_EQ(found(), (Findings{"test duplicate-index ids @5"}));
}

TEST_F(AuditOfTests, AnAnswerOfNaNFromFiniteInputsIsUndefined) {
  RecordedCall& made = call("f", {floats("x", {4}, 0)}, "test:7");
  made.after = made.before;
  made.returned = {floats("y", {4}, NAN)};
  EXPECT_EQ(found(), (Findings{"test undefined-result y @7"}));
  static_cast<float*>(made.before[0].storage.get())[2] = INFINITY;
  EXPECT_EQ(found(), Findings{});
}

TEST_F(AuditOfTests, AnEmptySequenceAndMissingBlocksAreKnownOfTheMerge) {
  const auto merge = [&](const std::vector<std::int32_t>& lengths) {
    recording.calls.clear();
    call("flash_decode_stage2",
         {floats("mid_out", {2, 1, 3, 16}, 1), floats("mid_out_logexpsum", {2, 1, 3}, 1),
          indices("B_Seqlen", lengths), floats("Out", {2, 1, 16}, 0), integer_value("block_seq", 16)});
  };
  merge({48, 1});
  EXPECT_EQ(found(), Findings{});
  merge({48, 0});
  EXPECT_EQ(found(), (Findings{"test undefined-result B_Seqlen @0"}));
  merge({49, 3});
  EXPECT_EQ(found(), (Findings{"test index-out-of-range B_Seqlen @0"}));
}

TEST_F(AuditOfTests, WhatTheLabelReachesOutsideIsNamedOnceAndByItsFirstCause) {
  call("gather", {floats("x", {2, 8}, 1), indices("ends", {0, 5})}, "test_gather:4");
  call("gather", {floats("x", {2, 8}, 1), indices("ends", {0, 5})}, "test_gather:6");
  EXPECT_EQ(found(), Findings{});
  recording.metadata["outside"] =
      R"([{"call": 0, "kernel": "_gather", "access": "reads", "argument": "ends", "bytes": 8, "holds": 8},
          {"call": 0, "kernel": "_gather", "access": "writes", "argument": "x", "bytes": 70, "holds": 64},
          {"call": 1, "kernel": "_gather", "access": "reads", "argument": "ends", "bytes": 8, "holds": 8}])";
  EXPECT_EQ(found(), (Findings{"test index-out-of-range ends @4"}));
  const std::vector<Finding> all = audit(folder, recording);
  EXPECT_NE(all.at(0).evidence.find("_gather reads element 2 of ends, which has 2"), std::string::npos)
      << all[0].evidence;
  for (const char* text : {"", "{}", "[1]", R"([{"call": 7}])", R"([{"call": "x"}])", R"([{"call": -1}])"}) {
    recording.metadata["outside"] = text;
    EXPECT_EQ(found(), Findings{}) << text;
  }
}

TEST_F(AuditOfTests, AnOutputOfAnAutogradFunctionIsOneOfItsCall) {
  const std::string label = R"(
class Halves(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, sums):
        sums.copy_(x.sum(0))
        return x / 2
)";
  const std::string begin = "def test_halves():\n    y = Halves.apply(torch.ones(2, 8), sums)\n";
  call("Halves", {floats("x", {2, 8}, 1), floats("sums", {8}, 0)}, "test_halves:2");
  sources(label, begin + "    return y, sums\n");
  EXPECT_EQ(found(), Findings{});
  sources(label, begin + "    return y\n");
  EXPECT_EQ(found(), (Findings{"test output-not-compared sums @2"}));
}

TEST_F(AuditOfTests, AnIndexThatLeadsOutsideIsOneFault) {
  sources(kScatter, "def test_scatter():\n    return 1\n");
  scatter({3, 4});
  const Findings one = found();
  recording.metadata["outside"] =
      R"([{"call": 0, "kernel": "_scatter", "access": "writes", "argument": "out", "bytes": 128, "holds": 128}])";
  EXPECT_EQ(found(), one);
}

TEST_F(AuditOfTests, ARowOfZerosIsKnownOfTheScatter) {
  call("destindex_copy_quantize_kv", {floats("K", {2, 3, 8}, 1)});
  EXPECT_EQ(found(), Findings{});
  for (int d = 0; d < 8; ++d) *recording.calls[0].before[0].tensor.at<float>(1, 2, d) = 0;
  EXPECT_EQ(found(), (Findings{"test undefined-result K @0"}));
}

TEST_F(AuditOfTests, RandomInputsWithoutASeedAreFound) {
  sources("def f(x):\n    return x\n", "import torch\nx = torch.randn(4)\nprint(f(x))\n");
  call("f", {floats("x", {4}, 1)});
  EXPECT_EQ(found(), (Findings{"test unseeded @2"}));
  sources("def f(x):\n    return x\n",
          "import torch\ntorch.manual_seed(0)\nx = torch.randn(4)\nprint(f(x))\n");
  EXPECT_EQ(found(), Findings{});
  for (const char* seed : {"7", ""}) {
    sources("def f(x):\n    return x\n", std::string("import numpy as np\nrng = np.random.default_rng(") +
                                             seed + ")\nx = rng.standard_normal(4)\nprint(f(x))\n");
    EXPECT_EQ(found(), *seed != 0 ? Findings{} : (Findings{"test unseeded @3"}));
  }
}

TEST_F(AuditOfTests, AValueUnderTwoNamesIsComparedWithItself) {
  const char* label = "def f(x):\n    return x\n";
  sources(label, "def test_it(x):\n    y = f(x)\n    got = y\n    assert torch.equal(got, y)\n");
  call("f", {floats("x", {4}, 1)});
  const Findings said = found();
  EXPECT_TRUE(std::any_of(said.begin(), said.end(), [](const std::string& each) {
    return each.find("@4") != std::string::npos;
  })) << testing::PrintToString(said);
  sources(label,
          "def test_it(x):\n    y = f(x)\n    got = y\n    y = 2 * x\n    assert torch.equal(got, y)\n");
  EXPECT_EQ(found(), Findings{});
  // Another function's names are not these.
  sources(label,
          "a = b = 1\ngot = a\n\ndef same(got, a):\n    assert torch.equal(got, a)\n\n"
          "def test_it(x):\n    same(f(x), x)\n");
  EXPECT_EQ(found(), Findings{});
}

TEST_F(AuditOfTests, ACallThatTheLabelRefusesIsFound) {
  sources("def f(x):\n    return x\n", "print(f(x))\n");
  call("f", {floats("x", {4}, 1)}, "test:3").raised = "AssertionError: no";
  EXPECT_EQ(found(), (Findings{"test contradicts-label @3"}));
  recording.calls.back().raised = "AttributeError: module 'torch' has no attribute 'float8_e4m3fn'";
  EXPECT_EQ(found(), Findings{});
}

TEST_F(AuditOfTests, FactsOfAnotherFormAreNotBelieved) {
  call("f", {floats("x", {4}, 1)});
  for (const char* facts :
       {"", "[]", "{\"test\":3,\"label\":\"x\"}", "{\"label\":{\"functions\":[1,{\"indexes\":[null]}]}}"}) {
    recording.metadata["facts"] = facts;
    EXPECT_EQ(found(), Findings{}) << facts;
  }
}

}  // namespace
}  // namespace isomer::lab
