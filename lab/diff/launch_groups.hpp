#pragma once

#include "lab/capture/capture.hpp"
#include "lab/capture/joiner.hpp"
#include "lab/names/kernel_name.hpp"
#include "lab/text/pattern.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace isomer::lab {

/// Launches of a capture that differ in nothing but their times, streams and argument bytes.
struct LaunchGroup {
  Launch first;  ///< the first of them, with its argument bytes
  KernelName name;
  std::uint64_t count = 0, timed = 0;
  double total_ns = 0;
  std::vector<float> times_ns;  ///< at most kTimes of them, a fair sample
  /// A profiler's counters: the sum over the launches that have one, and how many these are.
  std::map<std::string, std::pair<double, std::uint64_t>> metrics;
  /// Of each parameter's bytes 1 for one that was not the same at every launch: padding, or a value that
  /// varies.
  std::vector<std::vector<std::uint8_t>> varying;

  static constexpr std::size_t kTimes = 512;
  /// Nanoseconds; 0 where no launch is timed.
  double median_ns() const;
  /// Median distance from the median, scaled to a standard deviation.
  double spread_ns() const;
};

/// What an operator's launches take together.
struct OperatorTime {
  std::uint64_t launches = 0;
  double total_ns = 0;
  std::map<std::uint32_t, std::uint64_t> groups;  ///< which launches: group → how many
};

/// A capture with its launches grouped: 4 bytes a launch, and each group once.
struct GroupedCapture {
  Capture about;  ///< everything but the launches
  std::vector<LaunchGroup> groups;
  /// The group of each launch, one process after the other, each in order: how the launches of several fall
  /// between each other is chance.
  std::vector<std::uint32_t> sequence;
  std::uint64_t launches = 0;
  std::uint64_t left_out = 0;                     ///< launches of kernels that were not asked for
  std::map<std::string, OperatorTime> operators;  ///< by name and shapes; empty: the source tells of none
};

/// Takes launches one by one. Its memory grows by 4 bytes a launch up to kLongestSequence launches, and by
/// about 10 kB a group up to kMostGroups; beyond either, launches are counted by name only and the capture
/// says so.
class Grouping {
 public:
  static constexpr std::size_t kLongestSequence = std::size_t{1} << 26;
  static constexpr std::size_t kMostGroups = std::size_t{1} << 16;

  /// Only kernels with this regular expression in their name; empty: all. Throws Error bad_argument.
  explicit Grouping(const std::string& kernels = {});

  void add(Launch&& launch);
  GroupedCapture finish(Capture&& about);

 private:
  std::uint32_t group_of(const Launch& launch);
  bool is_asked_for(const Launch& launch);

  std::optional<Pattern> kernels_;
  std::unordered_map<std::string, bool> asked_for_;  ///< by the name as it was recorded
  GroupedCapture result_;
  std::unordered_map<std::string, std::uint32_t> groups_;
  std::unordered_map<std::uint64_t, std::size_t> processes_;  ///< their places in sequences_
  std::vector<std::vector<std::uint32_t>> sequences_;
  std::size_t in_sequences_ = 0;
  std::uint64_t folded_ = 0;
  std::uint64_t random_ = 0x9E3779B97F4A7C15u;
};

}  // namespace isomer::lab
