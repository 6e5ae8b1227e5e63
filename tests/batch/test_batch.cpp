// `isomer check PATH… --jsonl`: what a batch leaves when it is stopped, resumed, split and put together.
#include "batches.hpp"

#include "lab/batch/running/keeper.hpp"

#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <map>
#include <set>

namespace isomer::tests {
namespace {

TEST_F(Batch, SaysALineForEachCandidateAndTotalsInPlaceOfTheTable) {
  write_folders(8);
  const Said said = isomer("check " + path("cases") + " --jsonl " + path("a.jsonl"));
  EXPECT_EQ(said.exit, 2) << said.err;
  EXPECT_NE(said.out.find("8 candidates: 0 pass, 4 fail, 4 could not be judged"), std::string::npos)
      << said.out;
  const std::vector<std::string> all = lines(path("a.jsonl"));
  ASSERT_EQ(all.size(), 8u);
  int failed = 0;
  for (const std::string& line : all) {
    const Json json = Json::parse(line);
    EXPECT_EQ(json["version"], 1);
    EXPECT_EQ(json["of"], 1);
    failed += json["verdict"] == "fail";
    if (json["verdict"] == "fail") EXPECT_EQ(json["findings"][0]["code"], "does-not-compile");
    if (json["verdict"] == "fail") EXPECT_TRUE(json["author"].get<std::string>().starts_with("author "));
  }
  EXPECT_EQ(failed, 4);
}

TEST_F(Batch, AResumedFileKeepsWhatIsThereAndJudgesWhatHasChanged) {
  write_folders(6);
  const std::string file = path("a.jsonl"), words = "check " + path("cases") + " --resume " + file;
  EXPECT_EQ(isomer(words).exit, 2);
  const auto before = by_candidate(file);
  const std::string bytes = read(file);
  EXPECT_EQ(isomer(words).exit, 2);
  EXPECT_EQ(read(file), bytes);  // nothing was judged again
  // The last line is cut, as by a kill; and one candidate is another.
  std::filesystem::resize_file(file, bytes.size() - 20);
  write("cases/1/candidate.cu", "#error another\n");
  EXPECT_EQ(isomer(words).exit, 2);
  auto after = by_candidate(file);
  const std::string changed = path("cases") + "/1/candidate.cu";
  EXPECT_NE(after.at(changed).find("another"), std::string::npos);
  ASSERT_EQ(after.size(), before.size());
  for (const auto& [name, line] : before)
    if (name != changed) EXPECT_EQ(after.at(name), line);
}

TEST_F(Batch, KilledAtAnyLineAndResumedItSaysTheSame) {
  write_folders(16);
  const std::string once = path("once.jsonl"), often = path("often.jsonl");
  std::filesystem::create_directories(path("temporary"));
  setenv("TMPDIR", path("temporary").c_str(), 1);
  EXPECT_EQ(isomer("check " + path("cases") + " --jobs 2 --jsonl " + once).exit, 2);
  for (const std::size_t at : {2, 5, 9, 12}) {
    const pid_t batch = start("check " + path("cases") + " --jobs 2 --resume " + often);
    if (!wait_for_lines(batch, often, at)) continue;
    kill(batch, SIGKILL);
    waitpid(batch, nullptr, 0);
  }
  EXPECT_FALSE(std::filesystem::is_empty(path("temporary")));
  for (int i = 0; i < 1000 && processes_with(path("cases")) > 0; ++i) usleep(10000);
  EXPECT_EQ(processes_with(path("cases")), 0);
  EXPECT_EQ(isomer("check " + path("cases") + " --resume " + often).exit, 2);
  unsetenv("TMPDIR");
  EXPECT_EQ(by_candidate(often), by_candidate(once));
  // What the killed ones have left, the last one has removed.
  EXPECT_TRUE(std::filesystem::is_empty(path("temporary")));
}

TEST_F(Batch, WhatAKilledOneHasJustStartedEndsToo) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t owner = fork();
  if (owner == 0) {
    const lab::Keeper keeper;
    // As bubblewrap's child before it has asked to end with its parent: in a session of its own.
    if (fork() == 0) {
      setsid();
      const std::string words = "echo $$ >&" + std::to_string(ends[1]) + "; sleep 1000 & wait";
      execl("/bin/sh", "sh", "-c", words.c_str(), nullptr);
      _exit(127);
    }
    pause();
  }
  char number[32] = {};
  ASSERT_GT(::read(ends[0], number, sizeof number - 1), 0);
  close(ends[1]);
  kill(owner, SIGKILL);
  waitpid(owner, nullptr, 0);
  // The pipe's other end is closed when the last of them has ended.
  pollfd end{ends[0], POLLIN, 0};
  EXPECT_EQ(poll(&end, 1, 60000), 1);
  EXPECT_EQ(::read(ends[0], number, sizeof number), 0);
  close(ends[0]);
}

TEST_F(Batch, AStopLeavesReportsAndNeitherProcessesNorBuildFolders) {
  write_folders(2);
  // One that the stop finds in the compiler, which reads a pipe that nobody writes to.
  write("cases/z/candidate.cu", "#include \"endless.h\"\n");
  ASSERT_EQ(mkfifo(path("cases/z/endless.h").c_str(), 0600), 0);
  const std::string cache = path("cache");
  setenv("ISOMER_CACHE", cache.c_str(), 1);
  const pid_t batch = start("check " + path("cases") + " --jobs 2 --jsonl " + path("a.jsonl") + " --junit " +
                            path("a.xml") + " --markdown " + path("a.md") + " --html " + path("a.html"));
  ASSERT_TRUE(wait_for_lines(batch, path("a.jsonl"), 2)) << read(path("out"));
  while (processes_with(path("cases/z/candidate.cu")) == 0) usleep(2000);
  kill(batch, SIGINT);
  int status = 0;
  waitpid(batch, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) << status;
  EXPECT_NE(read(path("out")).find("stopped by a signal: 1 folder was not come to"), std::string::npos)
      << read(path("out"));
  EXPECT_NE(read(path("a.xml")).find("</testsuites>"), std::string::npos);
  EXPECT_NE(read(path("a.html")).find("</html>"), std::string::npos);
  EXPECT_NE(read(path("a.md")).find("# Candidates"), std::string::npos);
  EXPECT_EQ(processes_with(path("cases/z/candidate.cu")), 0);
  std::vector<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(cache + "/emulator"))
    left.push_back(entry.path().filename().string());
  EXPECT_TRUE(left.empty()) << left.front();
}

