#include "cpu/thread_count.hpp"

#include <isomer/executor.hpp>

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

namespace isomer::cpu {
namespace {

int affinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

/// CPUs that the cgroup's quota allows (v2, then v1); a large number where there is none.
int quota() {
  constexpr int unlimited = 1 << 20;
  double limit = 0, period = 0;
  std::string first;
  std::ifstream v2("/sys/fs/cgroup/cpu.max");
  if (v2 >> first >> period) {
    if (first == "max") return unlimited;
    limit = std::atof(first.c_str());
  } else {
    std::ifstream("/sys/fs/cgroup/cpu/cpu.cfs_quota_us") >> limit;
    std::ifstream("/sys/fs/cgroup/cpu/cpu.cfs_period_us") >> period;
  }
  if (limit <= 0 || period <= 0) return unlimited;
  return std::max(1, static_cast<int>(std::ceil(limit / period)));
}

}  // namespace

int thread_count() {
  if (const char* text = std::getenv("OMP_NUM_THREADS")) {
    const int wanted = std::atoi(text);
    if (wanted > 0) return std::min(wanted, Executor::kMaxConcurrency);
  }
  return std::min(affinity(), quota());
}

}  // namespace isomer::cpu
