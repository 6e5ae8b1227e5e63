// A contract refuses a call with one sentence that names op, argument, expected and got: a table of bad
// calls, one or more for every kind of rule, and of good ones that look bad.
#include <gtest/gtest.h>

#include "core/registry.hpp"
#include "probe.hpp"

#include <cstdio>
#include <limits>

namespace isomer::core {
namespace {

struct Row {
  const char* name;
  void (*change)(ProbeCall& probe);
  const char* sentence;
};
void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

const Row kBad[] = {
    // Presence and dtype.
    {"AbsentArgument", [](ProbeCall& p) { p.args.x = {}; }, "probe: x is required, got no tensor"},
    {"AbsentOutput", [](ProbeCall& p) { p.args.y = {}; }, "probe: y is required, got no tensor"},
    {"WrongDtype", [](ProbeCall& p) { p.args.x.dtype = DType::i64; },
     "probe: x has dtype i64, expected f32 or f16"},
    {"WrongDtypeOfThree", [](ProbeCall& p) { p.args.x.dtype = DType::bf16; },
     "probe: x has dtype bf16, expected f32 or f16"},
    {"OneDtypeAllowed", [](ProbeCall& p) { p.args.scale.dtype = DType::f64; },
     "probe: scale has dtype f64, expected f32"},
    {"DtypeOfAnotherArgument", [](ProbeCall& p) { p.args.y.dtype = DType::f16; },
     "probe: y has dtype f16, expected f32 as x"},
    {"WrongDtypeOfAnOptional", [](ProbeCall& p) { p.args.bias = Tensor(p.memory + 4096, DType::f16, {8}); },
     "probe: bias has dtype f16, expected f32"},
    // Rank and shape.
    {"RankTooLow", [](ProbeCall& p) { p.args.x = Tensor(p.memory, DType::f32, {8}); },
     "probe: x has shape [8], expected [2, 3, 8] (... M K)"},
    {"RankOfAScalar",
     [](ProbeCall& p) { p.args.x = Tensor(p.memory, DType::f32, std::initializer_list<std::int64_t>{}); },
     "probe: x has shape [], expected [2, 3, 8] (... M K)"},
    {"RankBeyondEight", [](ProbeCall& p) { p.args.x.rank = 9; }, "probe: x has rank 9, expected 0 to 8"},
    {"NegativeRank", [](ProbeCall& p) { p.args.x.rank = -1; }, "probe: x has rank -1, expected 0 to 8"},
    {"SizeOfASymbol", [](ProbeCall& p) { p.args.y.shape[2] = 7; },
     "probe: y has shape [2, 3, 7], expected [2, 3, 8] (... M K)"},
    {"SizesOfLeadingDimensions", [](ProbeCall& p) { p.args.y.shape[0] = 1; },
     "probe: y has shape [1, 3, 8], expected [2, 3, 8] (... M K)"},
    {"NumberOfLeadingDimensions",
     [](ProbeCall& p) {
       p.args.y = Tensor(p.memory + 1024, DType::f32, {3, 8});
     },
     "probe: y has shape [3, 8], expected [2, 3, 8] (... M K)"},
    {"SizeOfAnExpression", [](ProbeCall& p) { p.args.index.shape[0] = 3; },
     "probe: index has shape [3], expected [4] (M+1)"},
    {"CeilOfAnOption", [](ProbeCall& p) { p.options.block = 3; },
     "probe: scale has shape [3, 2], expected [3, 3] (M ceil(K/block))"},
    {"OtherAlternative",
     [](ProbeCall& p) {
       p.args.scale = Tensor(p.memory + 2048, DType::f32, {3, 2, 2});
     },
     "probe: scale has shape [3, 2, 2], expected [3, 2, 1] (M ceil(K/block) 1)"},
    {"ProductAndDifference",
     [](ProbeCall& p) {
       p.args.update = Tensor(p.memory + 4096, DType::f32, {6, 8});
     },
     "probe: update has shape [6, 8], expected [6, 7] (2*M K-1)"},
    {"ALiteralSize",
     [](ProbeCall& p) {
       p.args.table = Tensor(p.memory + 4096, DType::i8, {3, 4});
     },
     "probe: table has shape [3, 4], expected [3, 3] (M 3)"},
    {"AnInputThatTheOthersDoNotBearOut", [](ProbeCall& p) { p.args.x.shape[1] = 2; },
     "probe: x has shape [2, 2, 8], expected [2, 3, 8] (... M K)"},
    {"AnInputTransposed",
     [](ProbeCall& p) {
       p.args.x = Tensor(p.memory, DType::f32, {2, 8, 3});
     },
     "probe: x has shape [2, 8, 3], expected [2, 3, 8] (... M K)"},
    {"AnOutputOfTwoThatDisagree",
     [](ProbeCall& p) {
       p.args.y = Tensor(p.memory + 1024, DType::f32, {4, 3, 8});
     },
     "probe: y has shape [4, 3, 8], expected [2, 3, 8] (... M K)"},
    {"NegativeSize", [](ProbeCall& p) { p.args.x.shape[0] = -2; },
     "probe: x has shape [-2, 3, 8], expected no negative size"},
    {"SmallestSize", [](ProbeCall& p) { p.args.x.shape[1] = std::numeric_limits<std::int64_t>::min(); },
     "probe: x has shape [2, -9223372036854775808, 8], expected no negative size"},
    {"HugeSize", [](ProbeCall& p) { p.args.x.shape[0] = kHuge; },
     "probe: x has shape [9223372036854775807, 3, 8], which spans more than 2^61 bytes"},
    {"HugeBroadcast",
     [](ProbeCall& p) {
       p.args.x.shape[0] = kHuge;
       p.args.x.strides[0] = 0;
     },
     "probe: x has shape [9223372036854775807, 3, 8], which spans more than 2^61 bytes"},
    {"HugeStride", [](ProbeCall& p) { p.args.x.strides[0] = kHuge / 2; },
     "probe: x has shape [2, 3, 8], which spans more than 2^61 bytes"},
    {"HugeNegativeStride",
     [](ProbeCall& p) { p.args.x.strides[0] = std::numeric_limits<std::int64_t>::min(); },
     "probe: x has shape [2, 3, 8], which spans more than 2^61 bytes"},
    // Strides.
    {"LastDimensionStrided",
     [](ProbeCall& p) {
       p.args.x = Tensor::strided(p.memory, DType::f32, {2, 3, 8}, {48, 16, 2});
     },
     "probe: x has stride 2 in its last dimension, expected 1"},
    {"LastDimensionReversed",
     [](ProbeCall& p) {
       p.args.x = Tensor::strided(p.memory + 28, DType::f32, {2, 3, 8}, {24, 8, -1});
     },
     "probe: x has stride -1 in its last dimension, expected 1"},
    {"LastDimensionBroadcast",
     [](ProbeCall& p) {
       p.args.x = Tensor::strided(p.memory, DType::f32, {2, 3, 8}, {24, 8, 0});
     },
     "probe: x has stride 0 in its last dimension, expected 1"},
    {"NotCompact",
     [](ProbeCall& p) { p.args.index = Tensor::strided(p.memory + 3072, DType::i32, {4}, {2}); },
     "probe: index is i32[4] strides [2], expected compact row-major strides"},
    {"OutputBroadcast",
     [](ProbeCall& p) {
       p.args.y = Tensor::strided(p.memory + 1024, DType::f32, {2, 3, 8}, {0, 8, 1});
     },
     "probe: y is f32[2, 3, 8] strides [0, 8, 1], in which elements overlap; an output needs each element of "
     "its own"},
    {"OutputOverlapsItself",
     [](ProbeCall& p) {
       p.args.y = Tensor::strided(p.memory + 1024, DType::f32, {2, 3, 8}, {24, 7, 1});
     },
     "probe: y is f32[2, 3, 8] strides [24, 7, 1], in which elements overlap; an output needs each element "
     "of its own"},
    // Memory.
    {"NullData", [](ProbeCall& p) { p.args.x.data = nullptr; },
     "probe: x has null data, expected 48 elements"},
    {"NullOutput", [](ProbeCall& p) { p.args.y.data = nullptr; },
     "probe: y has null data, expected 48 elements"},
    {"Misaligned", [](ProbeCall& p) { p.args.x.data = p.memory + 2; },
     "probe: x is misaligned: its address must be a multiple of 4 bytes for f32"},
    {"MisalignedByOne",
     [](ProbeCall& p) {
       p.args.x = Tensor(p.memory + 1, DType::f16, {2, 3, 8});
       p.args.y = Tensor(p.memory + 1024, DType::f16, {2, 3, 8});
     },
     "probe: x is misaligned: its address must be a multiple of 2 bytes for f16"},
    {"OtherDevice",
     [](ProbeCall& p) {
       p.args.scale.device = {DeviceType::cuda, 1};
     },
     "probe: scale is on cuda:1, expected cpu as the queue"},
    {"OutputOnOtherDevice",
     [](ProbeCall& p) {
       p.args.y.device = {DeviceType::hip, 0};
     },
     "probe: y is on hip:0, expected cpu as the queue"},
    // Aliasing.
    {"OutputOverlapsInput", [](ProbeCall& p) { p.args.y.data = p.memory + 4; },
     "probe: y overlaps x in memory, expected an output of its own"},
    {"OutputIsInputTransposed",
     [](ProbeCall& p) {
       p.args.x = Tensor(p.memory, DType::f32, {8, 8});
       p.args.y = Tensor(p.memory, DType::f32, {8, 8});
       p.args.y.strides[0] = 9;
       p.args.scale = Tensor(p.memory + 2048, DType::f32, {8, 2});
       p.args.index = Tensor(p.memory + 3072, DType::i32, {9});
     },
     "probe: y overlaps x in memory, expected an output of its own"},
    {"OutputOverlapsAnotherInput", [](ProbeCall& p) { p.args.scale.data = p.memory + 1024 + 4 * 47; },
     "probe: y overlaps scale in memory, expected an output of its own"},
    {"TwoOutputsOverlap",
     [](ProbeCall& p) {
       p.args.table = Tensor(p.memory + 1024 + 191, DType::i8, {3, 3});
     },
     "probe: y overlaps table in memory, expected an output of its own"},
    {"WrittenCacheOverlapsItsUpdate",
     [](ProbeCall& p) {
       p.args.cache = Tensor(p.memory + 4096, DType::f32, {5, 8});
       p.args.update = Tensor(p.memory + 4096 + 4, DType::f32, {6, 7});
     },
     "probe: cache overlaps update in memory, expected an output of its own"},
    {"WrittenCacheBroadcast",
     [](ProbeCall& p) {
       p.args.cache = Tensor::strided(p.memory + 4096, DType::f32, {5, 8}, {0, 1});
       p.args.update = Tensor(p.memory + 5120, DType::f32, {6, 7});
     },
     "probe: cache is f32[5, 8] strides [0, 1], in which elements overlap; an output needs each element of "
     "its own"},
    // Clauses, only once everything declarative holds.
    {"AClause",
     [](ProbeCall& p) {
       p.options.block = -4;
       p.args.scale.shape[1] = -1;
     },
     "probe: scale has shape [3, -1], expected no negative size"},
    {"AClauseOnData", [](ProbeCall& p) { *p.args.index.at<std::int32_t>(1) = 5; },
     "probe: index descends at 2"},
};

class BadCall : public testing::TestWithParam<Row> {};

TEST_P(BadCall, IsRefusedWithItsSentence) {
  ProbeCall probe;
  ASSERT_EQ(probe.verdict(), "valid");
  GetParam().change(probe);
  EXPECT_EQ(probe.verdict(), GetParam().sentence);
}

INSTANTIATE_TEST_SUITE_P(Of, BadCall, testing::ValuesIn(kBad),
                         [](const auto& info) { return info.param.name; });

const Row kGood[] = {
    {"AsItIs", [](ProbeCall&) {}, ""},
    {"OutputIsTheInput", [](ProbeCall& p) { p.args.y = p.args.x; }, ""},
    {"OutputBesideTheInputInOneBuffer",
     [](ProbeCall& p) {
       p.args.x = Tensor::strided(p.memory, DType::f32, {2, 3, 8}, {48, 16, 1});
       p.args.y = Tensor::strided(p.memory + 32, DType::f32, {2, 3, 8}, {48, 16, 1});
     },
     ""},
    {"InputBroadcast",
     [](ProbeCall& p) {
       p.args.x = Tensor::strided(p.memory, DType::f32, {2, 3, 8}, {0, 0, 1});
     },
     ""},
    {"OuterDimensionsReversed",
     [](ProbeCall& p) {
       p.args.x = Tensor::strided(p.memory + 4 * 40, DType::f32, {2, 3, 8}, {-24, -8, 1});
     },
     ""},
    {"InputsOverlap", [](ProbeCall& p) { p.args.scale.data = p.args.x.data; }, ""},
    {"LastDimensionOfOneElement",
     [](ProbeCall& p) {
       p.args.x = Tensor::strided(p.memory, DType::f32, {2, 3, 1}, {3, 1, 77});
       p.args.y = Tensor::strided(p.memory + 1024, DType::f32, {2, 3, 1}, {3, 1, 77});
       p.args.scale = Tensor(p.memory + 2048, DType::f32, {3, 1});
     },
     ""},
    {"NoLeadingDimensions",
     [](ProbeCall& p) {
       p.args.x = Tensor(p.memory, DType::f32, {3, 8});
       p.args.y = Tensor(p.memory + 1024, DType::f32, {3, 8});
     },
     ""},
    {"RankThreeScale",
     [](ProbeCall& p) {
       p.args.scale = Tensor(p.memory + 2048, DType::f32, {3, 2, 1});
     },
     ""},
    {"StridedScale",
     [](ProbeCall& p) {
       p.args.scale = Tensor::strided(p.memory + 2048, DType::f32, {3, 2}, {1, 3});
     },
     ""},
    {"EmptyWithNullData",
     [](ProbeCall& p) {
       p.args.x = Tensor(nullptr, DType::f32, {0, 3, 8});
       p.args.y = Tensor(nullptr, DType::f32, {0, 3, 8});
     },
     ""},
    {"EmptyWithAnyStrides",
     [](ProbeCall& p) {
       p.args.x = Tensor::strided(nullptr, DType::f32, {0, 3, 8}, {-1, 0, 99});
       p.args.y = Tensor::strided(nullptr, DType::f32, {0, 3, 8}, {0, 0, 0});
     },
     ""},
    {"SmallerBlock", [](ProbeCall& p) { p.options.block = 7; }, ""},
    {"EveryOptional",
     [](ProbeCall& p) {
       p.args.bias = Tensor(p.memory + 4096, DType::f32, {8});
       p.args.cache = Tensor(p.memory + 4608, DType::f32, {5, 8});
       p.args.update = Tensor(p.memory + 5120, DType::f32, {6, 7});
       p.args.table = Tensor(p.memory + 6144, DType::i8, {3, 3});
     },
     ""},
    {"CacheThatIsOnlyRead",
     [](ProbeCall& p) {
       p.args.cache = Tensor::strided(p.memory, DType::f32, {5, 8}, {0, 1});
     },
     ""},
};

class GoodCall : public testing::TestWithParam<Row> {};

TEST_P(GoodCall, IsValid) {
  ProbeCall probe;
  GetParam().change(probe);
  EXPECT_EQ(probe.verdict(), "valid");
}

INSTANTIATE_TEST_SUITE_P(Of, GoodCall, testing::ValuesIn(kGood),
                         [](const auto& info) { return info.param.name; });

TEST(Contract, PrintsTheNumberOfBadCallsTried) {
  std::printf("bad calls of the contract's own table: %zu\n", std::size(kBad));
  EXPECT_GE(std::size(kBad), 40u);
}

TEST(Contract, RunsAClauseWhereEverythingDeclarativeHolds) {
  ProbeCall probe;
  probe.options.block = 0;
  // The size ceil(K/0) is unknown, so that any is accepted and the clause speaks.
  EXPECT_EQ(probe.verdict(), "probe: block is 0, expected a positive number");
}

TEST(Contract, LooksAtDataOnlyWhereAsked) {
  ProbeCall probe;
  *probe.args.index.at<std::int32_t>(1) = 5;
  EXPECT_EQ(probe.verdict({}, true), "probe: index descends at 2");
  EXPECT_EQ(probe.verdict({}, false), "valid");
}

TEST(Contract, WantsEveryTensorOnTheQueuesDeviceButThoseThatMayStayOnTheHost) {
  const Device gpu{DeviceType::cuda, 2};
  ProbeCall probe;
  EXPECT_EQ(probe.verdict(gpu, false), "probe: x is on cpu, expected cuda:2 as the queue");
  for (Tensor* tensor : {&probe.args.x, &probe.args.y, &probe.args.scale, &probe.args.index})
    tensor->device = gpu;
  EXPECT_EQ(probe.verdict(gpu, false), "valid");
  probe.args.table = Tensor(probe.memory + 6144, DType::i8, {3, 3});
  EXPECT_EQ(probe.verdict(gpu, false), "valid");
  probe.args.table.device = {DeviceType::cuda, 1};
  EXPECT_EQ(probe.verdict(gpu, false), "probe: table is on cuda:1, expected cuda:2 as the queue");
}

TEST(Contract, BindsTheSymbolsOfACall) {
  const ProbeCall probe;
  const Symbols symbols = symbols_of(probe.call());
  EXPECT_EQ(symbols["M"], 3);
  EXPECT_EQ(symbols["K"], 8);
  EXPECT_EQ(symbols["block"], 4);
  EXPECT_EQ(symbols["no such"], Symbols::kUnbound);
}

TEST(Contract, KnowsItsArgumentsByName) {
  EXPECT_EQ(probe_contract().index_of("x"), 0);
  EXPECT_EQ(probe_contract().index_of("table"), 7);
  EXPECT_EQ(probe_contract().index_of("X"), -1);
}

TEST(Contract, WithAShapeThatDoesNotParseIsRefusedWhenItIsMade) {
  for (const char* shape : {"M K+", "M (K", "ceil(K)", "*", "M K)", "K//2", "ceil(K/2"}) {
    Contract contract;
    contract.op = "broken";
    contract.args = {{.name = "x", .dtypes = {DType::f32}, .shapes = {shape}}};
    try {
      finish(std::move(contract));
      ADD_FAILURE() << shape;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::internal) << shape;
    }
  }
}

TEST(Contract, OfEveryOpSaysWhatItIsAndWhatEachArgumentIs) {
  for (const Registry::Op& op : Registry::builtin().ops()) {
    const Contract& contract = *op.contract;
    EXPECT_FALSE(contract.summary.empty()) << contract.op;
    EXPECT_FALSE(contract.source.empty()) << contract.op;
    EXPECT_FALSE(contract.tolerance.empty()) << contract.op;
    EXPECT_TRUE(contract.work != nullptr) << contract.op;
    for (const Arg& arg : contract.args) {
      EXPECT_FALSE(arg.meaning.empty()) << contract.op << " " << arg.name;
      EXPECT_FALSE(arg.dtypes.empty()) << contract.op << " " << arg.name;
      EXPECT_EQ(arg.rules.size(), arg.shapes.size())
          << contract.op << " " << arg.name << ": finish() was not called";
      for (const std::string* other : {&arg.may_alias, &arg.dtype_same_as, &arg.written_with})
        EXPECT_TRUE(other->empty() || contract.index_of(*other) >= 0)
            << contract.op << " " << arg.name << ": " << *other;
    }
    for (const Clause& clause : contract.clauses) EXPECT_FALSE(clause.text.empty()) << contract.op;
  }
}

}  // namespace
}  // namespace isomer::core
