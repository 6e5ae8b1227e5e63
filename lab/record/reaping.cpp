#include "lab/record/reaping.hpp"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

// Nothing here allocates or locks: other threads may have held every lock when this process was forked.
namespace isomer::lab {
namespace {

// The first of this thread's children that is not kept, 0 where it has none (or the kernel does not list
// them).
pid_t first_child(const pid_t* kept, int count) {
  char text[4096];
  snprintf(text, sizeof text, "/proc/self/task/%d/children", static_cast<int>(gettid()));
  const int list = open(text, O_RDONLY | O_CLOEXEC);
  if (list < 0) return 0;
  const ssize_t size = read(list, text, sizeof text);
  close(list);
  pid_t child = 0;
  for (ssize_t i = 0; i < size; ++i) {
    if (text[i] >= '0' && text[i] <= '9') {
      child = child * 10 + (text[i] - '0');
      continue;
    }
    if (std::find(kept, kept + count, child) == kept + count) return child;
    child = 0;
  }
  return 0;
}

[[noreturn]] void end_as(int status) {
  if (WIFSIGNALED(status)) {
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
  }
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 127);
}

}  // namespace

// Children of what is killed become ours in turn.
void end_all_children(const pid_t* kept, int count) {
  while (const pid_t child = first_child(kept, count)) {
    kill(child, SIGKILL);
    if (waitpid(child, nullptr, 0) < 0 && errno != EINTR) break;
  }
}

void stay_behind_as_reaper() {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  sigset_t waited, before;
  sigemptyset(&waited);
  sigaddset(&waited, SIGTERM);
  sigaddset(&waited, SIGCHLD);
  sigprocmask(SIG_BLOCK, &waited, &before);
  const pid_t child = fork();
  if (child < 0) _exit(127);
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigprocmask(SIG_SETMASK, &before, nullptr);
    return;
  }
  // Pipes whose end tells that the other one is done.
  for (int fd = 3; fd < 1024; ++fd) close(fd);
  int status = 0;
  for (bool over = false; !over;) {
    const pid_t ended = waitpid(-1, &status, WNOHANG);
    over = ended == child || ended < 0;
    if (ended == 0) over = sigwaitinfo(&waited, nullptr) == SIGTERM;
  }
  end_all_children();
  end_as(status);
}

}  // namespace isomer::lab
