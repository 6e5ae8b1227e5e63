#pragma once

#include "core/contract.hpp"
#include "lab/bench/bench.hpp"

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

namespace isomer::lab {

/// PyTorch in a process of its own, which times its ways to compute an op on random tensors of the same
/// shapes, strides and dtypes: calls that rotate through copies, between two events, a large copy between the
/// rounds.
class Peers {
 public:
  /// Throws Error unsupported where that Python cannot be run, has no PyTorch, or its PyTorch has no such
  /// device.
  Peers(const std::string& python, Device device);
  ~Peers();
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;
  /// "PyTorch 2.11.0, CUDA 13.0, cuDNN 9.19".
  const std::string& about() const { return about_; }
  /// Each of its ways with its time, or with why it does not take the call. Throws Error io where the process
  /// ends.
  std::vector<PeerTime> measure(const core::Call& call, double seconds);

 private:
  std::string line(double timeout_seconds);
  void stop();
  Device device_;
  std::string about_, read_;
  int socket_ = -1;
  pid_t child_ = -1;
};

/// peers.py as the build embedded it.
std::string_view embedded_peers();

}  // namespace isomer::lab
