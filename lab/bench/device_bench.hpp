#pragma once

#include "core/registry.hpp"
#include "gpu/queue_state.hpp"
#include "lab/bench/bench.hpp"
#include "lab/check/compare.hpp"
#include "lab/check/mirror.hpp"

#include <memory>
#include <string>
#include <vector>

namespace isomer::lab {

/// Random elements of a large input, repeated: drawing them all would take longer than everything that is
/// timed.
constexpr std::int64_t kDistinctElements = 1 << 20;

/// Calls between two events at most: fewer than a stream's queue holds, so that the host never waits.
constexpr int kCallsBetweenEvents = 500;

/// Two events and the time between them.
class Stopwatch {
 public:
  explicit Stopwatch(const gpu::QueueState& state);
  ~Stopwatch();
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  template <class Work>
  double seconds(Work work) {
    state_.vendor().record(state_.device.index, state_.stream(), begin_);
    work();
    state_.vendor().record(state_.device.index, state_.stream(), end_);
    return state_.vendor().seconds_between(state_.device.index, begin_, end_);
  }

 private:
  const gpu::QueueState& state_;
  gpu::Event begin_, end_;
};

/// Copies of a problem on the device that together outgrow its cache twice over.
std::vector<std::unique_ptr<Mirror>> copies_of(const oracle::Problem& problem, const Queue& queue);

/// "yes", or "no: " and why: what the mirror holds against the reference.
std::string verify_on_device(const oracle::Oracle& oracle, const oracle::Problem& problem, Mirror& mirror,
                             Allowance allowance, oracle::Expected& expected);

/// The copy rate of a device, measured when it is asked for: bytes read and written a second by its own copy
/// between two buffers far larger than its cache.
class DeviceCeilings {
 public:
  explicit DeviceCeilings(const Queue& queue);
  ~DeviceCeilings();
  DeviceCeilings(const DeviceCeilings&) = delete;
  DeviceCeilings& operator=(const DeviceCeilings&) = delete;
  double copy_rate();

 private:
  Queue queue_;
  void* from_ = nullptr;
  void* to_ = nullptr;
};

/// Rounds of one case on a device, each a batch of calls between two events, alternating with rounds of the
/// copy. The calls take their tensors from as many copies of the problem as outgrow the cache.
Measurement measure_on_device(const oracle::Oracle& oracle, const oracle::Case& c,
                              const core::Registry::Op& op, const std::string& forced, const Queue& queue,
                              DeviceCeilings& ceilings, const BenchSelection& selection);

}  // namespace isomer::lab
