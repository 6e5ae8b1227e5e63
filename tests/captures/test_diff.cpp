#include "lab/diff/diff_captures.hpp"

#include "tests/captures/launches.hpp"

#include <isomer/error.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace isomer::lab {
namespace {

struct Params {
  std::uint64_t x, mask;
  std::int32_t rows;
  float scale;
  std::uint8_t causal;
  std::uint8_t padding[7];
};

Launch launch(const std::string& name = "_ZN6family9soft_rowsILi32ELb0ENS_4TileEEEvNS_6ParamsE") {
  Launch made;
  made.name = name;
  made.grid = {64, 1, 1};
  made.block = {128, 1, 1};
  made.shared_dynamic = 0;
  made.shared_static = 0;
  made.registers = 28;
  made.code_hash = std::string(64, 'a');
  made.arguments_known = true;
  made.arguments = {argument(Params{0x7f0000001000, 0, 64, 0.125F, 0, {}})};
  made.arguments[0].pointers[0] = "0+4096";
  return made;
}

Params& params(Launch& of) { return *reinterpret_cast<Params*>(of.arguments[0].bytes.data()); }

Launch other_kernel(const char* name = "other") {
  Launch made = launch(name);
  made.arguments = {};
  return made;
}

DiffResult diff(const std::vector<Launch>& a, const std::vector<Launch>& b) {
  return diff_captures(grouped(a), grouped(b), {});
}

/// Each launch twice, with different garbage in the padding.
std::vector<Launch> twice(Launch one) {
  Launch two = one;
  params(one).padding[1] = 0x5A;
  params(two).padding[1] = 0xA5;
  params(two).padding[6] = 1;
  return {one, two};
}

std::string text(const DiffResult& result) {
  std::string all;
  for (const std::string& sentence : result.verdict) all += sentence + "\n";
  for (const Pair& pair : result.pairs)
    for (const Difference& each : pair.differences) all += each.name + ": " + each.a + " / " + each.b + "\n";
  for (const std::string& note : result.notes) all += "note: " + note + "\n";
  return all;
}

struct OneThing {
  const char* what;
  void (*change)(Launch&);
  Pair::Kind kind;
  std::vector<Difference> differences;
};

void PrintTo(const OneThing& thing, std::ostream* out) { *out << thing.what; }

class OneThingAtATime : public testing::TestWithParam<OneThing> {};

TEST_P(OneThingAtATime, IsNamedAndNothingElse) {
  const Launch a = launch();
  Launch b = launch();
  GetParam().change(b);
  const DiffResult result = diff(twice(a), twice(b));
  ASSERT_EQ(result.pairs.size(), 1u);
  EXPECT_TRUE(result.only_a.empty() && result.only_b.empty());
  const Pair& pair = result.pairs[0];
  EXPECT_STREQ(word(pair.kind), word(GetParam().kind)) << text(result);
  ASSERT_EQ(pair.differences.size(), GetParam().differences.size()) << text(result);
  for (std::size_t i = 0; i < pair.differences.size(); ++i) {
    EXPECT_EQ(pair.differences[i].name, GetParam().differences[i].name);
    EXPECT_EQ(pair.differences[i].a, GetParam().differences[i].a);
    EXPECT_EQ(pair.differences[i].b, GetParam().differences[i].b);
  }
  EXPECT_EQ(result.same(), GetParam().kind == Pair::Kind::same);
  EXPECT_EQ(result.verdict.size(), 1u) << text(result);
}

using Kind = Pair::Kind;
const OneThing kThings[] = {
    {"nothing", [](Launch&) {}, Kind::same, {}},
    {"template parameter",
     [](Launch& b) { b.name = "_ZN6family9soft_rowsILi64ELb0ENS_4TileEEEvNS_6ParamsE"; },
     Kind::variant,
     {{"#0", "32", "64"}}},
    {"grid",
     [](Launch& b) {
       b.grid = {65, 1, 1};
     },
     Kind::geometry,
     {{"grid", "64x1x1", "65x1x1"}}},
    {"block",
     [](Launch& b) {
       b.block = {128, 2, 1};
     },
     Kind::geometry,
     {{"block", "128x1x1", "128x2x1"}}},
    {"cluster",
     [](Launch& b) {
       b.cluster = {2, 1, 1};
     },
     Kind::geometry,
     {{"cluster", "1x1x1", "2x1x1"}}},
    {"a cluster of one block is none",
     [](Launch& b) {
       b.cluster = {1, 1, 1};
     },
     Kind::same,
     {}},
    {"dynamic shared memory",
     [](Launch& b) { b.shared_dynamic = 1024; },
     Kind::geometry,
     {{"shared_dynamic", "0", "1024"}}},
    {"cooperative", [](Launch& b) { b.cooperative = true; }, Kind::geometry, {{"cooperative", "no", "yes"}}},
    {"graph", [](Launch& b) { b.graph_node = 5; }, Kind::geometry, {{"in a graph", "no", "yes"}}},
    {"an integer",
     [](Launch& b) { params(b).rows = -65; },
     Kind::arguments,
     {{"argument 0 byte 16", "64", "-65"}}},
    {"a float",
     [](Launch& b) { params(b).scale = 0.25F; },
     Kind::arguments,
     {{"argument 0 byte 20", "0.125 (0x3e000000)", "0.25 (0x3e800000)"}}},
    {"a flag beside padding",
     [](Launch& b) { params(b).causal = 1; },
     Kind::arguments,
     {{"argument 0 byte 24", "0", "1"}}},
    {"a pointer that is null",
     [](Launch& b) {
       params(b).x = 0;
       b.arguments[0].pointers.clear();
     },
     Kind::arguments,
     {{"argument 0 byte 0", "an address", "null"}}},
    {"a pointer that is not null",
     [](Launch& b) {
       params(b).mask = 0x7f0000002000;
       b.arguments[0].pointers[8] = "1+0";
     },
     Kind::arguments,
     {{"argument 0 byte 8", "null", "an address"}}},
    {"an allocation elsewhere",
     [](Launch& b) {
       params(b).x = 0x7e0000cc1000;
       b.arguments[0].pointers[0] = "9+64";
     },
     Kind::same,
     {}},
    {"machine code",
     [](Launch& b) { b.code_hash = std::string(64, 'b'); },
     Kind::code,
     {{"machine code", "aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb"}}},
    {"registers", [](Launch& b) { b.registers = 24; }, Kind::code, {{"registers", "28", "24"}}},
    {"a stream", [](Launch& b) { b.stream = 13; }, Kind::same, {}},
    {"code that is not known", [](Launch& b) { b.code_hash.clear(); }, Kind::same, {}},
};

std::string test_name(const testing::TestParamInfo<OneThing>& info) {
  std::string name = info.param.what;
  for (char& c : name)
    if (c == ' ') c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Diff, OneThingAtATime, testing::ValuesIn(kThings), test_name);

TEST(Diff, SaysWhichBytesItDidNotCompare) {
  std::vector<Launch> a = twice(launch()), b = twice(launch());
  params(b[0]).padding[1] = 0x11;
  const DiffResult result = diff(a, b);
  EXPECT_TRUE(result.same()) << text(result);
  EXPECT_NE(text(result).find("1 bytes of its arguments vary from launch to launch and were not compared"),
            std::string::npos)
      << text(result);
}

TEST(Diff, SaysThatOneLaunchCannotTellPadding) {
  Launch a = launch(), b = launch();
  params(b).padding[6] = 9;
  const DiffResult result = diff({a}, {b});
  EXPECT_STREQ(word(result.pairs.at(0).kind), "arguments");
  EXPECT_NE(text(result).find("padding"), std::string::npos) << text(result);
}

TEST(Diff, NamesFieldsWhereALayoutIsKnown) {
  ParameterLayouts layouts;
  layouts.add(R"({"version":1,"layouts":[{"family":"family::soft_rows","parameter":0,"bytes":32,"fields":[
    {"name":"x","offset":0,"size":8,"type":"pointer"},{"name":"mask","offset":8,"size":8,"type":"pointer"},
    {"name":"rows","offset":16,"size":4,"type":"int"},{"name":"scale","offset":20,"size":4,"type":"float"},
    {"name":"causal","offset":24,"size":1,"type":"bool"}]}]})",
              "test");
  Launch a = launch(), b = launch();
  params(b).mask = 0x7f0000001000;
  b.arguments[0].pointers[8] = "0+4096";
  params(b).rows = 63;
  params(b).scale = 0.5F;
  params(b).causal = 1;
  const DiffResult result = diff_captures(grouped(twice(a)), grouped(twice(b)), layouts);
  // The bytes of the flag do not vary, only its padding does, and padding is no field.
  EXPECT_NE(text(result).find("mask: null / the address of x\nrows: 64 / 63\nscale: 0.125 / 0.5\n"
                              "causal: false / true\n"),
            std::string::npos)
      << text(result);
  EXPECT_THROW(layouts.add("{}", "test"), Error);
  EXPECT_THROW(layouts.add(R"({"layouts":[{"family":"f","parameter":0,"bytes":4,"fields":[
    {"name":"x","offset":1,"size":4,"type":"int"}]}]})",
                           "test"),
               Error);
}

