// Programs that the emulator starts: their output, their ends, and that none outlives who started it.
#include "module/process.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace isomer::emulator::tests {
namespace {

/// The state letter of a process, as /proc gives it; nothing where there is none.
char state_of(const std::string& number) {
  std::ifstream file("/proc/" + number + "/stat");
  std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::size_t name_end = text.rfind(')');
  return name_end == std::string::npos ? '\0' : text.at(name_end + 2);
}

TEST(Process, ItsOutputStatusAndEnvironmentAreItsOwn) {
  const Finished f =
      run_process({"sh", "-c", "echo $ISOMER_WORD; echo two >&2; exit 7"}, 60, 1000, {}, {"ISOMER_WORD=one"});
  EXPECT_TRUE(f.started);
  EXPECT_FALSE(f.timed_out);
  EXPECT_EQ(WEXITSTATUS(f.status), 7);
  EXPECT_EQ(f.output, "one\ntwo\n");
}

TEST(Process, AProgramThatIsNotThereIsNotStarted) {
  EXPECT_FALSE(run_process({"/nowhere/at/all"}, 60, 1000).started);
  EXPECT_FALSE(run_process({"isomer-has-no-such-program"}, 60, 1000).started);
  // 127 is a status like others of a program that did start.
  EXPECT_TRUE(run_process({"sh", "-c", "exit 127"}, 60, 1000).started);
}

TEST(Process, InheritedDescriptorsKeepTheirNumbers) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const Finished f =
      run_process({"sh", "-c", "echo through >&" + std::to_string(ends[1])}, 60, 1000, {ends[1]});
  EXPECT_EQ(f.output, "");
  char text[8];
  ASSERT_EQ(read(ends[0], text, sizeof text), 8);
  EXPECT_EQ(std::string(text, 7), "through");
  close(ends[0]), close(ends[1]);
}

TEST(Process, NoneOutlivesWhoStartedItThoughTheProgramAsksForNothing) {
  const auto folder = std::filesystem::temp_directory_path() / ("isomer-process-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const std::string number_file = (folder / "number").string();
  const pid_t owner = fork();
  if (owner == 0) {
    run_process({"sh", "-c",
                 "echo $$ > " + number_file + ".new && mv " + number_file + ".new " + number_file +
                     " && exec sleep 1000"},
                1000, 1000);
    _exit(0);
  }
  while (!std::filesystem::exists(number_file)) usleep(1000);
  std::string number;
  std::ifstream(number_file) >> number;
  EXPECT_NE(state_of(number), '\0');
  kill(owner, SIGKILL);
  waitpid(owner, nullptr, 0);
  // The kernel's signal ends it; whoever adopted it takes its status.
  int rounds = 0;
  while (state_of(number) != '\0' && state_of(number) != 'Z' && ++rounds < 20000) usleep(1000);
  EXPECT_LT(rounds, 20000) << "process " << number << " is left behind";
  if (rounds == 20000) kill(std::stoi(number), SIGKILL);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace isomer::emulator::tests