TEST_F(Batch, WhatTakesLongerThanItsLimitCouldNotBeJudged) {
  write("cases/z/candidate.cu", "#include \"endless.h\"\n");
  ASSERT_EQ(mkfifo(path("cases/z/endless.h").c_str(), 0600), 0);
  const Said said = isomer("check " + path("cases") + " --limit 1 --jsonl " + path("a.jsonl"));
  EXPECT_EQ(said.exit, 2);
  ASSERT_EQ(lines(path("a.jsonl")).size(), 1u);
  const Json json = Json::parse(lines(path("a.jsonl")).front());
  EXPECT_EQ(json["verdict"], "error");
  EXPECT_NE(json["error"].get<std::string>().find("not judged within 1 s"), std::string::npos)
      << json["error"];
  EXPECT_EQ(processes_with(path("cases/z/candidate.cu")), 0);
}

TEST_F(Batch, ShardsAreTheWholeAndMergeCountsEachCandidateOnce) {
  write_folders(10);
  std::set<std::string> all;
  std::string files;
  for (const char* part : {"1", "2", "3"}) {
    const std::string file = path(std::string("shard") + part + ".jsonl");
    EXPECT_EQ(isomer("check " + path("cases") + " --shard " + part + "/3 --jsonl " + file).exit, 2);
    for (const auto& [name, line] : by_candidate(file)) EXPECT_TRUE(all.insert(name).second) << name;
    files += " " + file;
  }
  EXPECT_EQ(all.size(), 10u);
  const Said merged = isomer("report merge --json --html " + path("m.html") + " --jsonl " + path("m.jsonl") +
                             files + " " + path("shard1.jsonl"));
  EXPECT_EQ(merged.exit, 2);
  EXPECT_NE(merged.err.find("judged in more than one file"), std::string::npos);
  const Json json = Json::parse(merged.out);
  EXPECT_EQ(json["summary"]["failed"], 5);
  EXPECT_EQ(json["summary"]["errors"], 5);
  EXPECT_EQ(json["causes"]["does-not-compile"], 5);
  EXPECT_EQ(json["authors"]["author 1"]["pass_at"]["1"]["share"], 0.0);
  EXPECT_EQ(by_candidate(path("m.jsonl")).size(), 10u);
  EXPECT_NE(read(path("m.html")).find("</html>"), std::string::npos);
}

TEST_F(Batch, ComparesTwoBatches) {
  write_folders(4);
  EXPECT_EQ(isomer("check " + path("cases") + " --jsonl " + path("a.jsonl")).exit, 2);
  // Another batch found nothing in one of them.
  std::vector<std::string> changed = lines(path("a.jsonl"));
  for (std::string& line : changed) {
    Json json = Json::parse(line);
    if (json["verdict"] != "fail") continue;
    json["findings"] = Json::array();
    json["calls"] = 1;
    for (const char* stage : {"compile", "call", "exec"}) json["stages"][stage] = "passed";
    line = json.dump();
    break;
  }
  std::string other;
  for (const std::string& line : changed) other += line + "\n";
  write("b.jsonl", other);
  const Said better = isomer("report compare --json " + path("a.jsonl") + " " + path("b.jsonl"));
  EXPECT_EQ(better.exit, 0) << better.err;
  EXPECT_EQ(Json::parse(better.out)["better"].size(), 1u);
  EXPECT_EQ(Json::parse(better.out)["better"][0]["gone"][0], "does-not-compile");
  const Said worse = isomer("report compare --json " + path("b.jsonl") + " " + path("a.jsonl"));
  EXPECT_EQ(worse.exit, 1);
  EXPECT_EQ(Json::parse(worse.out)["worse"].size(), 1u);
}

