// In the process that becomes a stranger's program: limits, Landlock and seccomp, in the order in which the
// earlier ones allow the later.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "child/runner.hpp"
#include "contain/landlock.hpp"
#include "contain/room.hpp"
#include "contain/system_calls.hpp"

namespace isomer::emulator {
namespace {

bool limit(__rlimit_resource what, std::uint64_t most) {
  if (most == 0) return true;
  rlimit r{};
  getrlimit(what, &r);
  if (r.rlim_max != RLIM_INFINITY && r.rlim_max < most) most = r.rlim_max;
  r.rlim_cur = r.rlim_max = most;
  return setrlimit(what, &r) == 0;
}

}  // namespace

int enter_room(int count, char** words) {
  if (count < 6) return 2;
  const auto number = [&](int i) { return static_cast<std::uint64_t>(std::strtoull(words[i], nullptr, 10)); };
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  bool held = limit(RLIMIT_CPU, number(0)) && limit(RLIMIT_AS, number(1)) && limit(RLIMIT_FSIZE, number(2)) &&
              limit(RLIMIT_NPROC, number(3)) && limit(RLIMIT_NOFILE, 1024);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  // What root may do beyond its own files; an ordinary user has none of it.
  for (int capability = 0; capability < 64; ++capability) prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  Landlock landlock;
  int i = 4;
  for (; i + 1 < count && std::strcmp(words[i], "--") != 0; i += 2) {
    if (std::strcmp(words[i], "temporary") == 0) setenv("TMPDIR", words[i + 1], 1);
    landlock.allow(words[i + 1], std::strcmp(words[i], "read") != 0);
  }
  if (i == 4) landlock.open();  // nothing is said of files
  if (i + 1 >= count) return 2;
  held = landlock.enforce() && held;
  held = refuse_system_calls() && held;
  if (!held) {
    std::fprintf(stderr, "isomer: a program could not be contained: %s\n", std::strerror(errno));
    return 126;
  }
  execv(words[i + 1], words + i + 1);
  std::fprintf(stderr, "isomer: %s: %s\n", words[i + 1], std::strerror(errno));
  return 127;
}

}  // namespace isomer::emulator

int isomer_emulator_contain(int count, char** words) { return isomer::emulator::enter_room(count, words); }

int isomer_emulator_join(const char* group, char** words) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int file = open(group, O_WRONLY | O_CLOEXEC);
  if (file < 0 || write(file, "0", 1) != 1) {
    std::fprintf(stderr, "isomer: %s: %s\n", group, std::strerror(errno));
    return 126;
  }
  execv(words[0], words);
  return 127;
}
