#include "module/spawn.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

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

/// What the child needs, made before it: it shares our memory until exec and may not ask for more.
struct Prepared {
  char* const* argv;
  char* const* environment;
  const std::pair<int, int>* descriptors;
  std::size_t count;
  pid_t parent;
  const sigset_t* mask;
  int failure;  ///< where a byte is written if the program cannot be begun
};

[[noreturn]] void fail(const Prepared& prepared) {
  [[maybe_unused]] const ssize_t written = write(prepared.failure, "!", 1);
  _exit(127);
}

/// A handler of ours must not run in the child, which has our memory and another program's descriptors.
void forget_handlers() {
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction now;
    if (sigaction(number, nullptr, &now) != 0 || now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN)
      continue;
    now.sa_handler = SIG_DFL;
    now.sa_flags = 0;
    sigaction(number, &now, nullptr);
  }
}

[[noreturn]] void become(const Prepared& prepared) {
  // A parent that had gone before this asked is seen by the question after it.
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != prepared.parent) fail(prepared);
  setpgid(0, 0);
  forget_handlers();
  const int nothing = open("/dev/null", O_RDONLY);
  if (nothing < 0) fail(prepared);
  if (nothing != 0) {
    dup2(nothing, 0);
    close(nothing);
  }
  for (std::size_t i = 0; i < prepared.count; ++i) {
    const auto [from, to] = prepared.descriptors[i];
    if (from == to ? fcntl(to, F_SETFD, 0) != 0 : dup2(from, to) < 0) fail(prepared);
  }
  sigprocmask(SIG_SETMASK, prepared.mask, nullptr);
  execvpe(prepared.argv[0], prepared.argv, prepared.environment);
  fail(prepared);
}

/// The parent goes on when the child has become its program or has ended.
__attribute__((noinline)) pid_t child_of(const Prepared& prepared) {
  const pid_t child = vfork();
  if (child == 0) become(prepared);
  return child;
}

}  // namespace

pid_t spawn(const Spawn& what) {
  // Closed by exec: an end without a byte says that the program has begun. It stands above the numbers that a
  // child asks for.
  int low[2];
  if (pipe2(low, O_CLOEXEC) != 0) return -1;
  const int said = low[0], failure = fcntl(low[1], F_DUPFD_CLOEXEC, 64);
  close(low[1]);
  std::vector<char*> argv;
  for (const std::string& word : what.words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const std::vector<char*> environment = environment_with(what.variables);
  sigset_t all, before;
  sigfillset(&all);
  pid_t child = -1;
  if (failure >= 0) {
    pthread_sigmask(SIG_SETMASK, &all, &before);
    child = child_of({argv.data(), environment.data(), what.descriptors.data(), what.descriptors.size(),
                      getpid(), &before, failure});
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    close(failure);
  }
  char byte;
  if (child > 0 && read(said, &byte, 1) == 1) {
    waitpid(child, nullptr, 0);
    child = -1;
  }
  close(said);
  return child;
}

}  // namespace isomer::emulator