TEST_F(Batch, ASignedFileIsVerifiedAndAChangedOneIsNot) {
  write_folders(2);
  const Said made = isomer("report key " + path("key"));
  if (made.err.find("needs libsodium") != std::string::npos) GTEST_SKIP() << made.err;
  ASSERT_EQ(made.exit, 0) << made.err;
  EXPECT_EQ(isomer("report key " + path("key")).exit, 2);  // no key is lost
  const std::string file = path("a.jsonl"), verify = "report verify " + file + " --key " + path("key.pub");
  EXPECT_EQ(isomer("check " + path("cases") + " --sign " + path("key") + " --jsonl " + file).exit, 2);
  EXPECT_EQ(isomer(verify).exit, 0);
  std::ofstream(file, std::ios::app) << "{}\n";
  EXPECT_EQ(isomer(verify).exit, 1);
  EXPECT_EQ(isomer("report verify " + file + " --key " + file).exit, 2);
  EXPECT_NE(
      isomer("check " + path("cases") + " --sign " + path("key")).err.find("--sign needs a results file"),
      std::string::npos);
}

TEST_F(Batch, ASpentBudgetSaysHowManyWereNotComeTo) {
  write_folders(6);
  const Said said =
      isomer("check " + path("cases") + " --jobs 1 --budget 0.000001 --jsonl " + path("a.jsonl"));
  EXPECT_EQ(said.exit, 3) << said.out;
  EXPECT_NE(said.err.find("the budget is spent: 6 folders were not come to"), std::string::npos) << said.err;
  EXPECT_TRUE(lines(path("a.jsonl")).empty());
}

TEST_F(Batch, BadOptionsAreOneSentence) {
  write_folders(2);
  const std::string check = "check " + path("cases") + " ";
  const struct {
    std::string words, says;
  } table[] = {{check + "--shard 3/2", "--shard expects I/N with 1 <= I <= N, got '3/2'"},
               {check + "--shard 1/2x", "got '1/2x'"},
               {check + "--budget soon", "--budget expects a time such as 90s, 15m or 8h, got 'soon'"},
               {check + "--limit 0", "--limit expects a time"},
               {check + "--jsonl a --resume b", "expected --jsonl or --resume, got both"},
               {check + "--resume -", "expected a file to --resume"},
               {check + "--jsonl " + path("no/such/a.jsonl"), "cannot write '"},
               {check + "--jsonl " + folder.string(), "Is a directory"},
               {check + "--isolation firm", "--isolation"},
               {"check --jsonl a.jsonl", "are for candidates, got no path to one"},
               {"report merge " + path("absent"), "cannot be read: No such file"},
               {"report merge " + folder.string(), "is a folder"},
               {"report", "A subcommand is required"}};
  for (const auto& [words, says] : table) {
    const Said said = isomer(words);
    EXPECT_EQ(said.exit, 2) << words;
    EXPECT_EQ(said.out, "") << words;
    EXPECT_NE(said.err.find(says), std::string::npos) << words << ": " << said.err;
    EXPECT_EQ(std::count(said.err.begin(), said.err.end(), '\n'), 1) << words << ": " << said.err;
  }
}

TEST_F(Batch, AFullDiskStopsTheBatchWithASentence) {
  write_folders(4);
  const Said said = isomer("check " + path("cases") + " --jsonl /dev/full");
  EXPECT_EQ(said.exit, 2);
  EXPECT_EQ(said.err, "isomer: check: cannot write '/dev/full': No space left on device\n");
}

