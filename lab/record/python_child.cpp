#include "lab/record/python_child.hpp"

#include "core/sentence.hpp"
#include "lab/record/reaping.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

namespace isomer::lab {
namespace {

/// More than this of a child's words is of no use in a sentence.
constexpr std::size_t kKept = 4096;

struct Pipe {
  int read = -1, write = -1;
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
      core::fail(ErrorCode::io, "record: cannot make a pipe: ", std::strerror(errno));
    read = ends[0];
    write = ends[1];
  }
  ~Pipe() {
    close(read);
    close_write();
  }
  void close_write() {
    if (write >= 0) close(write);
    write = -1;
  }
};

[[noreturn]] void become(char** words, const Pipe& output, const Pipe& failure) {
  setpgid(0, 0);
  stay_behind_as_reaper();
  const int none = open("/dev/null", O_RDONLY);
  dup2(none, 0);
  dup2(output.write, 1);
  dup2(output.write, 2);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  execvp(words[0], words);
  const char byte = 1;
  [[maybe_unused]] const ssize_t told = write(failure.write, &byte, 1);
  _exit(127);
}

}  // namespace

ChildEnd run_child(const std::vector<std::string>& words, double timeout_seconds) {
  using Clock = std::chrono::steady_clock;
  const auto limit = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                        std::chrono::duration<double>(std::min(timeout_seconds, 1e7)));
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  Pipe output, failure;
  const pid_t child = fork();
  if (child < 0) core::fail(ErrorCode::io, "record: cannot start a process: ", std::strerror(errno));
  if (child == 0) become(arguments.data(), output, failure);
  setpgid(child, child);
  output.close_write();
  failure.close_write();
  ChildEnd end;
  char byte = 0;
  end.started = read(failure.read, &byte, 1) == 0;  // closed by exec, or written to
  int status = 0;
  bool over = false, open_output = true;
  // The child itself is waited for: what it forked may hold the pipe for ever.
  while (!over) {
    over = waitpid(child, &status, WNOHANG) == child;
    if (!over && Clock::now() >= limit) {
      end.timed_out = true;
      kill(child, SIGTERM);  // it ends whatever is below it
      over = waitpid(child, &status, 0) == child;
    }
    pollfd ready{output.read, POLLIN, 0};
    // What is there when the child is over is read, and no more.
    while (open_output && poll(&ready, 1, over ? 0 : 20) > 0) {
      char bytes[65536];
      const ssize_t count = read(output.read, bytes, sizeof bytes);
      if (count <= 0) {
        open_output = false;
        break;
      }
      end.output.append(bytes, static_cast<std::size_t>(count));
      if (end.output.size() > kKept) end.output.erase(0, end.output.size() - kKept);
      if (Clock::now() >= limit || (over && end.output.size() >= kKept)) break;
    }
    if (!over && !open_output) usleep(5000);
  }
  kill(-child, SIGKILL);
  if (WIFEXITED(status)) end.exit_status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  return end;
}

}  // namespace isomer::lab
