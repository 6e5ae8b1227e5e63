#include "lab/launches/inject/chain.hpp"
#include "tests/captures/launches.hpp"

#include <isomer/error.hpp>

#include <gtest/gtest.h>

namespace isomer::lab {
namespace {

Launch full_launch() {
  Launch launch;
  launch.name = "_ZN6family9soft_rowsILi32ELb0ENS_4TileEEEvNS_6ParamsE";
  launch.grid = {132, 2, 1};
  launch.block = {384, 1, 1};
  launch.cluster = {2, 1, 1};
  launch.shared_dynamic = 221184;
  launch.shared_static = 16;
  launch.local_bytes = 8;
  launch.registers = 168;
  launch.scalar_registers = 32;
  launch.stream = 7;
  launch.correlation = 12;
  launch.graph_node = 4294967299;
  launch.device = 1;
  launch.process = 77;
  launch.thread = 78;
  launch.start_ns = 1763769600000000512.0;
  launch.duration_ns = 1250.0;
  launch.code_hash = std::string(64, 'a');
  launch.module = "cubin of 4712 bytes";
  launch.cooperative = launch.programmatic = launch.captured = true;
  launch.arguments_known = true;
  launch.arguments = {argument(std::uint64_t{0x7f0000001000}), argument(std::int32_t{-5}, 8)};
  launch.arguments[0].pointers[0] = "3+4096";
  launch.variant = {{"block_m", "128"}};
  launch.parameters = {{"seqlen_q", "1285"}};
  launch.metrics = {{"launch__waves_per_multiprocessor", 0.5}};
  return launch;
}

void expect_equal(const Launch& a, const Launch& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.demangled, b.demangled);
  EXPECT_EQ(a.grid, b.grid);
  EXPECT_EQ(a.block, b.block);
  EXPECT_EQ(a.cluster, b.cluster);
  EXPECT_EQ(a.shared_dynamic, b.shared_dynamic);
  EXPECT_EQ(a.shared_static, b.shared_static);
  EXPECT_EQ(a.local_bytes, b.local_bytes);
  EXPECT_EQ(a.registers, b.registers);
  EXPECT_EQ(a.scalar_registers, b.scalar_registers);
  EXPECT_EQ(a.stream, b.stream);
  EXPECT_EQ(a.correlation, b.correlation);
  EXPECT_EQ(a.graph_node, b.graph_node);
  EXPECT_EQ(a.device, b.device);
  EXPECT_EQ(a.process, b.process);
  EXPECT_EQ(a.thread, b.thread);
  EXPECT_EQ(a.start_ns, b.start_ns);
  EXPECT_EQ(a.duration_ns, b.duration_ns);
  EXPECT_EQ(a.code_hash, b.code_hash);
  EXPECT_EQ(a.module, b.module);
  EXPECT_EQ(a.cooperative, b.cooperative);
  EXPECT_EQ(a.programmatic, b.programmatic);
  EXPECT_EQ(a.captured, b.captured);
  EXPECT_EQ(a.arguments_known, b.arguments_known);
  ASSERT_EQ(a.arguments.size(), b.arguments.size());
  for (std::size_t i = 0; i < a.arguments.size(); ++i) {
    EXPECT_EQ(a.arguments[i].offset, b.arguments[i].offset);
    EXPECT_EQ(a.arguments[i].bytes, b.arguments[i].bytes);
    EXPECT_EQ(a.arguments[i].pointers, b.arguments[i].pointers);
  }
  EXPECT_EQ(a.variant, b.variant);
  EXPECT_EQ(a.parameters, b.parameters);
  EXPECT_EQ(a.metrics, b.metrics);
}

std::string written(const std::vector<Launch>& launches, std::uint64_t dropped = 0) {
  const Folder folder;
  Capture header;
  header.command = "python3 \"model\".py\n\xFF";
  header.facts["driver"] = "13.0";
  CaptureWriter writer(folder.path / "capture", header);
  for (const Launch& launch : launches) writer.add(launch);
  writer.note("one thing was not seen");
  writer.end(dropped);
  return content_of(folder.path / "capture");
}

TEST(CaptureFile, GivesBackWhatWasWritten) {
  Launch plain;
  plain.demangled = "kernel(int)";
  const std::vector<Launch> launches = {full_launch(), plain, full_launch()};
  const Capture read = read_text(written(launches));
  EXPECT_TRUE(read.complete) << read.incomplete;
  EXPECT_EQ(read.facts.at("driver"), "13.0");
  EXPECT_EQ(read.facts.at("note 1"), "one thing was not seen");
  ASSERT_EQ(read.launches.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    Launch expected = launches[i];
    expected.correlation = launches[i].correlation.value_or(0);
    expect_equal(read.launches[i], expected);
  }
}

TEST(CaptureFile, WritesAKernelOnceForAllItsLaunches) {
  const std::string text = written(std::vector<Launch>(50, full_launch()));
  std::size_t count = 0;
  for (std::size_t at = text.find("\"code_hash\""); at != std::string::npos;
       at = text.find("\"code_hash\"", at + 1))
    ++count;
  EXPECT_EQ(count, 1u);
}

TEST(CaptureFile, IsIncompleteWhereverItIsCut) {
  const std::string whole = written({full_launch(), full_launch()});
  const std::size_t first_line = whole.find('\n');
  // Without its last line break it is whole still.
  for (std::size_t length = 0; length + 1 < whole.size(); ++length) {
    if (length < first_line) {
      EXPECT_THROW(read_text(whole.substr(0, length)), Error) << length;
      continue;
    }
    const Capture read = read_text(whole.substr(0, length));
    EXPECT_FALSE(read.complete) << length;
    EXPECT_NE(read.incomplete.find("no last line"), std::string::npos) << length << ": " << read.incomplete;
    EXPECT_LE(read.launches.size(), 2u);
  }
}

TEST(CaptureFile, IsIncompleteWhereAProgramWasKilled) {
  std::string text = written({full_launch(), full_launch()});
  text.resize(text.rfind("{\"end\""));
  const Capture killed = read_text(text + std::string(5000, '\0'));
  EXPECT_FALSE(killed.complete);
  EXPECT_EQ(killed.launches.size(), 2u);
  EXPECT_NE(killed.incomplete.find("killed"), std::string::npos) << killed.incomplete;
  const Capture within = read_text(text.substr(0, text.size() - 20) + std::string(5000, '\0'));
  EXPECT_FALSE(within.complete);
}

TEST(CaptureFile, SaysWhatWasDropped) {
  const Capture read = read_text(written({full_launch()}, 12));
  EXPECT_FALSE(read.complete);
  EXPECT_EQ(read.dropped, 12u);
  EXPECT_EQ(read.incomplete, "12 kernels were dropped while recording");
}

TEST(CaptureFile, CountsItsLaunches) {
  std::string text = written({full_launch(), full_launch()});
  const std::size_t first = text.find("{\"launch\""), second = text.find("{\"launch\"", first + 1);
  text.erase(first, second - first);
  const Capture read = read_text(text);
  EXPECT_FALSE(read.complete);
  EXPECT_EQ(read.incomplete, "it has 1 launches, but its last line says 2");
}

TEST(CaptureFile, RefusesWhatIsNone) {
  for (const char* text : {"", "\n", "{}", "[]", "7", "{\"isomer_trace\":2}\n",
                           "\x7F"
                           "ELF",
                           "{\"isomer_trace\":"})
    try {
      read_text(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::io) << text;
    }
}

TEST(CaptureFile, StopsAtALineThatIsNone) {
  std::string text = written({full_launch(), full_launch()});
  text.insert(text.rfind("{\"launch\""), "{\"lunch\":1}\n");
  const Capture read = read_text(text);
  EXPECT_FALSE(read.complete);
  EXPECT_EQ(read.launches.size(), 1u);
  EXPECT_NE(read.incomplete.find("is not a line of a capture"), std::string::npos) << read.incomplete;
}

TEST(CaptureFile, TakesOnlyWhatFitsItsFields) {
  const Capture read = read_text(
      "{\"isomer_trace\":1}\n"
      "{\"kernel\":1,\"name\":7,\"registers\":-3,\"parameters\":[[0,8],[4294967296,1]]}\n"
      "{\"launch\":1,\"kernel\":1,\"grid\":[1,2],\"block\":[1,2,4294967296],\"cluster\":\"2\",\"stream\":1.5,"
      "\"arguments\":[\"0g\",\"abc\",7,\"00ff\"],\"pointers\":[[3,0,\"1+0\"],[9,0,\"1+0\"],[3],7],\"start\":"
      "\"soon\"}\n"
      "{\"launch\":2,\"kernel\":99}\n"
      "{\"end\":{}}\n");
  EXPECT_TRUE(read.complete) << read.incomplete;
  ASSERT_EQ(read.launches.size(), 2u);
  const Launch& launch = read.launches[0];
  EXPECT_TRUE(launch.name.empty());
  EXPECT_FALSE(launch.grid || launch.block || launch.cluster || launch.stream || launch.start_ns);
  ASSERT_EQ(launch.arguments.size(), 4u);
  EXPECT_TRUE(launch.arguments[0].bytes.empty());
  EXPECT_EQ(launch.arguments[3].bytes, (std::vector<std::uint8_t>{0, 255}));
  EXPECT_TRUE(launch.arguments[3].pointers.empty());
}

TEST(CaptureFile, TakesNamesOf100kB) {
  Launch launch;
  launch.name = "_Z" + std::string(100000, 'x');
  const Capture read = read_text(written({launch}));
  ASSERT_EQ(read.launches.size(), 1u);
  EXPECT_EQ(read.launches[0].name, launch.name);
}

std::vector<std::string> names(const Capture& capture) {
  std::vector<std::string> all;
  for (const Launch& launch : capture.launches) all.push_back(launch.name);
  return all;
}

TEST(RecordersFile, JoinsLaunchesAndTheirRuns) {
  const Capture read = read_text(
      "{\"isomer_trace\":1,\"process\":5}\n"
      "{\"kernel\":1,\"name\":\"first\",\"parameters\":[[0,4]]}\n"
      "{\"kernel\":2,\"name\":\"second\"}\n"
      "{\"launch\":1,\"later\":true,\"kernel\":1,\"grid\":[8,1,1],\"arguments\":[\"01000000\"]}\n"
      "{\"launch\":2,\"later\":true,\"kernel\":2,\"grid\":[9,1,1]}\n"
      "{\"text\":1,\"is\":\"second\"}\n{\"text\":2,\"is\":\"first\"}\n"
      "{\"ran\":2,\"name\":1,\"grid\":[9,1,1],\"registers\":32,\"stream\":7,\"start\":200,\"duration\":20}\n"
      "{\"ran\":1,\"name\":2,\"grid\":[8,1,1],\"registers\":40,\"stream\":7,\"start\":100,\"duration\":10}\n"
      "{\"ran\":3,\"name\":2,\"grid\":[4,1,1],\"start\":300,\"duration\":30}\n"
      "{\"end\":{\"dropped\":0}}\n");
  EXPECT_TRUE(read.complete) << read.incomplete;
  // In the order in which they were launched, whatever ran first; what nobody launched comes where it ran.
  ASSERT_EQ(names(read), (std::vector<std::string>{"first", "second", "first"}));
  EXPECT_EQ(read.launches[0].duration_ns, 10.0);
  EXPECT_EQ(read.launches[0].registers, 40u);
  EXPECT_EQ(read.launches[0].process, 5u);
  EXPECT_EQ(read.launches[0].arguments.at(0).bytes, (std::vector<std::uint8_t>{1, 0, 0, 0}));
  EXPECT_EQ(read.launches[1].start_ns, 200.0);
  EXPECT_FALSE(read.launches[2].arguments_known);
  EXPECT_EQ(read.facts.at("note 1"), "1 kernels ran for which no launch call was seen: their arguments are unknown");
}

TEST(RecordersFile, GivesTheKernelsOfAGraphTheirArguments) {
  const Capture read = read_text(
      "{\"isomer_trace\":1}\n{\"kernel\":1,\"name\":\"in_graph\"}\n"
      "{\"node\":10,\"captured\":true,\"kernel\":1,\"arguments\":[\"aa\"]}\n"
      "{\"node\":11,\"captured\":true,\"kernel\":1,\"arguments\":[\"bb\"]}\n"
      "{\"clone\":20,\"of\":10}\n{\"clone\":21,\"of\":11}\n"
      "{\"graph\":5}\n{\"graph\":6}\n{\"text\":1,\"is\":\"in_graph\"}\n"
      "{\"ran\":5,\"name\":1,\"graph_node\":21,\"start\":2,\"duration\":1}\n"
      "{\"ran\":5,\"name\":1,\"graph_node\":20,\"start\":1,\"duration\":1}\n"
      "{\"forget\":21}\n"
      "{\"ran\":6,\"name\":1,\"graph_node\":20,\"start\":3,\"duration\":1}\n"
      "{\"ran\":6,\"name\":1,\"graph_node\":21,\"start\":4,\"duration\":1}\n"
      "{\"graph\":7}\n{\"end\":{}}\n");
  EXPECT_EQ(read.launches.size(), 4u);
  std::string bytes;
  for (const Launch& launch : read.launches)
    bytes += launch.arguments.empty() ? "?" : launch.arguments[0].bytes[0] == 0xaa ? "a" : "b";
  EXPECT_EQ(bytes, "abab") << "a node that is forgotten later is what it was at an earlier launch";
  EXPECT_TRUE(read.launches[0].captured);
  EXPECT_EQ(read.launches[0].graph_node, 20u);
  EXPECT_EQ(read.facts.at("note 1"), "1 graph launches whose kernels the device did not report");
}

TEST(RecordersFile, GivesEachLaunchOfAGraphTheArgumentsThatItHadThen) {
  // Runs are told long after their launches: the node has been set anew twice by then.
  const Capture read = read_text(
      "{\"isomer_trace\":1}\n{\"kernel\":1,\"name\":\"in_graph\"}\n"
      "{\"node\":10,\"kernel\":1,\"arguments\":[\"aa\"]}\n{\"clone\":20,\"of\":10}\n"
      "{\"graph\":5}\n{\"graph\":6}\n"
      "{\"forget\":20}\n{\"node\":20,\"kernel\":1,\"arguments\":[\"bb\"]}\n{\"graph\":7}\n"
      "{\"node\":11,\"kernel\":1,\"arguments\":[\"cc\"]}\n{\"clone\":20,\"of\":11}\n{\"graph\":8}\n"
      "{\"forget\":20}\n{\"graph\":9}\n"
      // The graph's own node is another one than its copy.
      "{\"node\":10,\"kernel\":1,\"arguments\":[\"dd\"]}\n"
      "{\"ran\":9,\"graph_node\":20,\"start\":5,\"duration\":1}\n"
      "{\"ran\":7,\"graph_node\":20,\"start\":3,\"duration\":1}\n"
      "{\"ran\":8,\"graph_node\":20,\"start\":4,\"duration\":1}\n"
      "{\"ran\":5,\"graph_node\":20,\"start\":1,\"duration\":1}\n"
      "{\"ran\":6,\"graph_node\":20,\"start\":2,\"duration\":1}\n"
      "{\"end\":{}}\n");
  ASSERT_EQ(read.launches.size(), 5u);
  std::string bytes;
  for (const Launch& launch : read.launches)
    bytes += launch.arguments.empty() ? '?' : static_cast<char>('a' + launch.arguments[0].bytes[0] % 16 - 10);
  EXPECT_EQ(bytes, "aabc?");
  EXPECT_EQ(read.launches[3].start_ns, 4.0);
}

TEST(GraphsShape, IsAChainOrNot) {
  using Nodes = std::vector<int>;
  EXPECT_EQ(inject::chain_order<int>({3, 1, 2}, {1, 2}, {2, 3}), (Nodes{1, 2, 3}));
  EXPECT_EQ(inject::chain_order<int>({7}, {}, {}), (Nodes{7}));
  EXPECT_FALSE(inject::chain_order<int>({}, {}, {}));
  EXPECT_FALSE(inject::chain_order<int>({1, 2}, {}, {})) << "two beside each other";
  EXPECT_FALSE(inject::chain_order<int>({1, 2, 3}, {1, 1}, {2, 3})) << "a fork";
  EXPECT_FALSE(inject::chain_order<int>({1, 2, 3}, {1, 2}, {3, 3})) << "a join";
  EXPECT_FALSE(inject::chain_order<int>({1, 2, 3, 4}, {2, 3, 4}, {3, 4, 2})) << "a ring and one beside it";
}

TEST(RecordersFile, HoldsAWindowOfLaunchesHoweverManyThereAre) {
  constexpr std::uint64_t kLaunches = 3 * Joiner::kWindow;
  std::uint64_t given = 0, untimed = 0, furthest = 0, made = 0;
  Joiner joiner([&](Launch&& launch) {
    EXPECT_EQ(launch.correlation, ++given);
    untimed += launch.duration_ns ? 0 : 1;
    furthest = std::max(furthest, made - given);
  });
  for (made = 1; made <= kLaunches; ++made) {
    Launch launch;
    launch.correlation = made;
    joiner.launched(std::move(launch));
    if (made % 2 == 0) continue;
    // The runs of odd ones come at once, of even ones never.
    Launch run;
    run.correlation = made;
    run.duration_ns = 1;
    joiner.ran(std::move(run));
  }
  Launch late;
  late.correlation = 2;
  late.duration_ns = 1;
  joiner.ran(std::move(late));
  joiner.end();
  EXPECT_EQ(given, kLaunches);
  EXPECT_EQ(untimed, kLaunches / 2);
  EXPECT_EQ(joiner.untimed(), kLaunches / 2);
  EXPECT_LE(furthest, Joiner::kWindow + 1);
}

}  // namespace
}  // namespace isomer::lab