// A compiler that says what lies beside its source.
TEST_F(Batch, WhatTheMachineLacksIsNoFaultOfACandidateAndItsOwnWordsAreNoFaultOfTheMachine) {
  write("compiler",
        "#!/bin/sh\nfor word; do case $word in *.cu) cat \"$(dirname \"$word\")/says\" >&2; exit 1;; esac; "
        "done\n");
  std::filesystem::permissions(path("compiler"), std::filesystem::perms::owner_all);
  const std::vector<std::string> of_machine = {
      "cc1plus: fatal error: error writing to 0.ii: No space left on device",
      "{standard input}: Fatal error: can't write 28 bytes to section .text: 'Disk quota exceeded'",
      "as: 0.o: Read-only file system",
      "cc1plus: out of memory allocating 65536 bytes after a total of 270336 bytes",
      "g++: fatal error: Killed signal terminated program cc1plus",
      "candidate.cu:3:1: internal compiler error: Segmentation fault",
      "cc1plus: error while loading shared libraries: libmpc.so.3: cannot open shared object file",
      "bwrap: Creating new namespace failed: Resource temporarily unavailable"};
  const std::vector<std::string> of_candidate = {
      "candidate.cu:1:2: error: #error No space left on device",
      "candidate.cu:1:10: fatal error: No space left on device: No such file or directory",
      "candidate.cu:1:1: error: static assertion failed: virtual memory exhausted",
      "candidate.cu:1:1: error: expected ';'\n    5 | // out of memory",
      "candidate.cu:1:1: warning: bwrap: internal compiler error\ncandidate.cu:2:1: error: expected ';'"};
  const auto write_all = [&](const std::string& name, const std::vector<std::string>& all) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::string where = "cases/" + name + std::to_string(i);
      write(where + "/candidate.cu", "#error\n");
      write(where + "/case.toml", "op = \"sin\"\n");
      write(where + "/says", all[i] + "\n");
    }
  };
  write_all("machine", of_machine);
  write_all("own", of_candidate);
  setenv("ISOMER_CXX", path("compiler").c_str(), 1);
  EXPECT_EQ(isomer("check " + path("cases") + " --jsonl " + path("a.jsonl")).exit, 2);
  unsetenv("ISOMER_CXX");
  std::size_t count = 0;
  for (const std::string& line : lines(path("a.jsonl"))) {
    const Json json = Json::parse(line);
    const std::string name = std::filesystem::path(json["folder"].get<std::string>()).filename();
    ++count;
    EXPECT_EQ(json["verdict"], name.starts_with("machine") ? "error" : "fail") << json.dump(1);
    if (name.starts_with("machine"))
      EXPECT_TRUE(json["error"].get<std::string>().starts_with("it could not be compiled here")) << line;
    else
      EXPECT_EQ(json["findings"][0]["code"], "does-not-compile") << line;
  }
  EXPECT_EQ(count, of_machine.size() + of_candidate.size());
}

TEST_F(Batch, AFolderThatVanishesOrACacheThatCannotBeWrittenIsNoVerdict) {
  write("cases/a/candidate.cu", "#include \"endless.h\"\n");
  ASSERT_EQ(mkfifo(path("cases/a/endless.h").c_str(), 0600), 0);
  for (const char* name : {"cases/b", "cases/c"}) write(std::string(name) + "/candidate.cu", "#error\n");
  const pid_t batch = start("check " + path("cases") + " --jobs 1 --limit 2 --jsonl " + path("a.jsonl"));
  while (processes_with(path("cases/a/candidate.cu")) == 0) usleep(2000);
  std::filesystem::remove_all(path("cases/b"));
  std::filesystem::remove(path("cases/c/candidate.cu"));
  int status = 0;
  waitpid(batch, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 2) << read(path("out"));
  std::vector<std::string> said = lines(path("a.jsonl"));
  ASSERT_EQ(said.size(), 3u);
  for (const std::string& line : said) {
    EXPECT_EQ(Json::parse(line)["verdict"], "error") << line;
    if (line.find("cases/a") == std::string::npos)
      EXPECT_NE(line.find("no such candidate file"), std::string::npos) << line;
  }
  write("file", "");
  setenv("ISOMER_CACHE", path("file").c_str(), 1);
  write("other/candidate.cu", "#error\n");
  EXPECT_EQ(isomer("check " + path("other") + " --jsonl " + path("b.jsonl")).exit, 2);
  unsetenv("ISOMER_CACHE");
  said = lines(path("b.jsonl"));
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(Json::parse(said.front())["verdict"], "error") << said.front();
  EXPECT_NE(said.front().find("cannot be written; set ISOMER_CACHE"), std::string::npos) << said.front();
}

TEST_F(Batch, TwoBatchesDoNotWriteOneFile) {
  write("cases/z/candidate.cu", "#include \"endless.h\"\n");
  ASSERT_EQ(mkfifo(path("cases/z/endless.h").c_str(), 0600), 0);
  const pid_t batch = start("check " + path("cases") + " --jsonl " + path("a.jsonl"));
  while (processes_with(path("cases/z/candidate.cu")) < 2) usleep(2000);
  const Said said = isomer("check " + path("cases") + " --resume " + path("a.jsonl"));
  EXPECT_EQ(said.exit, 2);
  EXPECT_NE(said.err.find("another batch is writing '"), std::string::npos) << said.err;
  kill(batch, SIGTERM);
  waitpid(batch, nullptr, 0);
}

}  // namespace
}  // namespace isomer::tests
