#include "module/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "module/spawn.hpp"

namespace isomer::emulator {

Finished run_process(const std::vector<std::string>& command, double timeout_seconds,
                     std::size_t output_limit, const std::vector<int>& inherited,
                     const std::vector<std::string>& variables) {
  Finished result;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return result;
  Spawn child{command, {{ends[1], 1}, {ends[1], 2}}, variables};
  for (int fd : inherited) child.descriptors.emplace_back(fd, fd);
  const pid_t pid = spawn(child);
  close(ends[1]);
  if (pid < 0) {
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
