#include "child/runner.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include <fmt/format.h>

#include "child/execute.hpp"
#include "child/signals.hpp"
#include "runtime/errors.hpp"
#include "watch/places.hpp"

namespace isomer::emulator {
namespace {

int answer_fd = -1;
Request request;
std::atomic<pid_t> program{0};  ///< the process in which the user's code is running

void answer_with(const RunResult& result) {
  program = 0;
  std::cout.flush();
  std::fflush(nullptr);
  const std::string bytes = pack(result);
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = pwrite(answer_fd, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (n <= 0) break;
    done += static_cast<std::size_t>(n);
  }
}

void answer_stopped(const Stopped& what) {
  RunResult result;
  if (what.signal == SIGALRM)
    result.error = error::launch_timeout;
  else if (what.in_kernel)
    result.error = error::illegal_address;
  collect(result);
  // What the host made of results that blocks which were left out would have written is no fault of its own.
  const auto is_sampled = [](const LaunchRecord& l) {
    return l.blocks != 0 && l.blocks < std::uint64_t{l.grid[0]} * l.grid[1] * l.grid[2];
  };
  const bool unfinished = what.signal != SIGALRM && !what.in_kernel &&
                          std::any_of(result.launches.begin(), result.launches.end(), is_sampled);
  if (unfinished)
    result.not_finished = what.sentence + ", in a run of which blocks were left out";
  else
    (what.signal == SIGALRM && !what.for_ever ? result.not_finished : result.failure) = what.sentence;
  answer_with(result);
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
  request = unpack_request(std::string(reinterpret_cast<const char*>(shared) + sizeof length, length));
  watch::set_users_library(request.library);
  on_stop([] {}, &answer_stopped);
  limit_time(request.options.timeout_seconds);
  program = getpid();
  const RunResult result = execute(request, shared);
  answer_with(result);
  // Without the static destructors of the user's code: whatever they would do, the answer stands.
  std::fflush(nullptr);
  _exit(0);
}

int isomer_emulator_in_program() { return isomer::emulator::program.load() == getpid(); }

void isomer_emulator_program_exits(int status) {
  using namespace isomer::emulator;
  RunResult result;
  result.exit_status = status & 0xff;
  if (request.job != Job::program) {
    result.failure =
        fmt::format("{}: the code ended the process with exit status {}", request.name, result.exit_status);
  }
  collect(result);
  answer_with(result);
  _exit(0);
}
