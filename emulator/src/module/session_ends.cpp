#include "module/session_ends.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include <fmt/format.h>

#include "child/signals.hpp"

namespace isomer::emulator {
namespace {

/// The system kills where memory runs out; other signals are the program's own.
const char* signal_name(int number) {
  return number == SIGKILL ? "a kill (out of memory)" : signal_word(number);
}

}  // namespace

int end_of_process(pid_t process) {
  int status = 0;
  for (int i = 0; waitpid(process, &status, WNOHANG) == 0; ++i) {
    if (i == 2000) kill(process, SIGKILL);
    usleep(500);
  }
  return status;
}

pid_t parent_of(pid_t process) {
  std::ifstream status(fmt::format("/proc/{}/status", process));
  for (std::string word; status >> word;)
    if (pid_t parent = 0; word == "PPid:" && status >> parent) return parent;
  return 0;
}

CallResult silent_end(int status, const std::string& name) {
  using End = CallResult::End;
  CallResult r;
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    r.end = number == SIGALRM ? End::timed_out : number == SIGXFSZ ? End::over_limit : End::crashed;
    r.message = number == SIGXFSZ ? "it wrote a file larger than the limit"
                                  : fmt::format("{} was stopped by {}", name, signal_name(number));
  } else {
    r.end = End::exited;
    r.message = fmt::format("{} ended the process with exit status {}", name, WEXITSTATUS(status));
  }
  return r;
}

CallResult forged_end(const std::string& name) {
  CallResult r;
  r.end = CallResult::End::exited;
  r.message = fmt::format("{} writes an answer of its own in place of the checker's", name);
  return r;
}

}  // namespace isomer::emulator
