#include "lab/bench/measuring.hpp"

#include <algorithm>
#include <chrono>

namespace isomer::lab {

double clock_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {values.front(), values[values.size() / 2], values.back()};
}

bool quick_to_verify(const core::Work& work) { return work.flops <= 3e9 && work.bytes <= 1e8; }

}  // namespace isomer::lab
