#include "execution/turns.hpp"

#include <sched.h>

#include <mutex>
#include <set>
#include <string>

#include "execution/worker.hpp"
#include "runtime/settings.hpp"
#include "watch/claims.hpp"

namespace isomer::emulator {
namespace {

// Looks of a worker that waits: some at once, some between which it lets others have the core; then it lies down.
constexpr int kLooks = 64, kLooksBetween = 128;

std::mutex alone_mutex;
std::set<std::string> alone;  // kernels

}  // namespace

bool Turns::is_first(unsigned place) const {
  const std::uint64_t mine = places_[place].at.load(std::memory_order_relaxed);
  for (unsigned i = 0; i < kMostWorkers; ++i)
    if (i != place && places_[i].at.load(std::memory_order_acquire) < mine) return false;
  return true;
}

void Turns::tell() {
  moves_.fetch_add(1);
  if (waiting_.load() > 0) moves_.notify_all();
}

void Turns::looks(unsigned place, std::uint64_t from) {
  places_[place].at.store(from, std::memory_order_release);
  tell();
}

void Turns::begins(unsigned place, std::uint64_t ordinal) {
  if (places_[place].at.load(std::memory_order_relaxed) == ordinal) return;
  looks(place, ordinal);
}

bool Turns::wait(unsigned place) {
  for (int i = 0; i < kLooks + kLooksBetween; ++i) {
    if (given_up()) return false;
    if (is_first(place)) return true;
    if (i >= kLooks) sched_yield();
  }
  for (;;) {
    waiting_.fetch_add(1);
    const std::uint32_t seen = moves_.load();
    const bool over = given_up(), first = is_first(place);
    if (!over && !first) moves_.wait(seen);
    waiting_.fetch_sub(1);
    if (over) return false;
    if (first) return true;
  }
}

void Turns::give_up() {
  given_up_.store(true, std::memory_order_release);
  tell();
}

void Turns::count(std::uint64_t ahead, std::uint64_t all) {
  ahead_.fetch_add(ahead, std::memory_order_relaxed);
  all_.fetch_add(all, std::memory_order_relaxed);
}

bool Turns::has_paid() const { return 4 * ahead_.load() >= all_.load(); }

bool may_run_side_by_side(const Launch& launch, int workers) {
  if (!launch.watch || workers < 2 || launch.blocks < 2) return false;
  if (launch.request.cooperative || launch.cluster > 1 || launch.step_limit != 0 || settings().blocks != 0)
    return false;
  if (Memory::instance().has_host_ranges() || launch.blocks > watch::kMostClaimants) return false;
  // Who asks for workers gets them.
  if (settings().workers == 0 && launch.blocks * launch.threads_per_block < kWorthSharing) return false;
  const std::lock_guard lock(alone_mutex);
  return alone.count(launch.request.kernel) == 0;
}

void run_alone_from_now_on(const Launch& launch) {
  const std::lock_guard lock(alone_mutex);
  alone.insert(launch.request.kernel);
}

void run_alone() {
  if (const Thread* thread = current_thread()) thread->block->run_alone();
}

}  // namespace isomer::emulator
