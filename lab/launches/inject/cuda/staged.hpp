#pragma once

#include "lab/launches/inject/cuda/cupti.hpp"

#include <string>

namespace isomer::inject {

/// A launch as a call or a graph's node states it.
struct Staged {
  CUfunction function = nullptr;
  unsigned grid[3]{1, 1, 1}, block[3]{1, 1, 1}, cluster[3]{0, 0, 0};
  unsigned shared_bytes = 0;
  bool cooperative = false, programmatic = false;
  void** parameters = nullptr;  ///< one address for each parameter; or
  void** extra = nullptr;       ///< the driver's list with one buffer

  /// From CUDA_KERNEL_NODE_PARAMS of any version, and from the two launch calls: they begin alike.
  template <class Parameters>
  static Staged of(const Parameters& from) {
    Staged staged;
    staged.grid[0] = from.gridDimX, staged.grid[1] = from.gridDimY, staged.grid[2] = from.gridDimZ;
    staged.block[0] = from.blockDimX, staged.block[1] = from.blockDimY, staged.block[2] = from.blockDimZ;
    staged.shared_bytes = from.sharedMemBytes;
    return staged;
  }
  void take_attributes(const CUlaunchConfig& config);

  /// `,"kernel":…,"grid":…,"arguments":…`: reads the arguments' bytes, which are only there during the call.
  std::string json(const char* symbol) const;
};

}  // namespace isomer::inject
