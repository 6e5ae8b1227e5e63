// What several processes have recorded becomes one capture.
#include "core/sentence.hpp"
#include "lab/launches/traced_parts.hpp"
#include "tests/captures/launches.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace isomer::lab {
namespace {

constexpr std::uint64_t kBegun = 1763769600000000000;

struct Made {
  std::uint64_t start;  ///< ns since the program began; 0: not known
  const char* kernel;
};

/// A part as an injected library writes it: all launches, then their runs.
std::string part(std::uint64_t process, const std::vector<Made>& launches) {
  std::string text = core::say("{\"isomer_trace\":1,\"process\":", process, "}\n");
  for (std::size_t i = 0; i < launches.size(); ++i)
    text += core::say("{\"kernel\":", i, ",\"name\":\"", launches[i].kernel, "\"}\n{\"launch\":", i,
                      ",\"later\":true,\"kernel\":", i, "}\n");
  for (std::size_t i = 0; i < launches.size(); ++i)
    if (launches[i].start > 0)
      text += core::say("{\"ran\":", i, ",\"start\":", kBegun + launches[i].start, ",\"duration\":10}\n");
  return text + "{\"end\":{}}\n";
}

class TracedParts : public testing::Test {
 protected:
  /// Written in this order: one that ended before another has an earlier file.
  void write(const std::string& name, const std::string& text) {
    folder.file(name, text);
    std::filesystem::last_write_time(folder.path / name,
                                     std::filesystem::file_time_type(std::chrono::seconds(++written_)));
  }

  std::string read() {
    std::string all;
    launches.clear();
    traced = {};
    read_parts(
        folder.path.string(), kBegun,
        [&](Launch&& launch) {
          all += launch.name + std::to_string(launch.process.value_or(0)) + " ";
          launches.push_back(std::move(launch));
        },
        traced);
    EXPECT_EQ(traced.launches, launches.size());
    return all;
  }

  Folder folder;
  std::vector<Launch> launches;
  Traced traced;

 private:
  int written_ = 0;
};

TEST_F(TracedParts, AreInterleavedByTime) {
  write("cuda-7.jsonl", part(7, {{100, "a"}, {400, "b"}, {500, "c"}}));
  write("hip-8.jsonl", part(8, {{200, "a"}, {300, "b"}, {600, "c"}}));
  EXPECT_EQ(read(), "a7 a8 b8 b7 c7 c8 ");
  EXPECT_EQ(launches[1].start_ns, 200.0);
  EXPECT_EQ(traced.processes, 2);
  EXPECT_TRUE(traced.about.complete);
}

TEST_F(TracedParts, KeepEachProcesssOwnOrder) {
  // Of two streams the later launch may run first; one of no known time goes with the one before it.
  write("cuda-7.jsonl", part(7, {{500, "a"}, {100, "b"}, {0, "c"}}));
  write("cuda-8.jsonl", part(8, {{200, "a"}, {0, "b"}, {550, "c"}}));
  EXPECT_EQ(read(), "a8 b8 a7 b7 c7 c8 ");
}

TEST_F(TracedParts, WithoutTimesComeInTheOrderInWhichTheyEnded) {
  write("isomer-9.jsonl", part(9, {{0, "a"}, {0, "b"}}));
  write("isomer-3.jsonl", part(3, {{0, "a"}, {0, "b"}}));
  EXPECT_EQ(read(), "a9 b9 a3 b3 ");
}

TEST_F(TracedParts, CutOffsDoNotHideTheOthers) {
  write("cuda-7.jsonl", "{\"isomer_tr");
  const std::string whole = part(8, {{200, "a"}, {300, "b"}});
  write("cuda-8.jsonl", whole.substr(0, whole.rfind("{\"end\"")));
  write("cuda-9.jsonl", part(9, {{250, "c"}}));
  EXPECT_EQ(read(), "a8 c9 b8 ");
  EXPECT_FALSE(traced.about.complete);
  ASSERT_EQ(traced.missing.size(), 2u);
  EXPECT_EQ(traced.missing[0], "process 7: nothing of it was written");
  EXPECT_EQ(traced.missing[1],
            "process 8: it has no last line: its program crashed, was killed or is still running");
}

TEST_F(TracedParts, OfManyProcessesAreAllRead) {
  for (std::uint64_t process = 1; process <= 300; ++process)
    write(core::say("cuda-", process, ".jsonl"), part(process, {{1000 - process, "a"}}));
  read();
  EXPECT_EQ(launches.size(), 300u);
  EXPECT_EQ(traced.processes, 300);
  EXPECT_EQ(launches[0].process, 128u) << "the earliest of those that are read together";
}

TEST_F(TracedParts, DifferInNothingWhereTheirInterleavingDoes) {
  write("cuda-7.jsonl", part(7, {{100, "a"}, {400, "b"}, {500, "c"}}));
  write("cuda-8.jsonl", part(8, {{200, "c"}, {300, "b"}, {600, "a"}}));
  read();
  const GroupedCapture first = grouped(launches);
  write("cuda-8.jsonl", part(8, {{110, "c"}, {120, "b"}, {130, "a"}}));
  read();
  const GroupedCapture second = grouped(launches);
  EXPECT_EQ(first.sequence, second.sequence);
  EXPECT_EQ(first.sequence.size(), 6u);
}

}  // namespace
}  // namespace isomer::lab
