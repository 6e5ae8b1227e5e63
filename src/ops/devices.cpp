#include <isomer/devices.hpp>

#include "cpu/target.hpp"
#include "gpu/vendors.hpp"

namespace isomer {

std::vector<DeviceInfo> devices() {
  std::vector<DeviceInfo> all = {{{}, "CPU", std::string(cpu::name_of(cpu::best_target())), 0}};
  for (gpu::Vendor* vendor : gpu::vendors()) {
    if (!vendor->unavailable().empty()) continue;
    for (int i = 0; i < vendor->devices(); ++i) {
      const gpu::Facts& facts = vendor->facts(i);
      all.push_back({{vendor->device_type(), i}, facts.name, facts.architecture, facts.memory_bytes});
    }
  }
  return all;
}

}  // namespace isomer
