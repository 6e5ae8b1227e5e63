#include "execution/progress.hpp"

#include <time.h>

#include <algorithm>
#include <atomic>

#include "execution/worker.hpp"

namespace isomer::emulator {
namespace {

// More launches than any call needs are a host's loop that waits for what never comes.
constexpr std::uint64_t kManyLaunches = 10'000;
constexpr double kLook = 1.0 / 8;   // of the time: from then on the blocks say how much more is needed
constexpr double kFarTooLarge = 3;  // times the time
constexpr std::int64_t kBetweenNotes = 1'000'000;  // nanoseconds

std::atomic<const Launch*> under_way{nullptr};
std::atomic<std::int64_t> began{0}, began_cpu{0};
std::atomic<std::uint64_t> ended_launches{0};
double limit = 0;
void (*when_hopeless)() = nullptr;

std::int64_t now_ns(clockid_t clock = CLOCK_MONOTONIC) {
  timespec t{};
  clock_gettime(clock, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}
std::int64_t cpu_ns() { return now_ns(CLOCK_PROCESS_CPUTIME_ID); }
double seconds_since(std::int64_t then, std::int64_t now) { return static_cast<double>(now - then) * 1e-9; }

// When something ended last, by the clock and by this process's time on the processor.
struct End {
  std::atomic<std::int64_t> clock{0}, processor{0};

  // The processor's time is asked of the system: not for each of a million blocks.
  void note(std::int64_t now) {
    if (now - clock.load(std::memory_order_relaxed) < kBetweenNotes) return;
    clock.store(now, std::memory_order_relaxed);
    processor.store(cpu_ns(), std::memory_order_relaxed);
  }
  bool lately(bool waits) const {
    return (waits ? seconds_since(clock, now_ns()) : seconds_since(processor, cpu_ns())) < limit / 4;
  }
};
End block_end, launch_end;

}  // namespace

void expect_end_within(double seconds, void (*give_up)()) {
  limit = seconds;
  when_hopeless = give_up;
  ended_launches = 0;
}

void launch_begins(const Launch& launch) {
  began = now_ns();
  began_cpu = cpu_ns();
  under_way = &launch;
}

void block_ends(Launch& launch) {
  const std::uint64_t ended = launch.finished.fetch_add(1) + 1;
  const std::int64_t now = now_ns();
  launch.last_end.store(now, std::memory_order_relaxed);
  block_end.note(now);
  if (limit <= 0 || when_hopeless == nullptr) return;
  double so_far = seconds_since(began, now);
  if (so_far < kLook * limit) return;
  // On a busy machine the time is others'.
  so_far = std::min(so_far, seconds_since(began_cpu, cpu_ns()));
  if (so_far < kLook * limit) return;
  const double whole = so_far * static_cast<double>(launch.blocks) / static_cast<double>(ended);
  if (whole > kFarTooLarge * limit) when_hopeless();
}

void launch_ends() {
  under_way = nullptr;
  launch_end.note(now_ns());
  ++ended_launches;
}

Progress progress(bool waits) {
  Progress p;
  p.launches = ended_launches;
  p.moves = p.launches > 0 && p.launches < kManyLaunches && launch_end.lately(waits);
  const Launch* launch = under_way;
  if (launch == nullptr) return p;
  p.blocks = launch->blocks;
  p.kernel = launch->request.kernel;
  p.ended = launch->finished.load();
  if (p.ended == 0) return p;
  // Blocks that take long one by one may be slow again.
  const double each = seconds_since(began, launch->last_end) / static_cast<double>(p.ended);
  p.moves = p.moves || block_end.lately(waits) || seconds_since(launch->last_end, now_ns()) < 3 * each;
  return p;
}

}  // namespace isomer::emulator
