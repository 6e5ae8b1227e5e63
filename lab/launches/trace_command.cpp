#include "lab/launches/trace_command.hpp"

#include "core/sentence.hpp"
#include "core/temporary_folder.hpp"
#include "lab/launches/injected_libraries.hpp"
#include "lab/launches/traced_parts.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

namespace isomer::lab {
namespace {

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

/// Starts it, waits for it, and gives its wait status. The error of an exec that failed comes through a pipe.
int run(std::vector<std::string> command, std::vector<std::string> variables) {
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0)
    core::fail(ErrorCode::io, "trace: cannot make a pipe: ", std::strerror(errno));
  const std::vector<char*> words = pointers(command), environment = pointers(variables);
  const pid_t child = fork();
  if (child < 0) core::fail(ErrorCode::io, "trace: cannot start a process: ", std::strerror(errno));
  if (child == 0) {
    execvpe(words[0], words.data(), environment.data());
    const int why = errno;
    const auto written = write(pipe_ends[1], &why, sizeof why);
    _exit(written == sizeof why ? 127 : 126);
  }
  close(pipe_ends[1]);
  // The terminal's interrupt is the program's; what it has recorded until then is ours.
  struct sigaction ignore {
  }, before{};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGINT, &ignore, &before);
  int why = 0;
  const bool failed = ::read(pipe_ends[0], &why, sizeof why) == sizeof why;
  close(pipe_ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  sigaction(SIGINT, &before, nullptr);
  if (failed)
    core::fail(ErrorCode::bad_argument, "trace: cannot start '", command[0], "': ", std::strerror(why));
  return status;
}

}  // namespace

Traced trace_command(const std::vector<std::string>& command, const std::string& folder,
                     const LaunchSink& sink, bool by_driver_calls) {
  const core::TemporaryFolder parts("trace", "trace", folder);
  const auto begun = std::chrono::system_clock::now().time_since_epoch();
  const int status = run(command, traced_environment(parts.path().string(), by_driver_calls));
  Traced traced;
  if (WIFSIGNALED(status))
    traced.signal = WTERMSIG(status);
  else
    traced.exit_status = WEXITSTATUS(status);
  for (const std::string& word : command)
    traced.about.command += (traced.about.command.empty() ? "" : " ") + word;
  read_parts(parts.path().string(), static_cast<std::uint64_t>(std::chrono::nanoseconds(begun).count()), sink,
             traced);
  return traced;
}

}  // namespace isomer::lab
