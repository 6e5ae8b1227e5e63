#include "child/runner.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "child/execute.hpp"
#include "execution/worker.hpp"
#include "memory/memory.hpp"
#include "runtime/errors.hpp"
#include "watch/places.hpp"
#include "watch/reporter.hpp"

namespace isomer::emulator {
namespace {

int answer_fd = -1;
double time_limit = 0;

void answer(const RunResult& result) {
  std::fflush(nullptr);
  const std::string bytes = pack(result);
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = pwrite(answer_fd, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (n <= 0) break;
    done += static_cast<std::size_t>(n);
  }
}

const char* signal_word(int number) {
  switch (number) {
    case SIGSEGV:
      return "a segmentation fault";
    case SIGBUS:
      return "a bus error";
    case SIGFPE:
      return "a division by zero";
    case SIGILL:
      return "an illegal instruction";
    case SIGABRT:
      return "an abort";
    default:
      return "a signal";
  }
}

std::string described(const void* address) {
  Memory& memory = Memory::instance();
  if (reinterpret_cast<std::uintptr_t>(address) < 65536) return "through a null pointer";
  const Buffer* near = memory.contains(address) ? memory.nearest(address, false) : nullptr;
  if (!near) return "outside of device memory";
  const std::ptrdiff_t offset = static_cast<const std::byte*>(address) - near->begin;
  return fmt::format("at offset {} of buffer {} of {} bytes", offset,
                     near->name.empty() ? "(unnamed)" : near->name, near->bytes);
}

// The process is lost already: what is done here may be more than a handler should do, and if it fails as
// well, the caller still sees the signal.
void on_signal(int number, siginfo_t* info, void* context) {
  signal(number, SIG_DFL);
  alarm(20);
  const auto* registers = static_cast<ucontext_t*>(context);
  // One past the instruction, as a return address would be.
  const auto* pc = reinterpret_cast<const void*>(registers->uc_mcontext.gregs[REG_RIP] + 1);
  RunResult result;
  result.error = error::illegal_address;
  if (number == SIGALRM) result.error = error::launch_timeout;
  if (const Thread* t = current_thread()) {
    const char* kernel = current_block()->launch().request.kernel;
    if (number == SIGALRM) {
      watch::report_event(Kind::step_limit, pc, fmt::format("was still running after {:g} s", time_limit));
      result.failure = fmt::format("{} did not end within {:g} s", kernel, time_limit);
    } else if (number == SIGSEGV && Worker::current()->pool().is_guard(info->si_addr)) {
      watch::report_event(Kind::stack_overflow, pc,
                          fmt::format("overflows its stack of {} KiB: a recursion or a large local array",
                                      kStackBytes / 1024));
      result.failure = fmt::format("{} overflowed a thread's stack", kernel);
    } else {
      const bool memory = number == SIGSEGV || number == SIGBUS;
      watch::report_event(
          Kind::crash, pc,
          fmt::format("stops with {}{}", signal_word(number), memory ? " " + described(info->si_addr) : ""));
      result.failure = fmt::format("{} stopped with {}", kernel, signal_word(number));
    }
    (void)t;
  } else {
    const Place place = watch::place_of({pc, {}});
    const std::string where = place.line ? fmt::format(" at {}:{}", place.file, place.line) : "";
    result.failure = number == SIGALRM
                         ? fmt::format("host code did not end within {:g} s{}", time_limit, where)
                         : fmt::format("host code stopped with {}{}", signal_word(number), where);
  }
  collect(result);
  answer(result);
  _exit(0);
}

}  // namespace
}  // namespace isomer::emulator

int isomer_emulator_runner(int request_fd, int response_fd) {
  using namespace isomer::emulator;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  answer_fd = response_fd;
  struct stat s {};
  if (fstat(request_fd, &s) != 0 || s.st_size < static_cast<off_t>(sizeof(std::uint64_t))) return 2;
  auto* shared = static_cast<std::byte*>(
      mmap(nullptr, static_cast<std::size_t>(s.st_size), PROT_READ | PROT_WRITE, MAP_SHARED, request_fd, 0));
  if (shared == MAP_FAILED) return 2;
  std::uint64_t length = 0;
  std::memcpy(&length, shared, sizeof length);
  const Request request =
      unpack_request(std::string(reinterpret_cast<const char*>(shared) + sizeof length, length));
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM}) sigaction(number, &action, nullptr);
  Worker::here();  // gives this thread its signal stack
  time_limit = request.options.timeout_seconds;
  itimerval timer{};
  timer.it_value.tv_sec = static_cast<time_t>(time_limit);
  timer.it_value.tv_usec =
      static_cast<suseconds_t>((time_limit - static_cast<double>(timer.it_value.tv_sec)) * 1e6);
  setitimer(ITIMER_REAL, &timer, nullptr);
  answer(execute(request, shared));
  // Without the static destructors of the user's code: whatever they would do, the answer stands.
  std::fflush(nullptr);
  _exit(0);
}
