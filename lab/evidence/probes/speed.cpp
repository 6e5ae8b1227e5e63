#include "lab/evidence/probes/speed.hpp"

#include "core/sentence.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace isomer::lab {
namespace {

constexpr std::size_t kFewestTimes = 5;
constexpr double kMargin = 0.1, kNoises = 3, kResolution = 2e-6;

struct Quartiles {
  double low, median, high;
};

Quartiles quartiles_of(std::vector<double>& seconds) {
  if (seconds.size() < kFewestTimes)
    core::fail(ErrorCode::bad_argument, "speed: ", seconds.size(), " times, expected at least ",
               kFewestTimes);
  std::sort(seconds.begin(), seconds.end());
  const std::size_t n = seconds.size();
  return {seconds[n / 4], seconds[n / 2], seconds[n - 1 - n / 4]};
}

}  // namespace

Speed compare_speed(std::vector<double> candidate, std::vector<double> original) {
  const Quartiles c = quartiles_of(candidate), o = quartiles_of(original);
  Speed speed;
  speed.candidate = c.median;
  speed.original = o.median;
  if (c.median <= 0 || o.median <= 0) return speed;
  speed.ratio = c.median / o.median;
  speed.noise = ((c.high - c.low) / c.median + (o.high - o.low) / o.median) / 2 * speed.ratio;
  speed.slow =
      speed.ratio > 1 + std::max(kMargin, kNoises * speed.noise) && c.median - o.median > kResolution;
  return speed;
}

std::string sentence_of(const Speed& speed, std::size_t candidate_calls, std::size_t original_calls) {
  return fmt::format(
      "{:.1f} µs, and the original {:.1f} µs ({:.2f} ± {:.2f} times as long, medians of {} and {} calls)",
      speed.candidate * 1e6, speed.original * 1e6, speed.ratio, speed.noise, candidate_calls, original_calls);
}

}  // namespace isomer::lab
