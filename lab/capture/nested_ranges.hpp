#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace isomer::lab {

/// Ranges of time on threads, one inside of the other, as operators and NVTX ranges are.
class NestedRanges {
 public:
  void add(std::uint64_t thread, double begin, double end, std::uint32_t name);
  /// The name of the innermost range of a thread that holds a moment.
  std::optional<std::uint32_t> innermost(std::uint64_t thread, double moment);
  bool empty() const { return threads_.empty(); }

 private:
  struct Range {
    double begin = 0, end = 0;
    std::uint32_t name = 0;
    std::uint32_t outer = 0;  ///< 1 + the place of the range around it; 0: none
  };
  struct Thread {
    std::vector<Range> ranges;
    bool sorted = false;
  };
  static void sort(Thread& thread);

  std::unordered_map<std::uint64_t, Thread> threads_;
};

}  // namespace isomer::lab
