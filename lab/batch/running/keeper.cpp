#include "lab/batch/running/keeper.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace isomer::lab {
namespace {

constexpr const char* kMark = "ISOMER_BATCH";
/// Seconds after the owner's death at which is looked: what was about to start something has done so by then.
constexpr double kLooks[] = {0.02, 0.1, 0.3};

void rest(double seconds) {
  timespec t{};
  t.tv_nsec = static_cast<long>(seconds * 1e9);
  nanosleep(&t, nullptr);
}

bool has_mark(const std::string& process, const std::string& mark) {
  std::ifstream file("/proc/" + process + "/environ", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return ('\0' + text).find('\0' + mark + '\0') != std::string::npos;
}

void end_marked(const std::string& mark) {
  DIR* list = opendir("/proc");
  if (list == nullptr) return;
  while (const dirent* each = readdir(list)) {
    const std::string name = each->d_name;
    if (name.find_first_not_of("0123456789") != std::string::npos || !has_mark(name, mark)) continue;
    kill(static_cast<pid_t>(std::atol(name.c_str())), SIGKILL);
  }
  closedir(list);
}

[[noreturn]] void keep(pid_t owner, const std::string& mark) {
  // What a terminal or a queue of jobs stops is the batch, which may be at its end then.
  setsid();
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) signal(number, SIG_IGN);
  prctl(PR_SET_NAME, "isomer-keeper");
  // Nobody waits for the end of a pipe that only this process holds.
  const int nothing = open("/dev/null", O_RDWR);
  for (int fd = 0; fd < 3; ++fd) dup2(nothing, fd);
  for (int fd = 3; fd < 1024; ++fd) close(fd);
  sigset_t death;
  sigemptyset(&death);
  sigaddset(&death, SIGUSR1);
  sigprocmask(SIG_SETMASK, &death, nullptr);
  prctl(PR_SET_PDEATHSIG, SIGUSR1);
  while (getppid() == owner) sigwaitinfo(&death, nullptr);
  for (const double seconds : kLooks) {
    rest(seconds);
    end_marked(mark);
  }
  _exit(0);
}

}  // namespace

Keeper::Keeper() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const pid_t owner = getpid();
  const std::string value =
      std::to_string(owner) + "-" + std::to_string(now.tv_sec) + "-" + std::to_string(now.tv_nsec);
  setenv(kMark, value.c_str(), 1);
  std::fflush(nullptr);
  process_ = fork();
  if (process_ == 0) keep(owner, std::string(kMark) + "=" + value);
}

Keeper::~Keeper() {
  unsetenv(kMark);
  if (process_ <= 0) return;
  kill(process_, SIGKILL);
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace isomer::lab
