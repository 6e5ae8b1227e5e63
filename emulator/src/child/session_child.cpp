#include "child/session_child.hpp"

#include <dirent.h>
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
#include <new>
#include <utility>

#include <fmt/format.h>

#include "child/session_call.hpp"
#include "child/signals.hpp"
#include "contain/system_calls.hpp"
#include "memory/memory.hpp"
#include "runtime/entries.hpp"
#include "runtime/settings.hpp"
#include "watch/line_reader.hpp"
#include "watch/shadow.hpp"

namespace isomer::emulator {
namespace {

SessionSetup setup;
Seal seal;                     // of what is said next
std::uint64_t forks_with = 0;  // read with it
bool keeps_processes = false;  // no process is started here but with that word
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
void write_answer(const std::string& text) {
  const std::string bytes = std::string(seal.begin(), seal.end()) + text;
  const std::uint64_t length = bytes.size();
  write_all(kSessionAnswer, bytes.data(), bytes.size(), sizeof length);
  write_all(kSessionAnswer, &length, sizeof length, 0);
}

// What is to be done next. Its seal is kept apart, and nothing else has it from then on.
template <class What>
What read_arena_header(What unpack(const std::string&)) {
  std::uint64_t length = 0;
  if (pread(kSessionArena, &length, sizeof length, 0) != sizeof length || length > (std::uint64_t{1} << 30))
    _exit(71);
  std::string bytes(length, '\0');
  if (pread(kSessionArena, bytes.data(), length, sizeof length) != static_cast<ssize_t>(length)) _exit(71);
  What what = unpack(bytes);
  if (what.seal != Seal{}) {  // read for the first time
    seal = std::exchange(what.seal, Seal{});
    forks_with = std::exchange(what.forks_with, 0);
    const std::string sealless = pack(what);
    write_all(kSessionArena, sealless.data(), sealless.size(), sizeof length);
  }
  explicit_bzero(bytes.data(), bytes.size());
  return what;
}

void tell(SessionEvent event) {
  event.seal = seal;
  if (write(kSessionSocket, &event, sizeof event) != sizeof event) _exit(0);
}

// No process for a call can be made here.
[[noreturn]] void give_up() {
  tell({'f', getpid(), 0, {}});
  _exit(72);
}

// Of the limit that the process was started with, which is not its own.
std::string addresses_left() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return "the machine leaves it fewer";
  return fmt::format("the limit (ulimit -v) is {} MiB", limit.rlim_cur >> 20);
}

// The emulated device's memory and the watch over it, before anything of the module's runs: where there is no
// room for them nothing can be said of any code.
void reserve_device() {
  if (setup.real_device) return;
  try {
    Memory::instance();
    watch::reserve_all();
  } catch (const std::bad_alloc&) {
    std::fputs(
        fmt::format("the emulated device reserves more addresses than it may have: {}\n", addresses_left())
            .c_str(),
        stderr);
    give_up();
  }
}

bool run_call() {
  const SessionRequest request = read_arena_header(unpack_session_request);
  std::uint64_t storages = 0;
  for (const WireStorage& s : request.storages) storages += s.bytes;
  Memory::instance().set_poison(request.options.poison);
  Memory::instance().set_limit(Memory::instance().in_use() + storages * 2 + request.options.memory_limit);
  Settings& s = settings();
  s.seed = request.options.seed;
  if (request.options.workers != 0) s.workers = request.options.workers;
  // Calls are short, and those of several candidates run at once.
  if (s.watch && s.workers == 0) s.workers = 1;
  s.step_limit = request.options.step_limit;
  s.kernels_idle = request.options.kernels_idle;
  s.most_threads = request.options.most_threads;
  s.blocks = request.options.blocks;
  choose_edits(request.options.edits);
  answer_calls_with(&write_answer);
  const bool again = make_call(request, offered, setup.library);
  std::fflush(nullptr);
  return again;
}

// Of a room of its own, whose /proc shows this process's alone.
void kill_all_but(pid_t kept) {
  DIR* processes = kept > 0 ? opendir("/proc") : nullptr;
  if (processes == nullptr) {
    kill(-1, SIGKILL);
    return;
  }
  while (const dirent* each = readdir(processes)) {
    const auto pid = static_cast<pid_t>(std::atoi(each->d_name));
    if (pid > 1 && pid != kept && pid != getpid()) kill(pid, SIGKILL);
  }
  closedir(processes);
}

// A copy of this process for calls. On the emulated device it makes one; a real device takes a process in
// slowly, and the copy goes on as long as its calls return.
class CallProcess {
 public:
  ~CallProcess() { end(); }

