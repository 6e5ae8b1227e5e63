#include "cpu/thread_count.hpp"

#include <isomer/executor.hpp>

#include "core/sentence.hpp"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
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

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  const std::size_t first = text.find_first_not_of(kSpace);
  return first == text.npos ? "" : text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

int first_of_list(std::string_view list) {
  int first = 0;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string_view word = trimmed(list.substr(begin, end - begin));
    int number = 0;
    const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc() || rest != word.data() + word.size() || number < 1)
      core::fail(ErrorCode::bad_argument,
                 "OMP_NUM_THREADS expects positive numbers separated by commas, got '", list, "'");
    if (first == 0) first = number;
    begin = end + 1;
  }
  return first;
}

}  // namespace

int thread_count() {
  if (const char* text = std::getenv("OMP_NUM_THREADS"); text != nullptr && *text != '\0')
    return std::min(first_of_list(text), Executor::kMaxConcurrency);
  return std::min(affinity(), quota());
}

}  // namespace isomer::cpu
