// The workers of a process: started once, woken for each launch. A watched launch runs on one of them unless its
// blocks run side by side (turns.hpp): what the watch has to say must not depend on the machine's cores.
#include <algorithm>
#include <condition_variable>
#include <thread>

#include <unistd.h>

#include "execution/progress.hpp"
#include "execution/turns.hpp"
#include "execution/worker.hpp"
#include "runtime/settings.hpp"

namespace isomer::emulator {
namespace {

class Crew {
 public:
  void run(Launch& launch, int helpers) {
    if (pid_ != getpid()) {  // after a fork no thread of the parent exists any more
      new (&state_) State;
      threads_ = new std::vector<std::thread>;
      pid_ = getpid();
    }
    while (static_cast<int>(threads_->size()) < helpers) threads_->emplace_back([this, region = static_cast<unsigned>(threads_->size()) + 2] { serve(region); });
    {
      std::lock_guard lock(state_.mutex);
      state_.launch = &launch;
      state_.wanted = state_.busy = helpers;
      ++state_.generation;
    }
    state_.wake.notify_all();
    Worker::here().work(launch);
    std::unique_lock lock(state_.mutex);
    state_.done.wait(lock, [this] { return state_.busy == 0; });
    state_.launch = nullptr;
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable wake, done;
    Launch* launch = nullptr;
    int wanted = 0, busy = 0;
    std::uint64_t generation = 0;
  };
  void serve(unsigned region) {
    Worker::here().set_region(region);
    std::uint64_t seen = 0;
    for (;;) {
      Launch* launch = nullptr;
      {
        std::unique_lock lock(state_.mutex);
        state_.wake.wait(lock, [&] { return state_.wanted > 0 && state_.generation != seen; });
        seen = state_.generation;
        --state_.wanted;
        launch = state_.launch;
      }
      Worker::here().work(*launch);
      std::lock_guard lock(state_.mutex);
      if (--state_.busy == 0) state_.done.notify_one();
    }
  }
  State state_;
  std::vector<std::thread>* threads_ =
      new std::vector<std::thread>;  // never joined: they sleep until the end
  pid_t pid_ = getpid();
};

}  // namespace

int workers_allowed() {
  // Asked once: the answer is read from a file of the system, which costs more than a small launch.
  static const int cores = static_cast<int>(std::thread::hardware_concurrency());
  return settings().workers > 0 ? settings().workers : cores;
}

void run_grid(Launch& launch) {
  launch_begins(launch);
  struct End {
    ~End() { launch_ends(); }
  } end;
  int workers = workers_allowed();
  if (launch.turns != nullptr) {
    workers = std::min(workers, static_cast<int>(Turns::kMostWorkers));
  } else if (launch.watch || launch.blocks * launch.threads_per_block < kWorthSharing) {
    workers = 1;
  }
  if (static_cast<std::uint64_t>(workers) > launch.blocks) workers = static_cast<int>(launch.blocks);
  if (workers <= 1) {
    Worker::here().work(launch);
    return;
  }
  static Crew* crew = new Crew;
  static std::mutex one_launch;  // several host threads may launch; their grids run one after another
  std::lock_guard lock(one_launch);
  crew->run(launch, workers - 1);
}

}  // namespace isomer::emulator