TEST(Diff, PairsOtherLaunchesOfOneFamilyBetweenLaunchesThatAreTheSame) {
  const Launch x = other_kernel("x"), y = other_kernel("y");
  Launch wide = launch("_ZN6family9soft_rowsILi64ELb0ENS_4TileEEEvNS_6ParamsE");
  const DiffResult result = diff({x, launch(), y, launch(), x}, {x, wide, y, wide, x});
  EXPECT_TRUE(result.only_a.empty() && result.only_b.empty()) << text(result);
  ASSERT_EQ(result.pairs.size(), 3u) << text(result);
  EXPECT_STREQ(word(result.pairs[1].kind), "variant");
}

TEST(Diff, SaysWhatOnlyOneSideRuns) {
  const Launch x = other_kernel("x"), y = other_kernel("y");
  const DiffResult result = diff({x, y, y, x}, {x, x, other_kernel("z")});
  EXPECT_EQ(result.only_a, (std::vector<std::string>{"y (2 launches)"}));
  EXPECT_EQ(result.only_b, (std::vector<std::string>{"z"}));
  ASSERT_EQ(result.verdict.size(), 2u);
  EXPECT_NE(result.verdict[0].find("Only A runs 1 kernel (y)"), std::string::npos) << result.verdict[0];
}

