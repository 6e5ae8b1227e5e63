#pragma once

#include <isomer/tensor.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace isomer {

/// What a device is.
struct DeviceInfo {
  Device device;                  ///< as Queue::on takes it
  std::string name;               ///< "CPU", "NVIDIA H200"
  std::string architecture;       ///< the CPU's instruction set ("avx512"), "sm_90a", "gfx942"
  std::int64_t memory_bytes = 0;  ///< of a GPU; 0 on the CPU
};

/// The devices that queues can be made on, the CPU first. A vendor whose driver is not there has none;
/// `isomer doctor` says why. The first call loads the drivers.
ISOMER_API std::vector<DeviceInfo> devices();

}  // namespace isomer
