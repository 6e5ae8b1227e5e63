#pragma once

#include "lab/capture/joiner.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace isomer::lab {

/// Puts launches that come nearly in order of their start into that order, a window of them at a time.
class StartOrder {
 public:
  static constexpr std::size_t kWindow = 16384;

  explicit StartOrder(const LaunchSink& sink) : sink_(sink) {}
  void add(Launch&& launch);
  void end();

 private:
  struct Waiting {
    double start;
    std::uint64_t number;  ///< of the launch in the file: equal starts stay in order
    std::size_t place;     ///< of the launch in launches_
  };
  static bool later(const Waiting& x, const Waiting& y);
  void give();

  const LaunchSink& sink_;
  std::vector<Waiting> heap_;
  std::vector<Launch> launches_;   ///< launches stay where they are while the heap is put in order
  std::vector<std::size_t> free_;  ///< places of launches_ that hold none
  std::uint64_t next_ = 0;
};

}  // namespace isomer::lab
