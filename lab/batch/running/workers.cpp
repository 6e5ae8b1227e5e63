#include "lab/batch/running/workers.hpp"

#include "core/sentence.hpp"
#include "lab/record/reaping.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace isomer::lab {
namespace {

/// A worker makes room for a fresh one after so many folders: what is kept for a process's life stays small.
constexpr int kServes = 200;

double monotonic_seconds() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

sigset_t stopping_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, number);
  return set;
}

bool write_whole(int socket, const void* data, std::size_t bytes) {
  const auto* p = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t count = send(socket, p, bytes, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    p += count, bytes -= static_cast<std::size_t>(count);
  }
  return true;
}

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status))
    return core::say("the process that judges was stopped by signal ", WTERMSIG(status), " (",
                     strsignal(WTERMSIG(status)), ")",
                     WTERMSIG(status) == SIGKILL ? ", as the kernel stops one when memory runs out" : "");
  return core::say("the process that judges ended with exit status ", WEXITSTATUS(status));
}

}  // namespace

Workers::Workers(int count, Work work, int not_theirs)
    : work_(std::move(work)), workers_(static_cast<std::size_t>(count)), not_theirs_(not_theirs) {
  // What a worker leaves behind becomes ours, and ends with us.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const sigset_t stopping = stopping_signals();
  sigprocmask(SIG_BLOCK, &stopping, nullptr);
  signals_ = signalfd(-1, &stopping, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signals_ < 0) core::fail(ErrorCode::io, "check: cannot wait for signals: ", std::strerror(errno));
}

Workers::~Workers() {
  for (Worker& worker : workers_) end(worker);
  const pid_t kept = keeper_.process();
  end_all_children(&kept, 1);
  close(signals_);
  const sigset_t stopping = stopping_signals();
  sigprocmask(SIG_UNBLOCK, &stopping, nullptr);
  prctl(PR_SET_CHILD_SUBREAPER, 0);
}

bool Workers::idle() const {
  return std::any_of(workers_.begin(), workers_.end(), [](const Worker& each) { return !each.working; });
}
bool Workers::busy() const {
  return std::any_of(workers_.begin(), workers_.end(), [](const Worker& each) { return each.working; });
}

void Workers::begin(Worker& worker) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    core::fail(ErrorCode::io, "check: cannot make a socket: ", std::strerror(errno));
  std::fflush(nullptr);
  const pid_t self = getpid(), child = fork();
  if (child < 0) {
    close(ends[0]), close(ends[1]);
    core::fail(ErrorCode::io, "check: cannot start a process: ", std::strerror(errno));
  }
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != self) _exit(0);
    if (not_theirs_ >= 0) close(not_theirs_);
    setpgid(0, 0);  // what a terminal sends to stop comes to the owner alone
    for (const Worker& other : workers_)
      if (other.socket >= 0) close(other.socket);
    close(ends[0]);
    close(signals_);
    const sigset_t stopping = stopping_signals();
    sigprocmask(SIG_UNBLOCK, &stopping, nullptr);
    serve(ends[1]);
  }
  close(ends[1]);
  worker = {};
  worker.process = child;
  worker.socket = ends[0];
}

void Workers::serve(int socket) const {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  for (std::uint64_t number = 0; read(socket, &number, sizeof number) == sizeof number;) {
    std::string bytes;
    try {
      bytes = "+" + work_(number);
    } catch (const std::exception& error) {
      bytes = std::string("-") + error.what();
    }
    std::fflush(nullptr);
    // Whatever the folder's code has left running.
    end_all_children();
    const std::uint64_t length = bytes.size();
    if (!write_whole(socket, &length, sizeof length) || !write_whole(socket, bytes.data(), bytes.size()))
      break;
  }
  _exit(0);
}

void Workers::start(std::size_t number) {
  Worker* worker = nullptr;
  for (Worker& each : workers_)
    if (!each.working && (worker == nullptr || each.process > 0)) worker = &each;
  if (worker->process > 0 && worker->served >= kServes) end(*worker);
  if (worker->process < 0) begin(*worker);
  const std::uint64_t word = number;
  if (!write_whole(worker->socket, &word, sizeof word)) {  // it has ended while it had nothing to do
    end(*worker);
    begin(*worker);
    write_whole(worker->socket, &word, sizeof word);
  }
  worker->working = true;
  worker->number = number;
  worker->since = monotonic_seconds();
  ++worker->served;
}

void Workers::end(Worker& worker) {
  if (worker.process < 0) return;
  close(worker.socket);
  kill(worker.process, SIGKILL);
  while (waitpid(worker.process, nullptr, 0) < 0 && errno == EINTR) {
  }
  worker = {};
}

// Reads what is there; whether that is all.
bool Workers::hear(Worker& worker, Said& said) {
  char bytes[65536];
  const ssize_t count = recv(worker.socket, bytes, sizeof bytes, MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (count > 0) worker.received.append(bytes, static_cast<std::size_t>(count));
  said.number = worker.number;
  if (count <= 0) {
    int status = 0;
    while (waitpid(worker.process, &status, 0) < 0 && errno == EINTR) {
    }
    close(worker.socket);
    worker = {};
    said.trouble = how_it_ended(status);
    return true;
  }
  std::uint64_t length = 0;
  if (worker.received.size() < sizeof length) return false;
  std::memcpy(&length, worker.received.data(), sizeof length);
  if (worker.received.size() < sizeof length + length) return false;
  said.bytes = worker.received.substr(sizeof length + 1);
  if (worker.received[sizeof length] != '+') said.trouble.swap(said.bytes);
  worker.received.clear();
  worker.working = false;
  return true;
}

std::vector<Workers::Said> Workers::wait(double seconds, double each, int& stop) {
  std::vector<Said> all;
  std::vector<pollfd> ready = {{signals_, POLLIN, 0}};
  std::vector<Worker*> asked;
  const double now = monotonic_seconds();
  for (Worker& worker : workers_) {
    if (!worker.working) continue;
    ready.push_back({worker.socket, POLLIN, 0});
    asked.push_back(&worker);
    if (each > 0) seconds = std::min(seconds, std::max(0.0, worker.since + each - now));
  }
  poll(ready.data(), ready.size(), static_cast<int>(std::min(seconds, 3600.0) * 1000) + 1);
  if (ready[0].revents) {
    signalfd_siginfo info{};
    if (read(signals_, &info, sizeof info) == sizeof info) stop = static_cast<int>(info.ssi_signo);
  }
  for (std::size_t i = 0; i < asked.size(); ++i) {
    Said said;
    if (ready[i + 1].revents && hear(*asked[i], said)) {
      all.push_back(std::move(said));
    } else if (asked[i]->working && each > 0 && monotonic_seconds() - asked[i]->since >= each) {
      said.number = asked[i]->number;
      said.trouble = core::say("it was not judged within ", each, " s, as asked for by --limit");
      end(*asked[i]);
      all.push_back(std::move(said));
    }
  }
  // What an ended worker had started is ours now.
  if (std::any_of(all.begin(), all.end(), [](const Said& said) { return !said.trouble.empty(); })) {
    std::vector<pid_t> kept = {keeper_.process()};
    for (const Worker& worker : workers_)
      if (worker.process > 0) kept.push_back(worker.process);
    end_all_children(kept.data(), static_cast<int>(kept.size()));
  }
  return all;
}

}  // namespace isomer::lab
