#include "child/signals.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "child/division.hpp"
#include "execution/progress.hpp"
#include "execution/turns.hpp"
#include "execution/worker.hpp"
#include "memory/closed.hpp"
#include "memory/memory.hpp"
#include "watch/places.hpp"
#include "watch/reporter.hpp"

namespace isomer::emulator {

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

namespace {

constexpr int kSignalFrames = 64;
constexpr double kWorks = 0.05;  ///< of the clock's time, by which a process that works is told from a wait
double time_limit = 0;

constexpr double kLook = 0.25;  ///< seconds between two looks at whether it waits
// Pages that were new since the last look, by which a process takes memory. It is no loop without an end:
// what it may take has a limit, and on some machines that is seconds away.
constexpr long kTakesMemory = 1 << 14;
// Seconds of the clock and of this process on the processor, how often a thread of it lay down to wait, and
// its new pages.
struct Times {
  double clock = 0, processor = 0;
  long waits = 0, pages = 0;
};
struct Limit {
  double seconds = 0, idle = 0;
  Times began, last;
};
Limit limit;
bool moves = false;  // at the last look
Times work_began;
std::atomic<bool> hopeless{false};
constexpr double kDelivery = 20;  ///< seconds within which a stop is told
std::atomic<double> stops_since{0};
std::atomic_flag looking;

double seconds_of(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}
Times now() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return {seconds_of(CLOCK_MONOTONIC), seconds_of(CLOCK_PROCESS_CPUTIME_ID), used.ru_nvcsw, used.ru_minflt};
}

void alarm_in(double seconds) {
  itimerval timer{};
  timer.it_value.tv_sec = static_cast<time_t>(seconds);
  timer.it_value.tv_usec =
      static_cast<suseconds_t>((seconds - static_cast<double>(timer.it_value.tv_sec)) * 1e6);
  setitimer(ITIMER_REAL, &timer, nullptr);
}

// Whether the process has not had its time yet: others had the processor, or it comes on.
bool goes_on() {
  const Times t = now(), before = limit.last;
  limit.last = t;
  // Whoever never lay down has no processor because others have it, however little that was.
  const bool waits =
      t.waits > before.waits && t.processor - before.processor < kWorks * (t.clock - before.clock);
  moves = hopeless || progress(waits).moves;
  if (hopeless) return false;
  const bool takes_memory = t.pages - before.pages > kTakesMemory;
  time_limit = moves || takes_memory || limit.idle <= 0 ? limit.seconds : limit.idle;
  const double clock = t.clock - limit.began.clock, processor = t.processor - limit.began.processor;
  const double had = waits ? clock : processor;
  if (had >= 0.95 * time_limit || clock >= kPatience * limit.seconds) return false;
  alarm_in(std::max(time_limit - had, std::min(kLook, time_limit / 4)));
  return true;
}

void (*begin_stop)() = nullptr;
void (*deliver_stop)(const Stopped&) = nullptr;

// An access through a null pointer. The kernel gives no address where one is beyond what pointers have.
bool is_null(const siginfo_t& info) {
  return info.si_code != SI_KERNEL && reinterpret_cast<std::uintptr_t>(info.si_addr) < 65536;
}

// The processor refuses what it is to touch at once at no multiple of its size, and names no address.
bool is_no_address(const siginfo_t& info) { return info.si_code == SI_KERNEL; }

std::string described(const siginfo_t& info) {
  if (is_null(info)) return "through a null pointer";
  if (is_no_address(info))
    return "outside of device memory, or at an address that is no multiple of what is touched at once";
  Memory& memory = Memory::instance();
  const void* address = info.si_addr;
  const Buffer* near = memory.contains(address) ? memory.nearest(address, nullptr) : nullptr;
  if (!near) return "outside of device memory";
  const std::ptrdiff_t offset = static_cast<const std::byte*>(address) - near->begin;
  return fmt::format("at offset {} of buffer {} of {} bytes", offset,
                     near->name.empty() ? "(unnamed)" : near->name, near->bytes);
}

// Whether a call whose time is up is only large: its blocks end, there are too many of them.
bool only_large(Stopped& stopped) {
  if (!moves) return false;
  const Progress far = progress(false);
  stopped.too_large = true;
  stopped.sentence = far.blocks > 0 && far.ended > 0
                         ? fmt::format(
                               "too large to be emulated within {:g} s: {} of the {} blocks of {} had "
                               "ended when it was stopped",
                               time_limit, far.ended, far.blocks, far.kernel)
                         : fmt::format("too large to be emulated within {:g} s: {} launches had ended",
                                       time_limit, far.launches);
  return true;
}

// Whether this alarm ends the call. Several threads may get one at once: one of them looks, and one stop is
// told.
bool time_is_up() {
  if (const double since = stops_since; since > 0) {
    const double left = since + kDelivery - seconds_of(CLOCK_MONOTONIC);
    if (left > 0) {
      alarm_in(left);
      return false;
    }
    signal(SIGALRM, SIG_DFL);
    raise(SIGALRM);
  }
  if (looking.test_and_set()) return false;
  if (!goes_on()) return true;
  looking.clear();
  return false;
}

// The alarm may come to a thread that waits for the others' blocks, or between two threads of a block. While
// a launch is under way its kernel is what takes long: the alarm goes to whoever runs a block, until it finds
// one in the kernel's own code.
bool handed_on() {
  constexpr unsigned kTurns = 500;
  constexpr double kAgain = 0.002;  // seconds
  static std::atomic<unsigned> turn{0};
  if (current_thread() || progress(false).blocks == 0 || turn >= kTurns) return false;
  const int thread = thread_at_work(turn++);
  if (thread == 0) return false;
  alarm_in(kAgain);  // if it comes in vain again
  looking.clear();
  if (thread != gettid()) tgkill(getpid(), thread, SIGALRM);
  return true;
}

// The alarm may come to host code in the midst of the C library, whose heap is then half changed, and what is
// told needs memory: it comes again a little later.
bool in_library(const ucontext_t* context) {
  constexpr unsigned kTurns = 100;
  constexpr double kAgain = 0.002;  // seconds
  static std::atomic<unsigned> turn{0};
  Dl_info lies{};
  const auto* pc = reinterpret_cast<const unsigned char*>(context->uc_mcontext.gregs[REG_RIP]);
  if (current_thread() || hopeless || turn >= kTurns || dladdr(pc, &lies) == 0 || !lies.dli_fname ||
      std::string_view(lies.dli_fname).find("/libc.so") == std::string_view::npos)
    return false;
  if (pc[-2] == 0x0f && pc[-1] == 0x05)
    return false;  // it waits in a call of the system, and has changed nothing
  ++turn;
  looking.clear();
  alarm_in(kAgain);
  return true;
}

Touched touched;

// A touch of closed memory is noted where the user's own code made it, and the code goes on with the memory
// open.
bool is_touch(const siginfo_t* info, const ucontext_t* context) {
  if (current_thread() || !closed::open_for(info->si_addr)) return false;
  const auto* at = reinterpret_cast<const std::byte*>(context->uc_mcontext.gregs[REG_RIP]);
  void* frames[kSignalFrames];
  const int count = backtrace(frames, kSignalFrames);
  int first = 0;  // this handler lies below it
  while (first < count && frames[first] != at) ++first;
  if (first == count || touched.address != nullptr) return true;
  // Of a copy of the C library's who called it.
  int caller = first;
  Dl_info lies{};
  while (caller < count && dladdr(frames[caller], &lies) != 0 && lies.dli_fname &&
         std::string_view(lies.dli_fname).find("/libc.so") != std::string_view::npos)
    ++caller;
  if (caller == count || watch::users_address(frames + caller, 1) == nullptr) return true;
  constexpr long kWrites = 2;  // of the page fault's error code
  touched.address = info->si_addr;
  touched.writes = (context->uc_mcontext.gregs[REG_ERR] & kWrites) != 0;
  // One past the instruction, as a return address would be.
  frames[caller] = caller == first ? const_cast<std::byte*>(at + 1) : frames[caller];
  touched.frames.assign(frames + caller, frames + count);
  return true;
}

// A device thread whose block runs beside others: on one core it is judged what it does, and whether it comes to it.
// The handler's end leads it there, on a stack of its own that nobody needs any more.
bool is_left_to_one_core(ucontext_t* context) {
  const Thread* const thread = current_thread();
  if (thread == nullptr || !thread->block->is_beside()) return false;
  constexpr std::uintptr_t kRoom = 256, kAligned = 16;
  const std::uintptr_t top = (reinterpret_cast<std::uintptr_t>(thread->fiber->high) - kRoom) / kAligned * kAligned;
  auto& registers = context->uc_mcontext.gregs;
  registers[REG_RSP] = static_cast<greg_t>(top - sizeof(void*));
  registers[REG_RIP] = reinterpret_cast<greg_t>(&run_alone);
  return true;
}

// The process is lost already: what is done here may be more than a handler should do, and if it fails as
// well, the caller still sees the signal.
void on_signal(int number, siginfo_t* info, void* context) {
  if (number == SIGALRM && (!time_is_up() || handed_on() || in_library(static_cast<ucontext_t*>(context))))
    return;
  if (number != SIGALRM && number != SIGXFSZ && is_left_to_one_core(static_cast<ucontext_t*>(context))) return;
  if (number == SIGSEGV && is_touch(info, static_cast<ucontext_t*>(context))) return;
  if (number == SIGFPE && divides_as_a_device(static_cast<ucontext_t*>(context))) return;
  stops_since = seconds_of(CLOCK_MONOTONIC);
  if (number != SIGALRM) signal(number, SIG_DFL);
  alarm_in(kDelivery);
  begin_stop();
  const auto* registers = static_cast<ucontext_t*>(context);
  // One past the instruction, as a return address would be.
  const auto* pc = reinterpret_cast<const void*>(registers->uc_mcontext.gregs[REG_RIP] + 1);
  // Below it may lie a library's or the emulator's own code.
  void* frames[kSignalFrames];
  frames[0] = const_cast<void*>(pc);
  const int count = 1 + backtrace(frames + 1, kSignalFrames - 1);
  if (const void* users = watch::users_address(frames, count)) pc = users;
  Stopped stopped;
  stopped.signal = number;
  if (number == SIGALRM && only_large(stopped)) {
    deliver_stop(stopped);
    _exit(0);
  }
  if (const Thread* t = current_thread()) {
    t->block->stops_here();
    const char* kernel = current_block()->launch().request.kernel;
    stopped.in_kernel = true;
    const Launch& launch = current_block()->launch();
    if (number == SIGALRM && launch.waits_in_vain && launch.blocks == launch.of_grid) {
      watch::report_event(
          Kind::endless_wait, pc,
          "waits for ever in a loop for a value that nobody writes: so does every thread that is left");
      stopped.sentence = fmt::format("{} waits for ever", kernel);
      stopped.for_ever = true;
    } else if (number == SIGALRM) {
      watch::report_event(Kind::step_limit, pc, fmt::format("was still running after {:g} s", time_limit));
      stopped.sentence = fmt::format("{} did not end within {:g} s", kernel, time_limit);
    } else if (number == SIGSEGV && Worker::current()->pool().is_guard(info->si_addr)) {
      watch::report_event(Kind::stack_overflow, pc,
                          fmt::format("overflows its stack of {} KiB: a recursion or a large local array",
                                      kStackBytes / 1024));
      stopped.sentence = fmt::format("{} overflowed a thread's stack", kernel);
    } else {
      const bool memory = number == SIGSEGV || number == SIGBUS;
      watch::report_event(
          Kind::crash, pc,
          fmt::format("stops with {}{}", signal_word(number), memory ? " " + described(*info) : ""),
          memory && is_null(*info) ? Where::null : Where::buffer);
      stopped.sentence = fmt::format("{} stopped with {}", kernel, signal_word(number));
    }
    (void)t;
  } else {
    const Place place = stopped.place = watch::place_of_frames(frames, count);
    const std::string where = place.line ? fmt::format(" at {}:{}", place.file, place.line) : "";
    stopped.sentence = number == SIGALRM
                           ? fmt::format("host code did not end within {:g} s{}", time_limit, where)
                           : fmt::format("host code stopped with {}{}", signal_word(number), where);
  }
  deliver_stop(stopped);
  _exit(0);
}

}  // namespace

void on_stop(void (*begin)(), void (*deliver)(const Stopped&)) {
  begin_stop = begin;
  deliver_stop = deliver;
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM, SIGXFSZ})
    sigaction(number, &action, nullptr);
  Worker::here();  // gives this thread its signal stack
  void* frame = nullptr;
  backtrace(&frame, 1);  // loads what it needs now, and not in a handler
}

void limit_time(double seconds, double idle) {
  limit = {seconds, idle < seconds ? idle : 0, now(), now()};
  time_limit = limit.idle > 0 ? limit.idle : seconds;
  expect_end_within(seconds, [] {
    if (!hopeless.exchange(true)) raise(SIGALRM);
  });
  alarm_in(time_limit);
}

Touched take_touched() { return std::exchange(touched, {}); }

void begin_work() { work_began = now(); }
double worked_seconds() { return now().processor - work_began.processor; }

}  // namespace isomer::emulator