TEST(Diff, CountsLaunches) {
  const Launch x = other_kernel("x"), y = other_kernel("y");
  const DiffResult result = diff({x, y, x, y, x, y}, {x, y, x, y});
  ASSERT_EQ(result.pairs.size(), 2u) << text(result);
  for (const Pair& pair : result.pairs) {
    EXPECT_STREQ(word(pair.kind), "count");
    EXPECT_EQ(pair.differences.at(0).a, "3");
    EXPECT_EQ(pair.differences.at(0).b, "2");
  }
}

TEST(Diff, TakesAnotherOrderForTheSame) {
  std::vector<Launch> a, b;
  for (int i = 0; i < 30; ++i) a.push_back(other_kernel(("k" + std::to_string(i)).c_str()));
  b.assign(a.rbegin(), a.rend());
  const DiffResult result = diff(a, b);
  EXPECT_TRUE(result.same()) << text(result);
  EXPECT_EQ(result.pairs.size(), 30u);
}

std::vector<Launch> timed(double mean, double noise, int count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Launch> all;
  for (int i = 0; i < count; ++i) {
    Launch one = other_kernel("timed");
    one.duration_ns = mean + noise * (static_cast<double>(random() % 2001) / 1000 - 1);
    all.push_back(one);
  }
  return all;
}

