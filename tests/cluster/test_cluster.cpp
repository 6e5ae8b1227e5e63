// Batches on a cluster, and long ones that are killed: nothing is lost, and nothing is judged twice.
#include "../batch/batches.hpp"

#include <signal.h>

#include <algorithm>
#include <random>

namespace isomer::tests {
namespace {

class Cluster : public Batch {
 protected:
  Said shell(const std::string& words) const {
    const int status = std::system(("exec >" + path("out") + " 2>" + path("err") + "; " + words).c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0, read(path("out")), read(path("err"))};
  }

  /// The process whose words hold the text, and the words of its parents.
  struct Process {
    pid_t number = 0, parent = 0;
    std::string words;
  };
  static Process process(const std::string& number) {
    Process found{static_cast<pid_t>(std::stol(number)), 0, read("/proc/" + number + "/cmdline")};
    std::istringstream status(read("/proc/" + number + "/status"));
    for (std::string word; status >> word;)
      if (word == "PPid:") status >> found.parent;
    return found;
  }
  static Process process_with(const std::string& text) {
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string name = entry.path().filename().string();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      if (const Process found = process(name); found.words.find(text) != std::string::npos) return found;
    }
    return {};
  }
  /// The nearest above whose words begin so.
  static Process parent_that_is(Process below, const std::string& begin) {
    while (below.number > 1 && !below.words.starts_with(begin)) below = process(std::to_string(below.parent));
    return below;
  }
};

TEST_F(Cluster, TasksOfASlurmArrayAreTheWholeAndATaskThatIsKilledGoesOn) {
  write_folders(14);
  EXPECT_EQ(isomer("check " + path("cases") + " --jsonl " + path("once.jsonl")).exit, 2);
  const auto task = [&](int number) {
    return "ISOMER=" ISOMER_CLI
           " SLURM_ARRAY_TASK_MIN=4 SLURM_ARRAY_TASK_MAX=6 SLURM_CPUS_PER_TASK=2 "
           "SLURM_ARRAY_TASK_ID=" +
           std::to_string(number) + " bash " ISOMER_CLUSTER "/slurm.sh " + path("cases") + " " +
           path("results");
  };
  for (const int number : {4, 5, 6}) EXPECT_EQ(shell(task(number)).exit, 0) << read(path("err"));
  // Requeued after a kill: the file ends in the middle of a line.
  const std::string file = path("results/5.jsonl"), bytes = read(file);
  std::filesystem::resize_file(file, bytes.size() / 2);
  EXPECT_EQ(shell(task(5)).exit, 0);
  EXPECT_EQ(lines(file).size(), static_cast<std::size_t>(std::count(bytes.begin(), bytes.end(), '\n')));
  EXPECT_EQ(isomer("report merge " + path("results/4.jsonl") + " " + file + " " + path("results/6.jsonl") +
                   " --jsonl " + path("all.jsonl"))
                .exit,
            2);
  EXPECT_EQ(by_candidate(path("all.jsonl")), by_candidate(path("once.jsonl")));
  // A task that cannot do its work says so.
  const Said said = shell("ISOMER=" ISOMER_CLI " bash " ISOMER_CLUSTER "/slurm.sh " + path("absent") + " " +
                          path("results"));
  EXPECT_NE(said.exit, 0);
  EXPECT_NE(said.err.find("absent"), std::string::npos) << said.err;
}

TEST_F(Cluster, AWorkerOfRayThatIsKilledLosesNothingAndNothingIsJudgedTwice) {
  const char* named = std::getenv("ISOMER_RAY_PYTHON");
  const std::string python = named != nullptr ? named : "python3";
  if (shell(python + " -c 'import ray'").exit != 0)
    GTEST_SKIP() << python
                 << " has no Ray: pip install ray, or name a Python that has it in ISOMER_RAY_PYTHON";
  write_folders(16);
  // The last of its shard, which the kill finds in the compiler, where it reads a pipe that nobody writes to.
  write("cases/z/candidate.cu", "#include \"endless.h\"\n");
  const std::string pipe = path("cases/z/endless.h");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  setenv("RAY_USAGE_STATS_ENABLED", "0", 1);
  setenv("RAY_AUTH_MODE", "disabled", 1);
  const std::string out = path("out_of_ray");
  const pid_t job = fork();
  if (job == 0) {
    const std::string words = "exec " + python + " " ISOMER_CLUSTER "/ray_batch.py " + path("cases") + " " +
                              path("results") + " --cpus 1 --shards 4 --isomer " ISOMER_CLI " >" + out +
                              " 2>&1";
    execl("/bin/sh", "sh", "-c", words.c_str(), nullptr);
    _exit(127);
  }
  Process compiler, worker;
  while ((compiler = process_with(path("cases/z/candidate.cu"))).number == 0) {
    ASSERT_EQ(waitpid(job, nullptr, WNOHANG), 0) << read(out);
    usleep(20000);
  }
  worker = parent_that_is(compiler, "ray::");
  ASSERT_GT(worker.number, 1) << compiler.words;
  std::vector<std::string> before;  // what has been said by then
  for (int shard = 1; shard <= 4; ++shard)
    for (const std::string& line : lines(path("results/" + std::to_string(shard) + ".jsonl")))
      if (!line.empty() && line.back() == '}') before.push_back(line);
  EXPECT_FALSE(before.empty());
  kill(worker.number, SIGKILL);
  // What comes in the killed one's place gets its header.
  while (process(std::to_string(compiler.number)).words == compiler.words) usleep(2000);
  std::filesystem::remove(pipe);
  write("cases/z/endless.h", "#error the end\n");
  int status = 0;
  waitpid(job, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 2) << read(out);
  std::vector<std::string> after;
  for (int shard = 1; shard <= 4; ++shard) {
    const std::vector<std::string> own = lines(path("results/" + std::to_string(shard) + ".jsonl"));
    after.insert(after.end(), own.begin(), own.end());
  }
  EXPECT_EQ(after.size(), 17u);
  for (const std::string& line : before) EXPECT_EQ(std::count(after.begin(), after.end(), line), 1) << line;
  EXPECT_EQ(isomer("check " + path("cases") + " --jsonl " + path("once.jsonl")).exit, 2);
  EXPECT_EQ(by_candidate(path("results/all.jsonl")), by_candidate(path("once.jsonl"))) << read(out);
}

/// Candidates that are compiled and run.
TEST_F(Cluster, ABatchThatIsKilledFiveTimesAtRandomSaysTheSame) {
  const char* asked = std::getenv("ISOMER_TEST_FOLDERS");
  const std::string count = asked != nullptr ? asked : "24";
  ASSERT_EQ(shell(ISOMER_VARIANTS " " + path("cases") + " " + count + " --only raw").exit, 0)
      << read(path("err"));
  const std::size_t all = std::stoul(count);
  const std::string once = path("once.jsonl"), often = path("often.jsonl");
  EXPECT_EQ(isomer("check " + path("cases") + " --jobs 2 --jsonl " + once).exit, 1) << read(path("err"));
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 chance(seed);
  std::vector<std::size_t> places;
  while (places.size() < 5) places.push_back(chance() % all);
  std::sort(places.begin(), places.end());
  for (const std::size_t at : places) {
    const pid_t batch = start("check " + path("cases") + " --jobs 2 --resume " + often);
    if (!wait_for_lines(batch, often, at)) continue;
    usleep(chance() % 500000);  // between two lines
    kill(batch, SIGKILL);
    waitpid(batch, nullptr, 0);
  }
  EXPECT_EQ(isomer("check " + path("cases") + " --jobs 2 --resume " + often).exit, 1) << read(path("err"));
  EXPECT_EQ(lines(often).size(), all);
  EXPECT_EQ(by_candidate(often), by_candidate(once));
}

}  // namespace
}  // namespace isomer::tests
