#pragma once

#include "core/registry.hpp"
#include "gpu/queue_state.hpp"
#include "lab/bench/bench.hpp"

namespace isomer::lab {

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