  void begin() {
    if (pid_ > 0) return;
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) give_up();
    std::fflush(nullptr);
    pid_ = keeps_processes ? fork_with(forks_with) : fork();
    forks_with = 0;
    if (pid_ < 0) give_up();
    if (pid_ == 0) {
      close(ends[0]);
      serve_calls(ends[1]);
    }
    close(ends[1]);
    socket_ = ends[0];
    ended_ = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
    setpgid(pid_, pid_);
  }

  /// What its process ended with; 0 where it has answered and goes on.
  int call() {
    const char word = 'c';
    if (send(socket_, &word, 1, MSG_NOSIGNAL) != 1) return end();
    int status = 0;
    bool open = true;
    // Its end is waited for and not the socket's alone, which it may close or leave to another: at once where
    // the kernel has descriptors of processes (Linux 5.3), otherwise within milliseconds.
    for (int wait_ms = 1; waitpid(pid_, &status, WNOHANG) == 0; wait_ms = std::min(wait_ms + 1, 20)) {
      pollfd p[3] = {{kSessionSocket, POLLIN, 0}, {open ? socket_ : -1, POLLIN, 0}, {ended_, POLLIN, 0}};
      poll(p, 3, ended_ < 0 ? wait_ms : 1000);
      // Whoever speaks out of turn has gone.
      if (p[0].revents) {
        // A real device is left in order; here nothing is to be waited for.
        if (setup.real_device)
          end();
        else
          leave();
        _exit(0);
      }
      char answered = 0;
      if (!p[1].revents) continue;
      if (read(socket_, &answered, 1) == 1) return 0;
      open = false;
    }
    leave();
    return status;
  }

  /// Lets go of it.
  int end() {
    if (pid_ <= 0) return 0;
    int status = 0;
    close(socket_);
    socket_ = -1;
    // A process without calls ends by itself, and takes the time that its device takes.
    for (int i = 0; waitpid(pid_, &status, WNOHANG) == 0; ++i) {
      if (i == kPatience) kill(-pid_, SIGKILL);
      usleep(500);
    }
    leave();
    return status;
  }

  pid_t pid() const { return pid_; }

 private:
  static constexpr int kPatience = 10000;  // of half a millisecond

  // Whatever it has left behind ends with it.
  void leave() {
    kill(-pid_, SIGKILL);
    // In groups of its own too, where there is nobody else.
    if (setup.room) kill_all_but(watch::line_reader());
    if (socket_ >= 0) close(socket_);
    if (ended_ >= 0) close(ended_);
    pid_ = socket_ = ended_ = -1;
  }

  [[noreturn]] static void serve_calls(int socket) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);
    if (keeps_processes) refuse_signals_to_others();
    close(kSessionSocket);  // what comes from there is for the process that watches over this one
    for (char word = 0; read(socket, &word, 1) == 1;) {
      const bool again = run_call();
      if (!again || !setup.real_device) break;
      if (send(socket, &word, 1, MSG_NOSIGNAL) != 1) break;
    }
    _exit(0);
  }

  pid_t pid_ = -1;
  int socket_ = -1;
  int ended_ = -1;  // readable when the process ends
};

[[noreturn]] void serve() {
  CallProcess process;
  while (true) {
    char word = 0;
    if (read(kSessionSocket, &word, 1) != 1) {
      process.end();
      _exit(0);
    }
    const bool fresh = read_arena_header(unpack_session_request).options.fresh;
    if (fresh) process.end();
    process.begin();
    const pid_t pid = process.pid();
    tell({'b', pid, 0, {}});
    const int status = process.call();
    if (fresh) process.end();
    tell({'e', pid, status, {}});
  }
}

}  // namespace
}  // namespace isomer::emulator

int isomer_emulator_session() {
  using namespace isomer::emulator;
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  signal(SIGPIPE, SIG_IGN);
  setup = read_arena_header(unpack_setup);
  // Before anything of the module's runs. Nothing is started later, not even what reads its lines.
  if (forks_with != 0) watch::start_line_reader(setup.library);
  keeps_processes = forks_with != 0 && refuse_new_processes(forks_with);
  forks_with = 0;
  if (keeps_processes && !setup.room) refuse_signals_to_all();
  reserve_device();
  tell({'s', getpid(), 0, {}});
  // Each tensor that PyTorch allocates is one of the device's, with its own poison and guard.
  if (setup.real_device) setenv("PYTORCH_NO_CUDA_MEMORY_CACHING", "1", 1);
  Settings& s = settings();
  s.lanes = setup.lanes;
  s.watch = setup.watch;
  s.hip = setup.hip;
  s.copies_by_role = true;
  std::string failure;
  std::vector<EntryInfo> infos;
  try {
    // The runtime of a real device comes with the module, and is looked for behind this program's own
    // definitions.
    if (!dlopen(setup.library.c_str(), RTLD_NOW | (setup.real_device ? RTLD_GLOBAL : RTLD_LOCAL))) {
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
  tell({'a', getpid(), 0, {}});
  serve();
}
