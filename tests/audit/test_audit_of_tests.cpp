// What an audit says of tests: each seeded fault is found, its clean twin is not.
#include "audited.hpp"

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
}

TEST_F(AuditOfTests, ACallThatTheLabelRefusesIsFound) {
  sources("def f(x):\n    return x\n", "print(f(x))\n");
  call("f", {floats("x", {4}, 1)}, "test:3").raised = "AssertionError: no";
  EXPECT_EQ(found(), (Findings{"test contradicts-label @3"}));
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
