#include "module/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string_view>

extern char** environ;

namespace isomer::emulator {
namespace {

/// The environment with these variables, for exec; the texts stay where they are.
std::vector<char*> environment_with(const std::vector<std::string>& variables) {
  std::vector<char*> list;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    bool given = false;
    for (const std::string& variable : variables)
      given = given || text.starts_with(std::string_view(variable).substr(0, variable.find('=') + 1));
    if (!given) list.push_back(*entry);
  }
  for (const std::string& variable : variables) list.push_back(const_cast<char*>(variable.c_str()));
  list.push_back(nullptr);
  return list;
}

}  // namespace

Finished run_process(const std::vector<std::string>& command, double timeout_seconds,
                     std::size_t output_limit, const std::vector<int>& inherited,
                     const std::vector<std::string>& variables) {
  Finished result;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return result;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
  for (int fd : inherited) posix_spawn_file_actions_adddup2(&actions, fd, fd);  // clears close-on-exec
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // A group of its own: whatever the child starts ends with it.
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  std::vector<char*> environment = environment_with(variables);
  pid_t pid = 0;
  const int failed = posix_spawnp(&pid, argv[0], &actions, &attributes, argv.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  close(ends[1]);
  if (failed != 0) {
    close(ends[0]);
    return result;
  }
  result.started = true;
  rusage used{};
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(timeout_seconds);
  char chunk[65536];
  bool reaped = false, open = true;
  std::size_t dropped = 0;
  while (open) {
    const double left = std::chrono::duration<double>(deadline - std::chrono::steady_clock::now()).count();
    if (left <= 0 || dropped > (std::size_t{1} << 30)) {
      result.timed_out = true;
      kill(-pid, SIGKILL);
      break;
    }
    pollfd p{ends[0], POLLIN, 0};
    const int ready = poll(&p, 1, reaped ? 0 : static_cast<int>(left < 0.05 ? left * 1000 + 1 : 50));
    if (ready > 0) {
      const ssize_t n = read(ends[0], chunk, sizeof chunk);
      if (n <= 0) {
        open = false;
      } else if (result.output.size() < output_limit) {
        result.output.append(
            chunk, std::min<std::size_t>(static_cast<std::size_t>(n), output_limit - result.output.size()));
      } else {
        dropped += static_cast<std::size_t>(n);
      }
    } else if (reaped) {
      break;  // a grandchild may hold the pipe open; it ends below
    }
    if (!reaped && wait4(pid, &result.status, WNOHANG, &used) == pid) reaped = true;
  }
  close(ends[0]);
  if (!reaped) {
    // The pipe is closed or the time is over: what is left of the group has nothing more to say.
    if (!result.timed_out) {
      while (wait4(pid, &result.status, WNOHANG, &used) == 0) {
        if (std::chrono::steady_clock::now() > deadline) {
          result.timed_out = true;
          kill(-pid, SIGKILL);
          wait4(pid, &result.status, 0, &used);
          break;
        }
        usleep(500);
      }
    } else {
      wait4(pid, &result.status, 0, &used);
    }
  }
  kill(-pid, SIGKILL);
  result.peak_bytes = static_cast<std::uint64_t>(used.ru_maxrss) << 10;
  return result;
}

}  // namespace isomer::emulator
