#include "child/session_child.hpp"

#include <dlfcn.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "child/session_call.hpp"
#include "child/signals.hpp"
#include "memory/memory.hpp"
#include "runtime/entries.hpp"
#include "runtime/settings.hpp"

namespace isomer::emulator {
namespace {

SessionSetup setup;
std::vector<OfferedEntry> offered;

void write_all(int fd, const void* data, std::size_t bytes, off_t at) {
  const auto* p = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t n = pwrite(fd, p, bytes, at);
    if (n <= 0) _exit(70);
    p += n, at += n, bytes -= static_cast<std::size_t>(n);
  }
}

// The length comes last: where it stands, everything stands.
void write_answer(const std::string& bytes) {
  const std::uint64_t length = bytes.size();
  write_all(kSessionAnswer, bytes.data(), bytes.size(), sizeof length);
  write_all(kSessionAnswer, &length, sizeof length, 0);
}

std::string read_arena_header() {
  std::uint64_t length = 0;
  if (pread(kSessionArena, &length, sizeof length, 0) != sizeof length || length > (std::uint64_t{1} << 30))
    _exit(71);
  std::string bytes(length, '\0');
  if (pread(kSessionArena, bytes.data(), length, sizeof length) != static_cast<ssize_t>(length)) _exit(71);
  return bytes;
}

void tell(const SessionEvent& event) {
  if (write(kSessionSocket, &event, sizeof event) != sizeof event) _exit(0);
}

void run_one_call() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setpgid(0, 0);
  const SessionRequest request = unpack_session_request(read_arena_header());
  std::uint64_t storages = 0;
  for (const WireStorage& s : request.storages) storages += s.bytes;
  Memory::instance().set_poison(request.options.poison);
  Memory::instance().set_limit(Memory::instance().in_use() + storages * 2 + request.options.memory_limit);
  Settings& s = settings();
  s.seed = request.options.seed;
  s.workers = request.options.workers;
  s.step_limit = request.options.step_limit;
  answer_calls_with(&write_answer);
  make_call(request, offered, setup.library);
  std::fflush(nullptr);
  _exit(0);
}

// Returns at once when the call's process ends, where the kernel has descriptors of processes (Linux 5.3);
// otherwise within milliseconds.
int wait_for_call(pid_t pid) {
  const int ended = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  int status = 0;
  for (int wait_ms = 1; waitpid(pid, &status, WNOHANG) == 0; wait_ms = std::min(wait_ms + 1, 20)) {
    pollfd fds[2] = {{kSessionSocket, POLLIN, 0}, {ended, POLLIN, 0}};
    // Whoever speaks out of turn has gone.
    if (poll(fds, ended < 0 ? 1 : 2, ended < 0 ? wait_ms : 1000) > 0 && fds[0].revents != 0) {
      kill(-pid, SIGKILL);
      _exit(0);
    }
  }
  if (ended >= 0) close(ended);
  return status;
}

[[noreturn]] void serve() {
  while (true) {
    char word = 0;
    if (read(kSessionSocket, &word, 1) != 1) _exit(0);
    std::fflush(nullptr);
    const pid_t pid = fork();
    if (pid < 0) _exit(72);
    if (pid == 0) run_one_call();
    setpgid(pid, pid);
    tell({'b', pid, 0});
    const int status = wait_for_call(pid);
    kill(-pid, SIGKILL);  // whatever it has left behind
    tell({'e', pid, status});
  }
}

}  // namespace
}  // namespace isomer::emulator

int isomer_emulator_session() {
  using namespace isomer::emulator;
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  signal(SIGPIPE, SIG_IGN);
  setup = unpack_setup(read_arena_header());
  Settings& s = settings();
  s.lanes = setup.lanes;
  s.watch = setup.watch;
  s.hip = setup.hip;
  std::string failure;
  std::vector<EntryInfo> infos;
  try {
    if (!dlopen(setup.library.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      failure = fmt::format("the module cannot be loaded: {}", dlerror());
    } else {
      offered = offered_entries();
      for (const OfferedEntry& e : offered) infos.push_back(e.info);
    }
  } catch (const std::exception& e) {
    failure = fmt::format("the module's initialisation threw: {}", e.what());
  } catch (...) {
    failure = "the module's initialisation threw an exception";
  }
  write_answer(failure.empty() ? "+" + pack(infos) : "-" + failure);
  tell({'a', getpid(), 0});
  serve();
}
