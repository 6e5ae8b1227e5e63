#pragma once

#include <string>
#include <vector>

namespace isomer::lab {

/// The times of two implementations of one call on one device, in seconds.
struct Speed {
  double candidate = 0, original = 0;  ///< medians
  double ratio = 0;                    ///< candidate over original
  /// How far the ratio may be off: half the distance between the quartiles of both, as a share of their
  /// medians.
  double noise = 0;
  /// Slower by more than a tenth and by more than three times the noise, and by more than the 2 µs that two
  /// events may be apart without anything between them.
  bool slow = false;
};

/// Of at least five times each. Throws Error bad_argument for fewer.
Speed compare_speed(std::vector<double> candidate, std::vector<double> original);

/// "12.3 µs against 4.1 µs (3.00 ± 0.02 times, medians of 30 and 20)".
std::string sentence_of(const Speed& speed, std::size_t candidate_calls, std::size_t original_calls);

}  // namespace isomer::lab