TEST(Diff, TakesATimeForAnotherOnlyBeyondTheNoise) {
  int wrong = 0;
  for (unsigned seed = 0; seed < 200; ++seed)
    wrong += diff(timed(50000, 10000, 40, seed), timed(50000, 10000, 40, seed + 1000)).same() ? 0 : 1;
  EXPECT_LE(wrong, 6);
  const DiffResult slower = diff(timed(50000, 10000, 40, 1), timed(65000, 10000, 40, 2));
  ASSERT_EQ(slower.pairs.size(), 1u);
  EXPECT_STREQ(word(slower.pairs[0].kind), "time");
  EXPECT_NE(text(slower).find("of 40, +"), std::string::npos) << text(slower);
  // Two launches have no noise that could be known.
  EXPECT_TRUE(diff(timed(50000, 0, 2, 1), timed(90000, 0, 2, 2)).same());
}

TEST(Diff, ReadsNoDifferenceIntoWhatASourceCannotTell) {
  Launch full = launch();
  full.cluster = {2, 1, 1};
  full.shared_dynamic = 1000;
  full.graph_node = 3;
  Launch kineto;
  kineto.demangled = "void family::soft_rows<32, false, family::Tile>(family::Params)";
  kineto.grid = full.grid;
  kineto.block = full.block;
  kineto.registers = 28;
  const DiffResult result = diff_captures(grouped({full, full}), grouped({kineto, kineto}, "kineto"), {});
  EXPECT_TRUE(result.same()) << text(result);
  EXPECT_NE(
      text(result).find("at least one source lacks it: clusters, dynamic shared memory, arguments, machine code"),
      std::string::npos)
      << text(result);
}

TEST(Diff, PutsBuildLogsBesideMachineCodeThatDiffers) {
  Launch b = launch();
  b.code_hash = std::string(64, 'b');
  DiffResult result = diff({launch(), other_kernel()}, {b, other_kernel()});
  add_build_options(result, {{"option --use_fast_math", "", "on"}});
  EXPECT_NE(text(result).find("option --use_fast_math:  / on"), std::string::npos) << text(result);
  EXPECT_EQ(result.pairs.at(1).differences.size(), 0u);
}

TEST(Diff, ComparesAMillionLaunchesInLittleMemory) {
  Grouping a, b;
  for (int i = 0; i < 1'000'000; ++i) {
    Launch one;
    one.name = "kernel" + std::to_string(i % 50);
    one.grid = {1, 1, 1};
    one.duration_ns = 1000;
    if (i != 700'000) b.add(Launch(one));
    a.add(std::move(one));
  }
  const GroupedCapture left = a.finish({}), right = b.finish({});
  EXPECT_EQ(left.groups.size(), 50u);
  for (const LaunchGroup& group : left.groups) EXPECT_LE(group.times_ns.size(), LaunchGroup::kTimes);
  const DiffResult result = diff_captures(left, right, {});
  std::size_t counted = 0;
  for (const Pair& pair : result.pairs) counted += pair.kind == Pair::Kind::count ? 1 : 0;
  EXPECT_EQ(counted, 1u);
}

TEST(Diff, FoldsDifferentLaunchesBeyondItsBound) {
  Grouping grouping;
  for (std::size_t i = 0; i < Grouping::kMostGroups + 1000; ++i) {
    Launch one;
    one.name = "kernel";
    one.grid = {static_cast<std::uint32_t>(i + 1), 1, 1};
    grouping.add(std::move(one));
  }
  const GroupedCapture capture = grouping.finish({});
  EXPECT_EQ(capture.groups.size(), Grouping::kMostGroups + 1);
  EXPECT_EQ(capture.groups.back().count, 1000u);
  EXPECT_TRUE(capture.about.facts.contains("note groups"));
}

}  // namespace
}  // namespace isomer::lab
